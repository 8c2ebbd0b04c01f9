"""Make the trials of a game before it is played: ids, jobs, candidates, and who would succeed.

Each draw is named by game and round, and depends on nothing else: a game resumed after a stop meets the same future,
whatever was asked in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from typing import Any

from slant.collector.designs.allocation.parts import AllocationData, Rating, gains
from slant.collector.designs.plan import Plan, trial_of
from slant.collector.records import Conversation, Trial
from slant.collector.stable_ids import StableIds, stable_id
from slant.collector.study.records import StudyFile, StudyModel


def uniforms(n: int, *name: object) -> list[float]:
    """Draw `n` numbers in (0, 1) by a name."""
    numbers: list[float] = []
    text = "\x1f".join(map(str, name))
    for block in range((n + 7) // 8):
        digest = hashlib.blake2b(f"{text}\x1f{block}".encode(), digest_size=64).digest()
        numbers += [(int.from_bytes(digest[i : i + 8]) + 0.5) / 2**64 for i in range(0, 64, 8)]
    return numbers[:n]


def order(keys: Sequence[float]) -> list[int]:
    """Return a random permutation: the places of the keys in ascending order."""
    return sorted(range(len(keys)), key=keys.__getitem__)


@dataclass(frozen=True, slots=True)
class GameDraw:
    """Hold what is drawn once for a game: the groups as they are shown, and for a latin square or a hidden mapping
    `ranks[group][class]`, the rank of the group among those for that class (0 is the best); empty elsewhere."""

    groups_shown: list[int]
    ranks: list[list[int]]


@dataclass(frozen=True, slots=True)
class RoundDraw:
    """Hold one round: (class, job), and by group the number that luck must be below, and its values of the features."""

    job: tuple[int, int]
    luck: list[float]
    candidates: list[list[str]]


def draw_game(data: AllocationData, game_id: str) -> GameDraw:
    n = len(data.groups)
    keys = uniforms(n + n + len(data.classes), game_id, "game")
    shown = order(keys[:n]) if data.group_order == "shuffled" else list(range(n))
    of_group, of_class = order(keys[n : 2 * n]), order(keys[2 * n :])
    has_ranks = data.success.kind in ("latin_square", "hidden_mapping")
    ranks = [[(g + c) % n for c in of_class] for g in of_group] if has_ranks else []
    return GameDraw(shown, ranks)


def draw_round(data: AllocationData, game_id: str, game_no: int, round_no: int) -> RoundDraw:
    """Draw a round. `game_no` and `round_no` count from 1."""
    n, n_features = len(data.groups), len(data.features)
    job_u, *keys = uniforms(1 + n + n * n_features, game_id, "round", round_no)
    jobs = data.jobs
    drawn = (game_no - 1) % len(jobs) if data.jobs_drawn == "one_a_game" else int(job_u * len(jobs))
    of_features = [keys[n + g * n_features : n + (g + 1) * n_features] for g in range(n)]
    candidates = [
        [feature.values[int(u * len(feature.values))] for feature, u in zip(data.features, us, strict=True)]
        for us in of_features
    ]
    return RoundDraw(jobs[drawn], keys[:n], candidates)


def draw_questions(data: AllocationData, game_id: str) -> list[tuple[int, int]]:
    """Return a job of each class, the classes in a random order."""
    n = len(data.classes)
    keys = uniforms(2 * n, game_id, "questions")
    return [(c, int(keys[n + c] * len(data.classes[c].jobs))) for c in order(keys[:n])]


ROUNDS, QUESTIONS, RATINGS, ELICITATION = "rounds", "questions", "ratings", "elicitation"
AFTER = (QUESTIONS, RATINGS)  # each asked about the finished game; none of them sees another
EVERYONE = "all"  # the group of a trial before a group is chosen


_NOT_CONTENT = ("games", "simulation", "elicited")


def game_content(study: StudyFile, answer: str) -> str:
    """Return the content of all trials of a variant in one format of answers. The number of games does not affect what
    is asked in one, unless they are pooled; nor does a label that no text shows."""
    data: AllocationData = study.data
    content = {field.name: getattr(data, field.name) for field in fields(data) if field.name not in _NOT_CONTENT}
    templates = (data.texts.class_line, data.texts.round, data.texts.outcome_success, data.texts.outcome_failure)
    if not any("{class}" in template for template in templates):
        content["classes"] = tuple(replace(job_class, label="") for job_class in data.classes)
    content["texts"] = replace(data.texts, answers={answer: data.texts.answers[answer]})
    n_pooled = data.games if data.is_pooled else None
    return stable_id(study.asked_as, answer, _plain(content), n_pooled, study.temperature)[:12]


def _plain(value: Any) -> Any:
    """Return records and tuples as JSON values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value


