"""Make rows of a study of factors from its own simulated model, in this process: no server, no database.

They are as the view factorial_profiles has them, as far as fits of levels need: `measured`, attributes, what clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study

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
