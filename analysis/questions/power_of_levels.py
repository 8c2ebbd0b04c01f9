"""Plan a study of factors by simulation: which differences between levels could be detected with one model's answers?

The study's simulated model (`[simulation]`), or one that answers as a pilot did, answers it many times over; each data
set is analysed as the answers of a real model will be, by R's mean_contrasts().

Make rows of a study of factors from its own simulated model, in this process: no server, no database.

They are as the view factorial_profiles has them, as far as fits of levels need: `measured`, attributes, what clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answer_of, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.questions.checks.check_calls import read_profiles
from slant.collector.designs.factorial.estimands import NUMERIC, PAIRED, TEMPLATE, has_keys, independent_levels
from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.designs.factorial.simulated import Respondent
from slant.collector.errors import DatabaseError, StudyError
from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.terminal import count_text

Row = dict[str, Any]


def simulated_profiles(
    study: Study,
    model: str,
    respondents: Mapping[str, Any],
    n_data_sets: int,
    repetitions: int,
    said: Callable[[], None] = lambda: None,
) -> pl.DataFrame:
    """Return rows of `n_data_sets`, each of the plan's trials with `repetitions`; answers of numbers only.

    respondents: by question, who answers it; of other questions the one that the study names. Columns: data_set,
    repetition, test, template, persona, item, task, respondent, position, each attribute, measured. `said` is called
    after each data set.
    """
    own = {test: replace(study, data=replace(study.data, simulation={"": one})) for test, one in respondents.items()}
    asked = next((one for one in study.models if one.model == model), study.models[0])
    trials = [trial for conversation in plan(study, asked) for trial in conversation.trials]
    rows = []
    for data_set in range(n_data_sets):
        for repetition in range(1, repetitions + 1):
            for planned in trials:
                trial = replace(planned, repetition=repetition)
                for row in _rows(study, own, asked, trial, study.seed + data_set):
                    rows.append({"data_set": data_set, "repetition": repetition, **row})
        said()
    return pl.DataFrame(rows, infer_schema_length=None)


def _rows(study: Study, own: Mapping[str, Study], model: Any, trial: Trial, seed: int) -> Iterator[Row]:
    """Yield the rows of one trial: of each question, those of the profiles that it is about."""
    shown, read = trial.factors, {}
    width = len(shown["names"])
    for place, name in enumerate(shown["questions"]):
        question = study.data.questions[name]
        answering = own.get(question.base, study)
        if id(answering) not in read:
            reply = study.design.simulates.simulate(answering, model, trial, seed)
            read[id(answering)] = study.design.reads.read(answering, trial, reply).factors
        values = read[id(answering)].get("values") or []
        value = values[place] if place < len(values) else ""
        if not value or question.kind == "text" or (question.kind == "choice" and question.options):
            continue
        for position in range(1, shown["n_profiles"] + 1):
            if question.about in (0, position):
                levels = shown["levels"][(position - 1) * width : position * width]
                attributes = dict(zip(shown["names"], levels, strict=True))
                yield {
                    "test": question.base, "template": shown["template"], "persona": shown["persona"],
                    "item": trial.item, "task": trial.item, "respondent": shown["persona"], "position": position,
                    **attributes, "measured": _measured(question, value, position, attributes),
                }  # fmt: skip


def _measured(question: Any, value: str, position: int, attributes: Mapping[str, str]) -> float:
    if question.kind == "scale":
        is_reversed = attributes.get("key") == "-1"
        return float(question.scale.low + question.scale.high - int(value) if is_reversed else int(value))
    if question.kind == "yes_no":
        return float(value == "yes")
    return float(value == str(position)) if question.kind == "choice" else float(value)


CONTRASTS = "mean_contrasts"


def planned_fit(study: Study) -> Fit | None:
    """Return the fit that power is planned for: the differences between levels, or those of each change from the
    baseline; None where a study has neither."""
    fits = fits_of(study)
    return fits.get(CONTRASTS) or fits.get(PAIRED)


def _with_sides(versions: pl.DataFrame, levels: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    baselines = {name: str(known[0]) for name, known in levels.items()}
    is_of_placebo = pl.col("term").str.ends_with(" - placebo")
    first = pl.when(is_of_placebo).then(pl.lit("placebo")).otherwise(pl.col("attribute").replace_strict(baselines))
    return versions.with_columns(first=first, second="level")


_PAIR = ("test", "attribute", "first", "second")


def simulated_power(
    study: Study,
    n_repetitions: Sequence[int],
    n_data_sets: int,
    alpha: float = 0.05,
    workers: Workers = None,
    respondents: Respondents | None = None,
    models: Sequence[str] = (),
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Return a row per model, number of repetitions, question and pair of levels.

    `respondents`: by model and question, who answers; without it each of `models` (default: those that the study asks),
    by its [simulation]. Models of the same [simulation] are simulated once.

    Columns: model, n_repetitions, n_calls (of a model, to all questions), test (the question), attribute, first,
    second, estimate (the mean difference, second less first, in units of the answer), std_error and df (means of those
    that R gives), power (the share of data sets with p < alpha, two-sided, corrected as the study's own fit corrects
    it), power_uncorrected, power_error (the Monte Carlo standard error of power), n_data_sets (those with an estimate).
    """
    if respondents is None:
        if not any(respondent.utilities for respondent in study.data.simulation.values()):
            raise StudyError(
                f'A plan of "{study.name}" simulates its answers, but its file has no [simulation] with utilities.',
                "Set log odds of levels there, as in: utilities.job = { nurse = 0.4 }",
                "Or plan from the answers of a pilot: analyze power --from pilot.duckdb",
            )
        names = list(models) or [one.model for one in study.models if one.asked_by_default] or [study.models[0].model]
        alike = _alike(study, names)
        by_model: dict[str, dict[str, Any]] = {own[0]: {} for own in alike}
    else:
        by_model = {model: {} for model, _ in respondents}
        for (model, test), respondent in respondents.items():
            by_model[model][test] = respondent
        alike = [[model] for model in by_model]
    said = _Said(progress, len(by_model) * (n_data_sets + len(n_repetitions)))
    parts = []
    for names in alike:
        found = _of_model(study, names[0], by_model[names[0]], n_repetitions, n_data_sets, alpha, workers, said)
        parts += [found.with_columns(model=pl.lit(name)) for name in names]
    return pl.concat(parts)


