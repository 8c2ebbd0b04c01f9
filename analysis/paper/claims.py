"""The numbers in the text of a paper ("t005 max_reasoning_tokens" in the place "text"): each is a quantity of the cells
that it speaks of. A cell is one model in one test; which models "others" are stands in published_scopes.csv.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import FitRequest
from slant.analysis.paper.numbers import Numbers, absent_in_words, frame_of_numbers
from slant.analysis.paper.published import TEXT, published_numbers, scopes
from slant.analysis.paper.results import GRAIN, Results
from slant.collector.studies.catalogue import Study

_ALL = "all"
_CELL = [*GRAIN, "model", "test"]
_MODEL = [*GRAIN, "model"]
Claim = dict[str, Any]
Models = Mapping[str, list[str]]


def _share_pct(part: str, whole: str) -> pl.Expr:
    return 100 * pl.col(part).sum() / pl.col(whole).sum()


def _mean(place: str) -> pl.Expr:
    return pl.col(f"tokens_{place}").sum() / pl.col(f"n_tokens_{place}").sum()


def _n_tests(is_counted: pl.Expr) -> pl.Expr:
    return pl.col("test").filter(is_counted).n_unique()


_is_significant = pl.col("p") < 0.05
# Significantly more tokens when incompatible: in all models that the claim names, and in no other model of the paper.
_only_they_need_more = pl.col("needs_more").all().over("test") & (
    pl.col("n_models_that_need_more") == pl.len().over("test")
)

QUANTITIES: dict[str, pl.Expr] = {
    "n_models": pl.col("model").n_unique(),
    "n_tests": pl.col("test").n_unique(),
    "n_prompts": pl.col("n_wordings").max(),
    "api_calls": pl.col("n_trials").sum().over("model").min(),
    "tokens_multiple_of": pl.col("step").min(),
    "max_reasoning_tokens": pl.col("max_tokens").max(),
    "refusals_total": pl.col("n_refusals").sum(),
    "refusal_rate_pct": _share_pct("n_refusals", "n_trials"),
    "refusals_in_race_tests_pct": 100
    * pl.col("n_refusals").filter(pl.col("test").str.starts_with("race_")).sum()
    / pl.col("n_refusals").sum(),
    "refusals_compatible_pct": _share_pct("n_refusals_first", "n_refusals"),
    "refusals_incompatible_pct": _share_pct("n_refusals_second", "n_refusals"),
    "b": pl.col("b").first(),
    "p": pl.col("p").first(),
    "min_b": pl.col("b").min(),
    "max_p": pl.col("p").max(),
    "n_tests_all_models_significant": _n_tests(_only_they_need_more),
    "n_tests_four_models_significant": _n_tests(_only_they_need_more),
    "d_refusals_removed": pl.col("d_removed").first(),
    "d_refusals_kept": pl.col("d_kept").first(),
    "min_significant_d": pl.col("d_removed").filter(_is_significant).min(),
    "max_significant_d": pl.col("d_removed").filter(_is_significant).max(),
    "n_significant_tests": _n_tests(_is_significant),
    "iat_mentions": pl.col("n_mentions_first").sum() + pl.col("n_mentions_second").sum(),
    "iat_mentions_compatible": pl.col("n_mentions_first").sum(),
    "iat_mentions_incompatible": pl.col("n_mentions_second").sum(),
    "iat_mention_pct": 100
    * (pl.col("n_mentions_first").sum() + pl.col("n_mentions_second").sum())
    / pl.col("n_answers").sum(),
    "welch_t": pl.col("welch_t").first(),
    "welch_df": pl.col("welch_df").first(),
    "welch_p": pl.col("welch_p").first(),
    "extra_tokens_pct": 100 * (_mean("second") / _mean("first") - 1),
}  # fmt: skip

OF_ANY_MODEL = ("n_tests", "n_prompts")
"""Quantities of the design: one model that shows a test is enough."""
OF_ANY_TEST = ("n_models",)
"""And here one test that shows a model."""
EXTREMES = ("min_b", "max_p")
"""The least or greatest of several models: a whole one that breaks a printed bound is enough to contradict it."""


def read_claims(study: Study) -> list[Claim]:
    """The numbers of the text, each with the `name` of its quantity: two claims may be about the same."""
    rows = published_numbers(study).filter(table=TEXT).to_dicts() if study.published else []
    return [{**row, "name": row["quantity"].partition(" ")[2]} for row in rows if " " in row["quantity"]]


def models_named(study: Study) -> dict[str, list[str]]:
    return {name: [model for model, _ in cells] for name, cells in scopes(study).items()}


def _fits(results: Results) -> list[FitRequest]:
    fits = {fit.engine: fit.name for fit in reversed(list(results.study.fits.values()))}
    wanted = [("lme4", True), ("effect_size", True), ("effect_size", False), ("welch", False)]
    return [FitRequest(fits[engine], removed) for engine, removed in wanted if engine in fits]


def _recomputed(results: Results) -> pl.DataFrame:
    """Every claim whose quantity is known here and that has at least one cell; `missing` says which it lacks."""
    models, rows = models_named(results.study), []
    tests = [test.test for test in results.study.tests]
    cells = _cells(results, models.get(_ALL, []))
    cells = cells.join(results.partial_cells, on=_CELL, how="left", maintain_order="left")
    for grain, group in cells.group_by(GRAIN, maintain_order=True):
        for claim in read_claims(results.study):
            number, missing = _number(claim, group, models, tests)
            if number is not None or missing is not None:
                rows.append((*grain, claim["model"], claim["test"], None, None, claim["quantity"], number, missing))
    return frame_of_numbers(rows)


def _number(claim: Claim, group: pl.DataFrame, models: Models, tests: list[str]) -> tuple[float | None, str | None]:
    quantity = QUANTITIES.get(claim["name"])
    if quantity is None:
        return None, None
    name = claim["model"] or _ALL
    wanted = pl.DataFrame({"model": models.get(name, [name])}).join(
        pl.DataFrame({"test": [claim["test"]] if claim["test"] else tests}), how="cross"
    )
    in_scope = wanted.join(group, on=["model", "test"], how="left", maintain_order="left")
    needed = {"n_trials", *quantity.meta.root_names()} - {"model", "test"}
    is_here = pl.all_horizontal(pl.col(column).is_not_null() for column in needed)
    here, absent = in_scope.filter(is_here), in_scope.filter(~is_here)
    partial = _partial(here, claim["name"])
    if claim["name"] in EXTREMES and partial.len():  # else the estimate of a part could contradict a bound
        here = here.filter(pl.col("shortfall").is_null())
        if here.is_empty():
            return None, f"All of its cells are here only in part. Not here: {'; '.join(partial)}."
    if claim["name"] in OF_ANY_MODEL:
        nowhere = absent.join(here, on="test", how="anti", maintain_order="left")
        absent = nowhere.unique("test", keep="first", maintain_order=True).with_columns(model=pl.lit("any model"))
    elif claim["name"] in OF_ANY_TEST:
        absent = absent.join(here, on="model", how="anti", maintain_order="left")
    if here.is_empty():
        return None, None
    missing = absent_in_words(absent.select("model", "test").iter_rows(), wanted["test"].n_unique())
    return here.select(quantity).item(), "; ".join([*([missing] if missing else []), *partial]) or None


def _partial(here: pl.DataFrame, quantity: str) -> pl.Series:
    """What of these cells is not here. Of a quantity of the design, one whole model or test is enough."""
    partial = here.drop_nulls("shortfall")
    same = {**dict.fromkeys(OF_ANY_MODEL, "test"), **dict.fromkeys(OF_ANY_TEST, "model")}.get(quantity)
    if same:
        partial = partial.join(here.filter(pl.col("shortfall").is_null()), on=same, how="anti", maintain_order="left")
    return partial["shortfall"]


def _cells(results: Results, models: list[str]) -> pl.DataFrame:
    """The cells of these models, the paper's own: another one, such as its pilot, is in no claim.

    Beside the columns of claim_counts: b and p (mixed model), d_removed and d_kept, welch_t, welch_df and welch_p (of
    the model, the same in each of its tests), and `needs_more` (significantly more tokens when incompatible) with the
    number of models for which that holds in this test.
    """
    frame = results.view("claim_counts").drop("study").filter(pl.col("model").is_in(models))
    sizes = results.view("recomputed_effect_sizes").filter(quantity="d")
    for part in (
        _wide(results.view("recomputed_mixed_models").filter("refusals_removed"), {"b": "estimate", "p": "p"}),
        _wide(sizes.filter("refusals_removed"), {"d_removed": "d"}),
        _wide(sizes.filter(~pl.col("refusals_removed")), {"d_kept": "d"}),
    ):
        frame = frame.join(part, on=_CELL, how="left", maintain_order="left")
    frame = frame.join(_refusal_lengths(results), on=_MODEL, how="left", maintain_order="left")
    frame = frame.with_columns(needs_more=(pl.col("b") > 0) & (pl.col("p") < 0.05))
    return frame.with_columns(n_models_that_need_more=pl.col("needs_more").sum().over(*GRAIN, "test"))


def _wide(rows: pl.DataFrame, names: Mapping[str, str]) -> pl.DataFrame:
    """One row a cell, a column for each of these quantities."""
    values = [pl.col("recomputed").filter(quantity=quantity).first().alias(name) for name, quantity in names.items()]
    return rows.group_by(_CELL).agg(values)


def _refusal_lengths(results: Results) -> pl.DataFrame:
    """Refusals against all other answers of the model. A model with fewer than two refusals has none of it."""
    names = {"welch_t": "statistic", "welch_df": "df", "welch_p": "p_value"}
    fit = next((fit.name for fit in results.study.fits.values() if fit.engine == "welch"), None)
    if fit is None:
        return pl.DataFrame(schema={**dict.fromkeys(_MODEL, pl.String), **dict.fromkeys(names, pl.Float64)})
    return results.fitted(FitRequest(fit, False)).table.select(*_MODEL, **names)


NUMBERS = Numbers(
    "claims", (*QUANTITIES,), _recomputed, ("refusal_counts",), _fits,
)  # fmt: skip
