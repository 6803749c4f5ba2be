"""Steps in console logs: which iterations a line covers, when they were, and copies."""

from datetime import UTC, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.sources import SOURCES, Batch, Head, console
from ingest.sources._stamps import decimal_ns, glog_ns, iso_ns
from ingest.tables import Checkpoints, StepTimings, Timers, TrainingMetrics
from ingest.times import parse_zone
from tests.examples import examples
from tests.ingest.readings import held, read_lines, refused, rows

MS = 1_000_000
S = 1_000 * MS


def at(text: str) -> int:
    """Return the instant of a stamp in UTC. [ns]"""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * S


NOON = at("2026-03-02 12:00:00")


def megatron(step: int, ms: str, stamp: str = "", more: str = "") -> str:
    head = f"[{stamp}] " if stamp else ""
    return (
        f" {head}iteration {step:8d}/    1000 | consumed samples: 5 |"
        f" elapsed time per iteration (ms): {ms} | global batch size: 8 |{more}"
    )


def read(*lines: str, **told: object) -> list[Batch]:
    return held(read_lines(console.SOURCE, *lines, **told))


def steps(batches: list[Batch]) -> list[tuple[object, ...]]:
    """Return step, start, duration and how many steps each row covers."""
    names = ("step", "start_ns", "duration_ns", "step_count")
    return [tuple(row[n] for n in names) for row in rows(batches, StepTimings)]


def test_a_line_of_megatron_covers_the_iterations_since_the_one_before() -> None:
    # GIVEN  12:00:00 |-- 10 x 300 ms --| 12:00:03 |-- 10 x 200 ms --| 12:00:05
    batches = read(
        megatron(10, "300.0", "2026-03-02 12:00:03"),
        megatron(20, "200.0", "2026-03-02 12:00:05"),
    )

    # THEN each row begins that much before its line, and nobody's rank is named
    assert steps(batches) == [
        (10, NOON, 300 * MS, 10),
        (20, NOON + 3 * S, 200 * MS, 10),
    ]
    (first, _) = rows(batches, StepTimings)
    assert (first["scope"], first.get("rank")) == ("run_mean", None)


def test_the_first_line_after_a_checkpoint_covers_what_came_since() -> None:
    batches = read(
        "  successfully loaded checkpoint from /c [ t 0, p 0 ] at iteration    1005",
        megatron(1010, "100.0", "2026-03-02 12:00:01"),
        megatron(1020, "100.0", "2026-03-02 12:00:02"),
    )
    assert [row[3] for row in steps(batches)] == [5, 10]


def test_a_log_without_its_beginning_takes_the_interval_of_the_next_line() -> None:
    batches = read(megatron(510, "100.0"), megatron(520, "100.0"))
    assert [row[3] for row in steps(batches)] == [10, 10]
    assert [row[1] for row in steps(batches)] == [None, None]


def test_lines_that_are_missing_are_not_covered() -> None:
    # GIVEN 1,000 iterations of 100 ms in ten seconds: most lines are gone
    batches = read(
        megatron(10, "100.0", "2026-03-02 12:00:00"),
        megatron(1010, "100.0", "2026-03-02 12:00:10"),
        megatron(1020, "100.0", "2026-03-02 12:00:11"),
    )
    assert [row[3] for row in steps(batches)] == [1, 10, 10]


def test_a_step_that_falls_began_anew() -> None:
    batches = read(
        megatron(10, "100.0", "2026-03-02 12:00:01"),
        megatron(20, "100.0", "2026-03-02 12:00:02"),
        megatron(20, "100.0", "2026-03-02 13:00:02"),
        megatron(30, "100.0", "2026-03-02 13:00:03"),
    )
    assert [(row[0], row[3]) for row in steps(batches)] == [
        (10, 10),
        (20, 10),
        (20, 10),
        (30, 10),
    ]


