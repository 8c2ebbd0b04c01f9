"""Say which of three estimates to report of texts that a model has coded: by its codes taken as truth, by people's
codes alone, or corrected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slant.collector.keep.database import fetched
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

if TYPE_CHECKING:
    from slant.analysis.fitting.fits import FitResult

CORRECTIONS = "corrections"
SHOWN = ("source", "model", "test", "term", "method", "estimate", "conf_low", "conf_high", "p_value", "std_error", "n")
"""List the columns of corrections that a terminal shows."""
_ENGINES = ("dsl", "ppi")
_KEY = ("source", "study", "study_version", "variant", "model", "test", "fit", "term")
_MOST_NAMED = 3


def corrections_of(result: FitResult) -> pl.DataFrame:
    """Return the estimates next to each other: one row for each model, code, term and method; none of other fits."""
    tables = [result.tables[engine][CORRECTIONS] for engine in _ENGINES if engine in result.tables]
    return pl.concat(tables) if tables else pl.DataFrame()


def _shares(db: str | Path, study: str) -> Iterator[str]:
    """Yield which shares of a study's texts were read by rule, by models and by people."""
    [(n, *by, n_chosen)] = fetched(db, sql_query("coded_by"), {"study": study})
    shares = zip(("read by rule", "coded by models", "coded by people"), by, strict=True)
    if named := [f"{m:,} {how} ({m / n:.0%})" for how, m in shares if m]:
        yield f"Of {count_text(n, 'text')}: {', '.join(named)}."
    if n_chosen:
        yield f"People also coded {count_text(n_chosen, 'text')} that nobody drew at random: these correct nothing."


def corrected_sentences(result: FitResult, db: str | Path | None = None) -> Iterator[str]:
    """Yield which estimates to report, where the coder's codes taken as truth would have misled, and who has coded."""
    rows = corrections_of(result)
    if rows.is_empty():
        return
    for study in rows["study"].unique(maintain_order=True):
        if db is not None:
            yield from _shares(db, study)
    key = [name for name in _KEY if name in rows.columns]
    wide = rows.pivot("method", index=key, values=["estimate", "conf_low", "conf_high", "std_error"])
    yield (
        'Report the rows "corrected": they are right whatever the coder\'s errors are. "coder" takes its codes as '
        'truth, "people" uses their texts alone.'
    )
    is_out = ~pl.col("estimate_coder").is_between(pl.col("conf_low_corrected"), pl.col("conf_high_corrected"))
    misled = wide.filter(is_out)
    if misled.height:
        named = [" ".join(filter(None, (row["test"], row["term"]))) for row in misled.head(_MOST_NAMED).to_dicts()]
        more = " …" if misled.height > _MOST_NAMED else ""
        yield (
            f"Codes taken as truth lie outside the corrected interval in {misled.height} of "
            f"{count_text(wide.height, 'estimate')}: {', '.join(named)}{more}."
        )
    gain = wide.select((pl.col("std_error_corrected") / pl.col("std_error_people")).median()).item()
    if gain is not None:
        yield (
            f"The corrected standard errors are {gain:.2f} times those of people alone (median): "
            + ("the coder's codes add little." if gain > 0.97 else f"worth {1 / gain**2:.1f} times as many texts.")
        )
