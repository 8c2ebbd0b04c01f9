"""Show the tables of `analyze --fit`, and say in words what the chains of a Bayesian model are worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from slant.analysis.cli.options import ENGINE_TABLES, FIT_TABLES
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import FitResult
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import Fit, Study

_ENGINES = ("brms", "lme4")
_OF_TOKENS = ("refusals_removed", "measure")  # choices between two options do not depend on these
_OF_LINEAR_MODELS = ("df", "statistic", "p_value")
_OF_FITS = ("status", "n_missing", "n_groups", "messages", "versions", "seconds")


def is_bayesian(result: FitResult) -> bool:
    return not result.bayes["models"].is_empty()


def bayes_table(result: FitResult, show: str, in_full: bool) -> pl.DataFrame:
    """Return one of ENGINE_TABLES or of the tables that every fit has.

    A verdict is a long sentence: unless `in_full`, `is_converged` replaces it, except in the diagnostics. UsageError if
    no fit of this result has such a table.
    """
    if any(show in tables for tables in ENGINE_TABLES.values()):
        frame = _first_of_an_engine(result, show)
    elif show == "diagnostics" and is_bayesian(result):
        frame = _diagnostics(result)
    else:
        frame = getattr(result, show)
    if not is_bayesian(result):
        return frame.drop(_OF_TOKENS if _is_of_choices(result) else [], strict=False)
    of_tokens = _OF_TOKENS if result.bayes["effects"].is_empty() else ()
    unneeded = [*of_tokens, *(_OF_LINEAR_MODELS if show == "table" else ())]
    has_verdict = in_full or show == "diagnostics"
    return frame.drop(unneeded, strict=False).drop([] if has_verdict else ["verdict"], strict=False)


def check_adjustable(result: FitResult, adjust: str | None) -> None:
    """Raise UsageError for contrasts without p values, such as those of topics."""
    if adjust is not None and _is_of_choices(result):
        raise UsageError(f"The contrasts of {result.engine} have no p value to adjust.", "Leave out --adjust.")


def _is_of_choices(result: FitResult) -> bool:
    return any(not result.tables[engine]["contrasts"].is_empty() for engine in _ENGINES)


def check_has_table(fits: Iterable[tuple[Study, Fit]], show: str) -> None:
    """Raise UsageError if no engine of these fits keeps the table `show`, before minutes are spent on them."""
    fits = list(fits)
    own = {table for _, fit in fits for table in ENGINES[fit.engine].tables}
    known = [*FIT_TABLES, *sorted(own | ({"match"} if "topics" in own else set()))]
    if show not in known:
        names = ", ".join(dict.fromkeys(fit.name for _, fit in fits))
        raise UsageError(f'There is no table "{show}" of {names}.', f"There are: {', '.join(known)}.")


def _empty_table(result: FitResult, show: str) -> UsageError:
    names = ", ".join(result.diagnostics["fit"].unique(maintain_order=True))
    needs = "A contrast needs answers in two conditions." if show == "contrasts" else "Of these rows it has none."
    return UsageError(f'The table "{show}" of {names} is empty.', needs)


def verdicts(result: FitResult) -> Iterator[str]:
    """Yield what the chains of each fit that converged are worth; the others are among the doubtful fits."""
    for row in result.bayes["models"].filter(pl.col("is_converged")).to_dicts():
        yield f"{row['fit']} ({row['source']}): {row['verdict']}"


def _first_of_an_engine(result: FitResult, show: str) -> pl.DataFrame:
    frames = [result.tables[engine].get(show) for engine in ENGINE_TABLES]
    nonempty = [frame for frame in frames if frame is not None and not frame.is_empty()]
    if not nonempty:
        raise _empty_table(result, show)
    return nonempty[0]


def _diagnostics(result: FitResult) -> pl.DataFrame:
    """Return one row per fit: how it was sampled, besides what is known about every fit, including failed ones."""
    key = ["source", "study", "study_version", "variant", "model", "test", "fit"]
    sampled = result.bayes["models"]
    general = result.diagnostics.select(*key, *_OF_FITS)
    joined = general.join(sampled, on=key, how="left", nulls_equal=True, maintain_order="left")
    return joined.select(pl.exclude("fit", *_OF_TOKENS), "fit")
