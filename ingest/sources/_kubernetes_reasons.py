"""Reasons of Kubernetes events that tell of a failure, and what they mean.

After kubelet's pkg/kubelet/events, the node controller, the scheduler, the job
controller, the device manager, and node-problem-detector's default rules.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class Reason(NamedTuple):
    """What a reason means."""

    name: str
    component: str
    severity: str
    action: str = "none"


_NODE: Final = {
    "NodeNotReady": Reason("node is not ready", "host", "error"),
    "NodeNotReachable": Reason("node cannot be reached", "host", "error"),
    "Rebooted": Reason("node was rebooted", "host", "error"),
    "SystemOOM": Reason("node is out of memory", "software", "error"),
    "OOMKilling": Reason("out of memory: a process was killed", "software", "error"),
    "EvictionThresholdMet": Reason("node is short of a resource", "software", "error"),
    "FreeDiskSpaceFailed": Reason("disk is full", "storage", "warning"),
    "ImageGCFailed": Reason("images could not be removed", "storage", "warning"),
    "ContainerGCFailed": Reason("containers not removed", "software", "warning"),
    "KubeletSetupFailed": Reason("node agent did not start", "software", "error"),
    "ContainerdUnhealthy": Reason("container runtime fails", "software", "error"),
    "DockerHung": Reason("container runtime hangs", "software", "error"),
    "KernelOops": Reason("kernel fault", "host", "error", "reboot_node"),
    "KernelDeadlock": Reason("kernel hangs", "host", "fatal", "reboot_node"),
    "TaskHung": Reason("process waits in the kernel", "host", "warning"),
    "AUFSUmountHung": Reason("file system hangs", "storage", "error", "reboot_node"),
    "FilesystemIsReadOnly": Reason("disk is read-only", "storage", "error"),
    "Ext4Error": Reason("file system is damaged", "storage", "error"),
    "Ext4Warning": Reason("file system warns", "storage", "warning"),
    "IOError": Reason("disk could not read or write", "storage", "error"),
    "XfsHasShutDown": Reason("file system is down", "storage", "error"),
    "MemoryReadError": Reason("memory error corrected", "host_memory", "info"),
    "CperHardwareErrorFatal": Reason(
        "firmware reports a fatal error", "host", "fatal", "inspect_hardware"
    ),
    "CperHardwareErrorCorrected": Reason(
        "firmware reports a corrected error", "host", "info"
    ),
    "UnregisterNetDevice": Reason("network device is stuck", "network", "warning"),
}

_POD: Final = {
    "Evicted": Reason("pod was evicted", "scheduler", "error"),
    "Preempted": Reason("pod gave way to another", "scheduler", "error"),
    "NodeLost": Reason("node of the pod is lost", "host", "error"),
    "Failed": Reason("container failed", "application", "error"),
    "BackOff": Reason("container fails again and again", "application", "warning"),
    "BackoffLimitExceeded": Reason("job failed too often", "application", "error"),
    "PodFailurePolicy": Reason("job failed", "application", "error"),
    "DeadlineExceeded": Reason("time limit was reached", "scheduler", "error"),
    "UnexpectedAdmissionError": Reason(
        "node could not give the devices", "gpu", "error", "inspect_hardware"
    ),
    "FailedCreatePodSandBox": Reason("pod was not set up", "software", "error"),
    "FailedCreatePodContainer": Reason("pod was not set up", "software", "error"),
    "FailedMount": Reason("volume was not mounted", "storage", "warning"),
    "FailedAttachVolume": Reason("volume was not attached", "storage", "warning"),
    "NetworkNotReady": Reason("network of the node is not ready", "network", "error"),
    "FailedScheduling": Reason("pod waits for a node", "scheduler", "info"),
    "Unhealthy": Reason("probe failed", "application", "info"),
}

#: Reasons with a meaning of their own.
REASONS: Final[Mapping[str, Reason]] = MappingProxyType(_NODE | _POD)

#: Reasons of type Normal that tell of a failure all the same.
NORMAL_FAILURES: Final = frozenset({"NodeNotReady", "NodeNotReachable", "Preempted"})
