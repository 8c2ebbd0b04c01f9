"""Importing what the RM-IAT's authors keep of two further tasks: word association, a row for each word; decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.importing.files.kinds import Problem, Row
from slant.collector.importing.imports import ImportReport
from slant.collector.importing.layouts.downstream import Downstream
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.raw_rows import table, trials, write_csv

STUDY = load_study("word_association")
CAREER = STUDY.data.tests["gender_career"].words("")
JOHN, AMY = CAREER["group_a"][0], CAREER["group_b"][0]
LISTED = [*CAREER["attribute_a"], *CAREER["attribute_b"]]
VERSIONS = ("", "_original", "_bertrand", "_nosek")


def said(to_amy: Sequence[str]) -> str:
    return "\n".join(f"{word} - {AMY if word in to_amy else JOHN}" for word in LISTED)


def answer(words: Sequence[str] = LISTED, **changed: Any) -> list[dict[str, Any]]:
    """The rows of one answer, with changes to all of them; by itself one that pairs all words as is usual."""
    row = {
        "experiment": "career_family", "model": "o3-mini", "template": "replication", "iteration": 0,
        "group0": AMY, "group1": JOHN, "group0_pole": "female", "group1_pole": "male",
        "attribute": "", "attr_pole": "", "thinking_tokens": 384, "group_assigned": "x",
        "raw_response": said(CAREER["attribute_b"]),
    }  # fmt: skip
    poles = {word: "family" if word in CAREER["attribute_b"] else "career" for word in words}
    return [row | {"attribute": word, "attr_pole": poles[word]} | changed for word in words]


def imported(folder: Path, *answers: Sequence[Mapping[str, Any]], **options: Any) -> ImportReport:
    file = write_csv(folder / "wat.csv", chain.from_iterable(answers))
    study = options.pop("study", "word_association")
    return import_trials(folder / "t.duckdb", study, [file], layout="downstream", **options)


def test_the_rows_of_an_answer_become_one_trial(tmp_path: Path) -> None:
    report = imported(tmp_path, answer(iteration=49))
    assert (report.rows_imported, report.problems, report.warnings) == (1, [], [])
    [row] = trials(tmp_path)
    place = [row[name] for name in ("model", "test", "condition", "wording", "item", "repetition", "outcome")]
    assert place == ["o3-mini", "gender_career", "replication", 1, "draw 50", 1, "answered"]
    assert (row["option_a"], row["option_b"]) == (JOHN, AMY)
    shown = json.loads(row["factors"])
    assert (shown["first_option"], shown["words"], shown["poles"]) == (AMY, LISTED, "p" * 8 + "n" * 8)
    assert shown["reading"] == "complete"
    # the order of the words is unknown, as their rows lie in the order of the list
    assert {row["is_order_known"] for row in trials(tmp_path, view="pairing_words")} == {False}
    assert [row["first_group"] for row in trials(tmp_path, view="pairing_trials")] == ["b"]


@pytest.mark.slow
def test_the_bias_is_that_of_the_words(tmp_path: Path) -> None:
    """John: 7 of 8 words of career and none of family; Amy: 1 of career, 8 of family. By hand, 7/7 + 8/9 - 1."""
    to_amy = [*CAREER["attribute_b"], CAREER["attribute_a"][0]]
    crossed = answer(iteration=1, raw_response=said(CAREER["attribute_a"]))
    assert imported(tmp_path, answer(raw_response=said(to_amy)), crossed).rows_imported == 2
    found = [row["d"] for row in trials(tmp_path, view="pairing_trials")]
    assert found == pytest.approx([7 / 7 + 8 / 9 - 1, -1])
    [bias] = trials(tmp_path, view="pairing_bias", order="test")
    assert (bias["n_d"], bias["mean_d"]) == (2, pytest.approx((8 / 9 - 1) / 2))


@pytest.mark.slow
def test_an_empty_answer_was_cut_off_and_is_no_bias_of_zero(tmp_path: Path) -> None:
    assert imported(tmp_path, answer(raw_response="", thinking_tokens=512)).problems == []
    [row] = trials(tmp_path)
    assert (row["outcome"], row["tokens"], row["reasoning_tokens"]) == ("truncated", 512, 512)
    [bias] = trials(tmp_path, view="pairing_bias", order="test")
    assert (bias["n_truncated"], bias["n_malformed"], bias["n_d"], bias["mean_d"]) == (1, 0, 0, None)


@pytest.mark.slow
def test_an_empty_answer_without_a_count_is_malformed_as_nobody_knows_what_became_of_it(tmp_path: Path) -> None:
    assert imported(tmp_path, answer(raw_response="", thinking_tokens="")).problems == []
    [row] = trials(tmp_path)
    assert (row["outcome"], row["detail"], row["tokens"]) == ("malformed", "empty", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "ours", "column", "token_source"),
    [
        ("o3-mini", "o3-mini", "reasoning_tokens", "usage"),
        ("openai", "o3-mini", "reasoning_tokens", "usage"),
        ("claude", "claude-sonnet-4.5", "output_tokens", "output"),
        ("deepseek", "deepseek/deepseek-reasoner", "output_tokens", "output"),
        ("GPT_20B", "local/gpt-oss-20b", "output_tokens", "output"),
        ("Qwen3-8B", "local/qwen3-8b", "reasoning_tokens", "template"),
        ("somebody's", "local/other", None, None),
    ],
)
def test_token_counts_keep_their_meaning(
    tmp_path: Path, model: str, ours: str, column: str | None, token_source: str | None
) -> None:
    imported(tmp_path, answer(model=model), map_models=[f"{model}={ours}"])
    [row] = trials(tmp_path)
    counts = {name: row[name] for name in ("reasoning_tokens", "output_tokens")}
    assert (row["model"], row["tokens"], row["token_source"]) == (ours, 384, token_source)
    assert counts == dict.fromkeys(counts) | ({column: 384} if column else {})


@pytest.mark.slow
@each_row(
    ("groups", "poles"),
    [(["negative", "positive"], {"career": "positive", "family": "negative"})]
    + [([f"Female{of}", f"male{of}"], {pole: pole + of for pole in ("career", "family")}) for of in VERSIONS],
)
def test_sides_may_be_called_by_a_version_of_a_list_or_positive_and_negative(
    tmp_path_factory: pytest.TempPathFactory, groups: list[str], poles: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("wat")
    rows = [
        row | {"attr_pole": poles[row["attr_pole"]]} for row in answer(group0_pole=groups[0], group1_pole=groups[1])
    ]
    assert imported(folder, rows).problems == []
    assert [row["d"] for row in trials(folder, view="pairing_trials")] == [1]


@given(order=st.permutations(range(4)), seed=st.integers(0, 999))
def test_answers_are_the_same_in_whatever_order_their_rows_lie(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], seed: int
) -> None:
    """Answers come in any order, one among the other; only within each is the order of its rows that of its list."""
    random = Random(seed)
    answers = [answer(random.sample(LISTED, 16), iteration=number) for number in range(4)]
    expected = sorted(map(_draft_key, _drafts(tmp_path_factory.mktemp("wat"), chain.from_iterable(answers))))
    waiting, mixed = [list(answers[number]) for number in order], []
    while waiting := [rows for rows in waiting if rows]:
        mixed.append(random.choice(waiting).pop(0))
    assert sorted(map(_draft_key, _drafts(tmp_path_factory.mktemp("wat"), mixed))) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"attr_pole": "jobs"}, "attr_pole must be one of flowers, "),
        ({"group0_pole": "0"}, "group0_pole must be one of flowers, "),
        ({"group0_pole": "male"}, "group0_pole and group1_pole must be of two sides"),
        ({"group0": JOHN, "group1": AMY}, f'"{JOHN}" is of side b here, but the study has it in group_a'),
        (
            {"attribute": LISTED[0]},
            f'attribute must be another word in each row of an answer, but several are "{LISTED[0]}"',
        ),
        ({"attribute": " "}, "attribute is empty"),
        ({"experiment": "jobs"}, "experiment must be one of flowers_insects, "),
        ({"template": "instruction1"}, "template must be one of replication, sorting, choosing, matching, but is"),
        ({"iteration": "first"}, 'iteration must be a whole number, but is "first"'),
        ({"thinking_tokens": "-5"}, "tokens can't be negative"),
        ({"model": "o3"}, "o3"),
    ],
)
def test_an_answer_that_cannot_be_read_is_told_with_its_first_row(
    tmp_path: Path, changed: dict[str, str], reason: str
) -> None:
    broken = answer(iteration=1) if "iteration" in changed else answer(iteration=1, **changed)
    report = imported(tmp_path, answer(raw_response="x"), [row | changed for row in broken])
    assert [(problem.line, reason in problem.text) for problem in report.problems] == [(18, True)], report.problems
    assert report.rows_imported == 1


def test_json_lines_that_lack_what_others_have_are_told_in_a_sentence(tmp_path: Path) -> None:
    rows = [dict(row, raw_response=number // 16) for number, row in enumerate([*answer(), *answer(iteration=1)])]
    rows[0].pop("attribute")
    rows[16:] = [{name: cell for name, cell in row.items() if name != "group0_pole"} for row in rows[16:]]
    file = tmp_path / "wat.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    report = import_trials(tmp_path / "t.duckdb", "word_association", [file], layout="downstream")
    assert [(problem.line, problem.text[:60]) for problem in report.problems] == [
        (1, "attribute is empty"),
        (17, "group0_pole must be one of flowers, instruments, european_am"),
    ]


def test_rows_that_disagree_are_no_answer(tmp_path: Path) -> None:
    rows = answer(raw_response="one line")
    rows[3]["raw_response"] = "another"
    report = imported(tmp_path, rows, answer(iteration=1))
    assert [str(problem) for problem in report.problems] == [
        f"{tmp_path}/wat.csv, line 5: raw_response must be the same in all rows of one answer (alike in experiment, "
        'model, template, iteration), but is "another" after "one line"'
    ]
    assert [row["item"] for row in trials(tmp_path)] == ["draw 2"]


def test_an_answer_that_lost_a_row_is_not_taken_for_a_shorter_list(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "wat.csv", [*answer(raw_response="a"), *answer(iteration=1)])
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:4], lines[4].replace(b"o3-mini", b"o3\xe9"), *lines[5:]]))
    report = import_trials(tmp_path / "t.duckdb", "word_association", [file], layout="downstream")
    assert [(problem.line, problem.text[:60]) for problem in report.problems] == [
        (5, 'holds a byte that is not UTF-8 (0xE9) after "o3"'),
        (2, "an answer must have a row for each word of its test, but lac"),
    ]
    assert report.problems[1].text.endswith(f"lacks 1: {LISTED[3]}")
    assert report.rows_imported == 1


def test_words_that_the_study_lacks_are_taken_with_their_poles(tmp_path: Path) -> None:
    rows = [*answer(), *answer(["boss"])]
    assert imported(tmp_path, [row | {"raw_response": f"boss - {AMY}"} for row in rows]).problems == []
    [seen] = trials(tmp_path, view="pairing_trials")
    assert (seen["n_words"], seen["n_b_positive"], seen["reading"]) == (17, 1, "partial")


def test_a_study_of_ones_own_takes_all_four_templates(tmp_path: Path) -> None:
    path = write_new_study("mine", "pairing", tmp_path / "mine")[0]
    templates = ("replication", "instruction1", "instruction2", "synonym")
    text = "{group_1} or {group_2}? {words}"
    rows = [{"wording": n, "name": name, "text": text} for n, name in enumerate(templates, start=1)]
    write_csv(tmp_path / "mine" / "wordings.csv", rows)
    study = load_study(str(path))
    name, test = next(iter(study.data.tests.items()))
    words = test.words("")
    cells = {"experiment": name, "group0": words["group_a"][0], "group1": words["group_b"][0]}
    cells |= {"group0_pole": "male", "group1_pole": "female", "raw_response": "no"}
    listed = [(word, "math") for word in words["attribute_a"]] + [(word, "arts") for word in words["attribute_b"]]
    rows = [row | cells | {"template": each, "attribute": word, "attr_pole": pole}
            for each in templates for word, pole in listed for row in answer(["x"])]  # fmt: skip
    file = write_csv(tmp_path / "wat.csv", rows)
    model = EXAMPLE_MODEL.partition("/")[2]
    options = ["--layout", "downstream", "--map-model", f"o3-mini={EXAMPLE_MODEL}", "--db", tmp_path / "t.duckdb"]
    result = run_collect("import", "--study", path, *options, "--format", "csv", file)
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (0, [f"{model},{name},4,4"]), result.output
    assert [row["condition"] for row in trials(tmp_path)] == list(templates)


@pytest.mark.parametrize(
    ("study", "without", "reason"),
    [
        ("word_association", "raw_response", "lacks the column raw_response"),
        ("word_association", "group1_pole", "lacks the column group1_pole"),
        ("word_association", "model", "lacks the column model"),
        ("rmiat", "iteration", "The layout downstream is for decision and pairing studies; rmiat is none."),
    ],
)
def test_a_file_of_another_kind_writes_nothing(tmp_path: Path, study: str, without: str, reason: str) -> None:
    rows = [{name: cell for name, cell in row.items() if name != without} for row in answer()]
    with pytest.raises(UsageError) as raised:
        imported(tmp_path, rows, study=study)
    assert reason in str(raised.value)
    assert not (tmp_path / "t.duckdb").exists()


def _drafts(folder: Path, rows: Any) -> list[Mapping[str, Any]]:
    read = list(Downstream().grouped(STUDY, table(write_csv(folder / "wat.csv", rows)).rows()))
    assert not [row for row in read if isinstance(row, Problem)]
    return [Downstream().draft(STUDY, row) for row in read if isinstance(row, Row)]


def _draft_key(draft: Mapping[str, Any]) -> str:
    return repr(sorted(draft.items(), key=lambda item: item[0]))
