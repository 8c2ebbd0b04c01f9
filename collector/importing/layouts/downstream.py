"""The layouts in which Lee & Lai keep the two tasks of Bai et al. that they ran next to their own test.

Word association, a row for each word of an answer:
  experiment (the test), model, template (the wording), iteration (from 0): which answer a row is of
  group0, group1     the names in the order shown, with group0_pole and group1_pole, the lists that they are from
  attribute          a word that was shown, with attr_pole, its list; the rows say nothing of the order it was shown in
  raw_response       the answer, the same in all its rows; read again here, and group_assigned, their reading, left
  aside thinking_tokens    what is counted differs by model, as the table below has it
Decisions, a row for each conversation of two turns:
  experiment, model, variation (the wording), iteration, group0, group1 and their poles as above
  attribute0, attribute1 with attr0_pole, attr1_pole; task1_prompt, task1_response, task1_thinking_tokens; task2_…
An empty answer of which tokens were counted was cut off; without a count nobody knows, and it is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slant.collector.designs.pairing.words import PairingData
from slant.collector.designs.study import Study
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS
from slant.collector.importing.layouts.tidy import (
    Layout,
    Problem,
    Row,
    check_columns,
    check_study,
    lee_lai_test,
    wording_named,
)
from slant.collector.importing.layouts.values import CellError, is_empty, shown, text, whole_number, word
from slant.collector.reading.decisions import people_in
from slant.collector.records import TokenSource

_SHOWN = ("group0", "group1", "group0_pole", "group1_pole")
_ANSWER = ("experiment", "model", "template", "iteration")
_OF_WORDS = ("attribute", "attr_pole", "group_assigned")
_ALIKE = (*_SHOWN, "raw_response", "thinking_tokens")
_TURNS = {1: "profiles", 2: "decision"}
_NEEDED_OF_WORDS = (*_ANSWER, *_SHOWN, "attribute", "attr_pole", "raw_response")
_NEEDED_OF_TURNS = (
    *("experiment", "model", "variation", "iteration", *_SHOWN),
    *("attribute0", "attribute1", "attr0_pole", "attr1_pole"),
    *(f"task{turn}_{what}" for turn in _TURNS for what in ("prompt", "response")),
)
_LISTS_A = (
    "flowers", "instruments", "european_american", "male", "mental_disease", "young",
    "pleasant", "career", "math", "science", "temporary", "positive",
)  # fmt: skip
_LISTS_B = (
    "insects", "weapons", "african_american", "female", "physical_disease", "old",
    "unpleasant", "family", "arts", "permanent", "negative",
)  # fmt: skip
_SIDES = dict.fromkeys(_LISTS_A, "a") | dict.fromkeys(_LISTS_B, "b")
"""The names of their lists, but for what says which version one is (pleasant_nosek), each with our side; and what the
sides are called where a list has no name."""
_VERSIONS = ("_original", "_bertrand", "_nosek")
_SHOWN_WORDS = 5
_COUNTED: tuple[tuple[str, TokenSource], ...] = (
    ("o3-mini", "usage"),
    ("openai", "usage"),
    ("claude", "output"),
    ("deepseek", "output"),
    ("gpt-oss", "output"),
    ("gpt_20b", "output"),
    ("qwen", "template"),
)
"""What their counts are of, by what a model's name begins with; of others the study's own entry says it."""


class Downstream(Layout):
    """Read the authors' files of all models, or of one."""

    has_turns = True

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        check_study("downstream", study, has_model=True)
        needed = _NEEDED_OF_WORDS if _has_words(study) else _NEEDED_OF_TURNS
        check_columns(
            path, [name for name in needed if name not in columns and not (name == "model" and has_model)], columns
        )
        return []

    def grouped(self, study: Study, rows: Iterable[Row | Problem]) -> Iterator[Row | Problem]:
        return grouped_rows(rows, _ANSWER, _ALIKE, _OF_WORDS) if _has_words(study) else _turns(rows)

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        cells, test = row.cells, lee_lai_test(word(row.cells.get("experiment")))
        if test not in study.data.tests:
            known = ", ".join(study.data.tests)
            raise CellError(f"experiment must be one of {known}, but is {shown(cells.get('experiment'))}")
        column = "template" if _has_words(study) else "variation"
        condition, wording = wording_named(study, word(cells.get(column)), column)
        number = whole_number(cells.get("iteration"), "iteration")
        model = word(cells.get("model")).rpartition("/")[2].lower()
        draft = {
            "model": cells.get("model"),
            "test": test,
            "condition": condition,
            "wording": wording,
            "item": f"draw {number % study.data.draws + 1}",
            "repetition": number // study.data.draws + 1,
            "token_source": next((source for start, source in _COUNTED if model.startswith(start)), None),
        }
        return draft | (_association if _has_words(study) else _turn)(study, test, wording, cells)


