"""Plan conversations: a study, a model and a seed give them in order; lazily, and always the same.

On another occasion (`collect --again`) answered trials are asked again, each as a separate trial. If only a part of a
plan is asked, conditions are balanced and tests are spread.

Read rates that models gave in one variant of a study, and that another variant's plan needs as input.

Show the prompts of a study as they are sent, before anything is asked: all of them, or one of each cell.

Share whole conversations of a plan out among collectors (shards), evenly over tests and conditions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, islice
from operator import not_
from pathlib import Path
from typing import TYPE_CHECKING

from slant.collector.designs.plan import Place, Plan
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError, check_known
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import Conversation, Trial
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyModel

if TYPE_CHECKING:
    from slant.collector.keep.final_trials import Finals


def with_rates(study: Study, models: Sequence[StudyModel], db: Path) -> tuple[Study, dict[str, str]]:
    """Return the study with the rates it needs from these models, and by model why it can't be asked: it has
    given none.
    """
    design = study.design
    source = design.asks.source_variant(study)
    if source is None:
        return study, {}
    rates = read_elicited_rates(db, study, source, models)
    jobs = design.asks.rated_items(study.data)
    lacking = {
        model.model: f"it must first say how likely each job succeeds: collect --study {study.as_typed} "
        f"--variant {source} --model {model.provider}/{model.requested_model}"
        for model in models
        if not jobs <= rates.get(model.model, {}).keys()
    }
    return replace(study, data=design.asks.with_rates(study.data, rates)), lacking


def read_elicited_rates(
    db: Path, study: Study, variant: str, models: Sequence[StudyModel]
) -> dict[str, dict[str, float]]:
    """Return the mean chance from 0 to 1 by model and job; for a played model from its simulated answers."""
    rates: dict[str, dict[str, float]] = {}
    if not db.exists():
        return rates
    is_played = {model.model: model.provider == "simulated" for model in models}
    with reading(db) as connection:
        planned = (
            "SELECT DISTINCT study_version, content FROM shown_attempts WHERE is_final AND study = ? AND variant = ?"
        )
        versions = connection.execute(planned, [study.name, variant]).fetchall()
        # an edit elsewhere in the study makes a new version, and these answers still belong to it
        same = [version for version, content in versions if version == study.version or content in study.contents]
        query = (
            "FROM elicited_rates WHERE study = ? AND list_contains(?, study_version) AND variant = ? "
            "ORDER BY source, study_version, model, class, job"
        )
        rows = frame_of(connection.sql(query, params=[study.name, same, variant]))
        for row in rows.iter_rows(named=True):
            if (row["source"] == "simulated") == is_played.get(row["model"]):
                rates.setdefault(row["model"], {})[row["job"]] = row["mean_rate"]
    return rates


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
    """Yield the conversations with one model, in the order of asking; `position` of a trial is its place in it, from 0.
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

    `others` are those of other shards (`Shard`): they count as done, but not their trials.
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
    """Return flags, one byte per conversation: 1 if all of its trials have a flag."""
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


@dataclass(frozen=True)
class PlannedPrompt:
    """Hold what opens one conversation, or a later `turn` of it: `position` is its place in the order of asking, from
    0. `messages`: each with its role and content; of a later turn, unless it `is_fresh`, those that are added."""

    model: str
    frame: str
    test: str
    condition: str
    item: str
    wording: int | None
    repetition: int | None
    position: int | None
    messages: tuple[tuple[str, str], ...]
    turn: int = 1
    is_fresh: bool = True

    @property
    def text(self) -> str:
        """Return the messages below each other; a single one of the user unchanged."""
        if len(self.messages) == 1 and self.messages[0][0] == "user":
            return self.messages[0][1]
        return "\n\n".join(f"[{role}]\n{content}" for role, content in self.messages)


def planned_prompts(
    study: Study, models: Sequence[StudyModel], seed: int | None = None, *, one_a_cell: bool = False
) -> Iterator[PlannedPrompt]:
    """Yield the first repetition of each model's plan, in the order of asking, with the later turns that are planned;
    with `one_a_cell` only the first conversation of each test and condition.
    """
    asks = study.design.asks
    for model in models:
        cells: set[tuple[str, str]] = set()
        for conversation in plan(study, model, seed):
            first = asks.first(study, model, conversation)
            cell = (first[0].test or "", first[0].condition or "")
            if one_a_cell and cell in cells:
                continue
            cells.add(cell)
            for turn, (trial, prompt) in enumerate((first, *asks.later(study, model, conversation)), 1):
                yield PlannedPrompt(
                    model.model,
                    model.frame,
                    trial.test or "",
                    trial.condition or "",
                    trial.item or "",
                    trial.wording,
                    trial.repetition,
                    trial.position,
                    tuple((str(message["role"]), str(message["content"])) for message in prompt.messages),
                    turn,
                    turn == 1 or asks.is_fresh(study, trial),
                )