@pytest.mark.parametrize(
    ("line", "step", "duration", "end"),
    [
        (
            (
                "   1:  iteration       25/73242187 | consumed samples:           50 |"
                " elapsed time per iteration (ms): 87.0 | learning rate: 1.0E-04 |"
            ),
            25,
            87 * MS,
            None,
        ),
        (
            (
                "[default7]: [2026-03-02 12:00:00.5] iteration  2/  10 | consumed: 3"
                " | elapsed time per iteration (ms): 3156.5 | lm loss: 1.0E+00 |"
            ),
            2,
            3_156_500_000,
            NOON + S // 2,
        ),
        (
            (
                "[2026-03-02 12:00:00,446173][I][megatron/training_log:402:log]"
                "  iteration=  136006/  136100 | consumed_samples= 5 |"
                " elapsed_time_per_iteration_ms=6863.2 | loss=2.5 |"
            ),
            136_006,
            6_863_200_000,
            NOON + 446_173_000,
        ),
        (
            (
                " iteration 7/ 10 | current time: 1772452800.25 | consumed samples: 1 |"
                " elapsed time per iteration (ms): 1.0 |"
            ),
            7,
            MS,
            NOON + S // 4,
        ),
    ],
    ids=["srun", "torchrun", "fork", "epoch"],
)
def test_versions_of_megatron(
    line: str, step: int, duration: int, end: int | None
) -> None:
    ((found, start, length, count),) = steps(read(line))
    assert (found, length, count) == (step, duration, 1)
    assert start == (None if end is None else end - duration)


def test_a_skipped_iteration_has_no_loss() -> None:
    skipped = " loss scale: 1.0 | number of skipped iterations:   1 |"
    (row,) = rows(read(megatron(3, "5.0", more=skipped)), TrainingMetrics)
    assert (row["skipped"], row["loss"]) == (True, None)


def test_a_loss_that_is_no_number_shows() -> None:
    lost = " lm loss: nan | grad norm: inf |"
    (row,) = rows(read(megatron(3, "5.0", more=lost)), TrainingMetrics)
    assert (row["loss"], row["loss_is_finite"], row["grad_norm"]) == (None, False, None)
    # old versions wrote no colon
    (row,) = rows(read(megatron(3, "5.0", more=" lm loss 6.5E+00 |")), TrainingMetrics)
    assert (row["loss"], row["loss_is_finite"]) == (6.5, True)


@pytest.mark.parametrize("prefix", ["[default7]:", "15: ", "[rank3]:"])
def test_timers_are_read_behind_a_launchers_prefix(prefix: str) -> None:
    lines = [
        megatron(10, "300.0", "2026-03-02 12:00:00"),
        "(min, max) time across ranks (ms):",
        "    save-checkpoint ................................: (1000.00, 2000.50)",
        "times across ranks (ms):",
        "  forward-compute:",
        "     rank  0: 1201.10",
    ]
    batches = read(*(f"{prefix}{line}" for line in lines))
    assert len(rows(batches, Timers)) == 3
    assert len(rows(batches, Checkpoints)) == 1


def test_the_zone_of_a_stamp_is_the_files() -> None:
    line = megatron(1, "1000.0", "2026-03-02 13:00:01")
    berlin = {"zone": parse_zone("Europe/Berlin"), "zone_basis": "run_card"}
    batches = read(line, **berlin)
    assert steps(batches)[0][1] == NOON
    assert any(batch.zone_used for batch in batches)


def test_timers_of_megatron_go_with_the_iteration_before_them() -> None:
    batches = read(
        megatron(10, "300.0", "2026-03-02 12:00:00"),
        "(min, max) time across ranks (ms):",
        "    forward-backward ...............................: (3198.27, 3199.53)",
        "    save-checkpoint ................................: (1000.00, 2000.50)",
        "max time across ranks (ms):",
        "    optimizer ......................................: 31.20",
        "times across ranks (ms):",
        "  forward-compute:",
        "     rank  0: 1201.10",
        "     rank 11: 1201.20",
    )
    found = [
        (r["name"], r["statistic"], r["rank"], r["duration_ns"])
        for r in rows(batches, Timers)
    ]
    assert found == [
        ("forward-backward", "min", None, 3_198_270_000),
        ("forward-backward", "max", None, 3_199_530_000),
        ("save-checkpoint", "min", None, 1_000_000_000),
        ("save-checkpoint", "max", None, 2_000_500_000),
        ("optimizer", "max", None, 31_200_000),
        ("forward-compute", "rank", 0, 1_201_100_000),
        ("forward-compute", "rank", 11, 1_201_200_000),
    ]
    assert {row["step"] for row in rows(batches, Timers)} == {10}
    (save,) = rows(batches, Checkpoints)
    assert (save["start_ns"], save["stall_ns"]) == (NOON, 2_000_500_000)


