"""Answers in other words, signs and languages than the usual ones: read rightly, or malformed, never as another one."""

from __future__ import annotations

import pytest

from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.scales import Scale, read_scale
from tests.support.each_row import each_row

SEVEN = Scale(1, 7)
WORSE = Scale(-3, 3, {-3: "much worse", 0: "the same", 3: "much better"})
AGREEMENT = Scale(1, 5, {1: "Strongly disagree", 2: "Disagree", 4: "Agree", 5: "Strongly agree"})


@each_row(
    ("answer", "value"),
    [
        ("–2", "-2"), ("−2", "-2"), ("minus two", "-2"), ("negative 2", "-2"), ("+2", "2"), ("- 2", "-2"), ("0", "0"),
        ("-3 (much worse)", "-3"), ("On a scale from -3 to +3, +1", "1"), ("-3 to 3: 1", "1"), ("-2/3", "-2"),
        ("-2 to -1", None), ("1 – 2", None), ("between -2 and 1", None), ("-4", None),
    ],
)  # fmt: skip
def test_a_point_below_0_keeps_its_sign_however_it_is_written(answer: str, value: str | None) -> None:
    assert read_scale(answer, WORSE).value == value


@each_row(
    ("answer", "value"),
    [
        ("5 von 7", "5"), ("5 sur 7", "5"), ("5 de 7", "5"), ("5 van de 7", "5"), ("5 из 7", "5"), ("5 of 7", "5"),
        ("Auf einer Skala von 1 bis 7: 5", "5"), ("de 1 à 7, je dirais 6", "6"), ("1-7: 5", "5"),
        ("The answer is 5 on the 1-7 scale.", "5"), ("4 de 5", None), ("5 von 10", None),
    ],
)  # fmt: skip
def test_phrases_that_name_the_scale_are_known_in_other_languages(answer: str, value: str | None) -> None:
    assert read_scale(answer, SEVEN).value == value


def test_a_label_with_its_words_turned_round_is_that_label_and_no_shorter_one() -> None:
    assert [read_scale(answer, AGREEMENT).value for answer in ("Disagree strongly", "Agree strongly.")] == ["1", "5"]


@each_row(
    ("answer", "value"),
    [
        ("€ 1.5m", "1500000"), ("50 000 €", "50000"), ("3 250 000 €", "3250000"), ("1e5", "100000"),
        ("1.5 bn", "1500000000"),
        ("50 000 to 60 000", None), ("in 2024 50 000 euros", None), ("12 50", None), ("5,5 Mio. €", None),
    ],
)  # fmt: skip
def test_amounts_with_blanks_and_short_millions_are_whole_amounts(answer: str, value: str | None) -> None:
    assert read_number(answer, Amount("euros", 0)).value == value


@each_row(
    ("answer", "value"),
    [
        ("Ja, gerne", "yes"), ("Oui.", "yes"), ("Sí", "yes"), ("是", "yes"), ("Nein!", "no"), ("нет", "no"),
        ("Nope", "no"),
        ("No doubt: yes", "yes"), ("Yes — no question", "yes"), ("no, no doubt", "no"), ("No concerns.", None),
        ("Si alguien", None), ("Ne pas", None), ("не знаю", None),
    ],
)  # fmt: skip
def test_yes_and_no_are_known_in_other_words_and_no_doubt_is_no_no(answer: str, value: str | None) -> None:
    assert read_choice(answer, YES_NO).value == value


def test_a_name_is_no_part_of_a_longer_one_with_a_hyphen() -> None:
    assert read_choice("Party A–B", ("Party A", "Party A-B")).value == "Party A-B"
    assert [read_choice(answer, ("Jean", "Paul")).value for answer in ("Jean-Paul", "Jean – weil")] == [None, "Jean"]


@pytest.mark.parametrize(
    "answer",
    [
        "I would rate this a 5 on a scale of 1 to 7.", "5 on a scale from 1 to 7.", "5, given 3 years of work",
        "5 (on a scale from 1 = not at all to 7 = very)", "I rate it 5 because the 4 years count",
        "On a scale where 1 = not at all and 7 = very, I'd say 5.",
    ],
)  # fmt: skip
def test_a_sentence_that_names_the_scale_or_gives_a_reason_has_one_rating(answer: str) -> None:
    assert read_scale(answer, Scale(1, 7, {1: "not at all", 7: "very"})).value == "5"


