"""Repetitions that are the same answer again, found among the rows of a fit."""

from __future__ import annotations

import polars as pl

from slant.analysis.rows.cells import warning_of_same_answers

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
        "Of 8 words in a wording and condition that were asked again, 8 got the same answer every time: 40 rows hold 8 "
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
