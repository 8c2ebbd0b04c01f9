"""The default layout: CSV, Parquet or JSON lines with our own column names, as `collect export` writes them.

Needed: test, condition, item, wording (each where the study has more than one), answer, model (or --model), and one of
the three counts where the study analyses tokens. What an export adds for people (labels, ids, is_refusal …) is left
aside: it is made again from the rest.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from slant.collector.designs import design_named, design_names
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.importing.files.kinds import Problem, Row
from slant.collector.importing.layouts.cells import PlannedCells
from slant.collector.importing.layouts.values import CellError, is_empty, shown, whole_number, word
from slant.collector.importing.renamed import names_in, ours_by_name
from slant.collector.records import Attempt
from slant.collector.study.records import StudyModel
from slant.collector.system.shipped_files import documented_columns

__all__ = ["Layout", "Problem", "Row"]

LEE_LAI_TESTS = {
    "race_original": "race_greenwald",
    "career_family": "gender_career",
    "math_arts": "gender_math",
    "science_arts": "gender_science",
    "mental_physical": "disease_permanence",
    "young_old": "age_valence",
}
"""What Lee & Lai call tests whose id is another in their study; the other four tests are called alike."""
_HINTS = ("Files with slant's own column names need: --layout tidy",)


class Layout(ABC):
    """Say how one kind of file is translated."""

    has_turns = False
    """True where drafts of a study of conversations are of turns, each with its number `turn` and `prompt_as_sent`."""

    skips_missing = False
    """True where an empty answer (or NA) is a missing one; elsewhere the layout itself says what it is."""

    @abstractmethod
    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        """Return warnings about a whole file. UsageError if it can't be of this layout; nothing is written then."""

    @abstractmethod
    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        """Return the row under the names of collector/importing/layouts/tidy.py. CellError if it can't be read."""

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterable[Row | Problem]:
        """Return a row for each answer, for draft(), of the rows of a file: several may be one answer, or one be
        several."""
        return rows


def check_study(layout: str, study: Study, has_model: bool) -> None:
    """Raise UsageError if the study's design has no such layout, or the model of the answers is not named."""
    if layout not in study.design.imports.layouts:
        designs = [design.name for design in map(design_named, design_names()) if layout in design.imports.layouts]
        raise UsageError(f"The layout {layout} is for {' and '.join(designs)} studies; {study.name} is none.")
    if not has_model:
        known = ", ".join(model.model for model in study.models)
        raise UsageError("These files don't say which model they are of.", f"Add --model, one of: {known}")


def check_columns(path: Path, missing: Sequence[str], columns: Sequence[str], hints: Sequence[str] = _HINTS) -> None:
    """Raise UsageError if columns are `missing` among those that a file has."""
    if missing:
        raise UsageError(
            f"Can't import {path}: it lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}.",
            f"It has: {', '.join(filter(None, columns)) or 'none'}.",
            *hints,
        )


