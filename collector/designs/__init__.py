"""A design is how a *kind* of experiment is read, crossed, worded and simulated: code, where a study is data.

A new design is one module with a class that keeps the protocol below, and one row in `_DESIGNS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from slant.collector.errors import UnknownNameError
from slant.collector.records import Conversation, Prompt, Reading, Reply, Trial, Turn
from slant.collector.study_files.folder import StudyFolder
from slant.collector.study_files.keys import Table
from slant.collector.study_files.records import Study, StudyModel, TestInfo

_DESIGNS = {
    "allocation": "slant.collector.designs.allocation",
    "association": "slant.collector.designs.association",
    "forced_choice": "slant.collector.designs.forced_choice",
}


class Design(Protocol):
    """What the rest of slant asks of a design. All of it is pure: no clock, no network, no state between calls.

    A design whose conversations have many turns (`has_games`) has `game_ids()` beside this, one with several formats
    of answers `answers()`, one that plays with what models said elsewhere `source_variant()` and `with_rates()`, one
    with participants that are no models `participants`, one with tables that a variant changes as a whole `whole_keys`:
    see allocation.py.
    """

    name: str
    has_games: bool
    """True where a conversation has many turns, of which the later depend on the earlier."""
    analyses_tokens: bool
    """True where the count of tokens is what is analysed, so that answers without one are worth a warning."""
    compares_variants: bool
    """True where variants are conditions to compare, which tables and figures then put side by side; elsewhere each
    variant is an analysis of its own."""
    answer_schema: Mapping[str, Any] | None
    """The JSON schema of an answer, for providers that enforce one on request; None where answers are no JSON."""

    def parse(self, table: Table, folder: StudyFolder) -> Any:
        """The design's own part of a study file (kept as `Study.data`); StudyError where it breaks the rules."""

    def tests(self, data: Any) -> tuple[TestInfo, ...]:
        """The tests in the study's order, each with its number of trials in one model and one repetition."""

    def words(self, data: Any) -> list[dict[str, str]]:
        """Every word of the study: test, category, word, and where it comes from (`tier` …) where the study says so."""

    def check(self, study: Study) -> None:
        """StudyError where the parts of the study don't fit together."""

    def conversations(
        self, study: Study, model: StudyModel, seed: int, repetitions: int, skip: Sequence[int] = b""
    ) -> Iterator[Conversation]:
        """All there is to ask of one model, in a seeded order; lazily, so that memory does not grow with the plan.

        `skip` has one number for each conversation, and those with another number than 0 are passed over without
        being made (empty: none is). They keep their positions.
        """

    def trial_ids(self, study: Study, model: StudyModel, seed: int, repetitions: int) -> Iterator[tuple[str, ...]]:
        """The ids of the trials of each conversation, in the same order; quicker than making them all."""

    def contents(self, study: Study) -> Iterator[str]:
        """A short hash (12 hexadecimal digits) for each kind of trial that shares what its prompts are made of; one of
        them is the `content` of every trial. An edit of the study that leaves it as it is changes no prompt, and the
        answers stay. `study.asked_as` is in it: two variants never share one."""

    def next(
        self, study: Study, model: StudyModel, conversation: Conversation, history: Sequence[Turn]
    ) -> tuple[Trial, Prompt] | None:
        """What is asked after these turns, and for which trial; None when the conversation is over."""

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """A trial of an imported row (`draft`, by the names of collector/layouts/tidy.py) with what else the design has
        to know of it; `planned` is that of the plan. StudyError, whose text goes on after "this row …", where the row
        lacks it. Not of a design with games, which are not imported."""

    def read(self, study: Study, trial: Trial, reply: Reply) -> Reading:
        """The outcome and the choice; an outcome that the provider itself has set wins."""

    def knows_lengths(self, study: Study, model: StudyModel) -> bool:
        """True where the study says how long this model's answers are, so that simulated ones are as long."""

    def simulate(self, study: Study, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """A made-up reply; depends on the trial, the model and the seed only, never on the order of calls."""

    def trial_for_prompt(self, study: Study, model: StudyModel, messages: Sequence[Any]) -> Trial | None:
        """The trial (repetition 1) whose prompt these messages are, for a simulated server; None if there is none."""


def design_named(name: str) -> Design:
    """The design of this name; UnknownNameError if there is none."""
    if name not in _DESIGNS:
        raise UnknownNameError("design", name, _DESIGNS)
    return cast(Design, import_module(_DESIGNS[name]).DESIGN)
