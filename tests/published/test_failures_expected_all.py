"""Every row of the expected values of failures, counted: matched, explained, failed.

Files go through the product's readers and example mappings, formulas are the product's
own. A row is matched where what is found is what the list says, to the tolerance of its
status; it is explained where the source printed something else and the list says why.
"""

import csv
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from analysis.published_rates import LLAMA_3_CAUSES
from tests.ingest.slurm import test_slurm_expected as slurm
from tests.published import failure_formulas as formulas
from tests.published import failure_proofs as proofs
from tests.published import test_failure_codes_expected as codes

pytestmark = pytest.mark.thorough

Row = dict[str, str]

#: Rows whose proof is a comparison with a file that lies beside theirs.
FIXTURES: Final[dict[str, Callable[[Path, dict[str, Row]], None]]] = {
    "E084": slurm.test_e084_rows_jobs_and_steps,
    "E085": slurm.test_e085_states_of_jobs,
    "E086": slurm.test_e086_states_of_rows,
    "E087": slurm.test_e087_records_over_lines,
    "E090": slurm.test_e090_rows_of_a_day,
    "E091": lambda shared, _: codes.test_ranks_whose_gpu_failed(shared),
    "E093": lambda shared, _: codes.test_ranks_whose_interpreter_was_held(shared),
    "E097": lambda shared, _: (
        codes.test_each_code_of_the_public_catalogue_is_known_or_told_as_unknown(shared)
    ),
}

#: Rows of each status. Those that are only recalled are regression values of ours.
STATUSES: Final = {
    "exact": 72,
    "rounded": 5,
    "differs_documented": 3,
    "fixture": 4,
    "computed_only": 12,
    "misprint_in_source": 1,
    "unverified_published": 7,
}

#: Statuses in which the source prints something else, and the list says why.
EXPLAINED: Final = ("differs_documented", "misprint_in_source")

#: How far an optimum that a solver found may lie from the closed form. [1]
SOLVER: Final = 2e-3


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Row]:
    """Rows by their number, without the count at the end."""
    with (shared / "expected/failures.tsv").open(newline="") as file:
        told = csv.DictReader(file, delimiter="\t")
        return {row["id"]: row for row in told if row["id"].startswith("E")}


@pytest.fixture(scope="module")
def answers(shared: Path, project: Path) -> dict[str, str]:
    """What the product makes, by number or by statistic."""
    return (
        proofs.infinite_hbd(shared, project)
        | proofs.los_alamos(shared, project)
        | formulas.formulas()
    )


def numeric(text: str) -> float:
    return float(text.replace("(printed)", ""))


def is_right(row: Row, found: str) -> bool:
    """Whether what is found is what a row says, as its status asks."""
    published, computed = row["published_value"], row["computed_value"].strip()
    if row["id"] in {"E111", "E112", "E113"}:
        return found == computed and published.replace(",", "") in found
    if row["status"] == "exact":
        return found == published
    if row["id"] == "E057":
        return found == computed and int(found) // 1000 * 1000 == int(published)
    if row["id"] == "E058":
        return found == computed and int(found) > int(published.strip(">"))
    if row["id"] in {"E103", "E104"}:
        digits = len(published.partition(".")[2])
        return found == computed and round(float(found), digits) == float(published)
    return found == computed


def is_right_period(row: Row) -> bool:
    """Whether a checkpoint period is the printed one: to a second, or explained."""
    found, published = (
        formulas.period(row["statistic"]),
        numeric(row["published_value"]),
    )
    if abs(found - float(row["computed_value"])) > 0.06:
        return False
    near = 1.0 if row["status"] == "exact" else SOLVER * published
    return abs(found - published) <= near


def verdict(row: Row, answers: dict[str, str], shared: Path,
            expected: dict[str, Row]) -> str:  # fmt: skip
    if proof := FIXTURES.get(row["id"]):
        proof(shared, expected)
        right = True
    elif row["statistic"].startswith("checkpoint period"):
        right = is_right_period(row)
    else:
        found = answers.get(row["id"]) or answers.get(row["statistic"])
        right = found is not None and is_right(row, found)
    if not right:
        return "failed"
    return "explained" if row["status"] in EXPLAINED else "matched"


def test_every_row_is_matched_or_explained(
    shared: Path,
    expected: dict[str, Row],
    answers: dict[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert Counter(row["status"] for row in expected.values()) == STATUSES
    told = {
        number: verdict(row, answers, shared, expected)
        for number, row in expected.items()
    }
    counts = Counter(told.values())
    with capsys.disabled():
        said = ", ".join(f"{counts[word]} {word}" for word in
                         ("matched", "explained", "failed"))  # fmt: skip
        sys.stdout.write(f"\nexpected/failures.tsv: {len(told)} rows: {said}\n")
    assert [number for number, word in told.items() if word == "failed"] == []
    assert counts == {"matched": 100, "explained": 4}


def test_table_5_has_our_own_percentages() -> None:
    causes = LLAMA_3_CAUSES
    total = sum(count for *_, count, _ in causes)
    assert (len(causes), total) == (18, 419)
    wrong = {
        name: (printed, round(100 * count / total, 1))
        for name, _, count, printed in causes
        if round(100 * count / total, 1) != printed
    }
    assert wrong == {"Faulty GPU": (30.1, 35.3)}
    # the printed percentages sum to 94.9, ours to 100
    assert round(sum(printed for *_, printed in causes), 1) == 94.9
    of_gpu = sum(count for _, category, count, _ in causes if category == "GPU")
    assert (of_gpu, round(100 * of_gpu / total, 1)) == (268, 64.0)


def test_a_wrong_answer_is_counted_as_failed(
    shared: Path, expected: dict[str, Row], answers: dict[str, str]
) -> None:
    wrong = answers | {"E001": "583", "E069": "shape 0.64"}
    assert verdict(expected["E001"], wrong, shared, expected) == "failed"
    assert verdict(expected["E069"], wrong, shared, expected) == "failed"
    del wrong["E041"]
    assert verdict(expected["E041"], wrong, shared, expected) == "failed"