def lee_lai_test(name: str) -> str:
    """Return the id of the test that Lee & Lai call by this name, in any case, with hyphens or blanks."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return LEE_LAI_TESTS.get(plain, plain)


def wording_named(study: Study, name: str, column: str) -> tuple[str, int]:
    """Return the condition and the number of the wording that a cell of `column` names. CellError if there
    is none.
    """
    wordings = {getattr(named, "condition", named): number for number, named in study.data.wordings.items()}
    name = name or (next(iter(wordings)) if len(wordings) == 1 else "")
    if name not in wordings:
        raise CellError(f"{column} must be one of {', '.join(wordings)}, but is {shown(name)}")
    return name, wordings[name]


PLACE = ("test", "condition", "item", "wording")
IDS = ("custom_id", "id", "sample_id")
"""Columns of a request's or a sample's own name, in which people write which trial it is."""
NEEDED = ("test", "condition", "item", "wording", "answer")
COUNTS = ("tokens", "reasoning_tokens", "output_tokens")
TAKEN = (
    *NEEDED, *COUNTS, "model", "group", "repetition", "position", "option_a", "option_b", "expected", "outcome",
    "detail", "token_source", "reasoning_tokens_recounted", "input_tokens", "reasoning_text", "reasoning_kind",
    "finish_reason", "served_model", "fingerprint", "request_id", "cost_usd", "factors",
    "option_a_logprob", "option_b_logprob", "logprob_kind",
    "consistent_letter", "block_position", "position_in_block", "tier", "structured_output", "answered_at",
)  # fmt: skip
ALIASES = ours_by_name("tidy")
"""Other names that a study's own view has for our columns. Its `item` is a name made of `test` and `word`; where there
is no whole answer, what was chosen does as well."""
ALIASES_OF_GAMES = ours_by_name("games")
OF_GAMES = ("game", "round", "is_success", *ALIASES_OF_GAMES)
CHECKED = ("study", "variant", "source")
_NUMBERS = "reasoning_tokens_recounted input_tokens repetition position cost_usd option_a_logprob option_b_logprob"
VARYING = frozenset({"answer", "reasoning_text", *COUNTS, *_NUMBERS.split(), "request_id", "answered_at"})
"""What differs between rows that are alike in all else: texts, counts, numbers."""
PLACING = frozenset({*TAKEN, *OF_GAMES, *CHECKED, *ALIASES, *IDS, "trial_type", "turn", "about"})
"""All else that says something of a row, unless its design reads further columns."""
_MADE_AGAIN = {field.name for field in fields(Attempt)} | {
    "model_label", "model_no", "test_no", "test_label", "is_refusal", "follows_rule", "latency_s",
    "served_model_differs", "snapshot_was_asked", "is_left_out", "domain_no", "domain_label", "block_no",
    "block_label", "condition_no", "condition_label", "first_option", "chosen_letter",
    "is_valid", "is_consistent", "p_consistent", "is_batch", "queue_wait_s", "", *documented_columns(),
}  # fmt: skip
_OF_TOOLS = names_in("told")["tool"]
"""What the logs of tools have next to what was taken from them (collector/importing/files/tool_logs.py)."""


class Tidy(Layout):
    """Read our own column names; columns in any order, more columns than needed."""

    skips_missing = True
    has_turns = True

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        has_turns = study.design.asks.has_turns(study)
        of_place: tuple[str, ...] = NEEDED
        if has_turns:  # of a game, which one and which round; of another conversation, its place and which turn
            of_place = ("game", "round", "item", "answer") if study.design.asks.plays_games else (*NEEDED, "round")
        needed = of_place if has_model else ("model", *of_place)
        aliases = ALIASES | ALIASES_OF_GAMES
        present = {*columns, *(ours for foreign, ours in aliases.items() if foreign in columns)}
        anybody = StudyModel("", "", "", "", study.frame)
        planned = PlannedCells(study, (*study.models, anybody)[0])
        present |= planned.said_by_study | ({"round"} if planned.tests_say_turns else set())
        present |= set(PLACE) if present & set(IDS) else set()
        of_rows = study.design.imports.row_columns(study.data)
        if of_rows and present.issuperset(of_rows):
            present |= {"item"} | (
                {"condition", "wording"} if present & {"condition", "wording", "template"} else set()
            )
        missing = [name for name in needed if name not in present]
        if study.design.analyses.counts_tokens and not present & set(COUNTS):
            missing.append("tokens")
        hints = ["Or say which model all rows are of: --model MODEL"] if missing == ["model"] else []
        if "model" in missing and "participant" in columns:
            hints = ["Answers of people need: --layout people --consent TEXT --origin TEXT"]
        if study.design.imports.layouts:
            hints.append(f"The authors' own files need: --layout {' or '.join(study.design.imports.layouts)}")
        if "round" in missing:
            hints.append("Each row is one turn. An export has them by: collect export --view trials")
        if missing and not hints:
            asked = [test.test for test in study.tests if test.test in columns and "answer" in missing]
            which = f"test:answer={':'.join(asked)}" if asked else f"{missing[0]}=COLUMN"
            hints = [f"Say what its columns are: --map {which}"]
        check_columns(path, missing, columns, hints)
        taken = {*TAKEN, *OF_GAMES, *CHECKED, *ALIASES, *_MADE_AGAIN, *IDS, *_OF_TOOLS, *of_rows}
        taken |= set(study.design.analyses.attributes(study.data)) if of_rows else set()
        unknown = [name for name in columns if name not in taken]
        return [f"{path}: columns not taken: {', '.join(map(_with_hint, unknown))}"] if unknown else []

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        for name, ours in (("study", study.name), ("variant", study.variant)):
            value = row.cells.get(name)
            if not is_empty(value) and word(value) != ours:
                hint = ", import it with --variant" if name == "variant" else ""
                raise CellError(f"{name} is {shown(value)}, but this is an import into {ours}{hint}")
        if word(row.cells.get("source")) == "simulated":
            raise CellError("is simulated, and an import would make it look like a model's answer")
        cells = dict(row.cells)
        has_turns = study.design.asks.has_turns(study)
        of_rows = study.design.imports.row_columns(study.data)
        for foreign, ours in (ALIASES | (ALIASES_OF_GAMES if has_turns else {})).items():
            if foreign in cells and foreign not in of_rows and (ours not in cells or _is_word_of_view(foreign, cells)):
                cells[ours] = cells[foreign]
        about = f"{word(cells.get('test'))}_{word(cells.get('about'))}"
        if any(about == test.test for test in study.tests):  # of an export, whose test is the question of all profiles
            cells["test"] = about
        cells.pop("turn", None)  # of an export, which counts reminders and questions as well
        if has_turns and not is_empty(cells.get("round")):
            cells["turn"] = whole_number(cells["round"], "round", 1)
        return cells


def _is_word_of_view(foreign: str, cells: Mapping[str, Any]) -> bool:
    """Return whether `item` is made of test and word, as in a study's own view, so that the word is the item."""
    made = f"{cells.get('test')}: {cells.get('word')}"
    return foreign == "word" and ("domain" in cells or word(cells.get("item")) == made)


def _with_hint(name: str) -> str:
    near = difflib.get_close_matches(name, TAKEN, n=1, cutoff=0.7)
    return f'{name} (did you mean "{near[0]}"?)' if near else name
