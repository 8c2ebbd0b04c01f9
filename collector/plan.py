"""The plan: a study, a model and a seed give the conversations to hold, in order. Pure, lazy, the same every time."""

from __future__ import annotations

from collections.abc import Iterator

from collector.designs import design_named
from collector.errors import UsageError
from collector.records import Conversation, stable_id
from collector.study_records import Study, StudyModel


def plan(study: Study, model: StudyModel, seed: int | None = None, repetitions: int = 1) -> Iterator[Conversation]:
    """All conversations with one model, in the order of asking; `position` of a trial is its place in it, from 0.

    `seed` None takes the study's own. Conditions are interleaved at every prefix. Nothing is held in memory but the
    order itself.
    """
    if repetitions < 1:
        raise UsageError(f"Can't plan {repetitions} repetitions.", "There must be one at least.")
    design = design_named(study.design)
    return design.conversations(study, model, study.seed if seed is None else seed, repetitions)


def planned_count(study: Study, repetitions: int = 1) -> int:
    """The number of trials that one model is asked (12,920 in RM-IAT)."""
    return repetitions * sum(test.planned for test in study.tests)


def settings_hash(model: StudyModel) -> str:
    """One short name for what is sent to a model: its provider, its name there and its parameters."""
    return stable_id(model.provider, model.requested_model, dict(model.settings))[:12]
