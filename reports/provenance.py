"""Where a page comes from: everything that made its numbers what they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis import Frames


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to make the same page again.

    Attributes:
        run_ids: Runs on the page; empty means all runs of the lake.
        lake: Folder of the lake, as it was given.
        generated_ns: When the page was made, since the Unix epoch in UTC. [ns]
        version: Version of gpuledger.
        settings: Settings in force, by name.
        settings_sources: Where each setting came from (`default` where nobody set it).
        thresholds: Thresholds in force, by name.
        analysis_versions: Version of each analysis, by name.
        retired_days: UTC days of which only rollups are left, by table of raw rows.
    """

    run_ids: tuple[str, ...]
    lake: str
    generated_ns: int
    version: str
    settings: Mapping[str, str]
    settings_sources: Mapping[str, str]
    thresholds: Mapping[str, float]
    analysis_versions: Mapping[str, int]
    retired_days: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a page is compared with.

    Attributes:
        label: What it is called.
        frames: Its tables; empty where it is days of the page's own.
        run_ids: Its runs; empty means all.
        since: First UTC day that is held against those before it; empty elsewhere.
        is_elsewhere: Whether it is of another lake, where runs may have equal names.
    """

    label: str
    frames: Frames
    run_ids: tuple[str, ...] = ()
    since: str = ""
    is_elsewhere: bool = False
