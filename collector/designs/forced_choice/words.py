"""Read and check the files of a forced-choice study (tests, words, pairs of groups, wordings), and order it by seed.

A test has groups of words. In each condition its groups are bound into two pairs, which are the two options; the
consistent option is the pair that holds the word's own group.

The trials of a condition are a block, as in the paper and in an IAT with people: blocks are asked one after the other,
and shuffled inside. So that an order effect can't pass for an effect of the condition, the congruent block comes first
in one test and second in the next, the other way round in the next repetition, and a coin for each model decides where
that begins. Questions are independent: no answer is sent along with a later question.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.wordings import listed_tests, read_wordings, same_word, two_names
from slant.collector.errors import StudyError, UnknownNameError, check_known
from slant.collector.reading.letters import LETTERS
from slant.collector.reading.spelling import folded
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table

PLACEHOLDERS = ("option_a", "option_b", "word")
PROVENANCE = ("item_id", "role", "published_iat", "tier", "source")
"""List columns of the stimuli that say where a word comes from. They do not affect what is asked, so that correcting
one does not make all trials pending again."""


@dataclass(frozen=True, slots=True)
class Word:
    """Hold one word and its group. `provenance` holds the columns of that name, if the study has them; `tier` is the
    one that is kept with every trial."""

    word: str
    group: str
    provenance: Mapping[str, str]

    @property
    def tier(self) -> str | None:
        return self.provenance.get("tier") or None


@dataclass(frozen=True, slots=True)
class ChoiceTest:
    """Hold one test: its words, and by condition the two pairs, each as its groups and its text ("Male + Career")."""

    test: str
    test_no: int
    label: str
    words: tuple[Word, ...]
    pairs: Mapping[str, tuple[tuple[frozenset[str], str], tuple[frozenset[str], str]]]

    def options(self, condition: str, group: str) -> tuple[str, str]:
        """Return the texts of the option that is consistent with the group in this condition, and of the other one."""
        (first, first_text), (_, second_text) = self.pairs[condition]
        return (first_text, second_text) if group in first else (second_text, first_text)


@dataclass(frozen=True, slots=True)
class ForcedChoiceData:
    """Hold `Study.data` of a forced-choice study. `conditions`: the congruent one first. `simulation`: what simulated
    answers are drawn from, by (model, test, condition); may be empty. `own_groups`: if words were dealt to groups
    at random, each word's true one, by (test, word)."""

    conditions: tuple[str, str]
    tests: Mapping[str, ChoiceTest]
    wordings: Mapping[int, str]
    simulation: Mapping[tuple[str, ...], Mapping[str, float]]
    own_groups: Mapping[tuple[str, str], str] = field(default_factory=dict)


def parse_tables(table: Table, folder: StudyFolder, simulation: Mapping[Any, Any]) -> ForcedChoiceData:
    """Read [prompt], conditions, tests, pairs and stimuli; StudyError if they break the rules."""
    prompt = table.table("prompt")
    separator = prompt.text("pair_separator", " + ")
    wordings = read_wordings(folder.rows(prompt, "wordings", ("wording", "text")), PLACEHOLDERS, prompt.where)
    prompt.finish()
    why = "one pairs the groups in one way, the other crosses them"
    conditions = two_names(table, "conditions", ("congruent", "incongruent"), why)
    words = _words(folder.rows(table, "stimuli", ("test", "group", "word"), may=PROVENANCE), table.where)
    columns = ("test", "condition", "first_group", "second_group")
    pairs: dict[tuple[str, str], list[tuple[frozenset[str], str]]] = {}
    for row in folder.rows(table, "pairs", columns):
        test, condition, bound = row["test"], row["condition"], (row["first_group"], row["second_group"])
        check_known(f"condition (of the pairs of {test})", condition, conditions)
        pairs.setdefault((test, condition), []).append((frozenset(bound), separator.join(bound)))
    rows = folder.rows(table, "tests", ("test",), may=("test_no", "label"))
    tests: dict[str, ChoiceTest] = {}
    for name, number, label, _ in listed_tests(rows, "test", table.where):
        if name not in words:
            raise StudyError(f'The test "{name}" of {table.where} has no words.')
        checked = {c: _checked_pairs(pairs.get((name, c), []), name, c, words[name]) for c in conditions}
        tests[name] = ChoiceTest(name, number, label, tuple(words[name]), checked)
    for test in (*words, *(of for of, _ in pairs)):
        check_known(f"test (of the stimuli or pairs) in {table.where}", test, tests)
    return ForcedChoiceData(conditions, tests, wordings, simulation)


