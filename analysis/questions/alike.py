"""Compare a model with the people who answered the same items. R's alike() compares; this module collects its rows.

A person is a participant. A model answers as often as it was repeated, and each repetition is one session of it. Where
each person met profiles of their own (a conjoint), no two of which need be alike, effects of levels are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.rows.result_warnings import mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.analysis.rows.views import stored_views, view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import attributes_apart
from slant.collector.keep.view_heads import ordered_view
from slant.collector.progress.status import MAX_LOST
from slant.collector.sources import sources_that
from slant.collector.studies.catalogue import Study, fits_of

PARTS = ("differences", "spread", "order", "range", "personas")
CELL = ("source", "study_version", "variant", "model", "test")
BOUND, ALPHA, DRAWS = 0.2, 0.05, 999
_ALL_PROFILES = "all profiles"
_LEAST_SHARED = 0.5
_NO_EFFECTS = ("template", "persona", "item")
VERDICTS = ("equivalent within the bound", "differs by more than the bound", "not decided")
"""List what a comparison can come to, from the bound alone; R's words_of_verdict() has the same."""


@dataclass(frozen=True)
class Alike:
    """Hold what `alike()` found.

    summary: one row for each source, study_version, variant, model and test (a question): `difference` of the means of
    all items (model less people) with its interval, `p_equivalence`, `variance_ratio` with its interval, `wasserstein`,
    `order` (the corrected correlation), `model_outside` (the share of the model's answers outside people's central 95
    %), `share_outside` (people's outside the model's), `persona_correlation`, `persona_slope`, and `verdict` of the
    mean difference: one of VERDICTS, or null where errors are not known. differences, spread, order, range, personas:
    as R's alike() describes them. warnings: what is doubtful, in sentences.
    """

    summary: pl.DataFrame
    differences: pl.DataFrame
    spread: pl.DataFrame
    order: pl.DataFrame
    range: pl.DataFrame
    personas: pl.DataFrame
    warnings: list[str]


def can_compare(study: Study) -> bool:
    """Return True if answers of the study's design are numbers that people can give, too."""
    return bool(study.design.analyses.compared[0])