def test_a_reason_that_corrects_itself_has_none() -> None:
    assert read_scale("5 because of 3, actually 6", Scale(1, 7)).value is None


@pytest.mark.parametrize("answer", ["5万円", "5 만 원", "50 tausend Euro", "50 тыс. рублей"])
def test_ten_thousands_of_other_languages_are_read(answer: str) -> None:
    assert read_number(answer).value == "50000"


@each_row(
    ("answer", "value"),
    [
        ("five out of seven", "5"), ("I'd give it a six out of seven.", "6"), ("Six, out of a possible seven.", "6"),
        ("five out of ten", None), ("I'd say a solid five", "5"), ("three or four", None), ("eight", None),
        ("fünf", "5"), ("quatre", "4"), ("cinco", "5"), ("vijf", "5"), ("пять", "5"), ("五", "5"), ("다섯", "5"),
        ("Ich würde eine 5 geben.", "5"), ("我给4分", "4"), ("7分中4", "4"), ("5点です。", "5"), ("10分中4", None),
        ("5 (1 = not at all, 7 = very)", "5"), ("5 (1 = poor, 10 = very)", None),
    ],
)  # fmt: skip
def test_points_are_read_in_words_of_other_languages_and_with_the_right_maximum(answer: str, value: str | None) -> None:
    assert read_scale(answer, SEVEN).value == value


@each_row(
    "answer",
    [
        "at least 5", "more than 4", "less than 3", "up to 5", "not a 7", "anything but 7", "5+", "4-", "4ish",
        "5 or higher", "mindestens 5", "plus de 4", "al menos 5", "between 3 and 4", "3 to 4", "somewhere around 3-4",
        "70 %", "5%", "70 percent",
    ],
)  # fmt: skip
def test_an_end_of_what_is_meant_or_another_scale_is_no_point(answer: str) -> None:
    assert (read_scale(answer, SEVEN).outcome, read_scale(answer, SEVEN).value) == ("malformed", None)


@pytest.mark.parametrize(
    ("answer", "value"),
    [("75 percent", "75"), ("75 %", "75"), ("seventy-five", "75"), ("Fifty out of 100", "50"), ("a hundred", "100")],
)
def test_a_scale_up_to_a_hundred_takes_percent_and_longer_words(answer: str, value: str) -> None:
    assert read_scale(answer, Scale(0, 100)).value == value


@pytest.mark.parametrize(
    ("answer", "value"),
    [("Agree 5", None), ("Agree 4", "4"), ("Disagree, strongly", "1"), ("Disagree, 4 of 5 times", None)],
)
def test_a_number_after_a_label_must_be_its_own(answer: str, value: str | None) -> None:
    assert read_scale(answer, AGREEMENT).value == value


@pytest.mark.parametrize(("answer", "value"), [("Very unsuitable", None), ("very", "7"), ("Very suitable", "7")])
def test_very_of_the_contrary_is_not_the_label_very(answer: str, value: str | None) -> None:
    assert read_scale(answer, Scale(1, 7, {1: "not at all", 7: "very"})).value == value


@each_row(
    ("answer", "unit", "value"),
    [
        ("at least 500", "euros", None), ("500+", "euros", None), ("minus 500", "euros", None),
        ("< 500", "euros", None),
        ("€ 1250.-", "euros", "1250"), ("2千", "yuan", "2000"), ("twelve hundred", "euros", "1200"),
        ("18 months", "years", None), ("1 year", "years", "1"), ("five years", "years", "5"), ("twenty", "years", "20"),
        ("3 Wochen", "months", None), ("5 hours a day", "hours", "5"),
    ],
)  # fmt: skip
def test_an_amount_is_no_bound_and_in_the_unit_that_was_asked_for(answer: str, unit: str, value: str | None) -> None:
    assert read_number(answer, Amount(unit, 0, None)).value == value


@pytest.mark.parametrize(
    ("answer", "value"),
    [("the second person", "Person 2"), ("The first.", "Person 1"), ("Person 1 or 2", None), ("the third", None)],
)
def test_profiles_are_chosen_by_their_place_and_never_two(answer: str, value: str | None) -> None:
    assert read_choice(answer, ("Person 1", "Person 2"), numbered=True).value == value