class _Said:
    """Count the steps of a plan, and tell `progress` after each."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress:
            self._progress(self._done, self._total)


def _alike(study: Study, models: Sequence[str]) -> list[list[str]]:
    """Return the models in groups that the study simulates alike."""
    usual = study.data.simulation.get("")
    groups: list[tuple[Any, list[str]]] = []
    for name in models:
        own = study.data.simulation.get(name, usual)
        same = next((names for respondent, names in groups if respondent == own), None)
        if same is None:
            groups.append((own, [name]))
        else:
            same.append(name)
    return [names for _, names in groups]


def _of_model(
    study: Study,
    model: str,
    respondents: Mapping[str, Any],
    n_repetitions: Sequence[int],
    n_data_sets: int,
    alpha: float,
    workers: Workers,
    said: Callable[[], None],
) -> pl.DataFrame:
    rows = simulated_profiles(study, model, respondents, n_data_sets, max(n_repetitions), said)
    rows = rows.filter(pl.col("test").is_in(list(respondents))) if respondents and rows.height else rows
    if rows.is_empty():
        raise _nothing_to_compare(study)
    planned = planned_fit(study)
    assert planned is not None
    levels = {name: list(known) for name, known in planned.levels.items()}
    arguments = {"outcome": "measured", "levels": levels, "by": ["test", "data_set"], **planned.settings}
    arguments |= {"draws": 1} if planned.engine == PAIRED else {}  # shuffled repetitions decide nothing here
    calls = [
        Call("run_fit", rows.filter(pl.col("repetition") <= n), {"engine": planned.engine, "arguments": arguments})
        for n in n_repetitions
    ]
    n_calls = sum(1 for _ in study.design.asks.questions(study, study.models[0])) * (
        len(study.data.questions) if study.design.asks.has_turns(study) else 1
    )
    found = []
    answers = []
    for numbered in computed(calls, workers):
        answers.append(numbered)
        said()
    for number, answer in sorted(answers, key=lambda numbered: numbered[0]):
        if answer.error or not (answer.value or {}).get("tables"):
            continue  # nothing to compare, as when all was refused
        own = answer.value["estimates"].select("estimate", "std_error", "df", "p_value")
        tables = answer.value["tables"]
        pairs = tables["contrasts"] if planned.engine == CONTRASTS else _with_sides(tables["versions"], levels)
        pairs = pairs.select(*_PAIR, "p_adjusted")
        n = n_repetitions[number]
        found.append(own.hstack(pairs).with_columns(n_repetitions=pl.lit(n), n_calls=pl.lit(n * n_calls)))
    if not found:
        raise _nothing_to_compare(study)
    is_found, is_found_alone = pl.col("p_adjusted") < alpha, pl.col("p_value") < alpha
    summed: pl.DataFrame = (
        pl.concat(found)
        .group_by("n_repetitions", "n_calls", *_PAIR, maintain_order=True)
        .agg(
            pl.col("estimate", "std_error", "df").mean(),
            power=is_found.mean(),
            power_uncorrected=is_found_alone.mean(),
            n_data_sets=pl.col("p_value").count(),
        )
    )
    summed = summed.filter(pl.col("attribute") != TEMPLATE)  # their effects are drawn for each data set
    error = (pl.col("power") * (1 - pl.col("power")) / pl.col("n_data_sets")).sqrt()
    named = summed.select(pl.lit(model).alias("model"), pl.all())
    return named.select(pl.exclude("n_data_sets"), power_error=error, n_data_sets="n_data_sets")


def _nothing_to_compare(study: Study) -> StudyError:
    return StudyError(
        f'In no simulated data set of "{study.name}" were there answers to compare.',
        "To see the answers of [simulation]: collect --study FILE --simulated",
    )


Respondents = Mapping[tuple[str, str], Respondent]
"""By model and question."""
# The answers of a pilot as a simulated model would give them: its utilities, thresholds and refusals by question. R's
# models give them: ordinal::clm() of ratings, a logistic regression of yes and no, a linear model of numbers, a
# conditional logit of choices among profiles.
_ENGINES = {
    "scale": ("clm", "rating"), "yes_no": ("logistic", "chosen"), "number": ("lm", "number"),
    "profile": ("clogit", "chosen"),
}  # fmt: skip
_SD_OF_LOGISTIC = math.pi / math.sqrt(3)
_NEVER = 1e6
"""A threshold that no answer reaches."""


def pilot_respondents(
    db: str | Path, study: Study, source: str | None, workers: Workers, models: Sequence[str] = ()
) -> tuple[Respondents, list[str]]:
    """Return a respondent for each of these models (default: all) and question of the pilot, and a sentence on each
    that too few answers, or always the same, say nothing of.

    Raise StudyError for a questionnaire, whose items have no levels to compare; DatabaseError if none is left.
    """
    if has_keys(study.data):
        raise StudyError(f'The items of "{study.name}" have keys: it can\'t be planned from a pilot.')
    rows = read_profiles(db, study, source)
    if rows is not None:
        rows = rows.filter(pl.col("variant") == study.variant, pl.col("model").is_in(list(models)) if models else True)
    if rows is None or rows.is_empty():
        raise DatabaseError("Nothing to plan from: the pilot has no answers.", "See: analyze tables outcome_counts")
    questions = {question.base: question for question in study.data.questions.values()}
    found, problems = {}, []
    for (model, test), own in rows.group_by("model", "test", maintain_order=True):
        question = questions.get(str(test))
        if question is not None and question.shown_kind in NUMERIC:
            try:
                found[str(model), str(test)] = _respondent(own, study, question, workers)
            except DatabaseError as error:
                problems.append((f"{model} is not planned: {error.what}", *error.details))
    if problems and not found:
        raise DatabaseError(*problems[0])
    return found, [problem[0] for problem in problems]


def _respondent(rows: pl.DataFrame, study: Study, question: AskedQuestion, workers: Workers) -> Respondent:
    engine, outcome = _ENGINES[question.shown_kind]
    answered = rows.drop_nulls(outcome)
    levels = {
        name: [level for level in known if level in set(answered[name])]
        for name, known in independent_levels(study.data).items()
        if engine != "clogit" or name != TEMPLATE
    }
    levels = {name: known for name, known in levels.items() if len(known) > 1}
    if not levels or answered.height < 2 * sum(map(len, levels.values())):
        raise DatabaseError(
            f'The pilot has {count_text(answered.height, "answer")} to "{question.base}": too few to plan from.',
            "Ask more of it: collect --repetitions 2",
        )
    arguments: dict[str, Any] = {"formula": f"{outcome} ~ {' + '.join(levels)}", "levels": levels}
    arguments |= {"sets": ["task"]} if engine == "clogit" else {}
    used = answered.select(outcome, *dict.fromkeys((*levels, *arguments.get("sets", ()))))
    answer = answer_of(Call("run_fit", used, {"engine": engine, "arguments": arguments}), workers)
    table = (answer.value or {}).get("estimates")
    if table is None or table.drop_nulls("estimate").is_empty():
        said = " ".join(text for text in answer.messages) or "R gives no estimates."
        raise DatabaseError(f"The pilot's answers to \"{question.base}\" can't be planned from: {said}")
    terms = dict(table.select("term", "estimate").iter_rows())
    trials = rows.unique("trial_id")
    missing = trials.filter(pl.col("outcome") != "answered").height / trials.height
    unit = _spread(answered, outcome, terms, levels) / _SD_OF_LOGISTIC if question.kind == "number" else 1.0
    effects = {
        name: {level: (terms.get(f"{name}{level}") or 0.0) / unit for level in known} for name, known in levels.items()
    }
    of_templates = list(effects.pop(TEMPLATE, {}).values())
    given: dict[str, Any] = {"utilities": effects, "refusal_rate": missing, "malformed_rate": 0.0}
    if len(of_templates) > 1:
        given["template_sd"] = pl.Series(of_templates).std()
    if question.kind == "scale":
        return Respondent(**given, thresholds=tuple(_thresholds(terms, question)))
    if question.kind == "number":
        return Respondent(**given, number_mean=terms["intercept"], number_sd=unit)
    return Respondent(**given, intercept=terms.get("intercept") or 0.0)


def _thresholds(terms: Mapping[str, float], question: AskedQuestion) -> Iterator[float]:
    """Yield a threshold for each two points; points that nobody gave are out of reach."""
    cuts = [(*map(int, name.split("|")), value) for name, value in terms.items() if "|" in name]
    for point in range(question.scale.low, question.scale.high):
        between = [value for below, above, value in cuts if below <= point < above]
        lowest = min(below for below, _, _ in cuts)
        yield between[0] if between else -_NEVER if point < lowest else _NEVER


def _spread(rows: pl.DataFrame, outcome: str, terms: Mapping[str, float], levels: Mapping[str, list[str]]) -> float:
    """Return the standard deviation of numbers around what the model says of them."""
    said = pl.lit(terms.get("intercept") or 0.0)
    for name, known in levels.items():
        effects = {level: terms.get(f"{name}{level}") or 0.0 for level in known}
        said = said + pl.col(name).replace_strict(effects, default=0.0, return_dtype=pl.Float64)
    residuals = rows.select((pl.col(outcome).cast(pl.Float64) - said).std()).item()
    return float(residuals or 0.0) or 1.0
