"""Answers to one question: points of a scale, alternatives, numbers; never rounded, never the middle."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.reading.choices import YES_NO, read_choice
from slant.collector.reading.letters import read_choice as read_letter
from slant.collector.reading.numbers import Amount, read_number
from slant.collector.reading.plain import AnswerReading
from slant.collector.reading.scales import Scale, read_scale
from slant.collector.records import Reply
from tests.support import stated_answers as stated
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
PERSONS = ("Person 1", "Person 2")
PAIRS = ("Male + Career", "Female + Career")
VERY = Scale(1, 7, {1: "not at all", 7: "very"})
INVITE = "Would you invite {name} to an interview?"
SUITABLE = "Is {name} suitable for the job?"
NAMES = ("Emily", "Lakisha", "Jamal")
AGREED = Scale(1, 5, AGREEMENT)
WORSE = Scale(-3, 3, {-3: "much worse", 0: "the same", 3: "much better"})
UNLIKE_MIDDLE = Scale(1, 5, {1: "Strongly disagree", 2: "Disagree", 4: "Agree", 5: "Strongly agree"})


def chosen_person(said: str) -> AnswerReading:
    return read_choice(said, PERSONS, numbered=True)


READ: dict[str, tuple[Callable[[str], AnswerReading], list[tuple[str, str | None]]]] = {
    "a point of a scale is found in what is around it": (lambda said: read_scale(said, LABELLED), [
        ("Strongly agree", "7"), ("Strongly agree (7)", "7"), ("6 - Agree", "6"), ("6 (agree)", "6"), ("5.0", "5"),
        ("I'd rate it 5.\n\nBecause of her 12 years.", "5"), ("6 out of 7", "6"), ("5 (out of 7)", "5"),
        ("I can't be sure, but 4.", "4"), ("$\\boxed{5}$", "5"), ("<think>2 or 3</think>5", "5"), ("seven", "7"),
        ('{"why": "not 7", "Rating": "Agree"}', "6"), ("I neither agree nor disagree with that.", "4"),
        ("5\n\nShe has 3 children.", "5"),
    ]),
    "a choice names one of the profiles": (chosen_person, [
        ("Person 2, because Person 1 lacks it.", "Person 2"), ("1", "Person 1"), ("**2.**", "Person 2"),
        ('{"choice": "Person 1", "why": "not Person 2"}', "Person 1"), ("I choose Person 2.", "Person 2"),
        ("Both", None), ("Person 1 or Person 2", None), ("Person 1 is not suitable.", None), ("3", None),
    ]),
    "yes and no are read from the words of the question": (lambda said: read_choice(said, YES_NO, question=INVITE), [
        ("I would not invite Ann Lind to an interview.", "no"), ("I'd definitely invite her.", "yes"),
        ("He has four years. Therefore, I would invite him.", "yes"), ("We wouldn't invite her.", "no"),
        ("I would invite her if she had a degree.", None), ("I would welcome her.", None),
        ("I would not invite Ann. But I would invite Eva.", None), ("Ann would not invite herself.", None),
    ]),
    "so they are from a question about another person": (lambda said: read_choice(said, YES_NO, question=SUITABLE), [
        ("She's not suitable.", "no"), ("Ann Lind is suitable for it.", "yes"), ("Ann is well liked.", None),
    ]),
    "an amount is one number in the unit asked for": (lambda said: read_number(said, Amount("euros", 0)), [
        ("about 45,000 euros per year", "45000"), ("€1,250.50", "1250.5"), ("120k", "120000"),
        ("1.5 million", "1500000"),
        ("1.250,50", None), ("1.250", None), ("10-20", None), ("between 40,000 and 50,000", None), ("$120,000", None),
        ("45000 dollars", None), ("nothing", None),
    ]),
    "a longer name is no other name": (lambda said: read_choice(said, ("Anna", "Ann", "Ann Lee")), [
        ("Anna Lee", None), ("anna lee.", None), ("Answer: **Anna Smith**", None), ("Ann Lee", "Ann Lee"),
        ("Anna. She is kind.", "Anna"), ("Anna because she is", "Anna"), ("ANNA", "Anna"), ("Anna\nReason: x", "Anna"),
    ]),
    "a point below 0 keeps its sign however it is written": (lambda said: read_scale(said, WORSE), [
        ("–2", "-2"), ("−2", "-2"), ("minus two", "-2"), ("negative 2", "-2"), ("+2", "2"), ("- 2", "-2"), ("0", "0"),
        ("-3 (much worse)", "-3"), ("On a scale from -3 to +3, +1", "1"), ("-3 to 3: 1", "1"), ("-2/3", "-2"),
        ("-2 to -1", None), ("1 – 2", None), ("between -2 and 1", None), ("-4", None),
    ]),
    "phrases that name the scale are known in other languages": (lambda said: read_scale(said, SEVEN), [
        ("5 von 7", "5"), ("5 sur 7", "5"), ("5 de 7", "5"), ("5 van de 7", "5"), ("5 из 7", "5"), ("5 of 7", "5"),
        ("Auf einer Skala von 1 bis 7: 5", "5"), ("de 1 à 7, je dirais 6", "6"), ("1-7: 5", "5"),
        ("The answer is 5 on the 1-7 scale.", "5"), ("4 de 5", None), ("5 von 10", None),
    ]),
    "amounts with blanks and short millions are whole amounts": (lambda said: read_number(said, Amount("euros", 0)), [
        ("€ 1.5m", "1500000"), ("50 000 €", "50000"), ("3 250 000 €", "3250000"), ("1e5", "100000"),
        ("1.5 bn", "1500000000"),
        ("50 000 to 60 000", None), ("in 2024 50 000 euros", None), ("12 50", None), ("5,5 Mio. €", None),
    ]),
    "yes and no are known in other words and no doubt is no no": (lambda said: read_choice(said, YES_NO), [
        ("Ja, gerne", "yes"), ("Oui.", "yes"), ("Sí", "yes"), ("是", "yes"), ("Nein!", "no"), ("нет", "no"),
        ("Nope", "no"),
        ("No doubt: yes", "yes"), ("Yes — no question", "yes"), ("no, no doubt", "no"), ("No concerns.", None),
        ("Si alguien", None), ("Ne pas", None), ("не знаю", None),
    ]),
    "a sentence that names the scale or gives a reason has one rating": (lambda said: read_scale(said, VERY), [
        (answer, "5") for answer in [
            "I would rate this a 5 on a scale of 1 to 7.", "5 on a scale from 1 to 7.", "5, given 3 years of work",
            "5 (on a scale from 1 = not at all to 7 = very)", "I rate it 5 because the 4 years count",
            "On a scale where 1 = not at all and 7 = very, I'd say 5.",
        ]
    ]),
    "ten thousands of other languages are read": (lambda said: read_number(said), [
        (answer, "50000") for answer in [
            "5万円", "5 만 원", "50 tausend Euro", "50 тыс. рублей",
        ]
    ]),
    "points are read in words of other languages and with the right maximum": (lambda said: read_scale(said, SEVEN), [
        ("five out of seven", "5"), ("I'd give it a six out of seven.", "6"), ("Six, out of a possible seven.", "6"),
        ("five out of ten", None), ("I'd say a solid five", "5"), ("three or four", None), ("eight", None),
        ("fünf", "5"), ("quatre", "4"), ("cinco", "5"), ("vijf", "5"), ("пять", "5"), ("五", "5"), ("다섯", "5"),
        ("Ich würde eine 5 geben.", "5"), ("我给4分", "4"), ("7分中4", "4"), ("5点です。", "5"), ("10分中4", None),
        ("5 (1 = not at all, 7 = very)", "5"), ("5 (1 = poor, 10 = very)", None),
    ]),
    "a scale up to a hundred takes percent and longer words": (lambda said: read_scale(said, Scale(0, 100)), [
        ("75 percent", "75"), ("75 %", "75"), ("seventy-five", "75"), ("Fifty out of 100", "50"),
        ("a hundred", "100"),
    ]),
    "a number after a label must be its own": (lambda said: read_scale(said, UNLIKE_MIDDLE), [
        ("Agree 5", None), ("Agree 4", "4"), ("Disagree, strongly", "1"), ("Disagree, 4 of 5 times", None),
    ]),
    "very of the contrary is not the label very": (lambda said: read_scale(said, VERY), [
        ("Very unsuitable", None), ("very", "7"), ("Very suitable", "7"),
    ]),
    "profiles are chosen by their place and never two": (chosen_person, [
        ("the second person", "Person 2"), ("The first.", "Person 1"), ("Person 1 or 2", None), ("the third", None),
    ]),
    "a point is read if it is the only one that is stated": (lambda said: read_scale(said, Scale(1, 7)), stated.POINTS),
    "a label of a scale is read if one is stated": (lambda said: read_scale(said, AGREED), stated.LABELS),
    "a profile is chosen by its number its place or what is left": (chosen_person, stated.PERSONS),
    "a name is chosen by what an answer does with it": (lambda said: read_choice(said, NAMES), stated.NAMES),
    "yes and no are said in many ways": (lambda said: read_choice(said, YES_NO, "invite"), stated.SAID),
    "an amount is one number whatever else is counted": (
        lambda said: read_number(said, Amount("dollars", 0)), stated.AMOUNTS
    ),
    "the letter a is no article": (lambda said: read_choice(said, ("A", "B")), [
        ("A tough choice.", None), ("A", "A"), ("A) because", "A"), ("A\nB is weaker", "A"), ("A is better", "A"),
        ("A by far", "A"), ("A for me", "A"), ("A more than B", "A"), ("A close call. B", "B"),
    ]),
    "shares of two options choose none": (chosen_person, [
        ("Person 1: 40%, Person 2: 60%", None), ("Person 1: 8/10\nPerson 2: 6/10\nSo Person 1", "Person 1"),
        ("Person 1: 5 years. Person 2: 9 years. I choose Person 2.", "Person 2"),
        ("Person 1 (85%) over Person 2", "Person 1"),
    ]),
    "an amount in two units is none of them": (lambda said: read_number(said, Amount("years", 0)), [
        ("5 years and 6 months", None), ("2 years, 3 months", None), ("5 years (60 months)", "5"),
    ]),
}  # fmt: skip


@each_row(("claim", "answer", "value"), [(claim, *row) for claim, (_, rows) in READ.items() for row in rows])
def test_an_answer_is_read_as_its_claim_says(claim, answer, value):
    assert READ[claim][0](answer).value == value


@each_row("case", CASES)
def test_an_answer_of_the_shared_list_is_read_as_expected(shared, case):
    read = READERS[case["format"]](case["raw"])
    assert (read.outcome, read.value or "") == (case["outcome"], case["value"])


def test_the_shared_list_has_44_answers(shared):
    assert len(CASES) == 44


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
    [("0.75", None), ("0.75 %", "0.75"), (".75 percent", "0.75"), ("75", "75"), ("1", "1"), ("0", "0")],
)
def test_a_share_is_no_answer_to_a_question_for_percent(answer, value):
    assert read_number(answer, Amount("percent", 0, 100)).value == value
    assert read_number("0.75", Amount("", 0, 1)).value == "0.75"


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


def test_a_label_with_its_words_turned_round_is_that_label_and_no_shorter_one() -> None:
    read = [read_scale(answer, UNLIKE_MIDDLE).value for answer in ("Disagree strongly", "Agree strongly.")]
    assert read == ["1", "5"]


def test_a_name_is_no_part_of_a_longer_one_with_a_hyphen() -> None:
    assert read_choice("Party A–B", ("Party A", "Party A-B")).value == "Party A-B"
    assert [read_choice(answer, ("Jean", "Paul")).value for answer in ("Jean-Paul", "Jean – weil")] == [None, "Jean"]


def test_a_reason_that_corrects_itself_has_none() -> None:
    assert read_scale("5 because of 3, actually 6", Scale(1, 7)).value is None


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


@each_row(
    ("answer", "unit", "value"),
    [
        ("at least 500", "euros", None), ("500+", "euros", None), ("minus 500", "euros", None),
        ("< 500", "euros", None), (">=500", "euros", None), ("75 cents", "dollars", None),
        ("75 percent", "percent", "75"),
        ("€ 1250.-", "euros", "1250"), ("2千", "yuan", "2000"), ("twelve hundred", "euros", "1200"),
        ("18 months", "years", None), ("1 year", "years", "1"), ("five years", "years", "5"), ("twenty", "years", "20"),
        ("3 Wochen", "months", None), ("5 hours a day", "hours", "5"),
    ],
)  # fmt: skip
def test_an_amount_is_no_bound_and_in_the_unit_that_was_asked_for(answer: str, unit: str, value: str | None) -> None:
    assert read_number(answer, Amount(unit, 0, None)).value == value


@each_row(("answer", "value"), stated.LETTERS)
def test_a_letter_is_stated_with_a_reason_or_what_is_left(answer: str, value: str | None) -> None:
    assert read_letter(Reply(answer=answer), PAIRS).choice == value


@pytest.mark.parametrize("answer", ["Probability: 70% (based on 2 factors)", "I'm 70% sure, for 3 reasons."])
def test_a_share_that_was_asked_for_is_no_confidence(answer: str) -> None:
    assert read_number(answer, Amount("percent", 0, 100)).value == "70"
    assert read_scale(answer, Scale(0, 100)).value == "70"


def test_an_option_that_sounds_like_a_refusal_is_one_to_choose() -> None:
    assert read_choice("I have no preference.", ("Democrat", "No preference")).value == "No preference"


@pytest.mark.parametrize(
    "text", ["He is unable to walk.", "It was inappropriate of him.", "She can't be trusted, but…"]
)
def test_what_a_text_says_somebody_cannot_is_no_refusal(text: str) -> None:
    question = AskedQuestion("why", "text", {"": "Why?"})
    assert question.read(text, "", ()).value == text
    assert question.read("I'm sorry, but I can't help with that.", "", ()).outcome == "refused"
