"""The methods of a factorial study name estimand, cluster, interval, degrees of freedom and correction; only a work is
cited."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from slant.analysis import fit
from slant.analysis.pages.html_report import made_fits
from slant.collector import collect
from slant.collector.provenance.methods import estimand_paragraph, is_citation
from slant.collector.studies.catalogue import Study
from tests.support.commands import run_collect
from tests.support.tiny_audit import audit


def analysis_paragraph(study: Study, results: Mapping[str, Any]) -> str | None:
    return estimand_paragraph(study, made_fits(results))


def made(engine: str, clusters: str, *df: float) -> Any:
    return SimpleNamespace(
        engine=engine,
        table=pl.DataFrame({"df": df}, schema={"df": pl.Float64}),
        diagnostics=pl.DataFrame({"optimiser": [f"closed form, clusters: {clusters}"]}),
    )


def test_estimands_clusters_intervals_df_and_correction_are_named(tmp_path: Path) -> None:
    by_name = "name (gender is a property of name)"
    results = {"amce": made("amce", by_name, 5.6, 7.2), "mean_contrasts": made("mean_contrasts", by_name, 6.0)}
    text = analysis_paragraph(audit(tmp_path), results)
    assert text is not None
    for said in (
        "average marginal component effects",
        "of gender, job and template on the answer as a number",
        f"clustered by {by_name}.",
        "95 % intervals",
        "6 to 7 degrees of freedom",
        "corrected by Holm's method",
    ):
        assert said in text


def test_without_contrasts_nothing_is_said_to_be_corrected_and_other_fits_have_no_paragraph(tmp_path: Path) -> None:
    study = audit(tmp_path)
    assert "Neither p values nor intervals are corrected" in str(
        analysis_paragraph(study, {"amce": made("amce", "item", 11)})
    )
    each = "gender by name (a property); job by item (as it was shown)"
    assert f"clustered: {each}." in str(analysis_paragraph(study, {"amce": made("amce", each, 11)}))
    more = "gender by name (a property); job and template by item (as it was shown)"
    both = {"amce": made("amce", each, 11), "marginal_means": made("marginal_means", more, 11)}
    assert f"clustered: {more}." in str(analysis_paragraph(study, both))  # each cluster once
    assert analysis_paragraph(study, {"rating": made("lme4", "item", 11), "amce": made("amce", "item")}) is None


@pytest.mark.parametrize(
    ("source", "is_cited"),
    [
        ("Lee & Lai (2025), Implicit Bias-Like Patterns in Reasoning Models", True),
        ("Wu, Liu, Bai & Griffiths, Large Language Models Develop Novel Social Biases", True),
        ("https://osf.io/abcde", True),
        ("Names and texts are slant's own", False),
        ("our contract", False),
        ("", False),
        (None, False),
    ],
)
def test_a_source_is_cited_if_it_names_a_work(source: str | None, is_cited: bool) -> None:
    assert is_citation(source) is is_cited


@pytest.mark.slow
def test_the_shell_prints_the_paragraph_of_the_fits_that_are_kept(tmp_path: Path) -> None:
    study, db = audit(tmp_path), tmp_path / "a.duckdb"
    collect(db, study, simulated=True)
    assert "we estimated" not in run_collect("methods", "--db", db).stdout
    fit(db, study, "mean_contrasts")
    said = run_collect("methods", "--db", db).stdout
    assert "For each model and question we estimated: differences between marginal means" in said
    for part in ("clustered", "degrees of freedom", "corrected by Holm's method"):
        assert part in said
