"""The parts of a run card, one for each table of `run.toml`."""

import sys
from typing import Annotated, Final, Literal

import msgspec

#: Greatest whole number of a card: what a column of the lake can hold.
GREATEST: Final = 2**63 - 1

#: Greatest amount of a card: TOML has infinity too, of which no cost can be made.
FINITE: Final = sys.float_info.max

#: Greatest price of a card, of an hour of a GPU or of a kWh. [USD]
MOST_USD: Final = 1e6

#: Longest time of a card that a run does something for: a year, as of steps. [s]
LONGEST_S: Final = 366 * 86_400.0

Positive = Annotated[int, msgspec.Meta(ge=1, le=GREATEST)]
Amount = Annotated[float, msgspec.Meta(gt=0, le=FINITE)]
Count = Annotated[int, msgspec.Meta(ge=0, le=GREATEST)]
Rate = Annotated[float, msgspec.Meta(ge=0, le=FINITE)]
Money = Annotated[float, msgspec.Meta(ge=0, le=MOST_USD)]
Seconds = Annotated[float, msgspec.Meta(ge=1e-9, le=LONGEST_S)]
Pause = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
Hours = Annotated[float, msgspec.Meta(ge=1e-3, le=LONGEST_S / 3600)]
Days = Annotated[float, msgspec.Meta(ge=1e-3, le=1e5)]
Bytes = Annotated[float, msgspec.Meta(ge=1, le=1e18)]
Gbs = Annotated[float, msgspec.Meta(ge=1e-6, le=1e9)]
NodeRate = Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]
Events = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Word = Annotated[str, msgspec.Meta(min_length=1)]
Axis = Literal["tp", "cp", "pp", "dp"]


class Hardware(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the run runs on."""

    gpu: str | None = None
    gpus: Positive | None = None
    gpus_per_node: Positive | None = None
    peak_tflops: Amount | None = None
    nvlink_gbs: Gbs | None = None
    network_gbs: Gbs | None = None
    watts_per_gpu_all_in: Amount | None = None
    tdp_w: Amount | None = None
    memory_bytes: Amount | None = None
    sms: Positive | None = None
    communication_sms: Count | None = None
    communication_w: Amount | None = None


class Layout(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How ranks share the work."""

    tp: Positive = 1
    cp: Positive = 1
    pp: Positive = 1
    dp: Positive = 1
    ep: Positive = 1
    vpp: Positive = 1
    order: tuple[Axis, ...] = ("tp", "cp", "pp", "dp")
    microbatches: Positive | None = None

    @property
    def ranks(self) -> int:
        """Ranks that the layout needs."""
        return self.tp * self.cp * self.pp * self.dp


class Training(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is trained."""

    parameters: Amount | None = None
    active_parameters: Amount | None = None
    layers: Positive | None = None
    hidden: Positive | None = None
    tokens_per_step: Positive | None = None
    sequence_length: Positive | None = None
    planned_steps: Positive | None = None
    total_tokens: Amount | None = None
    step_s: Seconds | None = None
    achieved_tflops: Amount | None = None
    state_bytes_per_parameter: Amount | None = None
    data_bytes_per_token: Amount | None = None
    bucket_bytes: Amount | None = None
    exposed_communication_s: Rate | None = None
    planned_days: Amount | None = None
    kv_hidden: Positive | None = None
    experts_per_token: Positive | None = None
    weight_bytes: Amount | None = None
    gradient_bytes: Amount | None = None


class Pricing(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What it costs."""

    usd_per_gpu_hour: Money | None = None
    mode: Literal["rental", "owned"] = "rental"
    usd_per_kwh: Money | None = None
    pue: Annotated[float, msgspec.Meta(ge=1, le=100)] | None = None
    capex_usd_per_gpu_hour: Money | None = None
    region: Word | None = None
    carbon_g_per_kwh: Annotated[float, msgspec.Meta(ge=0, le=1e6)] | None = None


class Fabric(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The network between nodes, and what lies on a path through it."""

    gpus_per_rack: Positive | None = None
    racks_per_pod: Positive | None = None
    pods: Positive | None = None
    tiers: Positive | None = None
    fibre_m: Rate | None = None
    round_latency_us: Rate | None = None
    inside_latency_us: Rate | None = None
    paths: Positive | None = None
    pairs: Positive | None = None
    flows_per_pair: Positive | None = None


class CheckpointPlan(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How state is saved, and what it takes to come back to it."""

    interval_s: Seconds | None = None
    stall_s: Pause | None = None
    restart_s: Pause | None = None
    downtime_s: Pause | None = None
    bytes: Bytes | None = None
    store_gbs: Gbs | None = None
    local_gbs: Gbs | None = None
    writers: Positive | None = None


class Reliability(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How often it was seen to be interrupted, or is expected to be."""

    interruptions: Events | None = None
    observed_days: Days | None = None
    per_1000_node_days: NodeRate | None = None
    repair_h: Hours | None = None
    spare_nodes: Events | None = None


class PowerLimits(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What the grid or the site allows the run's power to do."""

    ramp_up_w_per_s: Amount | None = None
    ramp_down_w_per_s: Amount | None = None
    dynamic_range_w: Amount | None = None
    band_low_hz: Amount | None = None
    band_high_hz: Amount | None = None
    band_energy_ratio: Share | None = None


class Hosts(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where its ranks are."""

    map: Word