def test_the_report_on_stragglers_names_ranks_and_units() -> None:
    batches = read(
        "[2026-03-02 12:00:00] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3460.70ms/0 |"
        " MnPwr/Rnk: 601796W/8 | MxPwr/Rnk: 683.5W/18 | MnUtl/Rnk: 97%/8 |"
        " MnClk/Rnk: 1950MHz/28 | MnEtpt/Rnk: 296.02TF/0"
    )
    found = [
        (r["name"], r["statistic"], r["rank"], r["duration_ns"] or r["value"])
        for r in rows(batches, Timers)
    ]
    assert found == [
        ("Rtt", "min", 8, 3_453_080_000),
        ("Rtt", "max", 0, 3_460_700_000),
        ("Pwr", "min", 8, 601.796),
        ("Pwr", "max", 18, 683.5),
        ("Utl", "min", 8, 0.97),
        ("Clk", "min", 28, 1950.0),
        ("Etpt", "min", 0, 296.02),
    ]


def titan(stamp: str, text: str, rank: int | None = 0) -> str:
    head = "" if rank is None else f"[rank{rank}]:"
    return f"{head}[titan] 2026-03-02 12:00:{stamp} - root - INFO - {text}"


def titan_step(stamp: str, step: int, rank: int | None = 0) -> str:
    text = f"step: {step:2d}  loss:  3.5  grad_norm:  0.5  memory:  9.46GiB(64.99%)"
    return titan(stamp, f"{text}  tps: 7,282  mfu: 0.17%", rank)


