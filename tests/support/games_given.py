"""Rows of games as the collector stores them, made up for tests: allocation matrices played as rounds, questions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from slant.collector.studies.catalogue import load_study

GROUPS = ["Tufa", "Aima", "Reku", "Weki"]
Matrix = Sequence[Sequence[int]]  # by group and class, how often the group was chosen
Row = dict[str, Any]


def games(model: str, variant: str, matrices: Iterable[Matrix], source: str = "collected") -> Iterator[Row]:
    """One game a matrix, played to its end."""
    for number, matrix in enumerate(matrices, 1):
        chosen = [(g, c) for g, row in enumerate(matrix) for c, n in enumerate(row) for _ in range(n)]
        facts = _facts(n_rounds=len(chosen), is_success=True, answer_format=variant.partition(".")[2] or "direct")
        for place, (g, c) in enumerate(chosen, 1):
            own = {"round": place, "condition": f"class_{c}", "choice": GROUPS[g], "factors": facts, "test": "rounds"}
            yield {**_cell(model, variant, source, number), **own}


def refusals(model: str, variant: str, number: int) -> Iterator[Row]:
    """Games that end with a refusal in their first round."""
    for game in range(1, number + 1):
        own = {"round": 1, "outcome": "refused", "choice": None, "test": "rounds", "factors": _facts(n_rounds=40)}
        yield {**_cell(model, variant, "collected", game), **own}


def questions(model: str, variant: str, named: Sequence[Sequence[int]]) -> Iterator[Row]:
    """After each game, the place (from 1, the best) of the group that was named in each question."""
    for number, places in enumerate(named, 1):
        for c, place in enumerate(places):
            own = {"condition": f"class_{c}", "choice": GROUPS[place - 1], "test": "questions", "round": None}
            yield {**_cell(model, variant, "collected", number), **own, "factors": _facts(ranks=GROUPS)}


def _cell(model: str, variant: str, source: str, number: int) -> Row:
    game = f"{source}-{model}-{variant}-{number}"
    return {
        "source": source,
        "study": "hiring",
        "study_version": _version(),
        "variant": variant,
        "model": model,
        "game": game,
        "conversation_id": game,
        "repetition": number,
        "item": "job",
    }


@cache
def _version() -> str:
    return load_study("hiring").version


def _facts(**own: Any) -> str:
    return json.dumps({**own, "groups": GROUPS, "class_sizes": [5, 5, 5, 5]}, separators=(",", ":"))
