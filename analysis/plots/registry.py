"""Which figures there are, and the rows that each is drawn from: for every source, version, variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.choices import newest_fits
from slant.analysis.fitting.fits import FitResult, Progress, fit
from slant.analysis.plots import figure_data, games, profiles
from slant.analysis.plots.figure_data import FigureData, FigureKind, Rows, figure_kind, figure_table
from slant.analysis.questions.checks.study_checks import same_words_rows
from slant.analysis.questions.checks.trials import has_mixed_fit
from slant.analysis.questions.games.indices import CELL
from slant.analysis.rows.cells import CONDITION_LABELS, GRAIN, LABELS
from slant.analysis.rows.views import rows_if_kept, view_rows
from slant.collector.errors import check_known
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.crossed_fits import CROSSED

_ENDS = ("estimate", "conf_low", "conf_high")


def _effect_sizes(data: FigureData) -> pl.DataFrame | None:
    if not any(definition.engine == "effect_size" for definition in data.study.fits.values()):
        return None
    sizes = fit(data.db, data.study, "effect_size", workers=data.workers, progress=data.progress)
    effects = _labelled(sizes, data)
    is_papers_own = data.study.published is not None  # its figure is as the paper drew it
    outcome = effects["outcome"].first()
    crossed = fits_of(data.study).get(CROSSED)
    if is_papers_own or crossed is None or crossed.fitted != outcome:
        return effects
    return _of_mixed_model(effects, data)


def _labelled(sizes: FitResult, data: FigureData) -> pl.DataFrame:
    """Return the first fit of the study (with refusals removed, say), in the order of the trials."""
    first = sizes.diagnostics["fit"].first()
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    measures = sizes.diagnostics.filter(pl.col("fit") == first).select(*GRAIN, "model", "test", "token_source")
    effects = sizes.table.filter(pl.col("fit") == first).drop_nulls(["model", "test"])
    for columns in (labels, measures):
        effects = effects.join(columns, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    definition = data.study.fits[str(first)]
    sides = definition.levels[definition.contrast or ""]
    reference, other = (data.study.condition_label(str(side)) for side in sides)
    return effects.with_columns(reference=pl.lit(reference), compared=pl.lit(other), outcome=pl.lit(definition.outcome))


def _of_mixed_model(effects: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the same cells by the mixed model over words and wordings, where one can be fitted: trials of one word are
    not independent, and intervals that take them for it are too narrow. In standard deviations within conditions.
    """
    crossed = fit(data.db, data.study, CROSSED, workers=data.workers, progress=data.progress)
    key = [*GRAIN, "model", "test", "refusals_removed"]
    own = crossed.tables[CROSSED]["effects"].filter(pl.col("sd") > 0)
    scaled = own.select(*key, *((pl.col(name) / pl.col("sd")).alias(f"{name}_of_model") for name in _ENDS))
    joined = effects.join(scaled, on=key, how="left", nulls_equal=True, maintain_order="left")
    is_fitted = pl.all_horizontal(pl.col(f"{name}_of_model").is_not_null() for name in _ENDS)
    chosen = [pl.when(is_fitted).then(f"{name}_of_model").otherwise(name).alias(name) for name in _ENDS]
    kind = pl.when(is_fitted).then(pl.lit("mixed_model")).otherwise(pl.lit("independent_trials"))
    return joined.with_columns(*chosen, interval=kind).drop(f"{name}_of_model" for name in _ENDS)


def _refusals(data: FigureData) -> pl.DataFrame:
    counts = [pl.len().alias("n_trials"), pl.col("is_refusal").sum().alias("n_refusals")]
    keys = [*GRAIN, *LABELS, *CONDITION_LABELS]
    return data.trials.drop_nulls("condition").group_by(keys, maintain_order=True).agg(*counts)


def _family_differences(data: FigureData) -> pl.DataFrame | None:
    """Return the last fit of each family, of the study's own measure."""
    rows = rows_if_kept(data.db, "bayes_ratios", study=data.study.name, source=data.source)
    if rows.is_empty():
        return None
    last = rows.unique([*GRAIN, "model", "test", "family"], keep="last", maintain_order=True)
    others = last.filter(pl.col("family") != "lognormal", pl.col("elpd_difference").is_not_null())
    return None if others.is_empty() else others


