"""Say in one to three sentences what kept results answer where no quick fit of a study compares anything: differences
of games, contrasts of Bayesian models; else what was counted, and the command that finds more.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.pages.answers import Cell, sentences
from slant.analysis.pages.parts.games import INDEX_NAMES
from slant.analysis.pages.parts.records import SectionData
from slant.analysis.pages.report_tables import rounded, term_words
from slant.collector.studies.catalogue import fits_of
from slant.collector.terminal import count_text

_NUMBERS = ("estimate", "conf_low", "conf_high", "p")


def kept_answers(section: SectionData) -> list[str]:
    """Return the comparisons in stored tables of longer commands; nothing if none has run."""
    for cells in (_game_differences, _games_beside_chance, _contrasts, _first_terms):
        if found := list(cells(section)):
            return sentences(found)
    return []


def counted_answers(section: SectionData) -> list[str]:
    """Return observed differences, without a test and so without a conclusion."""
    for said in (_mean_indices, _observed_differences, _answer_counts):
        if sentence := said(section):
            return [sentence]
    return []


def _cells(rows: pl.DataFrame, unit: str, factor: float = 1) -> Iterator[Cell]:
    """Make a cell of each row, which has `model`, `test`, `what` and _NUMBERS; without p its interval decides."""
    for row in rows.with_columns(pl.col("estimate", "conf_low", "conf_high") * factor).to_dicts():
        numbers = {name: row[name] for name in _NUMBERS}
        yield Cell(row["model"], row["test"], row["what"], unit, [numbers], has_p=row["p"] is not None)


def _last_fit(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(call_id=rows["call_id"][-1]) if rows.height else rows


def _game_differences(section: SectionData) -> Iterator[Cell]:
    rows = section.own("game_comparisons")
    if rows.is_empty():
        return
    index = rows["index"][0]
    compared = rows.filter(pl.col("index") == index, pl.col("between") == rows["between"][0]).select(
        pl.coalesce(pl.col("model").replace(dict(section.labels)), pl.lit("all models")).alias("model"),
        test=None,
        what=pl.format("{} than {}", "condition", "reference"),
        estimate="difference",
        conf_low="boot_low",
        conf_high="boot_high",
        p="p_adjusted",
    )
    yield from _cells(compared, _index_name(index))


def _games_beside_chance(section: SectionData) -> Iterator[Cell]:
    rows = section.own("game_index_intervals").drop_nulls("random_level") if _has(section, "random_level") else None
    if rows is None or rows.is_empty():
        return
    index = rows["index"][0]
    above = pl.col("estimate", "conf_low", "conf_high") - pl.col("random_level")
    model = pl.col("model").replace(dict(section.labels))
    compared = rows.filter(pl.col("index") == index).with_columns(above)
    yield from _cells(
        compared.select(model, test="variant", what=pl.lit("than chance alone"), **_intervals()),
        _index_name(index),
    )


def _has(section: SectionData, column: str) -> bool:
    return column in section.own("game_index_intervals").columns


def _intervals() -> dict[str, pl.Expr]:
    return {name: pl.col(name) for name in _NUMBERS[:3]} | {"p": pl.lit(None, pl.Float64)}


def _index_name(index: str) -> str:
    return INDEX_NAMES.get(index, index.replace("_", " "))


def _contrasts(section: SectionData) -> Iterator[Cell]:
    rows, observed = section.own("condition_contrasts"), section.own("observed_delta_p")
    if rows.is_empty() or observed.is_empty():
        return
    sides = f"{observed['reference'][0]} than {observed['condition'][0]}"
    compared = _last_fit(rows).filter(kind=rows["kind"][0])
    compared = compared.select(
        model="model_label",
        test="test_label",
        what=pl.lit(sides),
        estimate="delta_p",
        conf_low="delta_p_conf_low",
        conf_high="delta_p_conf_high",
        p=pl.lit(None, pl.Float64),
    )
    yield from _cells(compared, "percentage points", 100)


def _first_terms(section: SectionData) -> Iterator[Cell]:
    rows = section.own("bayes_estimates")
    if rows.is_empty():
        return
    name = next((name for name in section.study.fits if name in set(rows["fit"])), rows["fit"][0])
    rows = _last_fit(rows.filter(fit=name))
    rows = rows.filter(~pl.col("term").str.contains(r"(?i)^(b_)?intercept|^sd_|^cor_|^sigma$|^lprior"))
    if rows.is_empty():
        return
    definition = fits_of(section.study)[name]
    levels = {**section.study.design.analyses.factor_levels(section.study), **definition.levels}
    words = term_words(str(rows["term"][0]).removeprefix("b_"), levels)
    is_of_odds = definition.settings.get("family", "bernoulli") in ("bernoulli", "binomial")
    compared = rows.head(1).select("model", "test", what=pl.lit(words), **_intervals())
    yield from _cells(compared, "log odds" if is_of_odds else "units of the link")


def _mean_indices(section: SectionData) -> str | None:
    rows = section.own("allocation_indices")
    if rows.is_empty():
        return None
    means = rows["si"].drop_nulls()
    if means.is_empty():
        return None
    low, high = (rounded(float(value)) for value in (means.min(), means.max()))  # type: ignore[arg-type]
    size = low if low == high else f"{low} to {high}"
    return (
        f"SI, how strictly groups are kept to classes of jobs, is {size} bits on average in "
        f"{count_text(means.len(), 'cell')}; to compare it with chance: analyze indices "
        f"--study {section.study.as_typed}."
    )


def _observed_differences(section: SectionData) -> str | None:
    rows = section.own("observed_delta_p")
    rows = rows.drop_nulls("delta_p") if rows.height else rows
    if rows.is_empty():
        return None
    ends = [100 * float(value) for value in (rows["delta_p"].min(), rows["delta_p"].max())]  # type: ignore[arg-type]
    low, high = (rounded(end, max(1, *map(abs, ends))) for end in ends)
    sides = f"{rows['reference'][0]} than in the {rows['condition'][0]}"
    return (
        f"Answers are {low if low == high else f'{low} to {high}'} percentage points more often consistent in the "
        f"{sides} condition, as observed in {count_text(rows.height, 'cell')}; intervals: analyze --fit brms "
        f"--study {section.study.as_typed}."
    )


def _answer_counts(section: SectionData) -> str | None:
    rows = section.own("outcome_counts")
    if rows.is_empty():
        return None
    n, n_models = int(rows["n_trials"].sum()), rows["model"].n_unique()
    fit = next(iter(section.study.fits), None)
    first = f"analyze --fit {fit} --study {section.study.as_typed}" if fit else "analyze tables"
    return f"{count_text(n, 'answer')} of {count_text(n_models, 'model')}; nothing is compared yet: {first}."
