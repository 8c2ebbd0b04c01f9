"""Define what analyses, reports and readers have of a design's answers: names of views, fits, words, labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.study.records import Condition, Fit, StudyFile


@dataclass(frozen=True)
class Vocabulary:
    """Name the parts of a design for readers: its `answers`, a `condition`, an `option` to choose, a `test`; `measured`
    is what is analysed of each answer (the dependent variable), empty if that can't be said of all its studies."""

    answers: str = "answers"
    condition: str = "condition"
    option: str = "option"
    test: str = "test"
    measured: str = ""


@dataclass(frozen=True)
class ReportPart:
    """Define one group of tables in a report: the rows of these views unchanged, under one title, after `texts`.

    `name` is its anchor, and unique in a report. Without rows in any of its views, a report leaves the group out. Its
    tables are folded unless it `is_open`.
    """

    name: str
    title: str
    views: tuple[str, ...]
    texts: tuple[str, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class AskedField:
    """Define one answer that a trial wants: `options` as (what is stored, what is shown), or a typed answer of a `kind`
    (text or number) if there are none. `label` says which of several it is."""

    name: str
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()
    kind: str = "text"


class Analyses:
    """Declare how answers of a design are analysed; every member has a default."""

    counts_tokens: bool = False
    """True if the count of tokens is analysed, so that answers without one deserve a warning."""
    compares_variants: bool = False
    """True if variants are conditions to compare, which tables and figures then show side by side; otherwise each
    variant is a separate analysis."""
    pairs_by: tuple[str, ...] = ()
    """List the columns of `trials` in which two answers agree that differ only in their condition, for readers who want
    to see them side by side (`collect view`). Empty: answers of this design make no such pairs."""
    vocabulary: Vocabulary = Vocabulary()
    trials_view: str = ""
    """Name the view of its answers that figures of trials read: labelled, with `is_valid`, `is_refusal`, `tokens`.
    Empty: such rows are made from `trials`."""
    checked_view: str = ""
    """Name the view of its answers that checks read, one row each: source, study, study_version, variant, run_id,
    trial_id, model, test, condition, outcome, tokens and what its checks want (an order, too). Empty: a study of this
    design is checked by its mixed model, if it has one."""
    checks: Mapping[str, Mapping[str, Any]] = {}
    """List checks of `checked_view` besides those that all answers (and choices) have, by their keys in checks.toml,
    each with arguments that its R function takes for this design only."""
    profiles_view: str = ""
    """Name the view with one row for each profile that an answer is about, for checks that read "profiles"."""
    figures: Mapping[str, str] = {}
    """List figures that not every design has, each with the view of its rows, or the engine whose fits it shows."""
    report_parts: tuple[ReportPart, ...] = ()
    """List groups of tables in this design's report, besides those of all studies."""
    choice: str = ""
    """Name the column of `checked_view` that is true if a choice goes with the usual association. Effects of conditions
    are differences in its share. Empty: choices are not analysed."""
    compared: tuple[str, str] = ("", "")
    """Name a view with one row for each answer of models and people, and the column whose numbers are compared."""
    measured: tuple[str, str] = ("", "")
    """The same of a design whose numbers are no people's: what two models' answers to one prompt differ in."""
    compared_items: tuple[str, ...] = ("item",)
    """List the columns of that view which together say what was asked, the item first."""
    game_index: tuple[str, str] = ("", "")
    """Name a view with one row per game, and the column whose variance a plan of games uses."""
    number_sources: tuple[str, ...] = ()
    """List what recomputes a paper's numbers besides views (names of `IN_PYTHON` in analysis/paper/sources.py)."""
    views: Mapping[str, str] = {}
    """Hold views of a design in a separate package: the text of each by its name, with the head that CONTRIBUTING.md
    requires, in an order in which each reads earlier ones."""

    def conditions(self, data: Any) -> tuple[Condition, ...]:
        """Return the conditions in the study's order; the first one is the reference level of its fits."""
        return ()

    def words(self, data: Any) -> list[dict[str, str]]:
        """Return the words of the study: test, group, word, and its origin (`tier` …) if the study says it."""
        return []

    def own_words(self, data: Any) -> set[str]:
        """Return the words that reasoning repeats from the study itself, and that say nothing about its topics: here,
        its stimuli."""
        return {row["word"] for row in self.words(data)}

    def factor_levels(self, study: StudyFile) -> dict[str, tuple[Any, ...]]:
        """Return the values that text columns have in the views of this design, by column, in the study's order."""
        return {"test": tuple(test.test for test in study.tests)}

    def measured_in(self, study: StudyFile, test: str | None) -> str:
        """Return the unit of what a test measures: a phrase that begins with "share" where its mean is a proportion,
        "points from 1 (not at all) to 7 (very)" of a scale, "" if the study names none."""
        return ""

    def attributes(self, data: Any) -> Mapping[str, tuple[str, ...]]:
        """Return the factors that a study itself names, with their levels, the reference first. Views of the design
        have them in a column `attributes` (by name), or in a separate one, and fits name them as columns.
        """
        return {}

    def own_columns(self, data: Any) -> tuple[str, ...]:
        """Return the columns that fits can name besides those of views: attributes, and what has any value."""
        return tuple(self.attributes(data))

    def fits(self, study: StudyFile) -> dict[str, Fit]:
        """Return fits that a study of this design has besides those of its file, by name; its file may override one."""
        return {}

    def own_fit(self, study: StudyFile, fit: Fit) -> Fit:
        """Return a fit of the file with what this design knows of clusters; by default as it is."""
        return fit

    def facts(self, trial: Mapping[str, Any]) -> dict[str, str]:
        """Return the facts for a reader of a trial besides prompt and answer, by name; of a game also who was
        offered and how it went. `trial` is a row of `trials`; by default these are its factors."""
        return {name: as_text(value) for name, value in trial["factors"].items()}

    def options(self, trial: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the possible choices in a trial; `trial` as in `facts`."""
        return tuple(option for option in (trial["option_a"], trial["option_b"]) if option)

    def check_arguments(self, study: StudyFile) -> Mapping[str, Mapping[str, Any]]:
        """Return this study's `checks`, with their arguments; `where` (as in fits) chooses their rows."""
        return self.checks

    def plain_personas(self, data: Any) -> tuple[str, ...]:
        """Return the personas that say nothing: with one of these a model has no persona, as without personas."""
        return ()


def as_text(value: Any) -> str:
    """Return a factor as a reader sees it: lists with commas, nested values as JSON."""
    if isinstance(value, list) and not any(isinstance(part, list | dict) for part in value):
        return ", ".join(map(as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
