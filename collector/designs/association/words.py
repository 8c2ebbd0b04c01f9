"""Read and check the tables of an association study: tests, words, wordings and frames.

A test has two groups (a, b) of words that are asked, and two attributes (a, b) whose labels are the options. In the
first condition group a goes to attribute a, in the second to attribute b. The attributes' own words explain the labels
in a prompt; with `ask_attributes = true` they are asked, too, and their own label is expected in both conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.placeholders import check_placeholders, find_placeholders
from slant.collector.designs.wordings import GROUPS, SIDES, STIMULI, listed_tests, read_sides, read_wordings, two_names
from slant.collector.errors import StudyError, check_known
from slant.collector.reading.spelling import folded
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table

ORDERS = ("rule", "balanced")
NAME_COLUMNS = (*(f"{side}_named" for side in SIDES), "group_a_in_rule", "group_b_in_rule", "label_a", "label_b")
_OPTIONS = ("category_1", "category_2")
_MUST_NAME = ("group_a_named", "group_b_named", "group_a_in_rule", "group_b_in_rule", "label_a", "label_b")
_MAY_NAME = ("attribute_a_named", "attribute_b_named")
_FRAME_NEEDS = ("group_a_words", "group_b_words", "group_a_in_rule", "group_b_in_rule", *_OPTIONS, "wording")
_FRAME_MAY = (*(f"{side}_words" for side in SIDES), *NAME_COLUMNS[:6])


@dataclass(frozen=True, slots=True)
class Frame:
    """Define how a prompt is laid out. Words are joined by `separator`, the last one by `last_separator`."""

    template: str
    separator: str
    last_separator: str

    def joined(self, words: tuple[str, ...]) -> str:
        *head, last = words
        return self.separator.join(head) + self.last_separator + last if head else last


@dataclass(frozen=True, slots=True)
class AssociationTest:
    """Hold one test: its words and group names by side, and the names of the sides in the prompt by frame."""

    test: str
    test_no: int
    label: str
    words: Mapping[str, tuple[str, ...]]
    group_names: Mapping[str, str]
    names: Mapping[str, Mapping[str, str]]
    asked_sides: tuple[str, ...] = GROUPS
    _texts: dict[str, Mapping[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def texts(self, frame: str, layout: Frame) -> Mapping[str, str]:
        """Return the texts in every prompt of this test in a frame: its lists of words and the names of its sides."""
        if frame not in self._texts:  # the same for thousands of trials
            lists = {f"{side}_words": layout.joined(words) for side, words in self.words.items()}
            self._texts[frame] = {**lists, **self.names[frame]}
        return self._texts[frame]

    @property
    def asked(self) -> list[tuple[str, str]]:
        """Return the words that are asked, each with its side, in the study's order."""
        return [(side, word) for side in self.asked_sides for word in self.words[side]]


@dataclass(frozen=True, slots=True)
class AssociationData:
    """Hold `Study.data` of an association study. `wordings` by number, `tests` by id, both in the study's order.

    `conditions`: the one in which group a goes to attribute a comes first. `option_order`: 'rule' lists the option of
    group a first (so the order changes with the condition, as in the paper), 'balanced' crosses the two.
    `simulation`: rows of numbers to simulate from, by (model, test, condition); may be empty. `own_sides`: if words
    were dealt to groups at random, each word's true side, by (test, word).
    """

    conditions: tuple[str, str]
    option_order: str
    frames: Mapping[str, Frame]
    wordings: Mapping[int, str]
    tests: Mapping[str, AssociationTest]
    simulation: Mapping[tuple[str, ...], Mapping[str, float]]
    own_sides: Mapping[tuple[str, str], str] = field(default_factory=dict)


def parse_tables(table: Table, folder: StudyFolder, simulation: Mapping[Any, Any]) -> AssociationData:
    """Read [prompt], conditions, tests and stimuli; StudyError if they break the rules."""
    prompt = table.table("prompt")
    frames = {name: _frame(row) for name, row in prompt.tables("frames").items()}
    if not frames:
        raise StudyError(f"{prompt.where} needs at least one frame, as in [prompt.frames.plain].")
    columns = (*_MUST_NAME, "test")
    names = _names(folder.rows(prompt, "names", columns, may=("frame", *_MAY_NAME)), frames)
    wordings = read_wordings(folder.rows(prompt, "wordings", ("wording", "text")), ("word", *_OPTIONS), prompt.where)
    order = prompt.choice("option_order", ORDERS)
    prompt.finish()
    sides = read_sides(folder.rows(table, "stimuli", STIMULI), table.where)
    asked_sides = SIDES if table.flag("ask_attributes", default=False) else GROUPS
    rows = folder.rows(table, "tests", ("test",), may=("test_no", "label"))
    tests: dict[str, AssociationTest] = {}
    for test, number, label, _ in listed_tests(rows, "test", table.where):
        words_by_side = sides.get(test, {})
        if lacking := [side for side in SIDES if side not in words_by_side]:
            raise StudyError(f'The test "{test}" of {table.where} has no words for {lacking[0]}.')
        tests[test] = AssociationTest(
            test=test,
            test_no=number,
            label=label,
            words={side: tuple(words) for side, (_, words) in words_by_side.items()},
            group_names={side: name for side, (name, _) in words_by_side.items()},
            names={frame: values for (frame, of), values in names.items() if of == test},
            asked_sides=asked_sides,
        )
    for test in (*sides, *(of for _, of in names)):
        check_known(f"test (of the stimuli or names) in {table.where}", test, tests)
    why = "one gives group a its attribute, the other crosses the two"
    conditions = two_names(table, "conditions", ("compatible", "incompatible"), why)
    return AssociationData(conditions, order, frames, wordings, tests, simulation)


def _frame(row: Table) -> Frame:
    frame = Frame(row.text("template"), row.text("separator", ", "), row.text("last_separator", ", "))
    row.finish()
    check_placeholders(frame.template, _FRAME_NEEDS, _FRAME_MAY, f"the template of {row.where}")
    return frame


def _names(rows: list[dict[str, str]], frames: Mapping[str, Frame]) -> dict[tuple[str, str], dict[str, str]]:
    """Return names by frame and test. If a study has one frame, no row needs to name it."""
    only = next(iter(frames)) if len(frames) == 1 else ""
    names: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        frame, test = row.get("frame") or only, row["test"]
        check_known("frame (of the names)", frame, frames)
        if (frame, test) in names:
            raise StudyError(f'The names of the test "{test}" in the frame "{frame}" are given twice.')
        empty = [column for column in _MUST_NAME if not row[column]]
        if empty:
            raise StudyError(f'The names of the test "{test}" in the frame "{frame}" lack a value for "{empty[0]}".')
        if folded(row["label_a"]) == folded(row["label_b"]):
            raise StudyError(f'The test "{test}" has the same label twice in the frame "{frame}": {row["label_a"]}.')
        names[frame, test] = {column: row.get(column, "") for column in NAME_COLUMNS}
    return names


def check_names(test: AssociationTest, frame: str, template: str) -> None:
    """Raise StudyError if a frame's template asks for a name that the test leaves empty."""
    for column in sorted(find_placeholders(template) & set(NAME_COLUMNS)):
        if not test.names[frame][column]:
            raise StudyError(f'The names of the test "{test.test}" in the frame "{frame}" lack a value for "{column}".')
