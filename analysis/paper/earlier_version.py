"""The earlier version of the paper (o3-mini alone): its Tables S3 to S7, and what the captions of S6 and S7 say.

Their numbers are those of the later version's tables, of the same trials; S7's models keep the refusals. A caption's
number is -1 where it says that a positive term means more tokens in the compatible condition, and 1 for the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.fits import Asked, FitResult
from slant.analysis.paper import descriptives, effect_sizes, mixed_models
from slant.analysis.paper.family import (
    GRAIN,
    KEY,
    SCHEMA,
    Needs,
    Row,
    absent_in_words,
    beside_shortfalls,
    long,
    no_numbers,
    read_printed,
)
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

_NAME = "v1 {}"
_MODELS = {"S6": ("v1_s6_mixed_models.csv", True), "S7": ("v1_s7_mixed_models_refusals_kept.csv", False)}
_SIGN = "sign_of_condition"


def printed(study: Study) -> Iterator[Row]:
    yield from effect_sizes.printed(study, "v1_s3_effect_sizes.csv", _NAME.format("S3"))
    for row in read_printed(study, "v1_s4_sampled_refusals.csv"):
        yield (_NAME.format("S4"), row["model"], None, None, _condition(row), _sampled(row), "1")
    yield from descriptives.printed(study, "v1_s5_descriptives.csv", _NAME.format("S5"))
    for table, (file, refusals_removed) in _MODELS.items():
        for row in read_printed(study, file):
            yield from mixed_models.as_printed(row, _NAME.format(table), refusals_removed)
    for row in read_printed(study, "v1_captions.csv"):
        yield (_NAME.format(row["table"]), row["model"], None, None, None, str(row["quantity"]), str(row["printed"]))


def _sampled(row: dict[str, str | None]) -> str:
    """What is asked of a refusal that the paper shows: whether the trials hold it, word, tokens and condition."""
    return f"is a refusal: {row['word']}, {row['tokens']} tokens"


def recomputed(results: Results) -> pl.DataFrame:
    """Only what is printed: other models are in the later version's tables."""
    its = pl.DataFrame(list(printed(results.study)), schema=SCHEMA, orient="row")
    if its.is_empty():
        return no_numbers()
    fits = {table: results.fitted(one.fit, one.refusals_removed, one.only) for table, one in _asked(results).items()}
    found = [
        effect_sizes.recomputed(results, _NAME.format("S3")),
        descriptives.recomputed(results, _NAME.format("S5")),
        *(mixed_models.as_numbers(fitted, pl.lit(_NAME.format(table))) for table, fitted in fits.items()),
        *(_signs(results, fitted, table) for table, fitted in fits.items()),
    ]
    whole = [beside_shortfalls(pl.concat(found), results.partial_cells), _refusals(results)]
    return pl.concat(whole).join(its, on=KEY, how="semi", nulls_equal=True, maintain_order="left")


def needs(results: Results) -> Needs:
    tables, fits = effect_sizes.needs(results)
    return [*tables, "tokens_by_condition", "cell_totals"], [*fits, *_asked(results).values()]


def _asked(results: Results) -> dict[str, Asked]:
    """The fits of Tables S6 and S7, where they are printed; of S7, with refusals kept, for the printed cells alone."""
    rows = {table: list(read_printed(results.study, file)) for table, (file, _) in _MODELS.items()}
    asked = {"S6": Asked("lme4")} if rows["S6"] else {}
    cells = {(row["model"], row["test"]) for row in rows["S7"]}
    here = [cell for cell in results.table("cell_totals").select("model", "test").unique().rows() if cell in cells]
    if here:
        models, tests = (sorted(set(names)) for names in zip(*here, strict=True))
        asked["S7"] = Asked("lme4", False, {"model": models, "test": tests})
    return asked


def _signs(results: Results, fitted: FitResult, table: str) -> pl.DataFrame:
    """1 where in every significant model a positive term goes with a positive d (more tokens when incompatible), else
    -1.
    """
    d = results.fitted("effect_size", _MODELS[table][1]).table.select(*GRAIN, "model", "test", d="estimate")
    terms = mixed_models.condition_terms(fitted).filter(pl.col("p_value") < 0.05)
    both = terms.join(d, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    is_more = (pl.col("d") > 0) == (pl.col("estimate") > 0)
    sign = pl.when(is_more.all()).then(1.0).otherwise(-1.0).alias(_SIGN)
    named = both.group_by(*GRAIN, "model", maintain_order=True).agg(sign)
    return long(named.with_columns(table=pl.lit(_NAME.format(table))), [_SIGN])


def _refusals(results: Results) -> pl.DataFrame:
    """1 where the trials hold the refusal that is shown, in the condition that is printed with it; 0 elsewhere."""
    rows = []
    tests = [test.test for test in results.study.tests]
    counted = results.table("cell_totals")
    for row in read_printed(results.study, "v1_s4_sampled_refusals.csv"):
        model, condition = str(row["model"]), _condition(row)
        is_it = (
            (pl.col("model") == model)
            & (pl.col("condition") == condition)
            & (pl.col("item") == row["word"])
            & (pl.col("tokens") == int(str(row["tokens"])))
            & (_typed(pl.col("answer")) == _typed(pl.lit(row["output"])))
        )
        found = results.refused.filter(is_it)
        for grain, here in counted.filter(pl.col("model") == model).group_by(GRAIN, maintain_order=True):
            is_here = not found.join(here.select(GRAIN).unique(), on=GRAIN, how="semi").is_empty()
            partial = results.partial_cells.join(here, on=[*GRAIN, "model", "test"], how="semi")["shortfall"]
            absent = absent_in_words([(model, test) for test in tests if test not in here["test"]], len(tests))
            absent = "; ".join([*([absent] if absent else []), *partial]) or None
            key = (_NAME.format("S4"), model, None, None, condition, _sampled(row))
            rows.append((*grain, *key, float(is_here), None if is_here else absent))
    return pl.DataFrame(rows, schema=no_numbers().schema, orient="row")


def _condition(row: dict[str, str | None]) -> str:
    return str(row["condition"]).rpartition("-")[2].lower()


def _typed(text: pl.Expr) -> pl.Expr:
    """The paper was typeset with curly apostrophes; the data have both kinds."""
    return text.str.replace_all("\u2019", "'", literal=True)
