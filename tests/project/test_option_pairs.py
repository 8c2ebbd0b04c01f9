"""Two options, or arguments, that are right alone: together they do what both say, or are refused in a sentence with
nothing written.

What is refused stands in option_pairs.txt and argument_pairs.txt, each pair with its sentence; `SLANT_NEW_MISTAKES=1
pytest tests/project/test_option_pairs.py` writes them anew, to be read.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.option_pairs import ArgumentPair, Pair, argument_pairs, pairs
from tests.project.typing_place import Outcome, Place, quiet_place

OPTIONS, ARGUMENTS = (Path(__file__).with_name(f"{kind}_pairs.txt") for kind in ("option", "argument"))
# The second rightly changes nothing next to the first: a pilot is so many trials, however often each would be asked;
# --list does nothing else, as its help says; a file without notes codes no trial by any measure; and where no other
# model answered, only the schema of Parquet tells (a column that is never empty) that others were asked for.
NO_MATTER = {
    *(("--pilot", "--repetitions"), ("--list", "--measure"), ("--list", "--notes"), ("--notes", "--measure")),
    *((option, "--other-models") for option in ("--format", "--layout", "--spreadsheet-safe")),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with quiet_place(tmp_path_factory.mktemp("pairs")) as place:
        yield place


def fit_to_be_compared(outcome: Outcome) -> None:
    """It ended as slant ends: with exit code 1 or 2 there is a sentence, and with 2 nothing is written."""
    assert outcome.code in (0, 1, 2)
    assert outcome.code == 0 or len(outcome.sentence) > 15
    assert outcome.code != 2 or not outcome.written


def silent(usual: Outcome, first: Outcome, second: Outcome, together: Outcome) -> int | None:
    """Which of two options does something alone, and nothing next to the other one, without a word."""
    ends = {(outcome.code, outcome.sentence) for outcome in (usual, first, second, together)}
    if len(ends) == 1 and len({usual, first, second}) == 3 and together in (first, second):
        return int(together == first)
    return None


def typed(place: Place, pair: Pair) -> Outcome:
    return place.type((*pair.typed, *pair.options[0], *pair.options[1]))


def called(place: Place, pair: ArgumentPair) -> Outcome:
    return place.call(pair.function, pair.given | pair.arguments[0] | pair.arguments[1])


def listed(sentences: Path) -> dict[str, str]:
    lines = sentences.read_text("utf-8").splitlines()
    return {words: sentence.strip() for words, sentence in zip(lines[::2], lines[1::2], strict=True)}


def test_pairs_that_contradict_each_other_are_refused_as_listed(place: Place) -> None:
    """The tests below find those that are to be listed."""
    options, arguments = listed(OPTIONS), listed(ARGUMENTS)
    of_options = {str(pair): typed(place, pair) for pair in pairs() if str(pair) in options}
    of_arguments = {str(pair): called(place, pair) for pair in argument_pairs() if str(pair) in arguments}
    assert {words: outcome.sentence for words, outcome in of_options.items()} == options
    assert {words: outcome.sentence for words, outcome in of_arguments.items()} == arguments
    for outcome in (*of_options.values(), *of_arguments.values()):
        assert (outcome.code, outcome.written) == (2, ())


@pytest.mark.slow
def test_two_options_do_what_both_say_or_are_refused_in_a_sentence(place: Place) -> None:
    alone, refused, canceled = functools.cache(place.type), {}, set()
    for pair in pairs():
        usual, first, second = (alone((*pair.typed, *option)) for option in ((), *pair.options))
        if 2 in (first.code, second.code):
            continue  # one mistake, as in mistakes.txt
        fit_to_be_compared(together := typed(place, pair))
        if together.code == 2:
            refused[str(pair)] = together.sentence
        elif (number := silent(usual, first, second, together)) is not None:
            canceled.add((pair.options[1 - number][0].partition("=")[0], pair.options[number][0].partition("=")[0]))
    compare(OPTIONS, refused)
    assert canceled == NO_MATTER


@pytest.mark.slow
def test_two_arguments_do_what_both_say_or_are_refused_in_a_sentence(place: Place) -> None:
    known: dict[str, Outcome] = {}
    refused, canceled = {}, set()
    for pair in argument_pairs():
        for more in ({}, *pair.arguments):
            name = f"{pair.function.__name__} {more!r}"
            known[name] = known.get(name) or place.call(pair.function, pair.given | more)
        usual, first, second = (known[f"{pair.function.__name__} {more!r}"] for more in ({}, *pair.arguments))
        if 2 in (first.code, second.code):
            continue
        fit_to_be_compared(together := called(place, pair))
        if together.code == 2:
            refused[str(pair)] = together.sentence
        elif (number := silent(usual, first, second, together)) is not None:
            canceled.add((pair.function.__name__, *pair.arguments[1 - number], *pair.arguments[number]))
    compare(ARGUMENTS, refused)
    assert canceled == set()


def compare(sentences: Path, refused: dict[str, str]) -> None:
    page = "".join(f"{words}\n    {sentence}\n" for words, sentence in refused.items())
    if os.environ.get("SLANT_NEW_MISTAKES"):
        sentences.write_text(page, "utf-8")
    assert page == sentences.read_text("utf-8")
