"""Answers to one question: points of a scale, alternatives, numbers; never rounded, never the middle."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.plain import AnswerReading
from slant.collector.reading.scales import Scale, read_scale
from tests.support.each_row import each_row

ROOT = Path(__file__).parents[2]
AGREEMENT = {1: "Strongly disagree", 2: "Disagree", 3: "Neutral", 4: "Agree", 5: "Strongly agree"}
SEVEN = Scale(1, 7)
LABELLED = Scale(1, 7, {1: "Strongly disagree", 4: "Neither agree nor disagree", 6: "Agree", 7: "Strongly agree"})
READERS = {
    "rating 1-7": lambda raw: read_scale(raw, SEVEN),
    "labels of 5": lambda raw: read_scale(raw, Scale(1, 5, AGREEMENT)),
    "yes/no": lambda raw: read_choice(raw, YES_NO),
    "number": lambda raw: read_number(raw),
}
FILE = ROOT.parent / "shared" / "data" / "ratings_personality" / "raw_answers.csv"
WORDS = ("one", "two", "three", "four", "five", "six", "seven")
CASES = list(csv.DictReader(FILE.open(encoding="utf-8"))) if FILE.is_file() else [None]


@each_row("case", CASES)
def test_an_answer_of_the_shared_list_is_read_as_expected(shared, case):
    read = READERS[case["format"]](case["raw"])
    assert (read.outcome, read.value or "") == (case["outcome"], case["value"])


def test_the_shared_list_has_44_answers(shared):
    assert len(CASES) == 44


@each_row(
    ("answer", "value"),
    [
        ("Strongly agree", "7"), ("Strongly agree (7)", "7"), ("6 - Agree", "6"), ("6 (agree)", "6"), ("5.0", "5"),
        ("I'd rate it 5.\n\nBecause of her 12 years.", "5"), ("6 out of 7", "6"), ("5 (out of 7)", "5"),
        ("I can't be sure, but 4.", "4"), ("$\\boxed{5}$", "5"), ("<think>2 or 3</think>5", "5"), ("seven", "7"),
        ('{"why": "not 7", "Rating": "Agree"}', "6"), ("I neither agree nor disagree with that.", "4"),
        ("5\n\nShe has 3 children.", "5"),
    ],
)  # fmt: skip
def test_a_point_of_a_scale_is_found_in_what_is_around_it(answer, value):
    assert read_scale(answer, LABELLED) == AnswerReading("answered", value)


@each_row(
    "answer",
    [
        "Strongly agree (6)", "5 - Agree", "Agree or strongly agree", "5/10", "6 out of 10", "4-7", "3,5", "-4",
        "Neutral", "There are 2 people.", "No one", '{"rating": 4', '{"rating": 4, "rating": 4}', '{"rating": 4.5}',
        '{"rating": 4} {"rating": 5}', '{"rating": [4]}', '{"a": 4, "b": 5}',
        "1 = Strongly disagree, 7 = Strongly agree", "Agree. Wait, strongly agree.",
    ],
)  # fmt: skip
def test_what_is_no_point_or_several_is_malformed(answer):
    assert read_scale(answer, LABELLED).outcome == "malformed"


@each_row(
    ("answer", "value"),
    [
        ("Person 2, because Person 1 lacks it.", "Person 2"), ("1", "Person 1"), ("**2.**", "Person 2"),
        ('{"choice": "Person 1", "why": "not Person 2"}', "Person 1"), ("I choose Person 2.", "Person 2"),
        ("Both", None), ("Person 1 or Person 2", None), ("Person 1 is not suitable.", None), ("3", None),
    ],
)  # fmt: skip
def test_a_choice_names_one_of_the_profiles(answer, value):
    assert read_choice(answer, ("Person 1", "Person 2"), numbered=True).value == value


@each_row(
    ("answer", "value"),
    [
        ("I would not invite Ann Lind to an interview.", "no"), ("I'd definitely invite her.", "yes"),
        ("He has four years. Therefore, I would invite him.", "yes"), ("We wouldn't invite her.", "no"),
        ("I would invite her if she had a degree.", None), ("I would welcome her.", None),
        ("I would not invite Ann. But I would invite Eva.", None), ("Ann would not invite herself.", None),
    ],
)  # fmt: skip
def test_yes_and_no_are_read_from_the_words_of_the_question(answer, value):
    assert read_choice(answer, YES_NO, question="Would you invite {name} to an interview?").value == value


@each_row(
    ("question", "answer", "value"),
    [
        ("Do you think {name} is guilty?", "I think he is innocent.", None),
        ("Would you recommend hiring {name}?", "I would recommend rejecting her.", None),
        ("Would you recommend hiring {name}?", "I would not recommend hiring Ann.", "no"),
        ("Does {name} seem trustworthy?", "She seems untrustworthy.", None),
        ("Is {name} a good fit for the job?", "She is a bad fit.", None),
        ("Is {name} a good fit for the job?", "Ann Lind is a good fit because she is able.", "yes"),
        ("Should the firm hire {name}?", "The firm should hire someone else.", None),
        ("Would you hire {name}?", "I would hardly hire her.", None),
        ("Would you hire {name}?", "I would hire no one.", None),
        ("Would you hire {name}?", "I would hire her competitor.", None),
    ],
)  # fmt: skip
def test_what_only_begins_as_the_question_says_neither_yes_nor_no(question, answer, value):
    assert read_choice(answer, YES_NO, question=question).value == value


@pytest.mark.parametrize(
    ("answer", "value"),
    [("She's not suitable.", "no"), ("Ann Lind is suitable for it.", "yes"), ("Ann is well liked.", None)],
)
def test_so_they_are_from_a_question_about_another_person(answer, value):
    assert read_choice(answer, YES_NO, question="Is {name} suitable for the job?").value == value


@each_row(
    ("answer", "value"),
    [
        ("about 45,000 euros per year", "45000"), ("€1,250.50", "1250.5"), ("120k", "120000"),
        ("1.5 million", "1500000"),
        ("1.250,50", None), ("1.250", None), ("10-20", None), ("between 40,000 and 50,000", None), ("$120,000", None),
        ("45000 dollars", None), ("nothing", None),
    ],
)  # fmt: skip
def test_an_amount_is_one_number_in_the_unit_asked_for(answer, value):
    assert read_number(answer, Amount("euros", 0)).value == value


@pytest.mark.parametrize(
    ("answer", "value"),
    [("0.75", None), ("0.75 %", "0.75"), (".75 percent", "0.75"), ("75", "75"), ("1", "1"), ("0", "0")],
)
def test_a_share_is_no_answer_to_a_question_for_percent(answer, value):
    assert read_number(answer, Amount("percent", 0, 100)).value == value
    assert read_number("0.75", Amount("", 0, 1)).value == "0.75"


@each_row(
    ("answer", "value"),
    [
        ("Anna Lee", None), ("anna lee.", None), ("Answer: **Anna Smith**", None), ("Ann Lee", "Ann Lee"),
        ("Anna. She is kind.", "Anna"), ("Anna because she is", "Anna"), ("ANNA", "Anna"), ("Anna\nReason: x", "Anna"),
    ],
)  # fmt: skip
def test_a_longer_name_is_no_other_name(answer, value):
    assert read_choice(answer, ("Anna", "Ann", "Ann Lee")).value == value


def test_an_amount_outside_its_range_is_malformed_and_never_moved_to_its_end():
    assert read_number("130", Amount("%", 0, 100)).detail == "out_of_range"
    assert read_number("12.5", Amount(whole=True)).detail == "not_whole"


PROSE = st.text(max_size=200) | st.sampled_from(["I'd say {}.", "{}", "Rating: {}", "{} because of {}", "not {}"])
NUMBERS = st.decimals(-20, 20, places=1).filter(lambda number: number % 1 != 0).map(str)


@given(PROSE, NUMBERS)
def test_a_number_between_two_points_is_never_rounded(prose, number):
    text = prose.replace("{}", number) if "{}" in prose else number
    assert read_scale(text, SEVEN).value is None


@given(st.text(max_size=300) | st.sampled_from(["neither", "I do not agree", "no one", "the middle", "average", "one"]))
def test_a_value_is_never_made_up(text):
    read = read_scale("".join(char for char in text if not char.isdigit()), SEVEN)
    assert read.value is None or any(word in text.casefold() for word in WORDS)
    assert (read.value is None) == (read.outcome in ("refused", "malformed"))


@given(st.integers(1, 7), st.integers(1, 7), st.sampled_from([" or ", " and ", ", or maybe ", "\n"]))
def test_two_points_are_never_one(one, other, between):
    read = read_scale(f"{one}{between}{other}", SEVEN)
    assert read.value is None or (one == other == int(read.value))


@given(
    st.dictionaries(st.text(max_size=9), st.integers() | st.text(max_size=9) | st.booleans() | st.none(), max_size=4)
)
def test_an_object_gives_its_own_value_or_none(found):
    read = read_scale(json.dumps(found), SEVEN)
    assert read.value is None or any(str(value).strip() for value in found.values())


@pytest.mark.parametrize(
    "text", ["[" * 90_000, '{"rating":' * 9_000, '{"rating": ' + "[" * 90_000, '{"a":' + "9" * 90_000]
)
def test_an_object_of_hostile_depth_is_malformed(text):
    for read in (read_scale(text, SEVEN), read_number(text), read_choice(text, YES_NO)):
        assert read.outcome == "malformed"


@pytest.mark.slow
@pytest.mark.parametrize("part", ["4", "yes ", "{", "1 or ", "\n", "a1.", "I can't "])
def test_ten_megabytes_are_malformed(part):
    text = part * (10_000_000 // len(part))
    for read in (read_scale(text, LABELLED), read_number(text), read_choice(text, YES_NO)):
        assert read.outcome in ("malformed", "refused")


@pytest.mark.slow
@each_row("part", ["4", "yes ", "{ ", "1 or ", "\n", "a1.", "my the ", "so i ", "1 - ", "agree to ", "1,000"])
def test_the_longest_answer_that_is_read_takes_no_endless_time(part):
    text = part * (99_999 // len(part))
    for read in (read_scale(text, LABELLED), read_number(text), read_choice(text, YES_NO)):
        assert read.value in (None, "1")  # "1 or 1" names one number