def test_a_step_of_torchtitan_lasts_from_line_to_line() -> None:
    # GIVEN  start |-- step 1: 6 s --| |-- steps 2 to 10: 9 x 0.5 s --|, seen by 2 ranks
    batches = read(
        titan("00,000", "Training starts at step 1."),
        titan_step("06,000", 1),
        titan_step("06,001", 1, rank=1),
        titan_step("10,500", 10),
        titan_step("10,501", 10, rank=1),
    )
    assert steps(batches) == [(1, NOON, 6 * S, 1), (10, NOON + 6 * S, S // 2, 9)]
    assert len(rows(batches, TrainingMetrics)) == 2


def test_copies_without_a_rank_are_one_step() -> None:
    lines = [
        titan_step(f"{i // 2:02d},00{i % 2}", 1 + i // 2, rank=None) for i in range(8)
    ]
    assert [row[0] for row in steps(read(*lines))] == [2, 3, 4]


def test_the_first_line_of_torchtitan_has_a_loss_and_no_time() -> None:
    batches = read(titan_step("06,000", 7))
    assert steps(batches) == []
    assert [row["step"] for row in rows(batches, TrainingMetrics)] == [7]


def test_pauses_and_checkpoints_of_torchtitan_end_at_their_line() -> None:
    batches = read(
        titan_step("06,000", 7),
        titan("07,000", "[GC] Peforming periodical GC collection. 0.06 seconds."),
        titan("09,000", "Finished saving the checkpoint in 1.50 seconds."),
    )
    (pause,) = rows(batches, Timers)
    assert (pause["step"], pause["duration_ns"]) == (7, 60 * MS)
    (save,) = rows(batches, Checkpoints)
    assert (save["step"], save["start_ns"]) == (7, NOON + 7 * S + S // 2)


def deepspeed(stamp: str, text: str) -> str:
    return (
        f"[2026-03-02 12:00:{stamp}] [INFO] [logging.py:107:log_dist] [Rank 0] {text}"
    )


TOTALS = (
    "time (ms) | fwd: 715.45 | bwd: 2402.91 | bwd_inner: 1223.71 |"
    " bwd_allreduce: 1178.40 | step: 160.78"
)


def test_steps_of_deepspeed_are_counted_from_the_few_that_are_told() -> None:
    # GIVEN totals of steps 9, 10 and 11, of which only 10 is told, before its totals
    batches = read(
        deepspeed("04,000", TOTALS),
        deepspeed("07,900", "step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]"),
        deepspeed("08,000", TOTALS),
        deepspeed("12,000", TOTALS),
    )
    # THEN a step took 715.45 + 2402.91 + 160.78 ms; 1223.71 of bwd was computing
    length = 3_279_140_000
    assert steps(batches) == [
        (9, NOON + 4 * S - length, length, 1),
        (10, NOON + 8 * S - length, length, 1),
        (11, NOON + 12 * S - length, length, 1),
    ]
    work = {row["compute_ns"] for row in rows(batches, StepTimings)}
    assert work == {2_099_940_000}
    # AND each of the five timers of a line goes with its step
    assert [row["step"] for row in rows(batches, Timers)] == [9] * 5 + [10] * 5 + [
        11
    ] * 5


def test_timers_of_a_micro_batch_go_with_the_step_that_ends_next() -> None:
    batches = read(
        deepspeed("01,000", "time (ms) | fwd_microstep: 7.5"),
        deepspeed("02,000", "step=4, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]"),
        deepspeed("02,100", TOTALS),
        deepspeed("03,000", "time (ms) | fwd_microstep: 7.5"),
        deepspeed("04,000", TOTALS),
    )
    found = [
        r["step"]
        for r in rows(batches, Timers)
        if r["name"] in {"fwd_microstep", "fwd"}
    ]
    assert found == [4, 4, 5, 5]


def test_totals_that_nothing_numbers_are_timers() -> None:
    batches = read(
        deepspeed("03,900", "time (ms) | fwd_microstep: 7.5 | step_microstep: 0.25"),
        deepspeed("04,000", TOTALS),
        "rank=1 time (ms) | forward_microstep: 1.5",
        "time (ms) | backward-compute: 138.46 | optimizer: 1",
    )
    assert (steps(batches), refused(batches)) == ([], [])
    found = [(r["name"], r["rank"], r["duration_ns"]) for r in rows(batches, Timers)]
    assert found == [
        ("fwd_microstep", 0, 7_500_000),
        ("step_microstep", 0, 250_000),
        ("fwd", 0, 715_450_000),
        ("bwd", 0, 2_402_910_000),
        ("bwd_inner", 0, 1_223_710_000),
        ("bwd_allreduce", 0, 1_178_400_000),
        ("step", 0, 160_780_000),
        ("forward_microstep", 1, 1_500_000),
        ("backward-compute", None, 138_460_000),
        ("optimizer", None, MS),
    ]


def test_metrics_of_the_trainer_take_the_step_of_the_bar_before() -> None:
    batches = read(
        "{'loss': 9.5, 'grad_norm': 1.0, 'learning_rate': 1e-05, 'epoch': 0.01}",
        "  0%|  | 0/500 [00:00<?, ?it/s]\r 10%|#  | 50/500 [00:10<01:30,  5.00it/s]",
        "{'loss': 2.5, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.1}",
        " 11%|#  | 55/500 [00:11<01:30, 5it/s]{'loss': '2.25', 'grad_norm': 'nan',"
        " 'learning_rate': '5e-05', 'epoch': '0.11'}",
    )
    found = [
        (r["step"], r["loss"], r["grad_norm"]) for r in rows(batches, TrainingMetrics)
    ]
    assert found == [(50, 2.5, 1.25), (55, 2.25, None)]
    assert console.recognizes(Head("any", b"{'loss': 9.5, 'learning_rate': 1e-05}\n"))
    assert refused(batches) == [("line 1", "step|required")]


def test_maxtext_tells_a_step_a_line() -> None:
    line = (
        "I0302 12:00:10.000000 140 metric_logger.py:120] completed step: 3, seconds:"
        " 4.5, TFLOP/s/device: 314.5, Tokens/s/device: 7.1, loss: 9.25"
    )
    batches = read(line, modified_ns=NOON + 60 * S)
    assert steps(batches) == [(3, NOON + 5 * S + S // 2, 4 * S + S // 2, 1)]


def test_frameworks_may_share_a_log() -> None:
    batches = read(
        "starting",
        megatron(10, "300.0", "2026-03-02 12:00:00"),
        "node-01:1:2 [0] misc/x.cc:1 NCCL WARN lib wrapper not initialized.",
        deepspeed("07,900", "step=10, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]"),
        deepspeed("08,000", TOTALS),
    )
    assert len(steps(batches)) == 2
    assert sum(batch.records for batch in batches) == 5


def test_a_log_is_known_by_its_end_too() -> None:
    head = Head("log", b"pip install\n" * 10, tail=f"x\n{megatron(1, '1')}\n".encode())
    claimed = [source for source in SOURCES if source.recognizes(head)]
    assert claimed == [console.SOURCE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T12:00:00.123456789Z x", NOON + 123_456_789),
        ("[2026-03-02 14:00:00,5 +0200]", NOON + S // 2),
        ("2026-03-02 12:00:00 x 2027-01-01 00:00:00", NOON),
        ("2026-02-30 12:00:00", None),
        ("no stamp", None),
    ],
)
def test_iso_stamps(text: str, expected: int | None) -> None:
    frame = pl.DataFrame({"line": [text]})
    assert frame.select(iso_ns(pl.col("line"), UTC)).item() == expected


@pytest.mark.parametrize(
    ("stamp", "modified", "expected"),
    [
        ("1231", "2026-01-02 00:00:00", "2025-12-31 23:59:59"),
        ("0101", "2026-01-02 00:00:00", "2026-01-01 23:59:59"),
        ("0229", "2026-03-02 00:00:00", "2024-02-29 23:59:59"),
        ("0230", "2026-03-02 00:00:00", None),
        # PyTorch's own logger writes months before October with one digit
        ("301", "2026-03-02 00:00:00", "2026-03-01 23:59:59"),
    ],
)
def test_a_stamp_without_a_year_is_of_the_last_that_fits(
    stamp: str, modified: str, expected: str | None
) -> None:
    frame = pl.DataFrame({"line": [f"E{stamp} 23:59:59.5 1 x.py:1] x"]})
    found = frame.select(glog_ns(pl.col("line"), UTC, at(modified), None)).item()
    assert found == (at(expected) + S // 2 if expected else None)


@settings(max_examples=examples(50))
@given(st.integers(0, 10**12 - 1), st.text("0123456789", max_size=12))
def test_decimals_are_exact(whole: int, below: str) -> None:
    text = f"{whole}.{below}"
    frame = pl.DataFrame({"text": [text]})
    assert frame.select(decimal_ns(pl.col("text"), MS)).item() == whole * MS + int(
        below.ljust(6, "0")[:6]
    )


@pytest.mark.thorough
@settings(max_examples=25)
@given(
    st.lists(
        st.sampled_from(
            [
                megatron(10, "300.0", "2026-03-02 12:00:00"),
                megatron(99999999999999999, "9999999999.0", "2026-03-02 12:00:00"),
                "(min, max) time across ranks (ms):",
                "    a .: (1.0, 2.0)",
                "  a:",
                "     rank  0: 1201.10",
                titan_step("06,000", 7),
                titan("00,000", "Training starts at step 1."),
                deepspeed("04,000", TOTALS),
                deepspeed("07,900", "step=10, skipped=0, lr=[0.0001], mom=[]"),
                " 10%|#  | 50/500 [00:10<01:30,  5.00it/s]",
                "{'loss': 2.5, 'learning_rate': 5e-05, 'epoch': 0.1}",
                "Root Cause (first observed failure):",
                "[0]:",
                "  time      : 2021-13-11_10:00:00",
                "  exitcode  : -9 (pid: 1)",
            ]
        ),
        max_size=12,
    )
)
def test_lines_in_any_order_keep_the_rules(lines: list[str]) -> None:
    batches = read(*lines)
    assert sum(batch.records for batch in batches) == len(lines)