def _same_words(data: FigureData) -> pl.DataFrame | None:
    """Return correlations of effects at words between models, if two were asked the same test."""
    if not has_mixed_fit(data.study):
        return None
    rows = same_words_rows(data.db, data.study, data.source, data.workers)
    if rows is None:
        return None
    other_labels = data.model_labels.rename({name: name.replace("model", "other_model") for name in LABELS[:3]})
    keys = (["study_version", "model", "test"], ["study_version", "other_model"])
    for labels, on in zip((data.labels, other_labels), keys, strict=True):
        rows = rows.join(labels, on=on, how="left", maintain_order="left")
    return rows


_PEOPLE = "human"


def _of_variants(data: FigureData, view: str) -> pl.DataFrame | None:
    """Return the rows of the newest fits, of the variants that are drawn."""
    rows = data.games(view)
    if rows is None:
        return None
    shown = newest_fits(rows).filter(pl.col("game_variant").is_in(games.variants_to_draw(data)))
    return None if shown.is_empty() else shown


def _parameters(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant."""
    rows = _of_variants(data, "learner_parameters")
    if rows is None:
        return None
    return games.labelled(with_people(rows), data).with_columns(part=pl.col("variant"))


def with_people(rows: pl.DataFrame) -> pl.DataFrame:
    """Add people's rows to those of each source of models that has their variant, where they are `is_people`."""
    people = rows.filter(source=_PEOPLE).drop("source", "study_version")
    grains = rows.filter(pl.col("source") != _PEOPLE).select("source", "study_version", "game_variant").unique()
    people_rows = grains.sort(grains.columns).join(people, on="game_variant").with_columns(is_people=True)
    return pl.concat([rows, people_rows], how="diagonal").with_columns(pl.col("is_people").fill_null(False))


def _replays(data: FigureData) -> pl.DataFrame | None:
    """Return a part for each variant and model."""
    rows, played = _of_variants(data, "replayed_curves"), data.games("allocation_games")
    if rows is None or played is None:
        return None
    sizes = played.unique(CELL).select(*CELL, "n_groups")
    named = games.labelled(rows.join(sizes, on=CELL, how="left", maintain_order="left"), data)
    return named.with_columns(part=pl.concat_str("variant", "model", separator=" "))


_N = ("n_conversations", "n_trials")


def _pairing_rows(data: FigureData, figure: str) -> pl.DataFrame | None:
    """Return the rows of the view that the design names for this figure, but those of no conversation or trial."""
    labels = data.trials.select(*GRAIN, *LABELS).unique([*GRAIN, "model", "test"], maintain_order=True)
    rows = view_rows(data.db, data.study.design.analyses.figures[figure], study=data.study.name)
    rows = rows.filter(pl.col(next(name for name in _N if name in rows.columns)) > 0)
    rows = rows.join(labels, on=[*GRAIN, "model", "test"], how="inner", maintain_order="left")
    return None if rows.is_empty() else rows


def _of_view(data: FigureData, figure: str) -> pl.DataFrame | None:
    """Return the rows of the view that the design names for this figure."""
    rows = view_rows(data.db, data.study.design.analyses.figures[figure], study=data.study.name)
    return None if rows.is_empty() else rows


_ROWS: dict[str, Rows] = {
    "effect_sizes": _effect_sizes,
    "tokens": lambda data: data.trials.filter(pl.col("tokens").is_not_null() & pl.col("is_valid")),
    "refusals": _refusals,
    "token_steps": lambda data: data.trials.drop_nulls("tokens").drop("test_label", *CONDITION_LABELS),
    "same_words": _same_words,
    "family_differences": _family_differences,
    "topic_prevalence": lambda data: data.topics.get("topic_prevalence"),
    "search_k": lambda data: data.topics.get("search_k"),
    **{name: partial(_pairing_rows, figure=name) for name in ("bias", "bias_heatmap", "decisions")},
    "confusion": partial(_of_view, figure="confusion"),
    "learned_parameters": _parameters,
    "replayed_curves": _replays,
    **(profiles.CHOICE_ROWS | profiles.ROWS | figure_data.ROWS | games.ROWS),
}
# By the name that people type, in the order of a report.
FIGURES = {name: figure_kind(name, _ROWS[name]) for name in figure_table() if name in _ROWS}


def figure_kinds(study: Study) -> dict[str, FigureKind]:
    """Return FIGURES with those that the study itself names in [figures]."""
    return {**FIGURES, **games.study_figure_kinds(study)}


@dataclass(frozen=True)
class FigureRows:
    """Hold what one figure is drawn from: the rows of one source, study version and variant (of all variants, where
    `grain` has none), and the R `function` that draws it. `note`: what to say with it.

    `part`: which one it is, where a kind has several (a fit, say).
    """

    grain: dict[str, str]
    figure: str
    rows: pl.DataFrame
    note: str | None = None
    part: str | None = None
    function: str = ""


def figure_rows(
    db: str | Path,
    study: Study,
    names: Sequence[str] = (),
    source: str | None = None,
    workers: Workers = None,
    progress: Progress | None = None,
    variants: Sequence[str] = (),
) -> Iterator[FigureRows]:
    """Yield the rows of the named figures (default: of all) that the data of `study` have something for. `variants`:
    those that figures of one variant are drawn for (default: all; if variants are compared, the unchanged study).

    Raises UnknownNameError for an unknown figure or variant, RError if effect sizes must be computed without R.
    """
    kinds = figure_kinds(study)
    for name in names:
        check_known("figure", name, kinds)
    data = FigureData(Path(db), study, source, workers, progress, tuple(variants))
    grains = data.grains
    if shown := {grain["variant"] for grain in grains if "variant" in grain}:
        for variant in variants:
            check_known("variant in this database", variant, shown)
        grains = [grain for grain in grains if not variants or grain["variant"] in variants]
    own = [name for name in names or kinds if not kinds[name].is_declared or name in study.design.analyses.figures]
    rows_by_name = {name: rows for name in own if (rows := kinds[name].rows(data)) is not None}
    data_rows = {name: rows for name, rows in rows_by_name.items() if kinds[name].is_of_data}
    for grain in grains:
        for name, rows in data_rows.items():
            drawn = _beside_people(rows, grain) if kinds[name].is_declared else rows.filter(**grain)
            yield from _figures(name, kinds[name], drawn, grain, study)
    for name in rows_by_name.keys() - data_rows.keys():
        yield from _figures(name, kinds[name], rows_by_name[name], {"source": rows_by_name[name]["source"][0]}, study)


def _beside_people(rows: pl.DataFrame, grain: dict[str, str]) -> pl.DataFrame:
    """Return the rows of models with those of people who were shown the same; none for people, whom they stand by."""
    asked = {name: value for name, value in grain.items() if name != "source"}
    both = rows.filter(**asked)
    is_of_people = pl.col("source") == _PEOPLE
    if grain["source"] != _PEOPLE:
        return both.filter((pl.col("source") == grain["source"]) | is_of_people)
    return both if both.filter(~is_of_people).is_empty() else both.clear()


def _figures(
    name: str, kind: FigureKind, rows: pl.DataFrame, grain: dict[str, str], study: Study
) -> Iterator[FigureRows]:
    places = {test.test: test.test_no for test in study.tests}
    parts = rows["part"].unique(maintain_order=True).to_list() if "part" in rows.columns else [""]
    parts.sort(key=lambda part: places.get(part, len(places)))  # as the study asks them; others as they come
    function = kind.function or f"plot_{name}"
    for part in parts:
        part_rows = rows.filter(pl.col("part").eq_missing(part)) if "part" in rows.columns else rows
        if part_rows.height:
            notes: list[str] = []
            if "note" in part_rows.columns:
                notes = part_rows["note"].drop_nulls().unique(maintain_order=True).to_list()
            note, part = " ".join(notes) or None, part or None
            yield FigureRows(grain, name, part_rows.drop("note", "part", strict=False), note, part, function)
