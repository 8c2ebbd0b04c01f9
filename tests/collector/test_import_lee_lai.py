"""Importing the authors' raw data: what becomes of each column, and of each row that can't be read."""

from __future__ import annotations

import csv
import re
import signal
import subprocess
import time
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector import import_trials
from slant.collector.errors import JournalError, UsageError
from slant.collector.importing.files.kinds import Problem
from slant.collector.importing.layouts.cells import matching_group
from slant.collector.importing.layouts.values import CellError, condition
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from tests.support.authors import Authors
from tests.support.commands import run_collect
from tests.support.raw_rows import lee_lai, raw, table, trials, write_csv
from tests.support.stored import rows_in

ROWS = 6_000  # three of an import's steps

CONDITIONS = ("compatible", "incompatible")


@pytest.mark.slow
def test_a_row_becomes_a_trial_of_the_study(tmp_path: Path) -> None:
    report = lee_lai(tmp_path, raw())
    assert (report.rows_imported, report.problems, report.warnings) == (1, [], [])
    (row,) = trials(tmp_path)
    found = {name: row[name] for name in ("source", "model", "test", "condition", "item", "group", "wording")}
    assert found == {
        "source": "imported",
        "model": "deepseek-r1",
        "test": "flowers_insects",
        "condition": "compatible",
        "item": "aster",
        "group": "Flowers",
        "wording": 2,
    }
    assert (row["option_a"], row["option_b"], row["expected"]) == ("Pleasant", "Unpleasant", "Pleasant")
    assert (row["outcome"], row["choice"], row["reasoning_text"]) == ("answered", "Pleasant", raw()["thought"])
    counts = [row[name] for name in ("tokens", "output_tokens", "reasoning_tokens", "token_source")]
    assert counts == [120, 120, None, "output"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "test", "word", "group"),
    [
        ("race_original", "race_greenwald", "Adam", "European Americans"),
        ("race_nosek.csv", "race_nosek", "Brad", "European Americans"),
        ("career_family", "gender_career", "John", "Male Names"),
        ("math_arts", "gender_math", "he", "Male Terms"),
        ("Mental-Physical", "disease_permanence", "depression", "Mental Disease"),
        ("young_old", "age_valence", "Tiffany", "Young People"),
    ],
)
def test_a_files_name_says_its_test(tmp_path: Path, file: str, test: str, word: str, group: str) -> None:
    report = lee_lai(tmp_path, raw(word=word, group=group), name=f"{file.removesuffix('.csv')}.csv")
    assert report.problems == []
    assert [(row["test"], row["item"], row["group"]) for row in trials(tmp_path)] == [(test, word, group)]


@pytest.mark.parametrize("said", ["Stereotype-Inconsistent", "Association Incompatible", "INCOMPATIBLE", "incongruent"])
def test_conditions_are_known_by_many_names(said: str) -> None:
    assert condition(said, CONDITIONS) == "incompatible"
    assert condition(said.lower().replace("in", "", 1), CONDITIONS) == "compatible"
    assert condition(said, ("congruent", "incongruent")) == "incongruent"


@pytest.mark.parametrize("said", ["", "neutral", "not compatible", "in", "non-consistent", None, 3])
def test_an_unknown_condition_is_not_guessed(said: object) -> None:
    with pytest.raises(CellError, match="condition must be one of compatible, incompatible"):
        condition(said, CONDITIONS)


@pytest.mark.parametrize(
    ("label", "groups", "means"),
    [
        ("european_american_bertrand", ("European Americans", "African Americans"), "European Americans"),
        ("mental_disease", ("Mental Disease", "Physical Disease"), "Mental Disease"),
        ("young", ("Young People", "Old People"), "Young People"),
        ("female", ("Male Terms", "Female Terms"), "Female Terms"),
        ("Flower", ("Flowers", "Insects"), "Flowers"),
    ],
)
def test_a_group_label_means_the_group_that_begins_alike(label: str, groups: tuple[str, ...], means: str) -> None:
    assert matching_group(label, groups) == means


@pytest.mark.slow
def test_words_that_the_study_lacks_are_taken_with_one_warning_a_file(tmp_path: Path) -> None:
    rows = [raw(word=word, group=group) for word, group in (("John", "male"), ("Amy", "female"), ("he", "male"))]
    report = lee_lai(tmp_path, *rows, model="gpt-oss-20b", name="math_arts.csv")
    assert (report.rows_imported, report.problems) == (3, [])
    (warning,) = report.warnings
    assert "words that the study doesn't have were taken: in gender_math John, Amy" in warning
    found = [(row["item"], row["group"], row["expected"]) for row in trials(tmp_path)]
    assert found == [("Amy", "Female Terms", "arts"), ("John", "Male Terms", "math"), ("he", "Male Terms", "math")]


@pytest.mark.slow
def test_prompt_id_is_the_wordings_number_less_one(tmp_path: Path) -> None:
    row = {name: value for name, value in raw().items() if name != "prompt"}
    lee_lai(tmp_path, row | {"prompt_id": "1"}, row | {"prompt_id": "19.0"})
    assert [row["wording"] for row in trials(tmp_path)] == [2, 20]


