"""Say for a paper's methods section how the estimands of a factorial study were computed: what is estimated, over which
clusters errors are, and why, with which interval, degrees of freedom and correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slant.collector.errors import SlantError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.provenance.methods import listed
from slant.collector.provenance.run_history import Row
from slant.collector.studies.catalogue import Study, fits_of, load_study
from slant.collector.study.records import Fit
from slant.collector.system.shipped_files import sql_query

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


@dataclass(frozen=True)
class MadeFit:
    """Hold what a fit that was made says of its errors: its engine, `clusters` in words (by cell), and the smallest and
    largest degrees of freedom of its estimates (None if it has none)."""

    engine: str
    clusters: Sequence[str]
    df: tuple[float, float] | None


def stored_estimands(db: Path, run: Row) -> str | None:
    """Return the paragraph on the fits of the run's study that the database holds; None without one, and for a study
    whose text is not here."""
    with reading(db) as connection:
        of_run = {name: run[name] for name in ("study", "source", "variant")}
        rows = frame_of(connection.sql(sql_query("errors_of_estimands"), params=of_run)).to_dicts()
    if not rows:
        return None
    try:
        study = load_study(run["study"], db=db)
    except SlantError:
        return None
    made = {
        row["fit"]: MadeFit(row["engine"], row["clusters"], None if row["low"] is None else (row["low"], row["high"]))
        for row in rows
    }
    return estimand_paragraph(study, made)


def estimand_paragraph(study: Study, fits: Mapping[str, MadeFit]) -> str | None:
    """Return the paragraph on those fits, by name; None if none of them is of an estimand."""
    planned = fits_of(study)
    made = {name: fit for name, fit in fits.items() if fit.engine in ESTIMANDS and name in planned}
    if not made:
        return None
    sentences = [_estimand(planned[name], [planned[other].levels for other in same]) for name, same in _by_engine(made)]
    return " ".join(["For each model and question we estimated:", "; ".join(sentences) + ".", *_errors(made, planned)])


def _by_engine(made: Mapping[str, MadeFit]) -> Iterator[tuple[str, list[str]]]:
    """Yield the first fit of each engine, and all of it: interactions are one fit for each pair of attributes."""
    for engine in ESTIMANDS:
        if names := [name for name, fit in made.items() if fit.engine == engine]:
            yield names[0], names


def _estimand(fit: Fit, levels: Sequence[Mapping[str, Sequence[str | int]]]) -> str:
    attributes = listed(dict.fromkeys(name.replace("_", " ") for these in levels for name in these))
    outcome = _OUTCOMES.get(fit.outcome or "", fit.outcome or "the answer")
    return f"{ESTIMANDS[fit.engine]} of {attributes} on {outcome}"


def _errors(made: Mapping[str, MadeFit], planned: Mapping[str, Fit]) -> Iterator[str]:
    texts = {text for fit in made.values() for text in fit.clusters}
    said = [text.removeprefix("closed form, ").removeprefix("clusters: ") for text in texts]
    if said:
        independent = "rows independent"
        groups = [text for text in sorted(said) if text != independent]
        by = "" if any(" by " in text.partition("(")[0] for text in groups) else " by"  # "gender by name (…)"
        yield f"Standard errors are clustered{by or ':'} {'; '.join(groups)}." if groups else "Rows are independent."
    spans = [fit.df for fit in made.values() if fit.df is not None]
    if spans:
        low, high = min(span[0] for span in spans), max(span[1] for span in spans)
        span = f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"
        yield f"95 % intervals and p values are by the t distribution with {span} degrees of freedom."
    corrected = {
        str(planned[name].settings.get("correction", "holm"))
        for name, fit in made.items()
        if fit.engine == "mean_contrasts"
    }
    methods = [_CORRECTIONS[name] for name in sorted(corrected) if name in _CORRECTIONS]
    if methods:
        yield (
            f"The p values of differences between levels are also given corrected by {listed(methods)} for all pairs "
            "compared in the same model and question; other p values, and intervals, are not corrected."
        )
    else:
        yield "Neither p values nor intervals are corrected for multiple testing."