def _has_words(study: Study) -> bool:
    """Return True for word association, False for decisions."""
    return isinstance(study.data, PairingData)


def _answered(answer: Any, tokens: Any) -> dict[str, Any]:
    was_cut_off = is_empty(answer) and not is_empty(tokens)
    return {"answer": text(answer), "tokens": tokens, "outcome": "truncated" if was_cut_off else None}


def _association(study: Study, test: str, wording: int, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return names and words, each on the side that its list says."""
    words, of_words = [word(each) for each in cells["attribute"]], _sides("attr_pole", cells["attr_pole"])
    if not all(words):
        raise CellError("attribute is empty")
    if twice := next((each for each in words if words.count(each) > 1), None):
        raise CellError(f"attribute must be another word in each row of an answer, but several are {shown(twice)}")
    lists = study.data.tests[test].words(study.data.wordings[wording].words)
    _check_sides(lists, ATTRIBUTES, dict(zip(words, of_words, strict=True)))
    listed, here = {each.casefold(): each for side in ATTRIBUTES for each in lists[side]}, set(map(str.casefold, words))
    missing = [each for plain, each in listed.items() if plain not in here]
    if missing and here < set(listed):  # every prompt showed all words of a test: rows were lost
        first = ", ".join(missing[:_SHOWN_WORDS]) + (" …" if len(missing) > _SHOWN_WORDS else "")
        raise CellError(f"an answer must have a row for each word of its test, but lacks {len(missing)}: {first}")
    names, first = _names(lists, cells)
    poles = "".join("p" if side == "a" else "n" for side in of_words)
    factors = {"first_option": names[first], "words": words, "poles": poles, "is_order_known": False}
    shown_names = {f"option_{side}": name for side, name in names.items()}
    return {**_answered(cells.get("raw_response"), cells.get("thinking_tokens")), **shown_names, "factors": factors}


def _turns(rows: Iterable[Row | Problem]) -> Iterator[Row | Problem]:
    """Yield a row for each turn. The second was not asked where the first has neither an answer nor a count."""
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        was_answered = not all(is_empty(row.cells.get(f"task1_{what}")) for what in ("response", "thinking_tokens"))
        for turn in list(_TURNS)[: 1 + was_answered]:
            yield replace(row, cells={**row.cells, "turn": turn, "goes_on": was_answered and turn == 1})


def _turn(study: Study, test: str, wording: int, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn, with the texts shown in its conversation, and the people of the profiles."""
    turn = cells["turn"]
    words = [word(cells[f"attribute{n}"]) for n in (0, 1)]
    of_words = [_sides(f"attr{n}_pole", [cells[f"attr{n}_pole"]])[0] for n in (0, 1)]
    if not all(words) or set(of_words) != {"a", "b"}:
        raise CellError("of attribute0 and attribute1 there must be one of each side, and neither may be empty")
    lists = study.data.tests[test].words(study.data.scene(test, wording).tasks[-1].words)
    _check_sides(lists, ATTRIBUTES, dict(zip(words, of_words, strict=True)))
    names, first = _names(lists, cells)
    factors = {
        "tasks": [_TURNS[turn]],
        "first_group": first,
        "first_attribute": of_words[0],
        **{f"attribute_{side}": each for side, each in zip(of_words, words, strict=True)},
        "n_turns": len(_TURNS),
    }
    if turn == len(_TURNS):
        factors["people"] = people_in(
            text(cells.get("task1_response")) or "", {name: side for side, name in names.items()}
        )
    elif cells["goes_on"]:
        factors["goes_on"] = True
    return {
        **_answered(cells.get(f"task{turn}_response"), cells.get(f"task{turn}_thinking_tokens")),
        **{f"option_{side}": name for side, name in names.items()},
        "factors": factors,
        "turn": turn,
        "prompt_as_sent": text(cells.get(f"task{turn}_prompt")),
    }


def _names(lists: Mapping[str, Sequence[str]], cells: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """Return the two names by side, and the side of the one that was shown first."""
    names = [word(cells.get(f"group{n}")) for n in (0, 1)]
    sides = [_sides(f"group{n}_pole", [cells.get(f"group{n}_pole")])[0] for n in (0, 1)]
    if set(sides) != {"a", "b"}:
        raise CellError("group0_pole and group1_pole must be of two sides, but both are of the same")
    if not all(names):
        raise CellError("group0 or group1 is empty")
    _check_sides(lists, GROUPS, dict(zip(names, sides, strict=True)))
    return dict(zip(sides, names, strict=True)), sides[0]


def _sides(name: str, poles: Iterable[Any]) -> list[str]:
    """Return slant's side for the name of a list. None is guessed: D would be reversed."""
    plain = [word(pole).lower() for pole in poles]
    for version in _VERSIONS:
        plain = [pole.removesuffix(version) for pole in plain]
    if others := sorted({pole for pole in plain if pole not in _SIDES}):
        raise CellError(f"{name} must be one of {', '.join(_SIDES)}, but is {shown(', '.join(others))}")
    return [_SIDES[pole] for pole in plain]


def _check_sides(lists: Mapping[str, Sequence[str]], both: Sequence[str], sides: Mapping[str, str]) -> None:
    """Check that what the study knows is on the side that it knows it on."""
    known = {each.casefold(): side for side in both for each in lists[side]}
    for name, side in sides.items():
        own = known.get(name.casefold(), side)
        if own[-1] != side:
            raise CellError(f"{shown(name)} is of side {side} here, but the study has it in {own}")


@dataclass(slots=True)
class _Answer:
    """Hold rows that are one answer: some files have a row for each word of a list that was shown."""

    first: Row
    lists: dict[str, list[Any]]
    problem: Problem | None = None


def grouped_rows(
    rows: Iterable[Row | Problem], of: Sequence[str], alike: Sequence[str], listed: Sequence[str]
) -> Iterator[Row | Problem]:
    """Return a row for each combination of the cells `of`, which may lie anywhere in the file, in the order of first
    rows.

    The cells `listed` become lists, in the order of the rows. The cells `alike` must be the same in all rows of an
    answer; it becomes a problem, at the row that says otherwise, where they are not. All else is that of the first row.
    Memory grows with the answers of a file, not with its rows: of a text that each of them repeats, one copy is kept.
    """
    answers: dict[tuple[str, ...], _Answer] = {}
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        key = tuple(word(row.cells.get(name)) for name in of)
        answer = answers.setdefault(key, _Answer(row, {name: [] for name in listed}))
        for name, values in answer.lists.items():
            values.append(row.cells.get(name))
        differs = next((name for name in alike if not _are_alike(name, row, answer.first)), None)
        if differs and answer.problem is None:
            here, before = (shown(word(each.cells.get(differs))) for each in (row, answer.first))
            rule = f"{differs} must be the same in all rows of one answer (alike in {', '.join(of)})"
            answer.problem = Problem(row.file, row.line, f"{rule}, but is {here} after {before}")
    for answer in answers.values():
        cells = {**answer.first.cells, **answer.lists}
        yield answer.problem or Row(answer.first.file, answer.first.line, cells)


def _are_alike(name: str, row: Row, first: Row) -> bool:
    ours, theirs = row.cells.get(name), first.cells.get(name)
    return bool(ours == theirs) or word(ours) == word(theirs)  # a NaN, an unknown number, equals no other