def _words(rows: list[dict[str, str]], where: str) -> dict[str, list[Word]]:
    """Return words by test. A word may occur once in a test: it distinguishes its trials."""
    tests: dict[str, list[Word]] = {}
    seen: dict[tuple[str, str], str] = {}
    for row in rows:
        test, group, word = row["test"], row["group"], row["word"]
        if not word or not group:
            raise StudyError(f'A word or its group is empty in the test "{test}" of {where}.')
        if (test, same_word(word)) in seen:
            both = f"{seen[test, same_word(word)]} and {group}"
            raise StudyError(f'The word "{word}" is listed twice in the test "{test}" of {where} ({both}).')
        seen[test, same_word(word)] = group
        provenance = {name: row[name] for name in PROVENANCE if row.get(name)}
        tests.setdefault(test, []).append(Word(word, group, provenance))
    return tests


def _checked_pairs(
    pairs: list[tuple[frozenset[str], str]], test: str, condition: str, words: Iterable[Word]
) -> tuple[tuple[frozenset[str], str], tuple[frozenset[str], str]]:
    """Check that two pairs hold every group exactly once: else a valid answer could not be coded as consistent or
    not."""
    where = f'condition "{condition}" of the test "{test}"'
    if len(pairs) != 2:
        raise StudyError(f"The {where} must have two pairs of groups, but it has {len(pairs)}.")
    bound = Counter(group for pair, _ in pairs for group in pair)
    named = {word.group for word in words}
    for group in sorted(named | set(bound)):
        if group not in named:
            raise UnknownNameError(f"group (of the {where})", group, sorted(named))
        if bound[group] != 1:
            raise StudyError(f'The group "{group}" must be in one pair of the {where}, not in {bound[group]}.')
    if folded(pairs[0][1]) == folded(pairs[1][1]):
        raise StudyError(f'Both pairs of the {where} read "{pairs[0][1]}".')
    return pairs[0], pairs[1]


@dataclass(frozen=True, slots=True)
class Place:
    """Locate a trial: its cell by numbers, and its place in the order. `block_position` counts from 1 within the
    test, `position_in_block` from 1 within the block."""

    test_no: int
    condition_no: int
    word_no: int
    wording_no: int
    repetition: int
    block_position: int
    position_in_block: int


def places(data: ForcedChoiceData, model: str, seed: int, repetitions: int) -> Iterator[Place]:
    """Yield the trials of one model in the order of asking; one block is in memory at a time."""
    tests = list(data.tests.values())
    for repetition in range(1, repetitions + 1):
        for test_no, condition_no, block_position in _blocks(len(tests), model, seed, repetition):
            pairs = array("I", range(len(tests[test_no].words) * len(data.wordings)))
            rng = _random(seed, model, "trials", tests[test_no].test, data.conditions[condition_no], repetition)
            rng.shuffle(pairs)
            for position, number in enumerate(pairs, start=1):
                word_no, wording_no = divmod(number, len(data.wordings))
                yield Place(test_no, condition_no, word_no, wording_no, repetition, block_position, position)


def _blocks(tests: int, model: str, seed: int, repetition: int) -> Iterator[tuple[int, int, int]]:
    """Yield (test, condition, place of its block in the test), in the order of asking."""
    rng = _random(seed, model, "blocks")
    starts_crossed = rng.random() < 0.5
    order = list(range(tests))
    rng.shuffle(order)
    for place, test_no in enumerate(order):
        first = (starts_crossed + place + repetition - 1) % 2
        yield test_no, first, 1
        yield test_no, 1 - first, 2


class ConsistentLetters:
    """Choose the consistent option's letter: A for half the words of each group in each wording.

    It is the same in both conditions, so that a liking for A can't pass for an effect of the condition, and for all
    models, so that they get the very same prompts; the letters are swapped in the next repetition. If the number of
    words is odd, one more has A or B, by the seed.
    """

    def __init__(self, data: ForcedChoiceData, seed: int) -> None:
        self._drawn = [[_letters(test, wording, seed) for wording in data.wordings] for test in data.tests.values()]

    def letter(self, test_no: int, word_no: int, wording_no: int, repetition: int) -> str:
        return LETTERS[(self._drawn[test_no][wording_no][word_no] + repetition - 1) % 2]


def _letters(test: ChoiceTest, wording: int, seed: int) -> bytes:
    """Return 0 or 1 for each word."""
    drawn = bytearray(len(test.words))
    for group in dict.fromkeys(word.group for word in test.words):
        numbers = [number for number, word in enumerate(test.words) if word.group == group]
        rng = _random(seed, "letters", test.test, group, wording)
        rng.shuffle(numbers)
        for place, number in enumerate(numbers, start=int(rng.random() < 0.5)):
            drawn[number] = place % 2
    return bytes(drawn)


def _random(seed: int, *content: object) -> random.Random:
    """Return the same stream on every machine (a seed of Python's own hash would differ from one session to the
    next).
    """
    return random.Random(int(stable_id(seed, *content), 16))
