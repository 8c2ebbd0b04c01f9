"""Choose the pilot: a small balanced slice of the plan that is asked first. Its answers are ordinary ones, in the
journal like all others, so that the full run goes on from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from slant.collector.designs.study import Study
from slant.collector.plan.conversations import Cell, plan, quotas
from slant.collector.plan.run_plan import RunPlan
from slant.collector.records import Conversation
from slant.collector.study.records import StudyModel

LOOKED_AT = 50_000  # conversations in which every cell of a plan shows up: the order of asking is random


def pilot_of(run_plan: RunPlan, trials: int) -> RunPlan:
    """Return the same run plan cut down to a balanced slice of about `trials` trials of each model.

    Every model gets the same cells, and the same slice whether or not some is answered already. Raise UsageError if
    `trials` is less than one in each condition.
    """
    chosen: set[str] = set()
    model_plans = []
    for model_plan in run_plan.model_plans:
        conversations = list(balanced_slice(*run_plan.plan_of(model_plan.model), trials, model_plan.others))
        ids = [trial.trial_id for conversation in conversations for trial in conversation.trials]
        chosen.update(conversation.conversation_id for conversation in conversations)
        model_plans.append(replace(model_plan, planned=len(ids), already_done=sum(run_plan.done.among(ids))))
    return replace(run_plan, model_plans=tuple(model_plans), slice=frozenset(chosen))


def balanced_slice(
    study: Study, model: StudyModel, seed: int, repetitions: int, trials: int, skip: bytes = b""
) -> Iterator[Conversation]:
    """Yield the first conversations of the plan (except those to `skip`) that fill each test and condition alike.

    Every condition gets the same number of trials, and tests differ by at most one per condition. Conversations are not
    split, so that one of many trials (a game) may exceed `trials`.
    """

    def planned() -> Iterator[Conversation]:
        return islice(plan(study, model, seed, repetitions, skip), LOOKED_AT)

    left = quotas({_cell(conversation) for conversation in planned()}, [test.test for test in study.tests], trials)
    for conversation in planned():
        if left[_cell(conversation)] > 0:
            left[_cell(conversation)] -= len(conversation.trials)
            yield conversation
        elif max(left.values()) <= 0:
            return


def _cell(conversation: Conversation) -> Cell:
    return conversation.trials[0].test, conversation.trials[0].condition
