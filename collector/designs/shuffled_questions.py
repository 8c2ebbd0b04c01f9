"""Plan the questions of a design that has no plan of its own: each repetition of all of them, in seeded order."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from slant.collector.designs.plan import QuestionPlan
from slant.collector.records import Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyFile, StudyModel

if TYPE_CHECKING:
    from slant.collector.designs.design import Design


class ShuffledQuestions(QuestionPlan[tuple[int, int]]):
    """Plan the questions of designs without a plan; a place is the number of a question and a repetition."""

    def __init__(self, design: Design, study: StudyFile, model: StudyModel, seed: int) -> None:
        self._design, self._study, self._model, self._seed = design, study, model, seed
        questions = design.questions(study, model)
        self._questions = questions if isinstance(questions, Sequence) else list(questions)

    def places(self, repetitions: int) -> Iterator[tuple[int, int]]:
        order = array("I", range(len(self._questions) * repetitions))
        random.Random(self._seed).shuffle(order)
        for number in order:
            repetition, place = divmod(number, len(self._questions))
            yield place, repetition + 1

    def trial_id(self, place: tuple[int, int]) -> str:
        return self.trial(place, 0).trial_id

    def cell(self, place: tuple[int, int]) -> tuple[str, str]:
        return self._questions[place[0]].test, self._questions[place[0]].condition

    def trial(self, place: tuple[int, int], position: int) -> Trial:
        study, model, question = self._study, self._model, self._questions[place[0]]
        cell = (question.test, question.condition, question.group, question.item, question.wording)
        sent = (model.model, model.provider, model.requested_model, model.frame, dict(model.settings))
        enforced = ["structured_output"] if model.structured_output else []
        trial_id = stable_id(study.name, study.variant, *sent, *enforced, self._seed, place[1], *cell)
        asked: dict[str, Any] = {field.name: getattr(question, field.name) for field in fields(question)}
        asked |= {"study": study.name, "study_version": study.version, "variant": study.variant, "model": model.model}
        trial = Trial(trial_id=trial_id, repetition=place[1], position=position, **asked)
        content = self._design.content(study, model, trial)
        return replace(trial, trial_id=stable_id(content, trial.trial_id), content=content)
