"""The parts of a scenario, one for each table of its file."""

from datetime import UTC, datetime
from typing import Annotated, Final, Literal

import msgspec

#: Longest run that a scenario may ask for: two years. [days]
MOST_DAYS: Final = 731

Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Whole = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]
Spread = Annotated[float, msgspec.Meta(ge=0, le=0.2)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Amount = Annotated[float, msgspec.Meta(gt=0, le=1e18)]
Rate = Annotated[float, msgspec.Meta(ge=0, le=1e4)]

#: Names of files too, so neither a folder nor hidden; and what a run card can quote.
WORD: Final = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*\Z"
TEXT: Final = r'^[^\x00-\x1f\x7f"\\]+\Z'

Word = Annotated[str, msgspec.Meta(min_length=1, max_length=80, pattern=WORD)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=80, pattern=TEXT)]
Axis = Literal["tp", "cp", "pp", "dp"]
Range = tuple[Seconds, Seconds]


class Fleet(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Hosts and where they stand.

    Attributes:
        hosts: Nodes of the run.
        spares: Nodes beyond them, paid for where the run is reserved.
        racks: Racks; hosts and spares fill them in turn.
        pods: Pods; racks fill them in turn.
        gpus_per_node: GPUs of a node, with a network card each.
        serials: What the serial number of a board begins with.
        gpu: Name of the GPU.
        tdp_w: Power that a GPU may draw. [W]
        sm_clock_mhz: Clock of an unhindered GPU. [MHz]
    """

    hosts: Count
    racks: Count = 1
    pods: Count = 1
    spares: Whole = 0
    gpus_per_node: Annotated[int, msgspec.Meta(ge=1, le=72)] = 8
    serials: Word = "165"
    gpu: Text = "H100-SXM"
    tdp_w: Annotated[float, msgspec.Meta(ge=50, le=5_000)] = 700.0
    sm_clock_mhz: Annotated[float, msgspec.Meta(ge=500, le=10_000)] = 1_980.0


class Layout(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How ranks share the work.

    Attributes:
        tp: Ranks that share each layer. [1]
        cp: Ranks that share a sequence. [1]
        pp: Stages of the pipeline. [1]
        dp: Replicas of the model. [1]
        vpp: Parts of the layers that a stage has. [1]
        order: Axes of the layout, that of neighbouring ranks first.
        microbatches: Parts of a replica's batch, one after the other. [1]
    """

    tp: Count = 1
    cp: Count = 1
    pp: Count = 1
    dp: Count = 1
    vpp: Count = 1
    order: tuple[Axis, ...] = ("tp", "cp", "pp", "dp")
    microbatches: Count = 1

    @property
    def ranks(self) -> int:
        """Ranks that the layout needs."""
        return self.tp * self.cp * self.pp * self.dp


class Model(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is trained.

    Attributes:
        name: Name of the model.
        parameters: Parameters. [1]
        layers: Layers. [1]
        hidden: Width. [1]
        sequence_length: Tokens of a sequence. [1]
        tokens_per_step: Tokens of a step, over all ranks; without, a sequence for each
            replica and microbatch. [1]
        peak_tflops: What a GPU can do. [TFLOP/s]
        last_stage_ratio: Work of the last pipeline stage over that of the others. [1]
    """

    name: Text = "synthetic"
    parameters: Amount = 8e9
    layers: Count = 32
    hidden: Count = 4_096
    sequence_length: Count = 8_192
    tokens_per_step: Annotated[int, msgspec.Meta(ge=1, le=10**15)] | None = None
    peak_tflops: Amount = 989.0
    last_stage_ratio: Annotated[float, msgspec.Meta(ge=1, le=2)] = 1.0


class Schedule(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a step and a checkpoint take, of a healthy fleet. Times in s.

    Attributes:
        step_s: Usual time of a step without checkpoint.
        communication_share: Share of it that only communication takes. [1]
        data_s: Part of it that waits for the input.
        idle_share: Share of it in which no kernel runs. [1]
        checkpoint_every: Steps between two checkpoints. [1]
        checkpoint_s: How long a checkpoint holds the step up.
        planned_steps: Steps after which the run is done; 0: it ends with the calendar.
        usd_per_gpu_hour: Price of a GPU. [USD/h]
    """

    step_s: Annotated[float, msgspec.Meta(ge=0.01, le=600)] = 6.0
    communication_share: Annotated[float, msgspec.Meta(ge=0, le=0.8)] = 0.1
    data_s: Seconds = 0.02
    idle_share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.01
    checkpoint_every: Count = 50
    checkpoint_s: Seconds = 3.0
    planned_steps: Whole = 0
    usd_per_gpu_hour: Annotated[float, msgspec.Meta(ge=0, le=1e4)] = 2.0


class Calendar(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """When the run runs. Ranges are drawn from evenly, in whole seconds.

    Attributes:
        begun: When it is submitted; with an offset from UTC, without quotes.
        days: Days that it goes on, from then. [days]
        reserved: Whether its GPUs and spares are paid for between attempts, too.
        react_s: From the first sign of a stop to the end of its attempt.
        decide_s: From there to the next submission.
        queue_s: From there to the next start.
        load_s: From there to the first step.
        watchdog_s: How long ranks wait in a collective before the watchdog gives up.
    """

    begun: datetime = datetime(2026, 3, 2, tzinfo=UTC)
    days: Annotated[int, msgspec.Meta(ge=1, le=MOST_DAYS)] = 1
    reserved: bool = True
    react_s: Range = (20.0, 60.0)
    decide_s: Range = (60.0, 120.0)
    queue_s: Range = (60.0, 180.0)
    load_s: Range = (120.0, 240.0)
    watchdog_s: Annotated[float, msgspec.Meta(ge=1, le=7_200)] = 600.0


class Noise(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How steps differ on a healthy fleet. Of own work, relative, unless said. [1]

    Attributes:
        rank_cv: Spread of one rank's work from step to step.
        persistent_sd: Lasting differences between ranks.
        autocorrelation: Of a rank's work from one step to the next.
        common_cv: Spread that all ranks share, from step to step.
        outliers: Share of steps in which one rank pauses.
        outlier_ratio: Mean of an exponential pause over the step.
        fixed_share: Share of these pauses that have a fixed length instead.
        fixed_ratio: That length over the step.
        gc_every: Steps between two collections of garbage of a rank; 0: none.
        gc_s: Length of a collection. [s]
        gc_synchronised: Whether all ranks collect in the same step.
        sequence_sd: Spread of a replica's work from step to step, from the lengths of
            its documents.
        diurnal: How much longer work takes in the middle of the day.
        first_step_s: How much longer the first step of an attempt takes. [s]
    """

    rank_cv: Spread = 0.004
    persistent_sd: Spread = 0.003
    autocorrelation: Annotated[float, msgspec.Meta(ge=0, le=0.45)] = 0.3
    common_cv: Spread = 0.005
    outliers: Share = 0.003
    outlier_ratio: Rate = 0.1
    fixed_share: Share = 0.5
    fixed_ratio: Rate = 0.4
    gc_every: Whole = 0
    gc_s: Seconds = 0.25
    gc_synchronised: bool = False
    sequence_sd: Spread = 0.0
    diurnal: Spread = 0.015
    first_step_s: Seconds = 60.0
