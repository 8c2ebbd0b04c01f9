"""Order a forced-choice study by seed: which condition comes when, which trial when in it, which option is A.

The trials of a condition are a block, as in the paper and in an IAT with people: blocks are asked one after the other,
and shuffled inside. So that an order effect can't pass for an effect of the condition, the congruent block comes first
in one test and second in the next, the other way round in the next repetition, and a coin for each model decides where
that begins. Questions are independent:
no answer is sent along with a later question.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from slant.collector.designs.forced_choice.words import ChoiceTest, ForcedChoiceData
from slant.collector.reading.letters import LETTERS
from slant.collector.stable_ids import stable_id


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
    """Yield every trial of one model in the order of asking; one block is in memory at a time."""
    tests = list(data.tests.values())
    for repetition in range(1, repetitions + 1):
        for test_no, condition_no, block_position in _blocks(len(tests), model, seed, repetition):
            pairs = array("I", range(len(tests[test_no].words) * len(data.wordings)))
            _random(seed, model, "trials", tests[test_no].test, data.conditions[condition_no], repetition).shuffle(
                pairs
            )
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
