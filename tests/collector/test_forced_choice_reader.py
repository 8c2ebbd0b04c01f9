"""Answers to a forced choice as models really write them: exactly one clear choice is valid, all else is told apart."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slant.collector.reading.letters import read_choice
from slant.collector.records import Outcome, Reading, Reply
from tests.support.each_row import each_row
from tests.support.written_choices import CHOOSES_A, CHOOSES_B, INVALID, OPTIONS

A, B = OPTIONS


def read(answer: str | None, options: tuple[str, str] = OPTIONS) -> Reading:
    return read_choice(Reply(answer=answer), options)


def kind_of(reading: Reading) -> str:
    """What kind an invalid answer is, without the words that say so."""
    return (reading.detail or "").split(":")[0]


@each_row(("choice", "answer"), [*((A, text) for text in CHOOSES_A), *((B, text) for text in CHOOSES_B)])
def test_one_clear_choice_is_valid(choice: str, answer: str) -> None:
    reading = read(answer)
    assert (reading.outcome, reading.choice, reading.detail) == ("answered", choice, None)


@each_row(("kind", "answer"), [(kind, answer) for kind, answers in INVALID.items() for answer in answers])
def test_everything_else_is_invalid_and_says_of_which_kind(kind: str, answer: str) -> None:
    reading = read(answer)
    outcome = "refused" if kind == "refused_in_words" else "malformed"
    assert (reading.outcome, kind_of(reading), reading.choice) == (outcome, kind, None)


SWAPPED = {"A": "B", "B": "A", A: B, B: A}


def mirrored(text: str) -> str:
    """The text with the letters, and the options' texts, exchanged."""
    found = re.compile(rf"{re.escape(A)}|{re.escape(B)}|(?<![A-Za-z0-9_'])[AB](?![A-Za-z0-9_'])")
    return found.sub(lambda its: SWAPPED[its[0]], text)


ALL = [*CHOOSES_A, *CHOOSES_B, *(answer for answers in INVALID.values() for answer in answers)]
PLAIN = [text for text in ALL if "A nephew" not in text and mirrored(text) != text]


@each_row("answer", PLAIN)
def test_neither_letter_is_found_more_easily_than_the_other(answer: str) -> None:
    there, back = read(answer), read(mirrored(answer))
    assert (there.outcome, kind_of(there)) == (back.outcome, kind_of(back))
    assert back.choice == SWAPPED.get(there.choice or "")


def test_no_answer_at_all_is_empty() -> None:
    assert read(None) == Reading("malformed", detail="empty")


@pytest.mark.parametrize("outcome", ["refused", "filtered", "truncated", "malformed"])
def test_what_the_provider_says_wins_even_over_a_clear_choice(outcome: Outcome) -> None:
    assert read_choice(Reply(answer='{"answer": "A"}', outcome=outcome), OPTIONS) == Reading(outcome)


def test_the_place_of_the_letter_is_that_of_the_whole_answer() -> None:
    for before, after in [
        ("x" * 30_000 + '\n{"answer": "', '"}'),
        ('B is it: {"answer": "', '"}, B'),
        ("so\n ", ""),
        ("<think>B or A?</think>\n", ""),
    ]:
        reading = read(f"{before}B{after}")
        assert (reading.place, reading.spelled) == (len(before), ("A", "B"))


@settings(deadline=None)  # the first example pays for what is made once
@given(st.text(max_size=300))
@example('{"answer":' * 2000)
@example('{"a":' * 3000 + "1" + "}" * 3000)
@example("{" * 5000)
@example(" " * 20_000 + "A")
@example("not " * 5000)
@example("the answer is " * 2000)
@example("answer" + ":" * 19_000 + "x")
@example("the answer is" + " " * 19_000 + "x")
def test_no_text_is_too_odd_to_be_read(answer: str) -> None:
    reading = read(answer)
    assert reading.outcome in get_args(Outcome)
    assert (reading.choice is not None) == (reading.outcome == "answered") == (reading.detail is None)
    assert 0 <= reading.place <= max(0, len(answer) - 1)


PIECES = 'A B a the answer is Option { } "answer" : "A" "B" not or , . ``` json I can\'t sorry ( ) ** Male Career C'
words = st.sampled_from(["\n", *PIECES.split()])
texts = st.lists(words, max_size=12).map(" ".join)


@given(texts, st.sampled_from([("X + Y", "Z + W"), ("Kunst + Haus", "Beruf + Garten")]))
def test_what_the_options_are_called_does_not_matter_where_they_are_not_named(
    answer: str, other: tuple[str, str]
) -> None:
    first, second = read(answer, ("P + Q", "R + S")), read(answer, other)
    assert (first.outcome, first.detail, first.place) == (second.outcome, second.detail, second.place)
    assert first.choice is None or ("P + Q", "R + S").index(first.choice) == other.index(second.choice or "")


@given(texts)
def test_no_text_that_chooses_a_chooses_a_still_when_the_options_change_sides(answer: str) -> None:
    there, back = read(answer, OPTIONS), read(answer, (B, A))
    assert there.outcome == back.outcome
    assert there.choice is None or there.choice != back.choice


@given(
    st.sampled_from(CHOOSES_A + CHOOSES_B),
    st.sampled_from(["", "\n", "  ", "\n\n"]),
    st.sampled_from(["", "\n", " \n"]),
)
def test_blanks_around_an_answer_change_nothing(answer: str, before: str, after: str) -> None:
    assert read(before + answer + after).choice == read(answer).choice
