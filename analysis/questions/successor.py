"""Compare what a study finds in two models, or in one before and after: does it carry over to the successor?

R's compare_successor() has the numbers; this module says whose answers they are, and pairs them by prompt.

A pair is a prompt (of profiles, one of them). What is measured, by which levels it can differ and over which clusters
its errors are comes from the study's own fit of its levels; of a study without one from its conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answer_of
from slant.analysis.calls.executors import Workers
from slant.analysis.questions.alike import ALPHA, VERDICTS
from slant.analysis.rows.cells import read_rows
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.cost.estimate import MEASURES, bounds_of, measured_by
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.database import fetched_frame
from slant.collector.providers.lifecycles import follows, lifecycle_of
from slant.collector.records import WITHOUT_ANSWER
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

RATES = ("answered", "refused")
"""List what is compared of all trials besides what the study measures: shares of them."""
OF_TRIALS: Mapping[str, pl.Expr] = {
    "answered": pl.col("outcome") == "answered",
    "refused": pl.col("is_refusal"),
    "output_tokens": pl.col("output_tokens"),
    "cost_usd": pl.col("cost_usd"),
}
"""Give the columns of each trial that every study has, by the name of the measure."""
HAS_FIXED_MEAN = pl.col("measure") == MEASURES["profile"]
"""Select choices among profiles: one of them is always chosen, whatever a model prefers."""
RATE = "rate"
_NUISANCE = ("item", "template")
PROMPT = ("variant", "test", "condition", "item", "wording", "position", "prompt_hash")
"""List the columns that tell prompts apart."""


def can_pair(study: Study) -> bool:
    """Return True if answers of the study are numbers that prompts decide: no games, no coded texts."""
    return bool(measured_by(study)[0])


@dataclass(frozen=True)
class MeasuredAnswers:
    """Hold the answers of one database, of every occasion. trials: a row per trial, as the query trials_to_pair has
    them, with the levels that it showed. rows: a row per answer and measure (those of OF_TRIALS, too): the trial's
    columns, `position` (of a profile), `measure` and `value`. arguments: what R's compare_successor() takes of the
    study."""

    trials: pl.DataFrame
    rows: pl.DataFrame
    arguments: Mapping[str, Any]
    shown: tuple[str, ...]


def measured_answers(db: Path, study: Study, source: str | None) -> MeasuredAnswers:
    """Read them. Raise UsageError of a study whose answers are not paired by prompts."""
    if not can_pair(study):
        raise UsageError(
            f'Answers of "{study.name}" can\'t be paired by prompt: its design ({study.design.name}) has no number '
            "that a prompt alone decides.",
            "Games are compared by: analyze differences; how stable choices and codes are: analyze retest",
        )
    fit = _fit_of_levels(study)
    arguments = _arguments(fit)
    trials = fetched_frame(db, sql_query("trials_to_pair"), {"study": study.name, "source": source})
    view = read_rows(db, study.name, [fit], None, later_occasions=True).frame
    declared = arguments["declared"]
    named = (*arguments["attributes"], *declared.get("properties", {}).values(), *declared.get("cells", ()))
    named = (*named, *declared.get("prompt", ()), *arguments.get("material", ()))
    shown = tuple(
        name for name in dict.fromkeys(named) if name in view.columns and name not in (*trials.columns, "position")
    )
    levels = view.unique("trial_id", keep="first", maintain_order=True).select("trial_id", *shown)
    trials = trials.join(levels, on="trial_id", how="left", maintain_order="left")
    for column, allowed in fit.where.items():
        view = view.filter(pl.col(column).cast(pl.String).is_in(allowed))
    for flag in fit.drop_flags:
        view = view.filter(~pl.col(flag).fill_null(value=False))
    kind = pl.col("kind").replace(MEASURES) if "kind" in view.columns else pl.lit(fit.outcome)
    position = pl.col("position").cast(pl.Int64) if "position" in fit.by else pl.lit(1, pl.Int64)
    value = pl.col(str(fit.outcome)).cast(pl.Float64)
    values = view.select("trial_id", "test", *shown, position=position, measure=kind, value=value)
    rows = values.join(trials.drop("test", *shown), on="trial_id", maintain_order="left")
    own = trials.with_columns(position=pl.lit(1, pl.Int64))
    of_trials = [own.with_columns(measure=pl.lit(name), value=OF_TRIALS[name].cast(pl.Float64)) for name in OF_TRIALS]
    return MeasuredAnswers(trials, pl.concat([rows, *of_trials], how="diagonal_relaxed"), arguments, shown)


def _arguments(fit: Fit) -> dict[str, Any]:
    settings = {name: fit.settings[name] for name in ("linked", "material") if name in fit.settings}
    declared = dict(fit.settings.get("declared", {}))
    if "prompt" in declared:
        declared["prompt"] = [name for name in declared["prompt"] if name != "respondent"]
    cluster = fit.settings.get("cluster", ["item", "wording"])
    shown = {name: list(levels) for name, levels in fit.levels.items()}
    return {
        "attributes": list(shown), "levels": shown, "cluster": "item" if cluster == "respondent" else cluster,
        "declared": declared, **settings,
    }  # fmt: skip


def _fit_of_levels(study: Study) -> Fit:
    """Return the study's own comparison of levels, with the columns that name a profile; else that of conditions."""
    view, outcome = measured_by(study)
    fits = [fit for fit in fits_of(study).values() if fit.view == view]
    by = ("model", "test", "trial_id")
    for engine in ("paired", "amce", "marginal_means"):
        for fit in fits:
            if fit.engine == engine and "respondent" not in fit.settings:
                own = {name: known for name, known in fit.levels.items() if name not in _NUISANCE}
                return replace(fit, outcome=outcome, by=(*by, "position"), levels=own)
    conditions = tuple(condition.condition for condition in study.conditions)
    flags = next((fit.drop_flags for fit in fits if fit.engine == "crossed"), ())
    levels: Mapping[str, tuple[str, ...]] = {"condition": conditions} if len(conditions) > 1 else {}
    return Fit("levels", "amce", view, None, outcome, None, by, levels, (), flags, {}, WITHOUT_ANSWER)