def one_model_a_frame(study: Study, names: Collection[str] = ()) -> list[StudyModel]:
    """Return the models of these names; without names the first of each frame, for models of one frame get the same
    prompts. Raise UnknownNameError for a name that the study lacks.
    """
    known = {model.model: model for model in study.models}
    for name in names:
        check_known(f"model in {study.path.name}", name, known)
    if names:
        return [known[name] for name in names]
    of_frames: dict[str, StudyModel] = {}
    for model in study.models:
        of_frames.setdefault(model.frame, model)
    return list(of_frames.values())


MAX_SHARDS = 10_000


@dataclass(frozen=True)
class Shard:
    """Name one of `of` parts of a plan; `number` counts from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not (1 <= self.number <= self.of <= MAX_SHARDS):
            raise UsageError(
                f'There is no shard "{self}".',
                f"It must be K/N with K from 1 to N, and N from 1 to {MAX_SHARDS:,}: the second of eight is 2/8.",
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, text: str | tuple[int, int]) -> Shard:
        """Read "2/8", or (2, 8); UsageError if that is not a shard."""
        if not isinstance(text, str):
            return cls(*text)
        if not (match := re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())):
            raise UsageError(f'"{text}" is no shard.', "It must be K/N: the second of eight is 2/8.")
        return cls(int(match[1]), int(match[2]))

    def part(self, number: int, of: int) -> Shard:
        """Return the shard that is part `number` of `of` equal parts of this one."""
        return Shard(self.number + (number - 1) * self.of, self.of * of)


@dataclass(frozen=True)
class Share:
    """Hold a shard's part of a model's plan: `trials` of them, by test in `tests`; `others` has one byte for
    each conversation of the plan, 1 if it belongs to another shard (empty: none does)."""

    trials: int
    others: bytes = b""
    tests: Mapping[str, int] = field(default_factory=dict)


def share_of(study: Study, model: StudyModel, seed: int, repetitions: int, shard: Shard) -> Share:
    """Return the share of a shard. A million conversations take about two seconds."""
    plan = study.design.asks.plan(study, model, seed)
    others, trials = bytearray(), Counter[str]()
    for place, test, turn in _turns(study, plan, repetitions):
        is_other = turn % shard.of != shard.number - 1
        others.append(is_other)
        if not is_other:
            trials[test] += plan.n_trials(place)
    n_mine, n_all = repetitions * others.count(0), max(1, len(others))  # games, of which each has the same tests
    tests = {test.test: test.planned * n_mine // n_all for test in study.tests} if plan.mixes_tests else dict(trials)
    return Share(trials.total(), bytes(others), tests)


def busy_parts(
    study: Study, model: StudyModel, seed: int, repetitions: int, shard: Shard, of: int, skip: bytes
) -> set[int]:
    """Return the numbers of those of `of` parts of a shard that have conversations which `skip` does not mark."""
    turns = _turns(study, study.design.asks.plan(study, model, seed), repetitions)
    left = {turn % (shard.of * of) for (*_, turn), is_done in zip(turns, skip, strict=True) if not is_done}
    return {(place - shard.number + 1) // shard.of + 1 for place in left}


def _turns(study: Study, plan: Plan[Place], repetitions: int) -> Iterator[tuple[Place, str, int]]:
    """Yield (place, test, turn) for each place of a plan; `turn` modulo the number of shards tells its shard."""
    n_turns = 1 if plan.mixes_tests else max(map(plan.n_trials, islice(plan.places(1), 1)), default=1)
    # each test begins after the last shard of the one before (or the first shards are the largest), in all conditions
    n_conditions = max(1, len(study.conditions))
    sizes = [test.planned * repetitions // n_conditions // n_turns for test in study.tests]
    starts = {test.test: start for test, start in zip(study.tests, accumulate(sizes, initial=0), strict=False)}
    met: Counter[tuple[str, str]] = Counter()
    for place in plan.places(repetitions):
        cell = plan.cell(place)
        yield place, cell[0], starts.get(cell[0], 0) + met[cell]
        met[cell] += 1
