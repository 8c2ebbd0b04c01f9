"""Read and check the tables of a pairing study: tests, lists of words and wordings.

A test has two groups (a, b), each shown by one word, and two attributes (a, b) whose words are to be given to the
groups. The usual association gives the words of attribute a to group a. In a study of a bias, group a is the group that
is not stigmatised and attribute a the positive one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.designs.wordings import ATTRIBUTES, GROUPS, SIDES, STIMULI, listed_tests, read_sides, whole
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.reading.pairs import plain
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table, checked_name

ORDERS = ("drawn", "balanced")
PLACEHOLDERS = ("group_1", "group_2", "words")
MAX_DRAWS = 10_000
Lists = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Wording:
    """Define one way to ask. `words` names the list that it shows, `condition` is its name in tables."""

    condition: str
    text: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class PairingTest:
    """Hold one test: its words by list and side (a list has only the sides in which it differs from the list "")."""

    test: str
    test_no: int
    label: str
    kind: str
    lists: Mapping[str, Lists]
    group_names: Mapping[str, str]

    def words(self, name: str) -> Lists:
        """Return the words of each side in the list of this name."""
        return {**self.lists[""], **self.lists.get(name, {})}

    @property
    def group(self) -> str:
        return " / ".join(self.group_names[side] for side in GROUPS)


@dataclass(frozen=True, slots=True)
class PairingData:
    """Hold `Study.data` of a pairing study, `tests` and `wordings` in the study's order.

    `order`: whether the groups' two words, and which of them comes first, are drawn at random or each occur equally
    often. A list of words is shown as `before` + the words joined by `separator` + `after`. `simulation`: by (model,
    test), what simulated models draw from; may be empty. `own_sides`: if words were dealt to the attributes at random,
    each word's true one, by (test, word).
    """

    draws: int
    order: str
    before: str
    separator: str
    after: str
    wordings: Mapping[int, Wording]
    tests: Mapping[str, PairingTest]
    simulation: Mapping[tuple[str, ...], Mapping[str, float]]
    own_sides: Mapping[tuple[str, str], str] = field(default_factory=dict)


def parse_tables(
    table: Table, folder: StudyFolder, simulation: Mapping[tuple[str, ...], Mapping[str, float]]
) -> PairingData:
    """Read [prompt], tests and stimuli; StudyError if they break the rules."""
    prompt = table.table("prompt")
    wordings = _wordings(folder.rows(prompt, "wordings", ("wording", "name", "text"), may=("words",)), prompt.where)
    order = prompt.choice("order", ORDERS)
    shown = [prompt.text(key, usual) for key, usual in (("before", ""), ("separator", ", "), ("after", ""))]
    if not shown[1]:
        raise StudyError(f'"separator" in {prompt.where} is empty: words would run into each other.')
    prompt.finish()
    draws = read_draws(table)
    tests = read_tests(table, folder, {wording.words for wording in wordings.values()})
    return PairingData(draws, order, shown[0], shown[1], shown[2], wordings, tests, simulation)


def read_draws(table: Table) -> int:
    """Return the number of draws of each test in each wording."""
    draws = table.integer("draws", 50)
    if not 1 <= draws <= MAX_DRAWS:
        raise StudyError(f'"draws" in {table.where} must lie between 1 and {MAX_DRAWS:,}, but is {draws}.')
    return draws


def read_tests(table: Table, folder: StudyFolder, used_lists: Iterable[str]) -> dict[str, PairingTest]:
    """Return the tests of a study with the words of their sides in all their lists; prompts use
    `used_lists`.
    """
    rows = folder.rows(table, "stimuli", STIMULI, may=("words",))
    names = dict.fromkeys(["", *(row.get("words", "") for row in rows)])
    lists = {name: read_sides([r for r in rows if r.get("words", "") == name], table.where) for name in names}
    for name in set(used_lists) - set(lists):
        raise UnknownNameError("list of words (of the wordings)", name, sorted(lists))
    tests = _tests(folder.rows(table, "tests", ("test",), may=("test_no", "label", "kind")), lists, table.where)
    for test in {test for by_test in lists.values() for test in by_test} - set(tests):
        raise UnknownNameError(f"test (of the stimuli) in {table.where}", test, tests)
    return tests


def _wordings(rows: list[dict[str, str]], where: str) -> dict[int, Wording]:
    wordings: dict[int, Wording] = {}
    for row in rows:
        number = whole(row["wording"], f"the wordings of {where}")
        name = checked_name(row["name"], "wording")
        if number in wordings or any(wording.condition == name for wording in wordings.values()):
            raise StudyError(f"The wording {number} ({name}) is given twice in {where}.")
        check_placeholders(row["text"], PLACEHOLDERS, (), f"wording {number} of {where}")
        wordings[number] = Wording(name, row["text"], row.get("words", ""))
    if not wordings:
        raise StudyError(f"{where} needs at least one wording.")
    return wordings


def _tests(
    rows: list[dict[str, str]], lists: Mapping[str, Mapping[str, Mapping[str, tuple[str, list[str]]]]], where: str
) -> dict[str, PairingTest]:
    tests: dict[str, PairingTest] = {}
    for name, number, label, row in listed_tests(rows, "test", where):
        usual = lists[""].get(name, {})
        for side in SIDES:
            if side not in usual:
                raise StudyError(f'The test "{name}" of {where} has no words for {side}.')
        tests[name] = PairingTest(
            test=name,
            test_no=number,
            label=label,
            kind=row.get("kind", ""),
            lists={
                of: {side: tuple(words) for side, (_, words) in by_test.get(name, {}).items()}
                for of, by_test in lists.items()
            },
            group_names={side: name for side, (name, _) in usual.items()},
        )
        _check_words(tests[name], lists)
    return tests


def _check_words(test: PairingTest, lists: Mapping[str, object]) -> None:
    """Raise StudyError if the words of a list could not be distinguished in an answer."""
    for name in lists:
        known: dict[str, str] = {}
        words = test.words(name)
        for side in (*ATTRIBUTES, *GROUPS):
            for word in words[side]:
                if not plain(word):
                    raise StudyError(
                        f'The word "{word}" of the test "{test.test}" has nothing that an answer could repeat.'
                    )
                if known.setdefault(plain(word), side) != side:
                    raise StudyError(
                        f'The word "{word}" is in {known[plain(word)]} and in {side} of the test "{test.test}".'
                    )