_KEYS = ("source", "old_model", "new_model", "variant", "test", "measure")
_IN_WORDS = ("equivalent", "different", "not decided")
_NAMED = 3


@dataclass(frozen=True)
class Successor:
    """Hold what `successor()` found.

    table: a row per pair of models, variant, test, measure (of the study, and the rates answered and refused) and term
    (the mean, and each level), as R's compare_successor() describes them. unpaired: prompts that only one side was
    asked, a row each. n_prompts: how many both were. summary, paragraph: the verdicts in a sentence, and all of it for
    a paper. warnings: what is doubtful, in sentences.
    """

    table: pl.DataFrame
    unpaired: pl.DataFrame
    n_prompts: int
    summary: str
    paragraph: str
    warnings: list[str]


@checked_arguments()
def successor(
    old: str | Path,
    new: str | Path,
    db: str | Path = "slant.duckdb",
    study: str | Study | None = None,
    source: str | None = None,
    bound: Sequence[str] = (),
    alpha: float = ALPHA,
    workers: Workers = None,
    executor: Executor | None = None,
) -> Successor:
    """Compare each mean and each effect of a level in the answers of `old` and `new` to the same prompts.

    Either is a database, or a model or run of `db`; FILE:MODEL is a model of a file. Files with
    several models are compared model by model. `bound`: the smallest difference that would matter, "0.2" or by measure,
    "rating=0.2", "rate=0.05" (of answers and refusals); default: half the smallest effect that the study names; without
    either there are intervals, and no verdict.

    Raise UsageError for a study whose answers are not paired by prompt, DatabaseError if no prompt is the same,
    UnknownNameError for an unknown model, RError without R.
    """
    files = [file_of_side(str(side), Path(db)) for side in (old, new)]
    chosen = study_in(files[0][0], study, can_pair, "has answers that are paired by prompt")
    answers = [measured_answers(path, chosen, source) for path in dict.fromkeys(path for path, _ in files)]
    sides = [
        _side(answers[0 if number == 0 else -1], name, str(files[number][0])) for number, (_, name) in enumerate(files)
    ]
    pairs = _models(sides, [str(old), str(new)])
    bounds = bounds_of(chosen, bound)
    by_hash = not chosen.design.asks.has_turns(chosen) and all(
        (rows.height > 0 and rows["prompt_hash"].null_count() == 0) for rows in sides
    )
    key = [*(name for name in PROMPT if by_hash or name != "prompt_hash"), *answers[0].shown, "measure"]
    parts, unpaired = [], []
    value = pl.col("value")
    mean_and_error = (value.mean(), (value.std() / pl.len().sqrt()).alias("error"))
    for one, other in pairs:
        means = [
            rows.filter(model=model).drop_nulls("value").group_by(key, maintain_order=True).agg(*mean_and_error)
            for rows, model in zip(sides, (one, other), strict=True)
        ]
        names = {"old_model": pl.lit(one), "new_model": pl.lit(other)}
        joined: pl.DataFrame = means[0].join(means[1], on=key, nulls_equal=True, suffix="_new", maintain_order="left")
        kinds = " and ".join(pl.concat(sides)["source"].unique().sort())
        joined = joined.rename({"value": "old", "value_new": "new", "error": "old_error", "error_new": "new_error"})
        parts.append(joined.select(pl.all(), pl.lit(kinds).alias("source"), **names))
        unpaired += [part.select(pl.all(), **names) for part in _alone(means, [name for name in key if name in PROMPT])]
    rows, alone = pl.concat(parts), pl.concat(unpaired)
    if rows.is_empty():
        raise DatabaseError(
            f'No prompt of "{chosen.name}" was answered by both {old} and {new}.',
            f"To ask the new model what the old one was: collect successor {chosen.as_typed} --from {old} --to {new}",
        )
    rows = _without_complements(rows)
    measures = rows["measure"].unique().to_list()
    limits = {name: bounds.get(name, bounds.get(RATE if name in RATES else "")) for name in measures}
    known = {name: limit for name, limit in limits.items() if limit is not None}
    arguments = {**answers[0].arguments, "by": list(_KEYS), "alpha": alpha, "bound": known or None}
    arguments["rates"] = list(RATES)
    table = answer_of(Call("compare_successor", rows, arguments), executor or workers).frames[""]
    table = table.filter(~(HAS_FIXED_MEAN & (pl.col("term") == "mean")))
    n_prompts = rows.filter(measure=rows["measure"][-1]).height
    warnings = [*_warnings(table, alone, by_hash, sides), *_ends(sides, pairs)]
    summary = summary_sentence(table)
    return Successor(table, alone, n_prompts, summary, _paragraph(chosen, table, n_prompts, alone, summary), warnings)


