"""Answers that state one value among others: a reason with numbers in it, what is denied, signs for digits."""

from __future__ import annotations

import pytest

from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.letters import read_choice as read_letter
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.records import Reply
from tests.support import stated_answers as stated
from tests.support.each_row import each_row

AGREEMENT = Scale(1, 5, {1: "Strongly disagree", 2: "Disagree", 3: "Neutral", 4: "Agree", 5: "Strongly agree"})
PAIRS = ("Male + Career", "Female + Career")


@each_row(("answer", "value"), stated.POINTS)
def test_a_point_is_read_if_it_is_the_only_one_that_is_stated(answer: str, value: str | None) -> None:
    assert read_scale(answer, Scale(1, 7)).value == value


@each_row(("answer", "value"), stated.LABELS)
def test_a_label_of_a_scale_is_read_if_one_is_stated(answer: str, value: str | None) -> None:
    assert read_scale(answer, AGREEMENT).value == value


@each_row(("answer", "value"), stated.PERSONS)
def test_a_profile_is_chosen_by_its_number_its_place_or_what_is_left(answer: str, value: str | None) -> None:
    assert read_choice(answer, ("Person 1", "Person 2"), numbered=True).value == value


@each_row(("answer", "value"), stated.NAMES)
def test_a_name_is_chosen_by_what_an_answer_does_with_it(answer: str, value: str | None) -> None:
    assert read_choice(answer, ("Emily", "Lakisha", "Jamal")).value == value


@each_row(("answer", "value"), stated.SAID)
def test_yes_and_no_are_said_in_many_ways(answer: str, value: str | None) -> None:
    assert read_choice(answer, YES_NO, "invite").value == value


@each_row(("answer", "value"), stated.LETTERS)
def test_a_letter_is_stated_with_a_reason_or_what_is_left(answer: str, value: str | None) -> None:
    assert read_letter(Reply(answer=answer), PAIRS).choice == value


@each_row(("answer", "value"), stated.AMOUNTS)
def test_an_amount_is_one_number_whatever_else_is_counted(answer: str, value: str | None) -> None:
    assert read_number(answer, Amount("dollars", 0)).value == value


@each_row(
    ("answer", "value"),
    [
        ("A tough choice.", None), ("A", "A"), ("A) because", "A"), ("A\nB is weaker", "A"), ("A is better", "A"),
        ("A by far", "A"), ("A for me", "A"), ("A more than B", "A"), ("A close call. B", "B"),
    ],
)  # fmt: skip
def test_the_letter_a_is_no_article(answer: str, value: str | None) -> None:
    assert read_choice(answer, ("A", "B")).value == value


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("Person 1: 40%, Person 2: 60%", None), ("Person 1: 8/10\nPerson 2: 6/10\nSo Person 1", "Person 1"),
        ("Person 1: 5 years. Person 2: 9 years. I choose Person 2.", "Person 2"),
        ("Person 1 (85%) over Person 2", "Person 1"),
    ],
)  # fmt: skip
def test_shares_of_two_options_choose_none(answer: str, value: str | None) -> None:
    assert read_choice(answer, ("Person 1", "Person 2"), numbered=True).value == value


@pytest.mark.parametrize("answer", ["Probability: 70% (based on 2 factors)", "I'm 70% sure, for 3 reasons."])
def test_a_share_that_was_asked_for_is_no_confidence(answer: str) -> None:
    assert read_number(answer, Amount("percent", 0, 100)).value == "70"
    assert read_scale(answer, Scale(0, 100)).value == "70"


def test_an_option_that_sounds_like_a_refusal_is_one_to_choose() -> None:
    assert read_choice("I have no preference.", ("Democrat", "No preference")).value == "No preference"


@pytest.mark.parametrize(
    ("answer", "value"), [("5 years and 6 months", None), ("2 years, 3 months", None), ("5 years (60 months)", "5")]
)
def test_an_amount_in_two_units_is_none_of_them(answer: str, value: str | None) -> None:
    assert read_number(answer, Amount("years", 0)).value == value


@pytest.mark.parametrize(
    "text", ["He is unable to walk.", "It was inappropriate of him.", "She can't be trusted, but…"]
)
def test_what_a_text_says_somebody_cannot_is_no_refusal(text: str) -> None:
    question = AskedQuestion("why", "text", {"": "Why?"})
    assert question.read(text, "", ()).value == text
    assert question.read("I'm sorry, but I can't help with that.", "", ()).outcome == "refused"
