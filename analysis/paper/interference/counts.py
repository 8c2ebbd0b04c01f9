"""Table 3, and what the text says of the design: all that counting decides."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import GRAIN, Needs, Row, long
from slant.analysis.paper.interference import published
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

_IN_TABLE_3 = ("valid_percent",)
_OF_DESIGN = (
    "n_models", "n_domains", "n_blocks", "n_categories", "n_words", "n_items", "n_trials_of_run", "n_trials",
    "coverage_percent",
)  # fmt: skip


def printed_table(study: Study) -> Iterator[Row]:
    return published.printed(study, _IN_TABLE_3)


def needs_table(_: Results) -> Needs:
    return ["compliance_by_block"], []


def table(results: Results) -> pl.DataFrame:
    """Answers that a provider forced into a schema are no part of Table 3, for they can hardly be invalid."""
    counted = results.table("compliance_by_block").filter(~pl.col("structured_output"))
    named = counted.rename({"domain": "test", "block": "condition"}).with_columns(table=pl.lit("Table 3"))
    return long(named, ["valid_percent", "n_valid", "n_trials"])


def printed_design(study: Study) -> Iterator[Row]:
    return published.printed(study, _OF_DESIGN)


def needs_design(_: Results) -> Needs:
    return ["design_counts", "consistency_by_block"], []


def design(results: Results) -> pl.DataFrame:
    """A number that is not the same in all models and domains has no row."""
    cells = results.table("design_counts").filter(~pl.col("structured_output"))
    same = {
        "n_blocks": "n_blocks", "n_categories": "n_categories", "n_items": "n_items", "n_trials_of_run": "n_trials",
    }  # fmt: skip
    of_all = cells.group_by(GRAIN, maintain_order=True).agg(
        pl.col("model").n_unique().alias("n_models"),
        pl.col("domain").n_unique().alias("n_domains"),
        pl.col("n_trials").sum().alias("n_all"),
        *(pl.when(pl.col(c).n_unique() == 1).then(pl.col(c).first()).alias(name) for name, c in same.items()),
        pl.when((pl.col("least_words") == pl.col("most_words")).all())
        .then(pl.col("most_words").max())
        .alias("n_words"),
    )
    valid = results.table("consistency_by_block").filter(~pl.col("structured_output"))
    coded = pl.col("coverage_percent") * pl.col("n_valid")
    coverage = valid.group_by(GRAIN).agg(coverage_percent=coded.sum() / pl.col("n_valid").sum())
    whole = of_all.join(coverage, on=GRAIN, how="left", maintain_order="left").with_columns(n_trials="n_all")
    return long(whole.with_columns(table=pl.lit("design")), list(_OF_DESIGN))