@checked_arguments()
@opens_once
def alike(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    group: str | None = None,
    bound: float = BOUND,
    alpha: float = ALPHA,
    workers: Workers = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Alike:
    """Compare each model of `study` with the people whose answers the database holds: does it answer as they do?

    `bound` is the smallest difference that would matter, in standard deviations of people's answers. `group`: what is
    known of people (an attribute that was imported by name) whose values are the study's personas, or that personas
    have as a column, too; if it is not given, the attribute that has two names of personas or more. `workers` and
    `executor` are as for `fit()`.

    Raise UsageError for a bound that is not above 0, UnknownNameError for an attribute that no person has,
    DatabaseError without answers of people or of models, RError without R.
    """
    if not (bound > 0 and 0 < alpha < 1):
        raise UsageError(f"The bound must be above 0 and alpha between 0 and 1, not {bound:g} and {alpha:g}.")
    study = study_in(db, study, can_compare, "has answers that people's could be compared with")
    view, outcome = study.design.analyses.compared
    if not view:
        raise UsageError(
            f"Answers of \"{study.name}\" can't be compared with people's: its design ({study.design.name}) "
            "doesn't turn them into numbers."
        )
    rows = _rows(db, study, view, outcome)
    people = rows.filter(source="human")
    models = rows.filter(pl.col("source").is_in(sources_that("is_of_models")))
    models = models if source is None else models.filter(source=source)
    lost = list(_lost(models, outcome))
    people, models = people.drop_nulls(outcome), models.drop_nulls(outcome)
    if people.is_empty() or models.is_empty():
        raise DatabaseError(
            f'"{db}" holds no answers of {"people" if people.is_empty() else "models"} to "{study.name}".',
            "To import answers of people: collect import FILES --layout people"
            if people.is_empty()
            else f"To collect a model's: collect --study {study.as_typed} --repetitions 30",
        )
    people, of_persona, warnings = _with_groups(people, models, db, study, group)
    calls = list(_calls(people, models, study, outcome, of_persona, bound, alpha))
    frames: dict[str, list[pl.DataFrame]] = {part: [] for part in PARTS}
    with closing(computed([call for _, call in calls], executor or workers)) as finished:
        for done, (number, answer) in enumerate(finished, start=1):
            cell = calls[number][0]
            answer.raise_error()
            for part in PARTS:
                keys = [pl.lit(value).alias(name) for name, value in cell.items()]
                frames[part].append(answer.frames[part].select(*keys, pl.all()))
            if progress:
                progress(done, len(calls))
    warnings += [*lost, *mixture_warnings(db, study.name, source, None)]
    if any(not call.about["is_shared"] for _, call in calls):
        warnings.append(
            "People and models saw different profiles: the comparison is of effects of levels and means of all "
            "profiles, not of items; errors of a model are over its profiles."
        )
    tables = {
        part: pl.concat(parts, how="diagonal_relaxed").sort(CELL, maintain_order=True) for part, parts in frames.items()
    }
    warnings += list(_messages(tables))
    return Alike(_summary(tables), **tables, warnings=warnings)


def _rows(db: str | Path, study: Study, view: str, outcome: str) -> pl.DataFrame:
    with reading(db) as connection:
        if view not in stored_views(connection):
            raise DatabaseError(f'The database has no view "{view}".', "Collect or import anything: it is made then.")
        rows = ordered_view(connection, view).filter(f"study = '{study.name}'")
        frame: pl.DataFrame = frame_of(attributes_apart(rows))
    return frame.with_columns(pl.col(outcome).cast(pl.Float64))


def _lost(models: pl.DataFrame, outcome: str) -> Iterator[str]:
    """Yield a sentence on each model and test of which more than 5 % of answers are missing."""
    is_lost = pl.col(outcome).is_null() & (pl.col("outcome") != "answered")
    counts = models.group_by("model", "test", maintain_order=True).agg(pl.len(), n=is_lost.sum())
    for model, test, n_rows, n in counts.filter(pl.col("n") > MAX_LOST * pl.col("len")).iter_rows():
        rest = "nothing is compared" if n == n_rows else "only the others are compared"
        yield f"{model}, {test}: {n:,} of {n_rows:,} answers are missing (refused, or not read); {rest}."


def _with_groups(
    people: pl.DataFrame, models: pl.DataFrame, db: str | Path, study: Study, group: str | None
) -> tuple[pl.DataFrame, str | None, list[str]]:
    """Return the people with `group`, and the column of models that has the same values: the names of personas, or what
    the study says of each persona in a column of that name; None if there is none.
    """
    personas = set(study.design.analyses.attributes(study.data).get("persona", ())) - {""}
    known = view_rows(db, "participants", study=study.name)
    pairs = known.select(
        "participant", pl.col("attributes").cast(pl.List(pl.Struct({"key": pl.String, "value": pl.String})))
    )
    pairs = pairs.explode("attributes").drop_nulls().unnest("attributes")
    names = pairs["key"].unique().sort().to_list()
    if group is not None and group not in names:
        raise UnknownNameError("attribute of people", group, names)
    fitting = [
        name for name in ([group] if group else names)
        if len(personas & set(pairs.filter(key=name)["value"].unique())) > 1
    ]  # fmt: skip
    column = "persona"
    if not fitting and group is not None and group in models.columns:
        of_personas = set(models[group].cast(pl.String).drop_nulls())
        if len(of_personas & set(pairs.filter(key=group)["value"])) > 1:
            fitting, column = [group], group
    if not fitting:
        said = [f'No two values of "{group}" are personas of the study: personas are not compared.'] if group else []
        return people.with_columns(group=pl.lit(None, pl.String)), None, said
    of_people = pairs.filter(key=fitting[0]).select("participant", group="value").unique("participant", keep="first")
    return people.join(of_people, on="participant", how="left", maintain_order="left"), column, []


def _calls(
    people: pl.DataFrame,
    models: pl.DataFrame,
    study: Study,
    outcome: str,
    of_persona: str | None,
    bound: float,
    alpha: float,
) -> Iterator[tuple[dict[str, str], Call]]:
    levels = _effects(study)
    plain = ["", *study.design.analyses.plain_personas(study.data)]
    for values, own in models.group_by(*CELL, maintain_order=True):
        cell = dict(zip(CELL, map(str, values), strict=True))
        those_of_people = people.filter(test=cell["test"], study_version=cell["study_version"], variant=cell["variant"])
        if those_of_people.is_empty():
            continue
        names = study.design.analyses.compared_items
        is_shared = share_of_shared(own, those_of_people, levels, names) >= _LEAST_SHARED
        persona = pl.col("persona") if "persona" in own.columns else pl.lit(None, pl.String)
        group = persona if of_persona is None else pl.col(of_persona).cast(pl.String)
        group = pl.when(persona.fill_null("").is_in(plain)).then(None).otherwise(group)
        item = _item(own, names) if is_shared else pl.lit(_ALL_PROFILES)
        session = pl.col("repetition").cast(pl.String) if is_shared else pl.col("item")
        sides = (
            own.with_columns(unit=pl.concat_str(session, persona.fill_null("")), group=group, is_people=False),
            those_of_people.with_columns(unit=pl.col("participant").cast(pl.String), is_people=True),
        )
        shown = {name: names for name, names in levels.items() if all(name in side.columns for side in sides)}
        columns = [side.select(*shown, "unit", "group", "is_people", outcome, item_name=item) for side in sides]
        rows = pl.concat(columns, how="vertical_relaxed").rename({"item_name": "item"})
        arguments: dict[str, Any] = {"outcome": outcome, "bound": bound, "alpha": alpha, "n_draws": DRAWS}
        if of_persona is not None and not rows.filter(~pl.col("is_people"))["group"].drop_nulls().is_empty():
            arguments["group"] = "group"
        if shown:
            arguments |= {"effects": list(shown), "levels": {name: list(names) for name, names in shown.items()}}
        yield cell, Call("alike", rows, arguments, about={"is_shared": is_shared})


def _effects(study: Study) -> Mapping[str, tuple[str | int, ...]]:
    """Return the compared attributes with their levels: those of the study's AMCE."""
    amce = next((fit for fit in fits_of(study).values() if fit.engine == "amce"), None)
    return {n: levels for n, levels in (amce.levels if amce else {}).items() if n not in _NO_EFFECTS}


def _item(rows: pl.DataFrame, names: Sequence[str]) -> pl.Expr:
    parts = [name for name in names if name in rows.columns]
    several = [name for name in parts if name == "item" or rows[name].n_unique() > 1]
    return pl.concat_str([pl.col(name).cast(pl.String) for name in several], separator=", ")


def share_of_shared(
    own: pl.DataFrame,
    those_of_people: pl.DataFrame,
    effects: Collection[str],
    items: Sequence[str] = ("item", "position"),
) -> float:
    """Return the share of people's rows whose item the model met, too: of profiles that were drawn the same name (task
    1) is the same item only with the same attributes. What never changes within a person is the person's.
    """
    within = those_of_people.group_by("participant").agg(
        pl.col(name).n_unique() for name in effects if name in those_of_people.columns
    )
    drawn = [name for name in within.columns if name in effects and name in own.columns and (within[name] > 1).any()]
    places = [name for name in items if name != "template"]  # people may have met one of several
    in_both = {*own.columns} & {*those_of_people.columns}
    keys = list(dict.fromkeys(name for name in (*places, *drawn) if name in in_both))
    shared = those_of_people.join(own.select(keys).unique(), on=keys, how="semi", nulls_equal=True)
    return shared.height / those_of_people.height


def _messages(tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Yield the messages of R about comparisons, each once with all models that it is about."""
    said: dict[str, list[str]] = {}
    for part, table in tables.items():
        warned = table.filter(pl.col("messages").is_not_null() & (pl.col("messages") != "")).unique([*CELL, "messages"])
        for row in warned.sort(CELL).to_dicts():
            said.setdefault(f"{part}: {row['messages']}", []).append(f"{row['model']}, {row['test']}")
    for text, cells in said.items():
        yield f"{'; '.join(dict.fromkeys(cells))}. {text[0].upper()}{text[1:]}"


def _summary(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row per model and test. Its verdict depends on the bound alone; the range is a separate statement."""
    whole = tables["differences"].filter(kind="all")
    rows = whole.select(
        *CELL, "n_model", "n_people", "mean_model", "mean_people",
        "difference", "conf_low", "conf_high", "p_value", "bound", "p_equivalence", verdict="finding",
    )  # fmt: skip
    spread = tables["spread"].filter(pl.col("item").is_null() & (pl.col("status") != "failed"))
    outside = tables["range"].filter(pl.col("item").is_null() & (pl.col("status") != "failed"))
    joined = [
        spread.select(
            *CELL, "variance_ratio", "ratio_low", "ratio_high", "p_ratio", "wasserstein", "expected", "p_wasserstein"
        ),
        outside.select(*CELL, "model_outside", "share_outside", p_range="p_value"),
        tables["order"].select(*CELL, order="corrected", order_low="conf_low", order_high="conf_high"),
        tables["personas"].select(*CELL, persona_correlation="correlation", persona_slope="slope"),
    ]
    for part in joined:
        rows = rows.join(part, on=CELL, how="left", maintain_order="left")
    return rows.select(pl.exclude("verdict"), "verdict")


def verdict_sentence(row: Mapping[str, Any]) -> str:
    """Return the sentence for a row of the summary: the verdict on its means, and its range."""
    measured = f"difference of means {row['difference']:z.2f}, bound {row['bound']:.2f}"
    said = f"{row['verdict']} on these items, in this wording ({measured})"
    if row["model_outside"] is None:
        return f"{said}."
    return f"{said}; {100 * row['model_outside']:.0f} % of its answers lie outside people's central 95 %."
