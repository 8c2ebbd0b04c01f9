"""Take the answers of a pilot as a simulated model would give them: its utilities, thresholds and refusals by question.

R's models give them: ordinal::clm() of ratings, a logistic regression of yes and no, a linear model of numbers, a
conditional logit of choices among profiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answer_of
from slant.analysis.calls.executors import Workers
from slant.analysis.questions.checks.check_calls import read_profiles
from slant.collector.designs.factorial.estimands import NUMERIC, TEMPLATE, has_keys, independent_levels
from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.designs.factorial.simulated import Respondent
from slant.collector.errors import DatabaseError, StudyError
from slant.collector.studies.catalogue import Study

Respondents = Mapping[tuple[str, str], Respondent]
"""By model and question."""
_ENGINES = {
    "scale": ("clm", "rating"), "yes_no": ("logistic", "chosen"), "number": ("lm", "number"),
    "profile": ("clogit", "chosen"),
}  # fmt: skip
_SD_OF_LOGISTIC = math.pi / math.sqrt(3)
_NEVER = 1e6
"""A threshold that no answer reaches."""


def pilot_respondents(db: str | Path, study: Study, source: str | None, workers: Workers) -> dict[tuple[str, str], Any]:
    """Return a respondent for each model and question of the pilot.

    Raise StudyError for a questionnaire, whose items have no levels to compare; DatabaseError if too little was
    answered.
    """
    if has_keys(study.data):
        raise StudyError(f'The items of "{study.name}" have keys: a plan of it is not made from a pilot.')
    rows = read_profiles(db, study, source)
    if rows is None or rows.is_empty():
        raise DatabaseError("Nothing to plan from: the pilot has no answers.", "See: analyze tables outcome_counts")
    rows = rows.filter(pl.col("variant") == study.variant)
    questions = {question.base: question for question in study.data.questions.values()}
    found = {}
    for (model, test), own in rows.group_by("model", "test", maintain_order=True):
        question = questions.get(str(test))
        if question is not None and question.shown_kind in NUMERIC:
            found[str(model), str(test)] = _respondent(own, study, question, workers)
    return found


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
            f'The pilot has {answered.height} answers to "{question.base}", which are too few to plan from.',
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
    return _with_terms(terms, levels, question, _missing(rows), _spread(answered, outcome, terms, levels))


def _with_terms(
    terms: Mapping[str, float],
    levels: Mapping[str, list[str]],
    question: AskedQuestion,
    share_missing: float,
    spread: float,
) -> Respondent:
    unit = spread / _SD_OF_LOGISTIC if question.kind == "number" else 1.0
    effects = {
        name: {level: (terms.get(f"{name}{level}") or 0.0) / unit for level in known} for name, known in levels.items()
    }
    of_templates = list(effects.pop(TEMPLATE, {}).values())
    given: dict[str, Any] = {"utilities": effects, "refusal_rate": share_missing, "malformed_rate": 0.0}
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


def _missing(rows: pl.DataFrame) -> float:
    """Return the share of trials without an answer."""
    trials = rows.unique("trial_id")
    return trials.filter(pl.col("outcome") != "answered").height / trials.height
