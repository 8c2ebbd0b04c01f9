"""Plan conversations: a study, a model and a seed give them in order; lazily, and always the same.

On another occasion (`collect --again`) answered trials are asked again, each as a separate trial. If only a part of a
plan is asked, conditions are balanced and tests are spread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, islice
from operator import not_
from typing import TYPE_CHECKING

from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.records import Conversation, Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyModel

if TYPE_CHECKING:
    from slant.collector.keep.final_trials import Finals

_IDS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Done:
    """Hold what is done of a plan: `trials` of them, and one byte per conversation, 1 if all of it is done (or if it
    belongs to another shard)."""

    trials: int = 0
    conversations: bytes = b""


def plan(
    study: Study, model: StudyModel, seed: int | None = None, repetitions: int = 1, skip: Sequence[int] = b""
) -> Iterator[Conversation]:
    """Yield all conversations with one model, in the order of asking; `position` of a trial is its place in it, from 0.
    `skip` marks those that are done and are skipped (see `done_in`).

    If `seed` is None the study's own is used. The design decides how conditions take turns. Nothing is held in memory
    but the order itself.
    """
    if repetitions < 1:
        raise UsageError(f"Can't plan {repetitions} repetitions.", "There must be at least one.")
    design = study.design
    return design.asks.conversations(study, model, study.seed if seed is None else seed, repetitions, skip)


def done_in(study: Study, model: StudyModel, seed: int, repetitions: int, finals: Finals, others: bytes = b"") -> Done:
    """Return the conversations of a plan whose trials are all in `finals`. A million trials take some seconds.

    `others` are those of other shards (collector/plan/shards.py): they count as done, but not their trials.
    """
    trials, whole = 0, bytearray()
    design_plan = study.design.asks.plan(study, model, seed)
    places = design_plan.places(repetitions)
    planned = map(design_plan.trial_ids, compress(places, map(not_, others)) if others else places)
    while block := list(islice(planned, _IDS_AT_ONCE)):
        flags = finals.among_conversations(block)
        trials += flags.count(1)
        whole += _whole(flags, block)
    return Done(trials, _with_others(whole, others) if others else bytes(whole))


def _whole(flags: bytes, conversations: Sequence[tuple[str, ...]]) -> bytes:
    """Return one byte per conversation: 1 if all of its trials have a flag."""
    ends = accumulate(map(len, conversations))
    return bytes(0 not in flags[end - len(ids) : end] for ids, end in zip(conversations, ends, strict=True))


def _with_others(flags: Iterable[int], others: Sequence[int]) -> bytes:
    """Return the same for all conversations of a plan, with 1 for `others`, which have no flags."""
    own = iter(flags)
    return bytes(other or next(own) for other in others)


def done_again(
    study: Study, model: StudyModel, seed: int, repetitions: int, occasion: Occasion, finals: Finals
) -> Done:
    """Return the same for what is asked again on an occasion; other conversations count as done."""
    design_plan = study.design.asks.plan(study, model, seed)
    others, ids = bytearray(), []
    for place in design_plan.places(repetitions):
        is_chosen = design_plan.conversation_id(place) in occasion.chosen
        others.append(not is_chosen)
        if is_chosen:
            ids.append(tuple(map(occasion.later_id, design_plan.trial_ids(place))))
    flags = finals.among_conversations(ids)
    return Done(flags.count(1), _with_others(_whole(flags, ids), others))


def planned_count(study: Study, repetitions: int = 1) -> int:
    """Return the number of trials that one model is asked (12,920 in RM-IAT)."""
    return repetitions * sum(test.planned for test in study.tests)


Cell = tuple[str, str]
"""Name a cell by test and condition."""


def quotas(cells: set[Cell], tests: list[str], trials: int, option: str = "--pilot") -> Counter[Cell]:
    """Share out `trials` among these cells. Raise UsageError, which names the option, if that is less
    than one per condition."""
    conditions = {test: sorted(condition for name, condition in cells if name == test) for test in tests}
    present = [test for test in tests if conditions[test]]
    width = max(len(conditions[test]) for test in present)
    if trials < width:
        raise UsageError(f"{option} must be {width} or more: one trial in each condition.")
    blocks = trials // width  # one trial in each condition of a test
    each, more = divmod(blocks, len(present))
    counts = {test: each + (place < more) for place, test in enumerate(present)}
    return Counter({(test, condition): counts[test] for test in present for condition in conditions[test]})


@dataclass(frozen=True)
class Occasion:
    """Hold one model's occasion. `number` counts from 2; `n_again` is the intended number of trials, `chosen` the ids
    of the conversations of the plan that are asked again; `is_resumed` if it had been interrupted."""

    number: int
    n_again: int
    chosen: frozenset[str] = field(repr=False)
    is_resumed: bool = False

    def later_id(self, first_id: str) -> str:
        """Return the id that a trial, or a conversation, has on this occasion."""
        return stable_id(first_id, "occasion", self.number)

    def asked_again(self, conversation: Conversation) -> Conversation:
        """Return the conversation as of this occasion."""
        trials = tuple(map(self._asked_again, conversation.trials))
        return Conversation(self.later_id(conversation.conversation_id), trials)

    def _asked_again(self, trial: Trial) -> Trial:
        return replace(
            trial,
            trial_id=self.later_id(trial.trial_id),
            game=None if trial.game is None else self.later_id(trial.game),
            occasion=self.number,
            first_trial_id=trial.trial_id,
        )
