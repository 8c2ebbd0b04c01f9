"""Define how a design reads an answer, and what a person fills in to give one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.designs.declared import AskedField
from slant.collector.records import Reading, RefusalRule, Reply, Trial
from slant.collector.study.records import StudyFile


def ended_early(reading: Reading, not_asked: Mapping[str, int]) -> Reading:
    """Return the reading of an answer after which this many trials of its conversation, by test, are not asked."""
    left = {test: n for test, n in not_asked.items() if n}
    return replace(reading, factors={**reading.factors, "n_not_asked": sum(left.values()), "not_asked": left})


class Reads(ABC):
    """Read answers; only `read` has no default."""

    answer_schema: Mapping[str, Any] | None = None
    """Give the JSON schema of an answer, for providers that enforce one on request; None if answers are not JSON."""
    refusal_rules: tuple[RefusalRule, ...] = ("outcome",)
    """List what a study of this design may call a refusal (`refusal_rule` in its file), the usual rule first."""

    def schema_of(self, study: StudyFile) -> Mapping[str, Any] | None:
        """Return `answer_schema`, or that of this study's answers."""
        return self.answer_schema

    @abstractmethod
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        """Return the outcome and the choice; an outcome that the provider itself has set wins."""

    def asked_fields(self, study: StudyFile, trial: Trial) -> tuple[AskedField, ...]:
        """Return the fields for a person, whose text `read` takes for an answer: one of two options if one of them is
        expected, or a text."""
        named = (trial.option_a, trial.option_b) if trial.expected is not None else ()
        return (AskedField("answer", options=tuple((option, option) for option in named if option)),)

    def asked_by_keys(self, study: StudyFile, trial: Trial) -> str:
        """Return the part of a prompt that asks several questions in a form for models; a person finds the same in
        fields."""
        return ""

    def of_people(self, study: StudyFile, trial: Trial) -> Trial:
        """Return a planned trial as people met it: without a role that only models are given."""
        return trial

    def coded_options(self, study: StudyFile, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the two options of an answer that a model is to code, too, and what was given to one of them; `row` is
        one of the view `codable_answers`, which has the answers of this design."""
        return row["option_a"], row["option_b"], row["asked"]
