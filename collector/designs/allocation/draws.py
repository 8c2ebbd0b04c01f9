"""Draw what chance decides in a game: jobs, candidates, mapping and luck. Each draw is named by game and round, and
depends on nothing else: a game resumed after a stop meets the same future, whatever was asked in between."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from slant.collector.designs.allocation.parts import AllocationData


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


def draw_jobs(data: AllocationData, game_id: str) -> list[tuple[int, int]]:
    """Return all jobs in random order (for elicitation)."""
    jobs = data.jobs
    return [jobs[place] for place in order(uniforms(len(jobs), game_id, "jobs"))]


def draw_questions(data: AllocationData, game_id: str) -> list[tuple[int, int]]:
    """Return one job of each class, the classes in a random order."""
    n = len(data.classes)
    keys = uniforms(2 * n, game_id, "questions")
    return [(c, int(keys[n + c] * len(data.classes[c].jobs))) for c in order(keys[:n])]
