"""One value in a hundred spellings, which each reader of answers finds in all of them; numbers with their signs, marks,
magnitudes and units, of which none is part of another token."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.factorial.questions import parse_questions
from slant.collector.errors import StudyError
from slant.collector.reading.choices import YES_NO
from slant.collector.reading.choices import read_choice as read_option
from slant.collector.reading.labels import answer_to_label
from slant.collector.reading.letters import read_choice
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.pairs import read_pairs
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.reading.written_numbers import decimal_mark
from slant.collector.records import Reply
from slant.collector.study.toml_table import Table
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


WRITTEN = {
    Amount(): {
        "0.125": 0.125, "0,125": 0.125, ".5": 0.5, "3.142": None, "1234.567": 1234.567, "1,250": 1250, "84,28": 84.28,
        "$3B": 3e9, "3B": 3e9, "3b": 3e9, "2M": 2e6, "$2m": 2e6, "2m": None, "1.2M USD": 1.2e6, "2.5MM": 2.5e6,
        "3 trillion": 3e12, "2 hundred thousand": 2e5, "5 millions": 5e6, "12k": 12e3, "12kk": None,
        "2 Millionen": None, "3 mrd": None, "3 dozen": None, "2 and a half million": None, "3 quarters": None,
        "1_000": 1000, "75_000_000": 75e6, "1_00": None, "1'000": 1000, "1 000 000": 1e6, "0x10": None, "0b11": None,
        "1e6": 1e6, "1.5E+06": 1.5e6, "-1e3": -1000, "1e400": None, "2e3x": None, "10^6": None, "1.5x10^6": None,
        "–5": -5, "—5": -5, "−5": -5, "− 5": -5, "-$5": -5, "–$3B": -3e9, "negative 5": -5, "minus 2.5": -2.5,
        "negative five": -5, "5 minus 2": None, "2**3": None, "+-5": None, "--5": None, "٫5": None, ">=5": None,
        "±5": None, "5±1": None, "20–30": None, "Rating—5": 5,
        "5kg": 5, "$75": 75, "US$75": 75, "USD75": 75, "75USD": 75, "75%": 75, "5‰": None, "5x": None, "5th": None,
        '{"number": 85.816}': 85.816, '{"number": "85.816"}': None,
    },
    Amount(low=0, high=100): {"85.816": 85.816, "3.142": 3.142, "85/100": 85, "85/10": None, "–5": None},
    Amount(low=0, high=10_000): {"1.250": None},
    Amount(mark="."): {"3.142": 3.142, "1,250.5": 1250.5, "84,28": None, "1.250,50": None},
    Amount(mark=","): {"1.250": 1250, "1,250": 1.25, "1.250,50": 1250.5, "84,28": 84.28, "84.28": None},
    Amount("metres"): {"2m": 2}, Amount("kg", 0): {"70kg": 70, "70 lbs": 70}, Amount(low=1, high=7): {"4/7": 4},
}  # fmt: skip
POINTS = [
    (Scale(1, 7), {"–5": None, "negative 5": None, "- 5": 5, "3.000": 3, "4/7": 4, "0x5": None, "5x": None}),
    (Scale(1, 7), {"2M": None, "5±1": None, "5e3x": None, "2**3": None, "2*3": None, ">=5": None, "**5**": 5}),
    (Scale(-3, 3), {"–2": -2, "— 2": -2, "minus two": -2, "−3": -3, "negative 1": -1}),
    (Scale(0, 1000), {"1_000": 1000, "1e2": 100, "1e2x": None}),
]


def test_a_number_is_read_whole_or_is_malformed() -> None:
    read = [
        (text, want, read_number(text, ask).value) for ask, texts in WRITTEN.items() for text, want in texts.items()
    ]
    read += [(t, want, read_scale(t, scale).value) for scale, texts in POINTS for t, want in texts.items()]
    assert [each for each in read if (each[2] is None) != (each[1] is None)] == []
    assert [each for each in read if each[1] is not None and float(each[2] or "nan") != each[1]] == []


@given(st.floats(-1e12, 1e12) | st.integers(-(10**12), 10**12))
def test_a_number_that_python_writes_is_that_number(number: float) -> None:
    written = [f"{number:.2f}", f"{number:,.2f}", f"{number:_}", f"{number:.9e}", f"{number:.2f}".replace("-", "−")]
    written = [text for text in written if not re.fullmatch(r"-?\d{1,3}\.\d{3}", text)]  # may be thousands: undecided
    assert [
        read_number(text).value
        for text in written
        if float(read_number(text).value or "nan") != float(text.replace(",", "").replace("_", "").replace("−", "-"))
    ] == []


@given(st.integers(1, 999), st.text("abcdfghijlnopqruvwxyz", min_size=2, max_size=6))
def test_letters_after_a_number_make_it_none_or_are_a_unit(number: int, letters: str) -> None:
    assert read_number(f"{number}{letters}", Amount(high=999)).value in (None, str(number))
    assert read_number(f"{letters}{number}").value in (None, str(number))


@each_row(
    ("texts", "mark"),
    [
        (["3.142", "84.28"], "."), (["3.142", "1.250"], None), (["1.250,50"], ","), (["1.250.000", "3"], ","),
        (["1,250,000"], "."), (["84,28", "3.5"], None), (["0.125"], "."), (["12345.678"], "."), (["12 years"], None),
    ],
)  # fmt: skip
def test_numbers_show_their_mark_unless_they_could_have_either(texts: list[str], mark: str | None) -> None:
    assert decimal_mark(texts) == mark


def scale_of(**keys: object) -> Scale:
    row = {"text": "?", "kind": "scale", **keys}
    return parse_questions(Table({"questions": {"a": row}}, "a.toml"), ("t",), 1, None, ())["a"].scale


INNER = ((0, 5, 10), (-3, 0, 3), (1, 2, 3, 4, 5), (0, 100))


def test_labelled_ends_are_the_ends_of_a_scale() -> None:
    ends = {"labels": {"1": "not at all", "5": "very"}}
    assert [(s.low, s.high) for s in (scale_of(**ends), scale_of(), scale_of(**ends, max=7), scale_of(max=9))] == [
        (1, 5), (1, 7), (1, 7), (1, 9)
    ]  # fmt: skip
    inner = [scale_of(labels={str(point): f"label {point}" for point in points}) for points in INNER]
    assert [(s.low, s.high) for s in inner] == [(points[0], points[-1]) for points in INNER]
    for labels in ({"4": "in between"}, {"4": "so so", "7": "very"}, {"1": "never", "4": "neutral"}):
        with pytest.raises(StudyError, match="may not be its ends"):
            scale_of(labels=labels)
        assert scale_of(labels=labels, min=1, max=7).high == 7


def test_the_mark_before_decimals_may_be_said_by_the_study_or_a_question() -> None:
    asked = {"a": {"text": "?", "kind": "number"}, "b": {"text": "?", "kind": "number", "decimal": ","}}
    questions = parse_questions(Table({"decimal": ".", "questions": asked}, "a.toml"), ("t",), 1, None, ())
    assert [questions[name].read("3.142", "forward", ()).value for name in asked] == ["3.142", "3142"]
