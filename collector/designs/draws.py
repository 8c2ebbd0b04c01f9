"""Draw numbers that content decides: the same content gets the same draw in any order, on every machine. Words are also
dealt to groups this way, as the variant `null` asks, and answers are simulated from such numbers.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TypeVar

from slant.collector.errors import StudyError
from slant.collector.records import Reply
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyModel
from slant.collector.study.toml_table import Table

NORMAL = NormalDist()
W = TypeVar("W")


def uniforms(*content: object) -> list[float]:
    """Draw four numbers in (0, 1) by the content."""
    digest = hashlib.blake2b("\x1f".join(map(str, content)).encode(), digest_size=32).digest()
    return [(int.from_bytes(digest[i : i + 8]) + 0.5) / 2**64 for i in range(0, 32, 8)]


def log_normal(mean: float, sd: float, u: float) -> float:
    """Return the quantile `u` of the log-normal distribution with this mean and standard deviation."""
    if mean <= 0 or sd <= 0:
        return max(mean, 0.0)
    variance = math.log1p((sd / mean) ** 2)
    return math.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * NORMAL.inv_cdf(u))


def simulated_reply(answer: str, tokens: int, model: StudyModel, of_answer: int = 1) -> Reply:
    """Return a complete answer after that many tokens of reasoning, to which its own length is added."""
    return Reply(
        answer=answer,
        finish_reason="stop",
        output_tokens=tokens + of_answer + len(answer) // 5,
        reasoning_tokens=tokens,
        served_model=model.requested_model,
    )


def read_simulation(
    table: Table,
    folder: StudyFolder,
    key: Sequence[str],
    limits: Mapping[str, tuple[float, float]],
    may: Mapping[str, tuple[float, float]] = {},
) -> dict[tuple[str, ...], Mapping[str, float]]:
    """Return the rows of `simulation` for draws: the numbers of the columns `limits`, each between
    its two limits, by the columns `key`; empty if the study has none. Columns of `may` are 0 where they are missing.
    """
    if table.optional("simulation", (str, list), "the name of a CSV file or an array of tables") is None:
        return {}
    rows = {tuple(row[name] for name in key): row for row in folder.rows(table, "simulation", (*key, *limits), (*may,))}
    unset = dict.fromkeys(may, "0")
    return {
        cell: {name: _number((unset | row)[name], name, cell, *between) for name, between in {**limits, **may}.items()}
        for cell, row in rows.items()
    }


def _number(text: str, column: str, cell: Sequence[str], low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        what = f'"{text}" is no {column} to simulate ({", ".join(cell)}).'
        raise StudyError(what, f"It must be from {low:g} to {high:g}.")
    return value


def deal_words(groups: Mapping[str, Sequence[W]], *seed: object) -> dict[str, tuple[W, ...]]:
    """Return groups of the same sizes with words dealt at random: each group gets its share of every group's own words,
    to within one, so that no association is left on either side. The same seed deals alike on every machine.
    """
    rng = random.Random("\x1f".join(map(str, seed)))
    words = [word for own in groups.values() for word in rng.sample(list(own), len(own))]
    places: list[tuple[float, str]] = []
    for group, own in groups.items():
        start = rng.random()
        places += [((number + start) / len(own), group) for number in range(len(own))]
    dealt: dict[str, list[W]] = {group: [] for group in groups}
    for (_, group), word in zip(sorted(places), words, strict=True):
        dealt[group].append(word)
    return {group: tuple(rng.sample(own, len(own))) for group, own in dealt.items()}
