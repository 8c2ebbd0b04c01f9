"""Say where rows come from: the values of the column `source`, and the facts about each.

A new source is one entry here, its name in `Source`, and its words in `source_note()` (R/figure_style.R).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Source = Literal["collected", "imported", "simulated", "human"]


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """Hold the facts about a source. `description` describes its rows in reports, `notice` warns above them in the
    viewer (if it is not empty), `done` follows "Answers … were" in methods. `is_asked`: slant itself asked, so that its
    requests, settings and addresses are known. `is_of_models`: a model (or its simulator) answered. `is_real`: the
    answers are real."""

    description: str
    notice: str
    done: str
    is_asked: bool
    is_of_models: bool
    is_real: bool


SOURCES: Mapping[Source, SourceFacts] = MappingProxyType(
    {
        "collected": SourceFacts(
            "Answers of the models, asked by slant.", "", "collected", is_asked=True, is_of_models=True, is_real=True
        ),
        "imported": SourceFacts(
            "Answers that others collected and published.",
            "answers: somebody else asked.",
            "imported",
            is_asked=False,
            is_of_models=True,
            is_real=True,
        ),
        "simulated": SourceFacts(
            "No model was asked. These numbers show that the machinery works, and nothing about models.",
            "answers: no model was asked.",
            "simulated, without asking any model,",
            is_asked=True,
            is_of_models=True,
            is_real=False,
        ),
        "human": SourceFacts(
            "Answers of people, whom somebody else asked; a person has a running number.",
            "answers: people gave them, no model.",
            "given by people and imported",
            is_asked=False,
            is_of_models=False,
            is_real=True,
        ),
    }
)
"""List every source, in the order in which choices of one are listed."""
if tuple(SOURCES) != get_args(Source):
    raise AssertionError("SOURCES and Source differ")

PEOPLE = "people"
"""Name people in the column `model`, and as their provider."""


def facts_of(source: object) -> SourceFacts:
    """Return the facts of a source; for an unknown one in a strange database those of collected answers."""
    return SOURCES.get(source, SOURCES["collected"])  # type: ignore[call-overload, no-any-return]


def sources_that(fact: str) -> tuple[Source, ...]:
    """Return the sources for which a fact is true, as in `sources_that("is_asked")`."""
    return tuple(name for name, facts in SOURCES.items() if getattr(facts, fact))