def test_a_wording_and_a_number_that_disagree_are_a_problem(tmp_path: Path) -> None:
    report = lee_lai(tmp_path, raw(prompt_id="1"), raw(prompt_id="7"), raw(prompt="Guess!", prompt_id=""))
    assert [problem.text[:29] for problem in report.problems] == [
        "prompt is wording 2, but prom",
        "prompt is none of the study's",
    ]
    assert report.rows_imported == 1


def test_files_of_other_programs_are_read_too(tmp_path: Path) -> None:
    row = raw(tokens="123.0", extra="1") | {"": "0"}
    backwards = {f" {name.title()} ": row[name] for name in reversed(row)}
    report = lee_lai(tmp_path, backwards, encoding="utf-8-sig", lineterminator="\r\n", delimiter=";")
    assert report.problems == []
    assert [(row["tokens"], row["reasoning_text"]) for row in trials(tmp_path)] == [(123, raw()["thought"])]


@pytest.mark.slow
def test_answers_stay_as_they_came_and_are_read_twice(tmp_path: Path) -> None:
    answers = ["Unpleasant.", " Pleasant", "I'm sorry, but I can't help with that.", ""]
    lee_lai(tmp_path, *(raw(attribute=answer, word=word) for answer, word in zip(answers, _words(4), strict=True)))
    found = {row["answer"]: (row["is_refusal"], row["choice"]) for row in trials(tmp_path, view="association_trials")}
    assert found == dict(
        zip(answers, [(True, "Unpleasant"), (True, "Pleasant"), (True, None), (True, None)], strict=True)
    )


WRONG = [
    ({"tokens": "-5"}, "tokens can't be negative"),
    ({"tokens": "many"}, "tokens must be a whole number"),
    ({"tokens": "1_0"}, "tokens must be a whole number"),
    ({"tokens": "NaN"}, "tokens must be a whole number"),
    ({"tokens": "1.5"}, "tokens must be a whole number"),
    ({"tokens": "9" * 30}, "tokens must lie between 0 and"),
    ({"condition": "neutral"}, "condition must be one of"),
    ({"word": "robot", "group": "robots"}, 'the group "robots" is none of its own'),
    ({"word": " "}, "the word is empty"),
    ({"attribute": "a\0b"}, "holds a NUL byte"),
    ({"prompt": "Guess!"}, "prompt is none of the study's 20 wordings"),
    ({"prompt": ""}, "prompt is empty"),
]


@pytest.mark.slow
def test_a_row_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    report = lee_lai(tmp_path, raw(), *(raw(word="clover") | changed for changed, _ in WRONG), raw(word="poppy"))
    lines = [problem.line for problem in report.problems]
    assert lines[:3] == [6, 10, 14]  # the header is one line, each row four: its texts hold line ends
    texts = [problem.text for problem in report.problems]
    assert [(text, want) for text, (_, want) in zip(texts, WRONG, strict=True) if want not in text] == []
    assert [row["item"] for row in trials(tmp_path)] == ["aster", "poppy"]


@pytest.mark.slow
def test_a_row_without_a_count_is_kept_as_unknown(tmp_path: Path) -> None:
    report = lee_lai(tmp_path, raw(tokens=""))
    assert "1 row has no token count; it stays unknown, not 0" in report.warnings[0]
    assert [(row["tokens"], row["token_source"]) for row in trials(tmp_path)] == [(None, None)]


