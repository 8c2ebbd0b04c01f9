"""Say for a paper's methods section how the estimands of a factorial study were computed: what is estimated, over which
clusters errors are, and why, with which interval, degrees of freedom and correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.collector.provenance.methods import listed
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.records import Fit

ESTIMANDS = {
    "amce": "average marginal component effects (the difference that a level makes to the outcome against its "
    "reference level, averaged over all other attributes)",
    "marginal_means": "marginal means (the mean outcome at each level, averaged over all other attributes)",
    "mean_contrasts": "differences between marginal means, for each pair of levels",
    "amie": "average marginal interaction effects (what a pair of levels adds to the sum of their separate effects)",
    "impact_ratio": "adverse impact ratios (each level's rate divided by that of its reference)",
}
_CORRECTIONS = {"holm": "Holm's method", "bonferroni": "Bonferroni's method", "BH": "Benjamini and Hochberg's method"}
_OUTCOMES = {"measured": "the answer as a number", "chosen": "the choice"}


def analysis_paragraph(study: Study, results: Mapping[str, FitResult]) -> str | None:
    """Return the paragraph on those fits that were made; None if none of them is of an estimand."""
    planned = fits_of(study)
    made = {
        name: result
        for name, result in results.items()
        if result.engine in ESTIMANDS and name in planned and result.table.height
    }
    if not made:
        return None
    sentences = [_estimand(planned[name], [planned[other].levels for other in same]) for name, same in _by_engine(made)]
    return " ".join(["For each model and question we estimated:", "; ".join(sentences) + ".", *_errors(made, planned)])


def _by_engine(made: Mapping[str, FitResult]) -> Iterator[tuple[str, list[str]]]:
    """Yield the first fit of each engine, and all of it: interactions are one fit for each pair of attributes."""
    for engine in ESTIMANDS:
        if names := [name for name, result in made.items() if result.engine == engine]:
            yield names[0], names


def _estimand(fit: Fit, levels: Sequence[Mapping[str, Sequence[str | int]]]) -> str:
    attributes = listed(dict.fromkeys(name.replace("_", " ") for these in levels for name in these))
    outcome = _OUTCOMES.get(fit.outcome or "", fit.outcome or "the answer")
    return f"{ESTIMANDS[fit.engine]} of {attributes} on {outcome}"


def _errors(made: Mapping[str, FitResult], planned: Mapping[str, Fit]) -> Iterator[str]:
    clusters = pl.concat([result.diagnostics.select("optimiser") for result in made.values()])["optimiser"]
    said = [text.removeprefix("closed form, ").removeprefix("clusters: ") for text in clusters.drop_nulls().unique()]
    if said:
        independent = "rows independent"
        groups = [text for text in sorted(said) if text != independent]
        by = "" if any(" by " in text.partition("(")[0] for text in groups) else " by"  # "gender by name (…)"
        yield f"Standard errors are clustered{by or ':'} {'; '.join(groups)}." if groups else "Rows are independent."
    df = pl.concat([result.table.select(pl.col("df").cast(pl.Float64)) for result in made.values()])["df"].drop_nulls()
    if df.len():
        low, high = float(df.min()), float(df.max())  # type: ignore[arg-type]
        span = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"
        yield f"95 % intervals and p values are by the t distribution with {span} degrees of freedom."
    corrected = {
        str(planned[name].settings.get("correction", "holm"))
        for name, result in made.items()
        if result.engine == "mean_contrasts"
    }
    methods = [_CORRECTIONS[name] for name in sorted(corrected) if name in _CORRECTIONS]
    if methods:
        yield (
            f"The p values of differences between levels are also given corrected by {listed(methods)} for all pairs "
            "compared in the same model and question; other p values, and intervals, are not corrected."
        )
    else:
        yield "Neither p values nor intervals are corrected for multiple testing."
