"""The first screen of a report where no quick fit compares anything: answers from kept tables, else from counts."""

from __future__ import annotations

from typing import Any

import polars as pl

from slant.analysis.pages.answers import reference_levels
from slant.analysis.pages.comparison_words import Cell, sentences
from slant.analysis.pages.parts.records import SectionData, declared_columns
from slant.analysis.pages.report_sections import counted_answers, kept_answers
from slant.analysis.pages.report_tables import rounded, table_by_model
from slant.analysis.questions.checks.sentences import number
from slant.collector.screen_tables import in_digits, shown_cell, shown_column
from slant.collector.studies.catalogue import load_study

GRAIN = {"source": "simulated", "study_version": "v1"}
GAMES = {
    **GRAIN, "between": "variant", "model": "greedy", "condition": "bonus", "reference": "main", "index": "si",
    "difference": -0.4, "boot_low": -0.6, "boot_high": -0.2, "p_adjusted": 0.004,
}  # fmt: skip
BESIDE_CHANCE = {
    **GRAIN, "model": "greedy", "variant": "main", "index": "si", "estimate": 0.5, "conf_low": 0.3, "conf_high": 0.7,
    "random_level": 0.4,
}  # fmt: skip
OBSERVED = {
    **GRAIN, "model": "small", "test": "work", "condition": "incongruent", "reference": "congruent", "delta_p": 0.12,
}  # fmt: skip
CONTRAST = {
    **GRAIN, "model_label": "Small", "test_label": "Work", "kind": "population", "call_id": "c1", "delta_p": 0.2,
    "delta_p_conf_low": 0.1, "delta_p_conf_high": 0.3,
}  # fmt: skip
TERM = {
    **GRAIN, "fit": "over_tests_brms", "call_id": "c1", "model": None, "test": None, "term": "modelb",
    "estimate": 0.1, "conf_low": -0.3, "conf_high": 0.5,
}  # fmt: skip
KEPT: list[tuple[str, dict[str, list[dict[str, Any]]], str]] = [
    (
        "hiring",
        {"game_comparisons": [GAMES]},
        "0.40 SI (bits) less for bonus than main (95 % interval −0.60 to −0.20, p",
    ),
    ("hiring", {"game_comparisons": [{**GAMES, "p_adjusted": 0.2}]}, "no difference was found for bonus against main"),
    ("hiring", {"game_comparisons": [{**GAMES, "p_adjusted": 0.2}]}, "95 % intervals lie within ±0.60 SI (bits)"),
    ("hiring", {"game_index_intervals": [BESIDE_CHANCE]}, "no difference was found against chance alone; 95 %"),
    (
        "hiring",
        {"game_index_intervals": [{**BESIDE_CHANCE, "model": name, "conf_low": 0.405} for name in "abcd"]},
        "0 of 4 models have more SI (bits) than chance alone, none less (95 % interval for all 4 at once excludes 0).",
    ),
    (
        "interference",
        {"condition_contrasts": [CONTRAST], "observed_delta_p": [OBSERVED]},
        "Small, Work: 20 percentage points more for congruent than incongruent (95 % interval 10 to 30).",
    ),
    (
        "word_association",
        {"bayes_estimates": [{**TERM, "term": name} for name in ("Intercept", "a: 2|3", "modelb", "modelb:testwork")]},
        "Where test is flowers_insects: no difference was found for modelb; 95 % intervals lie within ±0.50 units",
    ),
]
COUNTED = [
    ("hiring", {"allocation_indices": [{**GRAIN, "si": 0.3}, {**GRAIN, "si": 0.5}]}, "is 0.30 to 0.50 bits on average"),
    ("interference", {"observed_delta_p": [OBSERVED]}, "12 percentage points more often consistent in the congruent"),
    (
        "rmiat",
        {"outcome_counts": [{**GRAIN, "model": "a", "n_trials": 30}]},
        "30 answers of 1 model; nothing is compared",
    ),
]


ROUNDED = [
    (-0.032, 17.0, "0"), (-0.032, None, "\u22120.032"), (-0.032, 0.17, "\u22120.03"), (1234.56, 40.0, "1,235"),
    (-0.0, None, "0"), (0.2, 0.0, "0.2"),
]  # fmt: skip


def section(study: str, tables: dict[str, list[dict[str, Any]]]) -> SectionData:
    frames = {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in tables.items()}
    return SectionData(load_study(study), frames, {}, GRAIN)


def test_kept_results_answer_with_numbers_and_with_what_is_excluded_where_nothing_is_found() -> None:
    wrong = []
    for study, tables, words in KEPT:
        if words not in (said := " ".join(kept_answers(section(study, tables)))):
            wrong.append((words, said))
    assert wrong == []


