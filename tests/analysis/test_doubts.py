"""What is doubtful about fits is one sentence a kind, however many cells, engines and numbers say it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.analysis.rows.cells import warning_of_same_answers
from slant.analysis.rows.result_warnings import CELLS, Doubt, grouped_doubts

LOST = "warning: {n} of 1,000 rows ({share}%) are left out (is_refusal {n}){sides}"
SIDES = ", unequally: 9 of 500 in a, 1 of 500 in b. What is compared may differ for that reason alone."
SINGULAR = "message: boundary (singular) fit: see help('isSingular')"
ONE_CLUSTER = 'warning: All rows of a level of "{}" are in one cluster ("item"), which says nothing of others.'
CLUSTERS = 'warning: 24 clusters ("item") are fewer than 40: intervals are too narrow.'


def fits(fit: str, *messages: str, status: str = "warned", source: str = "simulated") -> pl.DataFrame:
    rows = [
        {
            "source": source, "study_version": "v", "variant": "base", "model": f"m{no}", "test": "drinks", "fit": fit,
            "status": status if text else "ok", "messages": text,
        }
        for no, text in enumerate(messages)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def lost(share: int, sides: str = SIDES) -> str:
    return LOST.format(n=share * 10, share=share, sides=sides or ".")


def test_what_three_engines_say_of_the_same_cells_stands_once_with_the_worst() -> None:
    said = [lost(12), lost(47), "", ""]
    (doubt,) = grouped_doubts([fits(name, *said) for name in ("lme4", "effect_size", "crossed")])
    assert "in 2 of 4 cells (crossed, effect_size, lme4), most often in m1, drinks (47 %)" in doubt.sentence
    assert doubt.cells["fits"].unique().to_list() == ["crossed, effect_size, lme4"]
    assert doubt.cells["what"][0] == "120 of 1,000 excluded (12 %): 9 of 500 in a, 1 of 500 in b"


@pytest.mark.parametrize(
    ("said", "n_doubts", "notes"),
    [
        (["", ""], 0, 0),
        ([lost(12), lost(8, "")], 2, 0),
        (["warning: All 9 rows are left out: refused in 9.\nerror: There are no rows.", ""], 1, 0),
        ([SINGULAR, ""], 1, 1),
        ([ONE_CLUSTER.format("item"), ""], 1, 1),
        (["error: No rows are left: all 384 have a missing value in persona.", ""], 1, 1),
        (["error: No rows are left: all 384 have a missing value in gender.", ""], 1, 0),
        ([ONE_CLUSTER.format("gender"), ""], 1, 0),
        (["message: Rows are taken as independent: no cluster is named.", ""], 1, 0),
        (['error: Can\'t compare levels of "model": it has one level here.', ""], 1, 1),
        ([f"{lost(9)}\n{CLUSTERS}", CLUSTERS.replace("24", "12")], 2, 0),
        (["warning: The formula (1 | name) has 3 levels.", "warning: The formula (1 | name) has 11 levels."], 1, 0),
    ],
)
def test_kinds_are_told_apart_and_numbers_are_not(said: list[str], n_doubts: int, notes: int) -> None:
    doubts = grouped_doubts([fits("fit", *said, status="singular" if SINGULAR in said else "warned")])
    assert (len(doubts), sum(doubt.is_note for doubt in doubts)) == (n_doubts, notes)


def test_a_failed_fit_is_said_in_its_own_words_and_sources_are_named_if_there_are_several() -> None:
    failed = fits("lm", 'error: The outcome "tokens" is 64 in all 48 rows.', status="failed")
    (doubt,) = grouped_doubts([failed, fits("lm", "", source="human")])
    assert str(doubt) == 'Caution: lm, m0, drinks, simulated: The outcome "tokens" is 64 in all 48 rows.'


def test_notes_come_last_and_tables_of_cells_have_the_same_columns() -> None:
    doubts = grouped_doubts([fits("crossed", SINGULAR, SINGULAR, status="singular"), fits("lm", CLUSTERS)])
    assert [str(doubt).partition(":")[0] for doubt in doubts] == ["Caution", "Note"]
    assert "all 2 cells (crossed)" in doubts[1].sentence
    assert {tuple(doubt.cells.columns) for doubt in doubts} == {CELLS}


@given(st.lists(st.text(max_size=60), max_size=8))
def test_no_text_of_a_fit_is_lost_or_said_twice(texts: list[str]) -> None:
    doubts: list[Doubt] = grouped_doubts([fits("lm", *(f"warning: {text}" for text in texts))] if texts else [])
    assert sum(doubt.cells.height for doubt in doubts) == len(texts)
    assert len({doubt.sentence for doubt in doubts}) == len(doubts)


USED = ("tokens", "condition", "wording")
ONCE = pl.DataFrame(
    {
        "item": ["aster", "ant", "wasp", "rose"] * 2, "wording": [1, 1, 2, 2] * 2,
        "condition": ["compatible"] * 4 + ["incompatible"] * 4, "tokens": [101, 202, 303, 404, 505, 606, 707, 808],
    }
)  # fmt: skip


def test_the_same_answer_five_times_is_counted_once() -> None:
    said = warning_of_same_answers(pl.concat([ONCE] * 5), USED)
    assert said == (
        "Of 8 words in a wording and condition that were repeated, 8 got the same answer every time: 40 rows hold 8 "
        "answers."
    )


def test_answers_that_vary_agree_by_chance_or_are_of_two_tests_are_no_repetitions_of_one() -> None:
    varied = pl.concat([ONCE.with_columns(pl.col("tokens") + n) for n in range(5)])
    coarse = pl.concat([ONCE.with_columns(tokens=pl.lit(64))] * 5)
    two_tests = pl.concat([ONCE.with_columns(test=pl.lit(test)) for test in "ab"])
    assert [warning_of_same_answers(rows, USED) for rows in (varied, coarse, two_tests, ONCE)] == [None] * 4


def test_a_fit_that_knows_of_words_and_wordings_or_of_no_counts_says_nothing() -> None:
    five = pl.concat([ONCE] * 5)
    assert warning_of_same_answers(five, ("tokens", "item", "wording", "condition")) is None
    assert warning_of_same_answers(five, ("wording", "condition")) is None