def test_importing_twice_is_once_in_any_order_of_files(tmp_path: Path) -> None:
    files = [
        write_csv(tmp_path / name / "flowers_insects.csv", [raw(word=word), raw(word=word)])
        for name, word in (("a", "aster"), ("b", "clover"))
    ]
    database = tmp_path / "t.duckdb"
    first = import_trials(database, "rmiat", files, "deepseek-r1", "lee-lai")
    again = import_trials(database, "rmiat", [*reversed(files), *files], "deepseek-r1", "lee-lai")
    assert (first.rows_imported, again.rows_imported, again.rows_already_there, again.run_id) == (4, 0, 4, None)
    assert [row["repetition"] for row in trials(tmp_path)] == [1, 2, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("changed", [{"attribute": "Unpleasant"}, {"tokens": "121"}, {"thought": "Well."}])
def test_another_content_for_a_known_trial_is_told_and_not_stored(tmp_path: Path, changed: dict[str, str]) -> None:
    lee_lai(tmp_path, raw())
    report = lee_lai(tmp_path, raw() | changed, raw(word="poppy"))
    assert (report.rows_imported, len(report.problems)) == (1, 1)
    assert 'was not replaced. To keep both: number them in a column "repetition"' in report.problems[0].text
    assert lee_lai(tmp_path, raw(repetition=2) | changed).rows_imported == 1
    assert len(trials(tmp_path)) == 3


@pytest.mark.parametrize(
    ("rows", "name", "model", "said"),
    [
        (
            [{"word": "aster", "tokens": "1"}],
            "flowers_insects.csv",
            "o3-mini",
            "lacks the columns group, attribute, cond",
        ),
        ([raw()], "results.csv", "o3-mini", 'There is no test of rmiat for the file "results.csv".'),
        ([raw()], "flowers_insects.csv", "o3-minni", 'Did you mean "o3-mini"?'),
        ([raw()], "flowers_insects.csv", "simulated/o3-mini", "can't be imported"),
        ([raw() | {"Tokens": "1"}], "flowers_insects.csv", "o3-mini", 'two are "tokens"'),
    ],
)
def test_a_file_that_cannot_be_of_this_layout_writes_nothing(
    tmp_path: Path, rows: list[dict[str, str]], name: str, model: str, said: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        lee_lai(tmp_path, *rows, name=name, model=model)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.slow
def test_the_command_counts_what_it_took_and_what_it_did_not(tmp_path: Path) -> None:
    words = _words(12)
    rows = [raw(word=word, tokens="?") for word in words] + [raw(word="poppy", attribute="No.")]
    write_csv(tmp_path / "flowers_insects.csv", rows)
    saved, database = tmp_path / "problems.csv", tmp_path / "t.duckdb"
    options = ["--layout", "lee-lai", "--model", "deepseek-r1", "--db", database, "--format", "csv"]
    result = run_collect("import", "--study", "rmiat", *options, "--problems", saved, tmp_path, code=1)
    assert result.stdout.strip() == "model,test,imported,refusals\ndeepseek-r1,flowers_insects,1,1"
    assert "12 rows were not imported:\n  12 rows: tokens must be a whole number, but is" in result.stderr
    assert len(list(csv.DictReader(saved.open(encoding="utf-8")))) == 12


def test_an_import_waits_for_no_collector_but_names_it(tmp_path: Path) -> None:
    from slant.collector.keep.journal import Journal
    from tests.support.made import a_run

    with Journal(tmp_path / "t.duckdb", a_run()), pytest.raises(JournalError, match="Another collector"):
        lee_lai(tmp_path, raw())


@pytest.mark.slow
def test_an_import_that_was_killed_is_finished_by_the_next(tmp_path: Path, python: list[str], root: Path) -> None:
    file, database = _many_rows(tmp_path), tmp_path / "t.duckdb"
    command = [*python, "-m", "slant.collector", "import", "--study", "rmiat", "--db", database]
    process = subprocess.Popen([*command, file], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journals = tmp_path / "t.duckdb.journal"
    # the study's own text comes first, in a tenth of that
    while process.poll() is None and sum(path.stat().st_size for path in journals.glob("*.jsonl")) < 1_000_000:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    report = import_trials(database, "rmiat", [file])
    assert 0 < report.rows_already_there < report.rows_already_there + report.rows_imported == ROWS
    assert rows_in(database, "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(ROWS,) * 2]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=9).filter(lambda text: "\0" not in text), st.booleans()), max_size=8))
def test_rows_survive_whatever_garbage_lies_between_them(tmp_path_factory: pytest.TempPathFactory, rows) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(["a", "b"])
        for text, is_garbled in rows:
            writer.writerow([text, "x"])
            if is_garbled:
                file.write('"stray" quote,\n')
    found = list(table(path).rows())
    expected = [text.encode("utf-8", "replace").decode() for text, _ in rows]
    assert [row.cells["a"] for row in found if not isinstance(row, Problem)] == expected
    assert sum(isinstance(row, Problem) for row in found) == sum(is_garbled for _, is_garbled in rows)


@pytest.mark.slow
def test_the_authors_data_give_every_number_of_table_s4(authors: Authors, shared: Path) -> None:
    for model, report in authors.reports.items():
        assert (report.rows_imported, report.problems) == (9_920 if model.startswith("claude") else 12_920, [])
        assert len(report.warnings) == (2 if model == "gpt-oss-20b" else 0)
    with (shared / "published/s4_refusals.csv").open(encoding="utf-8") as file:
        printed = {(row["model"], row["test"]): int(row["refusals"]) for row in csv.DictReader(file)}
    found = rows_in(authors.db, "SELECT model, test, n_refusals FROM refusal_counts")
    assert len(found) == 39
    assert [(model, test, count) for model, test, count in found if printed[model, test] != count] == []


def _words(count: int) -> list[str]:
    return list(load_study("rmiat").data.tests["flowers_insects"].words["group_a"][:count])


def _many_rows(folder: Path) -> Path:
    """So many that an import can be killed in the middle."""
    study = load_study("rmiat")
    rows = [
        {
            "model": "o3-mini",
            "test": trial.test,
            "condition": trial.condition,
            "item": trial.item,
            "wording": trial.wording,
            "answer": trial.expected,
            "tokens": 64 * (1 + trial.position % 9),
        }
        for conversation in islice(plan(study, study.model("o3-mini")), ROWS)
        for trial in conversation.trials
    ]
    return write_csv(folder / "all.csv", rows)
