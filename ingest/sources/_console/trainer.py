"""What the Trainer of Hugging Face transformers prints (trainer_callback.py).

     10%|#         | 50/500 [00:10<01:30,  5.00it/s]
    {'loss': 2.3451, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.1}
    {'train_runtime': 2972.34, 'train_samples_per_second': 106.974, ...}

* A line of metrics has no step and no time; the step is that of the progress bar before
  it, in its line or above. Without a bar it is refused.
* The summary at the end is of the whole training and makes no row.
"""

from typing import Final

import polars as pl

from ingest.sources._console.format import LineFormat
from ingest.sources._console.steps import Before, batch
from ingest.sources._source import Batch, Reading
from ingest.tables import TrainingMetrics

_METRICS: Final = r"\{'loss': '?[-+0-9.eEnaif]+'?, .*'learning_rate': "
_BAR: Final = r"[0-9]{1,3}%\|.*?\| ?([0-9]{1,12})/[0-9]{1,12} \["


def _last_bar() -> pl.Expr:
    """Return the step of the last progress bar in a line, those before overwritten."""
    bars = pl.col("line").str.extract_all(r"\| ?[0-9]{1,12}/[0-9]{1,12} \[")
    return bars.list.last().str.extract(r"([0-9]+)/").cast(pl.Int64, strict=False)


def _real(key: str) -> pl.Expr:
    text = pl.col("line").str.extract(rf"'{key}': '?([-+0-9.eEnaif]{{1,40}})'?[,}}]")
    return text.cast(pl.Float64, strict=False)


class _Trainer:
    """Gives lines of metrics the step of the bar before, over the blocks of a file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._before = Before("bar")

    def take(self, lines: pl.DataFrame) -> Batch:
        line = pl.col("line")
        found = lines.filter(line.str.contains(_METRICS) | line.str.contains(_BAR))
        if found.is_empty():
            return Batch()
        bars = self._before.add(found.with_columns(bar=_last_bar().forward_fill()))
        step = pl.coalesce("bar", pl.col("bar_before").first())
        metrics = (
            bars.with_columns(step=step)
            .filter(line.str.contains(_METRICS))
            .with_columns(
                loss=_real("loss"),
                grad_norm=_real("grad_norm"),
                rule=pl.when(pl.col("step").is_null()).then(pl.lit("step|required")),
            )
        )
        return batch(metrics, self._reading) if metrics.height else Batch()

    def close(self) -> Batch:
        return Batch()


TRAINER: Final = LineFormat(
    name="hf-trainer",
    version=2,
    describes="metrics that the Trainer of transformers prints beside its progress bar",
    tables=(TrainingMetrics,),
    telling=_METRICS,
    start=_Trainer,
)
