"""One value in a hundred spellings: each reader of answers finds it in all of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slant.collector.reading.choices import YES_NO
from slant.collector.reading.choices import read_choice as read_option
from slant.collector.reading.labels import answer_to_label
from slant.collector.reading.letters import read_choice
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.pairs import read_pairs
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.records import Reply
from tests.support.each_row import each_row
from tests.support.spelled_answers import WRAPPINGS

LISTED = ("1. {x}", "1) {x}")
"""Where a number is asked for, the number of a list may be one, too: such an answer is malformed."""
OPTIONS = ("Male + Career", "Female + Career")
AGREEMENT = Scale(1, 5, {1: "Strongly disagree", 2: "Disagree", 3: "Neutral", 4: "Agree", 5: "Strongly agree"})
READERS: dict[str, tuple[str, str, Callable[[str], str | None]]] = {
    "a label": ("Quick", "Quick", lambda answer: answer_to_label(Reply(answer=answer), ("Quick", "Slow")).choice),
    "a letter": ("A", "Male + Career", lambda answer: read_choice(Reply(answer=answer), OPTIONS).choice),
    "letter, text": ("A) Male + Career", OPTIONS[0], lambda answer: read_choice(Reply(answer=answer), OPTIONS).choice),
    "yes or no": ("Yes", YES_NO[0], lambda answer: read_option(answer, YES_NO, "invite").value),
    "an option": ("Nurse", "nurse", lambda answer: read_option(answer, ("nurse", "clerk"), "job").value),
    "a point": ("5", "5", lambda answer: read_scale(answer, Scale(1, 7)).value),
    "a point of": ("5/7", "5", lambda answer: read_scale(answer, Scale(1, 7)).value),
    "a point's label": ("Agree", "4", lambda answer: read_scale(answer, AGREEMENT).value),
    "both": ("4 (agree)", "4", lambda answer: read_scale(answer, AGREEMENT).value),
    "a number": ("250", "250", lambda answer: read_number(answer, Amount(low=0)).value),
}


@each_row("kind", READERS)
def test_a_value_is_read_in_every_spelling(kind: str) -> None:
    value, expected, read = READERS[kind]
    found = {wrapping: read(wrapping.format(x=value)) for wrapping in WRAPPINGS}
    assert {wrapping: one for wrapping, one in found.items() if one not in (expected, None)} == {}
    lacking = {wrapping for wrapping, one in found.items() if one is None}
    assert lacking <= set(
        LISTED if kind not in ("a label", "a letter", "letter, text", "yes or no", "an option") else ()
    )


def test_a_list_of_pairs_is_read_whole_in_every_spelling_of_its_ends() -> None:
    words, groups = ("beach", "quay", "desk"), {"Rain": "a", "Sun": "b"}
    listed = "beach - Rain\nquay - Sun\ndesk - Rain"
    found = {wrapping: read_pairs(wrapping.format(x=listed), words, groups).sides for wrapping in WRAPPINGS}
    unread = {wrapping for wrapping, sides in found.items() if sides != "aba"}
    assert all("boxed" in wrapping or "answer" in wrapping or " – " in wrapping for wrapping in unread)
    assert {found[wrapping] for wrapping in unread} <= {".ba", "ab.", ".b."}


@pytest.mark.parametrize("lead", ["I can't write", "Not:", "For example, in the format of"])
def test_a_pair_that_a_first_line_refuses_or_shows_is_none(lead: str) -> None:
    assert read_pairs(f"{lead} beach - Rain", ("beach",), {"Rain": "a", "Sun": "b"}).sides == "."


@pytest.mark.parametrize("answer", ["Answer -5", "-5", "1) Agree", "4) Disagree", "1. Agree"])
def test_a_minus_or_another_number_is_never_overlooked(answer: str) -> None:
    assert read_scale(answer, AGREEMENT).outcome == "malformed"


def test_a_dash_is_a_minus_where_numbers_below_0_were_asked_for() -> None:
    assert [read_number("- 250", amount).value for amount in (Amount(low=0), Amount())] == ["250", "-250"]
