"""Kinds of messages of Slurm's daemons that tell of a failure.

Sources: slurmctld (ping_nodes.c, node_mgr.c, job_mgr.c, agent.c, proc_req.c), slurmd
(req.c, slurmd.c) and slurmstepd (mgr.c, task_cgroup_memory.c) of Slurm 20.11 to 25.05.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of message.

    Attributes:
        code: Code of its rows.
        pattern: What it contains; the first group, where there is one, is its nodes.
        name: What it means.
        component: Component at fault; null where the words of the message tell.
        severity: How bad it is.
        has_nodes: Whether the message names the nodes.
    """

    code: str
    pattern: str
    name: str
    component: str | None
    severity: str
    has_nodes: bool = True


_JOB: Final = r"(?:JobId=|job_id |job )\S+"

#: Kinds in the order in which they are tried.
KINDS: Final = (
    Kind(
        "node_down",
        r"\bNodes? (\S+) not responding, setting DOWN",
        "node does not respond and was set down",
        "host",
        "error",
    ),
    Kind(
        "node_not_responding",
        r"\bNodes? (\S+) not responding",
        "node does not respond",
        "host",
        "warning",
    ),
    Kind(
        "node_not_responding",
        r"\bis_node_resp: node:(\S+) (?i:rpc):",
        "node did not take a message",
        "host",
        "warning",
    ),
    Kind(
        "node_rebooted",
        r"\bNode (\S+) unexpectedly rebooted",
        "node was rebooted and nobody had asked for it",
        "host",
        "error",
    ),
    Kind(
        "node_invalid",
        r"\bNode (\S+) has low (?:real_memory|tmp_disk|cpu|socket)",
        "node has less than it should have",
        None,
        "error",
    ),
    Kind(
        "node_registration",
        r"\b_slurm_rpc_node_registration node=([^\s:]+): \S",
        "node could not be registered",
        None,
        "error",
    ),
    Kind(
        "job_node_fail",
        rf"\bKilling {_JOB} (?:StepId=\S+ )?(?:on|due to) failed node (\S+)",
        "job was ended because its node failed",
        "host",
        "error",
    ),
    Kind(
        "job_node_fail",
        rf"\b[Rr]equeue {_JOB} due to failure of node (\S+)",
        "job was queued again because its node failed",
        "host",
        "error",
    ),
    Kind(
        "job_node_fail",
        rf"\b[Rr]emov(?:ing|ed) failed node (\S+) from {_JOB}",
        "node failed and was taken out of a job",
        "host",
        "error",
    ),
    Kind(
        "job_node_fail",
        r"\*\*\* (?:JOB|STEP) \S+ ON (\S+) CANCELLED AT \S+ DUE TO NODE FAILURE",
        "step was ended because a node of its job failed",
        "host",
        "info",
    ),
    Kind(
        "batch_job_missing",
        rf"\bBatch {_JOB} missing from (?:batch )?node (\S+)",
        "batch script of a job is gone from its node",
        "host",
        "error",
    ),
    Kind(
        "job_launch",
        rf"\bslurmd error running {_JOB} on node\(s\)=([^\s:]+)",
        "job could not be started on its nodes",
        "software",
        "error",
    ),
    Kind(
        "kill_task_failed",
        r"\bSTEPD TERMINATED ON (\S+) AT \S+ DUE TO JOB NOT ENDING WITH SIGNALS",
        "processes of a job could not be ended",
        "software",
        "error",
    ),
    Kind(
        "node_responding",
        r"\bNode (\S+) now responding",
        "node responds again",
        "host",
        "info",
    ),
    Kind(
        "node_resumed",
        r"\bnode (\S+) returned to service",
        "node was returned to service",
        "host",
        "info",
    ),
    Kind(
        "gpu_missing",
        r"gres\.conf file /dev/nvidia[0-9]|/dev/nvidia[0-9]+: No such|NVML: Failed"
        r"|(?i:failed to initialize nvml)",
        "device of a GPU is not there",
        "gpu",
        "error",
        has_nodes=False,
    ),
    Kind(
        "prolog_failed",
        r"(?i:\bprolog) (?:failed|hung|launch failure|error)|_run_prolog.*failed",
        "script before a job failed",
        None,
        "error",
        has_nodes=False,
    ),
    Kind(
        "epilog_failed",
        r"(?i:\bepilog) (?:failed|hung|error)",
        "script after a job failed",
        None,
        "warning",
        has_nodes=False,
    ),
    Kind(
        "health_check_failed",
        r"\bhealth_?check.{0,20} failed",
        "check of the node's health failed",
        None,
        "error",
        has_nodes=False,
    ),
    Kind(
        "out_of_memory",
        r"\bDetected [0-9]+ oom[_-]kill event",
        "job used more memory than it had asked for",
        "user",
        "error",
        has_nodes=False,
    ),
    Kind(
        "gpu_error",
        r"\berror: .*(?:\bGPU\b|gres/gpu|(?i:\bnvml\b))",
        "node reports an error of a GPU",
        "gpu",
        "error",
        has_nodes=False,
    ),
)