def test_numbers_in_sentences_are_as_precise_as_their_interval_and_never_minus_zero() -> None:
    said = [(value, width, rounded(value, width)) for value, width, _ in ROUNDED]
    assert said == ROUNDED
    assert [shown_cell(-0.0), shown_cell(-1e-9), number(-0.0001)] == ["0", "-1e-09", "0.00"]


def test_a_p_is_rounded_once_in_tables_as_in_sentences() -> None:
    rows = in_digits(pl.DataFrame({"estimate": [0.381462], "p_value": [0.381462]}), 4)
    assert [shown_column(rows, name) for name in rows.columns] == [["0.3815"], [".381"]]


def test_estimates_of_several_models_stand_next_to_each_other_above_their_intervals() -> None:
    ends = {"refusals_removed": True, "conf_low": -0.1, "conf_high": 0.2}
    cells = [("a", "name: x", 0.04), ("b", "name: x", -1e-9), ("a", "name: y", 0.1)]
    rows = pl.DataFrame([{"model": model, "term": term, "estimate": at, **ends} for model, term, at in cells])
    table = table_by_model(rows)
    assert table is not None
    assert (table["heads"], table["numeric"]) == (["answers", "term", "a", "b"], [False, False, True, True])
    interval = "\n[\u22120.10,\u00a00.20]"
    assert table["rows"] == [
        ["without refusals", "name: x", f"0.04{interval}", f"0.00{interval}"],
        ["without refusals", "name: y", f"0.10{interval}", ""],
    ]
    assert table_by_model(rows.filter(model="a")) is None
    assert table_by_model(pl.concat([rows, rows])) is None


def test_without_any_kept_result_counts_are_said_with_the_command_that_finds_more() -> None:
    said = [(words, counted_answers(section(study, tables))) for study, tables, words in COUNTED]
    assert [(words, told) for words, told in said if words not in " ".join(told) or "analyze " not in told[0]] == []
    assert [kept_answers(section(study, tables)) for study, tables, _ in COUNTED] == [[], [], []]


def test_columns_of_a_report_are_declared_with_their_heads_and_forms() -> None:
    rows = pl.DataFrame({"n": [0.126, None], "kind": ["a_b", "c"], "is_done": [True, None]})
    shown = declared_columns(rows, "n:.2 | N = n:.1f | % = n:%1 | p = n:1s\nkind:words | of {kind} = {n:.2} in {kind}")
    assert shown.columns == ["n", "N", "%", "p", "kind", "of {kind}"]
    assert shown.rows() == [(0.13, "0.1", 12.6, 0.1, "a b", "0.13 in a_b"), (None, "", None, None, "c", None)]
    assert declared_columns(rows, "done = is_done:yes | open = is_done:not").rows() == [("yes", False), ("", None)]


def test_pairs_that_differ_are_named_with_the_unit_of_their_scale_last() -> None:
    """A reader asks which level, not how many."""
    row = {"first": "500", "second": "800", "estimate": -1.0, "conf_low": -1.6, "conf_high": -0.4, "p": 0.01}
    other = {**row, "second": "650", "estimate": 0.2, "conf_high": 0.9, "p": 0.6}
    unit = "points on a scale from 1 (bad) to 7 (good)"
    one = "1 of 2 pairs of levels of rent differs: 1.0 points less for 800 than 500 on a scale from 1 (bad) to 7 (good)"
    assert sentences([Cell("m", "rating", "rent", unit, [row, other])]) == [f"m, rating: {one} (corrected p < .05)."]
    both = sentences([Cell("m", "choice", "rent", "percentage points", [row, {**other, "p": 0.01}])])
    assert both == [
        "m, choice: 2 of 2 pairs of levels of rent differ, by 0.2 to 1.0 percentage points (corrected p < .05); most: "
        "1.0 percentage points less for 800 than 500."
    ]


def test_an_effect_that_interacts_is_that_of_thereference_levels() -> None:
    levels = {"block": ["same", "crossed"], "domain": ["work", "home"]}
    terms = [
        "intercept",
        "blockcrossed",
        "modelb",
        *(f"blockcrossed:{name}" for name in ("modelb", "domainhome", "age")),
    ]
    formula = "value ~ block * model + block:domain + block:age"
    at = reference_levels(terms, ["blockcrossed"], levels, formula)
    assert at == "model is at its reference level, domain is work and age is 0"
    assert reference_levels(terms[:3], ["blockcrossed"], levels, formula) == ""