class Games(Plan[int]):
    """Hold the games of a study for one model, numbered from 1."""

    mixes_tests = True

    def __init__(self, study: StudyFile, model: StudyModel, seed: int) -> None:
        self._study, self._model = study, model
        self._data: AllocationData = study.data
        self._rates = self._data.elicited.get(model.model, {})
        settings = stable_id(dict(model.settings), model.reasoning_back)
        names = (study.name, study.variant, model.model, model.provider, model.requested_model)
        self._content = game_content(study, model.frame)
        self._id = StableIds(*names, self._content, settings, sorted(self._rates.items()), seed)
        # if jobs differ in their chances, a class has no best group
        self._has_best = self._data.success.kind not in ("by_job", "elicited")
        self._ends = [StableIds.end(self._test(place), place) for place in range(self._data.n_trials)]
        self._game_end, self._pool_end = StableIds.end("game"), StableIds.end("pool")
        self._facts = self._data.facts(model.frame)

    def _test(self, place: int) -> str:
        if self._data.task == "elicitation":
            return ELICITATION
        if place < self._data.n_rounds:
            return ROUNDS
        return QUESTIONS if place < self._data.n_rounds + self._data.n_questions else RATINGS

    def places(self, repetitions: int) -> Iterator[int]:
        return iter(range(1, self._data.games * repetitions + 1))

    def conversation_id(self, game_no: int) -> str:
        return self._id.of(game_no, self._game_end)

    def trial_ids(self, game_no: int) -> tuple[str, ...]:
        return tuple(self._id.of(game_no, end) for end in self._ends)

    def n_trials(self, game_no: int) -> int:
        return len(self._ends)

    def cell(self, game_no: int) -> tuple[str, str]:
        """Return the same cell for all games: they don't differ by design, only by the job that the first round
        draws."""
        return self._test(0), ""

    def conversation(self, game_no: int, number: int) -> Conversation:
        position = number * self._data.n_trials  # the position of its first trial in the plan
        game_id, ids = self.conversation_id(game_no), self.trial_ids(game_no)
        trials = [
            self._trial(ids[place], game_id, game_no, place, position + place, job, facts)
            for place, (job, facts) in enumerate(self._jobs(game_id, game_no))
        ]
        n = len(trials)
        pairs = product(self._data.ratings, self._data.groups)
        trials += [
            self._rating(trials[0], ids[place], position + place, rating, group)
            for place, (rating, group) in enumerate(pairs, n)
        ]
        return Conversation(game_id, tuple(trials))

    def _rating(self, first: Trial, trial_id: str, position: int, rating: Rating, group: str) -> Trial:
        """Return the rating of one group after the game; `first` is the game's first round."""
        facts = self._facts | {"groups_shown": first.factors["groups_shown"], "scale": [rating.low, rating.high]}
        return replace(
            first,
            trial_id=trial_id,
            test=RATINGS,
            condition=rating.name,
            item=group,
            group=group,
            expected=None,
            position=position,
            round=None,
            factors=facts,
        )

    def _jobs(self, game_id: str, game_no: int) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
        """Yield the job of each trial, and what is drawn for it."""
        data = self._data
        if data.task == "elicitation":
            yield from (
                (job, {}) for job in (data.jobs[place] for place in order(uniforms(len(data.jobs), game_id, "jobs")))
            )
            return
        game = draw_game(data, game_id)
        ranked = [self._ranked(game, c) for c in range(len(data.classes))] if self._has_best else []
        for round_no in range(1, data.rounds + 1):
            drawn = draw_round(data, game_id, game_no, round_no)
            yield drawn.job, self._round_facts(game, drawn, ranked)
        if data.asks_after:
            for job in draw_questions(data, game_id):
                yield job, {"ranks": ranked[job[0]]} if ranked and ranked[job[0]] else {}

    def _round_facts(self, game: GameDraw, drawn: RoundDraw, ranked: list[list[str]]) -> dict[str, Any]:
        groups = self._data.groups
        chances = self._chances(game, drawn.job)
        facts: dict[str, Any] = {
            "groups_shown": [groups[g] for g in game.groups_shown],
            "would_succeed": [name for name, luck, p in zip(groups, drawn.luck, chances, strict=True) if luck < p],
            "p_by_group": chances,
        }
        if ranked:
            facts["best_by_class"] = [best[0] if best else None for best in ranked]
        if self._data.features:
            facts |= {"features": [f.name for f in self._data.features], "candidates": drawn.candidates}
        return facts

    def _chances(self, game: GameDraw, job: tuple[int, int]) -> list[float]:
        success, n = self._data.success, len(self._data.groups)
        if success.kind == "latin_square":
            return [success.rates[game.ranks[g][job[0]]] for g in range(n)]
        if success.kind == "hidden_mapping":
            return [success.rates[0 if game.ranks[g][job[0]] == 0 else 1] for g in range(n)]
        if success.kind == "by_group":
            return list(success.of_class[job[0]])
        if success.kind == "constant":
            return [success.rates[0]] * n
        of_job = self._rates if success.kind == "elicited" else success.of_job or {}
        return [of_job[self._data.classes[job[0]].jobs[job[1]]]] * n

    def _ranked(self, game: GameDraw, class_no: int) -> list[str]:
        """Return the groups from the one with the highest average gain in a class to the lowest; empty if several share
        the highest.
        """
        data = self._data
        brought = gains(self._chances(game, (class_no, 0)), data.worth, data.loss)
        if brought.count(max(brought)) > 1:
            return []
        place = [ranks[class_no] for ranks in game.ranks] or range(len(brought))
        return [data.groups[g] for g in sorted(range(len(brought)), key=lambda g: (-brought[g], place[g]))]

    def _trial(
        self,
        trial_id: str,
        game_id: str,
        game_no: int,
        place: int,
        position: int,
        job: tuple[int, int],
        facts: dict[str, Any],
    ) -> Trial:
        data, job_class, test = self._data, self._data.classes[job[0]], self._test(place)
        ranked = facts["best_by_class"][job[0]] if "best_by_class" in facts else None
        return trial_of(
            self._study,
            self._model,
            trial_id,
            test=test,
            condition=job_class.name,
            item=job_class.jobs[job[1]],
            group=EVERYONE,
            expected=facts["ranks"][0] if "ranks" in facts else ranked,
            repetition=game_no,
            position=position,
            # games of one round that are pooled count as one game of many rounds
            game=self._id.of(0, self._pool_end) if data.is_pooled else game_id,
            round=None if test == QUESTIONS else game_no if data.is_pooled else place + 1,
            factors=self._facts | facts,
            content=self._content,
        )