def successors_in(served: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return source, old and new model of each two models of one name in the table served_models: the same but for the
    date of a snapshot (the later one is new), or the successor that a provider names."""
    asked = served.sort("requested_model", "first_done_at").unique(
        ["source", "model"], keep="first", maintain_order=True
    )
    pairs = permutations(asked.select("source", "model", "provider", "requested_model").drop_nulls().iter_rows(), 2)
    found = {
        frozenset((old[1], new[1])): (old[0], old[1], new[1])
        for old, new in reversed(list(pairs))  # of two that follow each other by their names, the first in order is old
        if old[0] == new[0] and follows(new[2:], old[2:])
    }
    return sorted(found.values())


def file_of_side(side: str, db: Path) -> tuple[Path, str | None]:
    """Return the file that a side is in, and the model or run that it names."""
    if Path(side).exists():
        return Path(side), None
    file, colon, name = side.partition(":")
    if colon and Path(file).exists():
        return Path(file), name
    if side.endswith((".duckdb", ".zip")):
        raise DatabaseError(f'There is no file "{side}".')
    return db, side


def _side(answers: MeasuredAnswers, name: str | None, file: str) -> pl.DataFrame:
    rows = answers.rows.filter(occasion=1).filter(~pl.col("measure").is_in(list(OF_TRIALS.keys() - RATES)))
    if name is None:
        return rows
    address = pl.concat_str("provider", "requested_model", separator="/")
    for column in (pl.col("model"), address, pl.col("requested_model"), pl.col("run_id")):
        chosen = rows.filter(column == name)
        if not chosen.is_empty():
            break
    else:
        raise UnknownNameError(f'model or run of "{file}"', name, rows["model"].unique().sort().to_list())
    return chosen


def _models(sides: Sequence[pl.DataFrame], typed: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of models to compare: the only one of each side, or those of the same name."""
    old, new = (rows["model"].unique(maintain_order=True).to_list() for rows in sides)
    are_alone = len(old) == len(new) == 1
    pairs = [(old[0], new[0])] if are_alone else [(name, name) for name in old if name in new]
    if typed[0] == typed[1] or not pairs:
        raise UsageError(
            f"Can't tell which model follows which: {typed[0]} has {', '.join(old)}, {typed[1]} has {', '.join(new)}.",
            f"Name one of each: analyze successor {typed[0]}:MODEL {typed[1]}:MODEL",
        )
    return pairs


def _alone(means: Sequence[pl.DataFrame], key: Sequence[str]) -> Iterator[pl.DataFrame]:
    old, new = (rows.filter(measure=RATES[0]).select(key) for rows in means)
    for side, own, others in (("old", old, new), ("new", new, old)):
        yield own.join(others, on=key, how="anti", nulls_equal=True).select(pl.lit(side).alias("side"), pl.all())


def _without_complements(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows without the rate of answers of a test where it is 1 less that of refusals: it would be tested
    twice."""
    of_rates, cell = pl.col("measure").is_in(RATES), ("old_model", "new_model", "variant", "test")
    is_all = pl.all_horizontal(
        pl.col(side).filter(of_rates).sum().over(cell) == (pl.col("measure") == RATES[0]).sum().over(cell)
        for side in ("old", "new")
    )
    return rows.filter((pl.col("measure") != RATES[0]) | ~is_all)


def summary_sentence(table: pl.DataFrame) -> str:
    """Return the sentence that counts the verdicts."""
    n_untested = table["conf_low"].null_count()
    untested = f"; {n_untested} could not be tested (standard errors are 0 or unknown)" if n_untested else ""
    if table["bound"].null_count() == table.height:
        apart = table.filter((pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)).height
        return (
            f"{table.height} means and effects compared; the intervals of {apart} exclude 0{untested}. No verdict, "
            "because the study names no smallest effect: --bound 0.2, or smallest_effect in its file."
        )
    counts = Counter(table["verdict_holm"].drop_nulls().to_list())
    named = ", ".join(f"{counts[verdict]} {word}" for verdict, word in zip(VERDICTS, _IN_WORDS, strict=True))
    return f"Of {sum(counts.values())} means and effects, by Holm's correction: {named}{untested}."


def _warnings(table: pl.DataFrame, alone: pl.DataFrame, by_hash: bool, sides: Sequence[pl.DataFrame]) -> Iterator[str]:
    for (side,), rows in alone.group_by("side", maintain_order=True):
        prompts = rows.select(PROMPT[1:5]).head(_NAMED).rows()
        some = "; ".join(", ".join(str(part) for part in prompt if part is not None) for prompt in prompts)
        more = "; …" if rows.height > _NAMED else ""
        yield f"{rows.height:,} prompts that only the {side} side has are not compared: {some}{more}."
    if not by_hash:
        yield "Prompts are paired by test, condition, item and wording: their texts are unknown or quote answers."
    if len({tuple(sorted(rows["source"].unique())) for rows in sides}) > 1:
        yield "The two sides are answers of different sources."
    said = table.filter(pl.col("messages") != "").unique("messages", maintain_order=True)
    yield from (f"{row['test']}, {row['measure']}: {row['messages']}" for row in said.to_dicts())


def _ends(sides: Sequence[pl.DataFrame], pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield when the models end, if that is known."""
    for rows, models in zip(sides, zip(*pairs, strict=True), strict=True):
        asked = rows.filter(pl.col("model").is_in(models) & (pl.col("source") == "collected"))
        for provider, name in asked.select("provider", "requested_model").unique(maintain_order=True).rows():
            if provider and name and (end := lifecycle_of(provider, name)):
                yield end.sentence(f"{provider}/{name}")


def _paragraph(study: Study, table: pl.DataFrame, n_prompts: int, alone: pl.DataFrame, summary: str) -> str:
    """Return a paragraph for a paper, from the numbers alone."""
    pairs = table.unique(["old_model", "new_model"], maintain_order=True).select("old_model", "new_model").rows()
    named = "; ".join(f"{new} as successor of {old}" for old, new in pairs)
    apart = f" ({alone.height:,} prompts that one of them answered were not compared)" if alone.height else ""
    sentences = [f'We compared {named} on {n_prompts:,} prompts of "{study.title}" that both replied to{apart}.']
    bounds = table.drop_nulls("bound").unique("measure", maintain_order=True).select("measure", "bound").rows()
    if bounds:
        limits = ", ".join(f"{bound:.3g} ({name})" for name, bound in bounds)
        sentences.append(f"Differences were tested for equivalence (two one-sided tests) with the bounds {limits}.")
    by_size = table.drop_nulls("std_error").sort((pl.col("difference") / pl.col("std_error")).abs())
    for row in by_size.tail(1).to_dicts():
        where = ", ".join((row["test"], row["measure"], row["term"]))
        interval = f"95 % CI {row['conf_low']:.3g} to {row['conf_high']:.3g}"
        sentences.append(f"The clearest difference was {row['difference']:.3g} ({where}; {interval}).")
    return " ".join((sentences[0], *sentences[1:2], summary, *sentences[2:], *_linking(table)))


def _linking(table: pl.DataFrame) -> Iterator[str]:
    """Yield whether effects can be linked to the old unit, and what that rests on."""
    linked = table.filter(pl.col("linked").is_not_null()).unique(_KEYS, keep="first", maintain_order=True)
    if linked.is_empty():
        return
    is_linkable, correlation = linked["is_linkable"], linked["item_correlation"].to_list()
    n, n_unknown = count_text(linked.height, "measure"), is_linkable.null_count()
    unknown = f", and can't be judged for {n_unknown}, where no item has an error" if n_unknown else ""
    yield (
        f"Linking effects to the old unit is defensible for {is_linkable.sum()} of {n}{unknown}: answers to the same "
        f"prompts correlate at {min(correlation):.2f} or more (below .5 in {sum(r < 0.5 for r in correlation)}), and "
        f"items differ between the models beyond their error (p < .05) in {(linked['p_items'] < 0.05).sum()}."
    )
