"""A small pod by hand: eight GPUs, one of them slow, one stop, some refused rows."""

from analysis.collective_waits import CollectiveWaits
from analysis.gpus import Gpus
from analysis.hiding_costs import HidingCosts
from analysis.interrupt_rates import InterruptRates
from analysis.late_ranks import LateRanks
from analysis.lost_time import LostTime
from analysis.overlap import Overlap
from analysis.overlap_groups import OverlapGroups
from analysis.pipeline_bubbles import PipelineBubbles
from analysis.runs import Runs
from ingest.tables import StepTimings, Table
from tests.reports.builder import HOSTS, HOUR, RUN, START, Row
from tests.reports.pod_checkpoints import checkpoints
from tests.reports.pod_events import files, power, rates, stops
from tests.reports.pod_feed import feed
from tests.reports.pod_goodput import goodput
from tests.reports.pod_hangs import hangs
from tests.reports.pod_links import links
from tests.reports.pod_overlap import groups, hiding
from tests.reports.pod_pipeline import bubbles
from tests.reports.pod_plan import plan
from tests.reports.pod_power import burned
from tests.reports.pod_rates import rate_tables
from tests.reports.pod_repairs import repairs
from tests.reports.pod_replays import replays
from tests.reports.pod_work import late, ledger, overlaps, slow, steps, waits


def pod(
    run: str = RUN, host: str = HOSTS[1], count: int = 6
) -> dict[type[Table], list[Row]]:
    """Every table of the pod.

    Args:
        run: Name of the run.
        host: Name of the node with the slow GPU.
        count: Interruptions that the rates count.
    """
    known = {
        "run_id": run,
        "cluster": "pod-a",
        "model": "8B dense",
        "gpu_model": "H100-SXM",
        "gpu_count": 8,
        "gpus_per_node": 4,
        "planned_steps": 1200,
        "billing": "allocated",
        "usd_per_gpu_hour": 2.5,
        "price_mode": "rental",
        "has_card": True,
        "start_ns": START,
        "end_ns": START + 12 * HOUR,
    }
    gpus = [
        {
            "run_id": run,
            "attempt": 0,
            "rank": rank,
            "from_ns": START,
            "to_ns": START + 12 * HOUR,
            "host": (HOSTS[0], host)[rank // 4],
            "gpu_uuid": f"GPU-{rank:04}-aaaa-bbbb",
        }
        for rank in range(8)
    ]
    return {
        Runs: [known],
        Gpus: gpus,
        LostTime: ledger(run) + ledger(run, "2026-11-19"),
        StepTimings: steps(run),
        Overlap: overlaps(run),
        OverlapGroups: groups(run),
        HidingCosts: hiding(run),
        PipelineBubbles: bubbles(run),
        CollectiveWaits: waits(run),
        LateRanks: late(run),
        InterruptRates: rates(run, count),
        **rate_tables(run),
        **stops(run),
        **power(run, host),
        **burned(run, host),
        **feed(run),
        **files(run),
        **goodput(run),
        **hangs(run),
        **plan(run),
        **links(run),
        **replays(run),
        **slow(run, host),
        **repairs(run),
        **checkpoints(run),
    }
