"""Tables 1 and 2 and what the text says of the two models: from the fits `compliance` (is an answer valid?) and
`interference` (is a valid one consistent?), population-level, as the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.family import GRAIN, Needs, Row, long, no_numbers
from slant.analysis.paper.interference import published
from slant.analysis.paper.interference.shortfalls import beside_absent
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

STAGE_A, STAGE_B = "compliance", "interference"
_ITEM_SD = "sd_item"
_SIGN = "sign_of_block_difference"
_ENDS = ("conf_low", "conf_high")
_OF_A = (
    "compliance_percent", "sigma_item", "log_odds", "reduction_points", "least_compliance", "max_rhat", "n_divergent",
)  # fmt: skip


def printed_compliance(study: Study) -> Iterator[Row]:
    """And, of Table 2, which of its two columns is the greater one: they look exchanged."""
    rows = list(published.printed(study, _OF_A))
    yield from rows
    means: dict[tuple[str | None, str | None], list[float]] = {}
    for table, model, test, _, _, quantity, value in rows:
        if (table, quantity) == ("Table 2", "compliance_percent"):
            means.setdefault((model, test), []).append(float(value))
    for (model, test), (congruent, incongruent) in means.items():
        if congruent != incongruent:
            yield "Table 2", model, test, None, None, _SIGN, "1" if congruent > incongruent else "-1"


def printed_interference(study: Study) -> Iterator[Row]:
    return published.printed(study, ("delta_p", "p_positive"))


def needs_compliance(results: Results) -> Needs:
    return [], [Asked(STAGE_A)] if results.defines(STAGE_A) else []


def needs_interference(results: Results) -> Needs:
    return [], [Asked(STAGE_B)] if results.defines(STAGE_B) else []


def interference(results: Results) -> pl.DataFrame:
    """Table 1 and the probability that a difference is above 0."""
    tables = results.fitted(STAGE_B).tables["brms"]
    paper = tables["contrasts"].filter((pl.col("kind") == "population") & (pl.col("scale") == "delta_p"))
    cells = paper.select(*GRAIN, "model", pl.col("domain").alias("test"), "estimate", *_ENDS, "p_positive")
    table = cells.rename({"estimate": "delta_p"}).with_columns(table=pl.lit("Table 1"))
    text = cells.with_columns(table=pl.lit("text"))
    rows = pl.concat([long(table, ["delta_p", *_ENDS]), long(text, ["p_positive"])])
    return _where_converged(beside_absent(rows, results), tables["models"])


def compliance(results: Results) -> pl.DataFrame:
    """Table 2, and of the text what is of stage A."""
    found = results.fitted(STAGE_A)
    predicted = found.tables["brms"]["predictions"].filter(pl.col("kind") == "population")
    parts = [_table_2(predicted), _coefficients(found.table), _ranges(predicted), _sampling(found.tables["brms"])]
    return _where_converged(beside_absent(pl.concat(parts), results), found.tables["brms"]["models"])


def _where_converged(rows: pl.DataFrame, models: pl.DataFrame) -> pl.DataFrame:
    """What chains that did not converge say is no number of the model: null, with the verdict in `missing`. How far
    they are from it (R-hat, divergences) stays."""
    doubtful = models.filter(~pl.col("is_converged").fill_null(False)).select(*GRAIN, "verdict")
    known = rows.join(doubtful, on=GRAIN, how="left", maintain_order="left")
    is_void = pl.col("verdict").is_not_null() & ~pl.col("quantity").is_in(["max_rhat", "n_divergent"])
    said = pl.format("The fit has not converged, so that this number is not compared. {}", pl.col("verdict"))
    return known.with_columns(
        recomputed=pl.when(~is_void).then("recomputed"), missing=pl.when(is_void).then(said).otherwise("missing")
    ).select(rows.columns)


def _table_2(predicted: pl.DataFrame) -> pl.DataFrame:
    named = predicted.select(
        *GRAIN, "model", pl.col("domain").alias("test"), pl.col("block").alias("condition"),
        table=pl.lit("Table 2"), compliance_percent=100 * pl.col("estimate"),
        conf_low=100 * pl.col("conf_low"), conf_high=100 * pl.col("conf_high"),
    )  # fmt: skip
    blocks = predicted.group_by(*GRAIN, "model", pl.col("domain").alias("test"), maintain_order=True).agg(
        pl.when(pl.len() == 2).then((pl.col("estimate").first() - pl.col("estimate").last()).sign()).alias(_SIGN)
    )
    signs = long(blocks.with_columns(table=pl.lit("Table 2")), [_SIGN])
    return pl.concat([long(named, ["compliance_percent", *_ENDS]), signs])


def _coefficients(table: pl.DataFrame) -> pl.DataFrame:
    """The standard deviation of the items, and each model against the reference (treatment contrasts)."""
    of_model = pl.col("term").str.strip_prefix("model")
    is_model = pl.col("term").str.starts_with("model") & ~pl.col("term").str.contains(":", literal=True)
    chosen = table.filter(is_model | (pl.col("term") == _ITEM_SD)).with_columns(
        name=pl.when(is_model).then(pl.lit("log_odds")).otherwise(pl.lit("sigma_item")),
        model=pl.when(is_model).then(of_model),
    )
    parts = []
    for (name,), rows in chosen.group_by("name", maintain_order=True):
        ends = {end: published.name_of_end(str(name), end) for end in _ENDS}
        named = rows.select(*GRAIN, "model", "estimate", *_ENDS).rename({"estimate": str(name), **ends})
        parts.append(long(named.with_columns(table=pl.lit("text")), [str(name), *ends.values()]))
        overlaps = ((pl.col("conf_low") < 0) & (pl.col("conf_high") > 0)).cast(pl.Float64)
        if name == "log_odds":  # of Gemini the paper prints only that the interval holds 0
            held = rows.select(*GRAIN, "model", table=pl.lit("text"), holds_0=overlaps)
            parts.append(long(held, ["holds_0"]))
    return pl.concat([no_numbers(), *parts])


def _ranges(predicted: pl.DataFrame) -> pl.DataFrame:
    """The least predicted compliance, and how many points lower a model is than the reference, on average."""
    least = predicted.group_by(GRAIN, maintain_order=True).agg(least_compliance=pl.col("estimate").min())
    means = predicted.group_by(*GRAIN, "model", maintain_order=True).agg(pl.col("estimate").mean())
    reduction = means.with_columns(
        reduction_points=100 * (pl.col("estimate").first() - pl.col("estimate")).over(GRAIN), table=pl.lit("text")
    )
    return pl.concat(
        [long(least.with_columns(table=pl.lit("text")), ["least_compliance"]), long(reduction, ["reduction_points"])]
    )


def _sampling(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    diagnosed = tables["models"].select(*GRAIN, "max_rhat", "n_divergent", table=pl.lit("text"))
    return long(diagnosed, ["max_rhat", "n_divergent"])
