"""Importing files with our own column names; what `collect export` writes comes back as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.importing import writer
from slant.collector.importing.imports import ImportReport, imported_before
from tests.support.commands import run_collect
from tests.support.processes import wait_until
from tests.support.raw_rows import table, tidy, trials, write_csv


def import_tidy(folder: Path, *rows: dict[str, Any], **options: Any) -> ImportReport:
    return import_trials(folder / "t.duckdb", "rmiat", [write_csv(folder / "rows.csv", rows)], **options)


@pytest.mark.slow
def test_rows_are_loaded_while_more_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "CHUNK_BYTES", 1_000)
    monkeypatch.setattr(writer, "_BATCH", 100)
    loaded: list[bool] = []

    def wait_for_some(n_rows: int) -> None:
        loaded.append(wait_until((tmp_path / "t.duckdb").exists, 60))

    rows = [tidy(model="o3-mini", repetition=n) for n in range(1, 1_101)]
    report = import_tidy(tmp_path, *rows, on_rows=wait_for_some)
    assert (loaded, report.rows_imported, report.warnings) == ([True, True], 1_100, [])
    assert sorted(row["repetition"] for row in trials(tmp_path)) == list(range(1, 1_101))


def test_rows_may_be_of_several_models_each_with_its_count(tmp_path: Path) -> None:
    sources = {
        "claude-3.7-sonnet": "output", "deepseek-r1": "output", "gpt-oss-20b": "output", "o3-mini": "usage",
        "openai/gpt-5": None, "qwen3-8b": "template",
    }  # fmt: skip
    report = import_tidy(tmp_path, *(tidy(model=model) for model in sources))
    assert (report.rows_imported, report.problems) == (6, [])
    assert {row["model"]: row["token_source"] for row in trials(tmp_path)} == sources
    assert report.warnings == [f"{tmp_path}/rows.csv: 1 row doesn't say what the tokens count (column token_source)"]


@pytest.mark.slow
def test_what_there_is_one_of_is_said_as_one(tmp_path: Path) -> None:
    file = write_csv(tmp_path / "rows.csv", [tidy(tokens="", answer="no idea")])
    said = run_collect("import", "--study", "rmiat", file, "--db", tmp_path / "t.duckdb").stderr
    assert "rows.csv: 1 row has no token count;" in said
    assert "1 row imported (1 refusal: an answer not exactly a label)" in said


def test_a_file_that_comes_again_is_said_to_before_it_is_read(tmp_path: Path) -> None:
    db, file = tmp_path / "t.duckdb", write_csv(tmp_path / "rows.csv", [tidy()])
    assert imported_before(db, "rmiat", [file]) == []
    run = import_trials(db, "rmiat", [file]).run_id
    said = f"rows.csv was imported before (run {run}): it is read again, and only what is new is added."
    assert imported_before(db, "rmiat", [file, tmp_path]) == [said]
    write_csv(file, [tidy(), tidy(answer="no idea")])
    assert imported_before(db, "rmiat", [file]) == []


@pytest.mark.slow
def test_without_a_column_tokens_the_studys_count_is_taken(tmp_path: Path) -> None:
    row = {name: value for name, value in tidy(output_tokens=9, reasoning_tokens=7).items() if name != "tokens"}
    import_tidy(tmp_path, row, row | {"model": "o3-mini"}, row | {"model": "openai/gpt-5"})
    found = {row["model"]: (row["tokens"], row["token_source"]) for row in trials(tmp_path)}
    assert found == {"deepseek-r1": (9, "output"), "o3-mini": (7, "usage"), "openai/gpt-5": (7, "usage")}


@pytest.mark.slow
def test_the_option_model_stands_in_for_a_column(tmp_path: Path) -> None:
    row = {name: value for name, value in tidy().items() if name != "model"}
    with pytest.raises(UsageError, match="it lacks the column model"):
        import_tidy(tmp_path, row)
    assert not (tmp_path / "t.duckdb").exists()
    assert import_tidy(tmp_path, row, model="qwen3-8b").rows_imported == 1
    assert trials(tmp_path)[0]["option_a"] == "pleasant"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"model": "o3-minni"}, 'Did you mean "o3-mini"?'),
    ({"model": "simulated/o3-mini"}, "can't be imported"),
    ({"test": "flowers"}, "test must be one of flowers_insects, "),
    ({"wording": 21}, "wording must be one of the study's 20"),
    ({"wording": ""}, "wording must be a whole number"),
    ({"repetition": -1}, "repetition can't be negative"),
    ({"outcome": "failed"}, "outcome must be one of answered, refused"),
    ({"token_source": "guess"}, "token_source must be one of usage, output"),
    ({"reasoning_kind": "deep"}, "reasoning_kind must be one of "),
    ({"source": "simulated"}, "is simulated"),
    ({"study": "hiring"}, "this is an import into rmiat"),
    ({"variant": "balanced"}, "import it with --variant"),
    ({"option_a": "Unpleasant"}, "can't be"),
    ({"expected": "Nice"}, "can't be"),
    ({"cost_usd": "-1"}, "cost_usd must be a number that is not negative"),
    ({"factors": "[1]"}, "factors must be a JSON object"),
    ({"option_a_logprob": "0.5", "logprob_kind": "exact"}, "option_a_logprob must be the logarithm"),
    ({"option_b_logprob": "-1"}, "logprob_kind is needed"),
    ({"logprob_kind": "sure"}, "logprob_kind must be one of exact, first_token"),
]


@pytest.mark.slow
def test_a_cell_that_cannot_be_is_a_problem_of_its_row(tmp_path: Path) -> None:
    empty = {name: "" for changed, _ in WRONG for name in changed if name not in tidy()}
    report = import_tidy(tmp_path, *(empty | tidy(**changed) for changed, _ in WRONG), empty | tidy(item="poppy"))
    lines = [f"{problem.line}: {problem.text}" for problem in report.problems]
    # a row has two lines: its reasoning has a line end
    expected = [f"{2 + 2 * n}: .*{re.escape(reason)}" for n, (_, reason) in enumerate(WRONG)]
    assert [(line, want) for line, want in zip(lines, expected, strict=True) if not re.match(want, line)] == []
    assert report.rows_imported == 1


@pytest.mark.slow
def test_json_lines_tell_the_line_of_what_is_no_row(tmp_path: Path) -> None:
    lines = [json.dumps(tidy()), "{half", "[1]", "", json.dumps(tidy(tokens=-1)), json.dumps(tidy(answer={"a": 1}))]
    path = tmp_path / "rows.jsonl"
    path.write_bytes("\n".join(lines).encode() + b'\n{"model": "\xff"}\n' + json.dumps(tidy(item="poppy")).encode())
    report = import_trials(tmp_path / "t.duckdb", "rmiat", [path])
    assert [problem.line for problem in report.problems] == [2, 3, 5, 6, 7]
    assert [row["item"] for row in trials(tmp_path)] == ["aster", "poppy"]


@pytest.mark.slow
def test_a_parquet_file_counts_rows_for_lines(tmp_path: Path) -> None:
    pl.DataFrame([tidy(), tidy(item="poppy", tokens=-1)]).write_parquet(tmp_path / "rows.parquet")
    report = import_trials(tmp_path / "t.duckdb", "rmiat", [tmp_path / "rows.parquet"])
    assert [(problem.line, problem.text) for problem in report.problems] == [
        (2, 'tokens can\'t be negative, but is "-1"')
    ]
    assert report.rows_imported == 1


def test_a_parquet_file_is_read_by_its_name_alone(tmp_path: Path) -> None:
    folder = tmp_path / "model=other"
    folder.mkdir()
    rows = pl.DataFrame([tidy(item=name) for name in ("aster", "poppy")] * 15_000)
    rows.with_columns(repetition=pl.int_range(30_000)).write_parquet(folder / "r*.parquet")
    pl.DataFrame([tidy(item="rose")]).write_parquet(folder / "rows.parquet")
    found = list(table(folder / "r*.parquet").rows())
    assert [row.line for row in found] == list(range(1, 30_001))
    assert {row.cells["item"] for row in found} == {"aster", "poppy"}
    assert {row.cells["model"] for row in found} == {tidy()["model"]}
    assert table(folder / "r*.parquet").columns == [*tidy(), "repetition"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.parquet", b"word,group\n", "must be a Parquet file"),
        ("rows.csv", b"", "must name the columns"),
        ("rows.csv", "model\n".encode("utf-16")[:-1], "in UTF-16 is damaged"),
        ("rows.csv", b"model,test,condition,item,answer,tokens\n", "lacks the column wording"),
        ("rows.csv", b"model,test,condition,item,wording,answer\n", "lacks the column tokens"),
    ],
)
def test_a_file_that_is_not_of_this_layout_writes_nothing(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    result = run_collect("import", "--study", "rmiat", "--db", tmp_path / "t.duckdb", tmp_path / name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert not (tmp_path / "t.duckdb").exists()


@pytest.mark.slow
def test_a_column_that_is_not_taken_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    report = import_tidy(tmp_path, tidy(reasoning="Well.", mood="good"))
    assert report.warnings[0].endswith('columns not taken: reasoning (did you mean "reasoning_text"?), mood')


@pytest.mark.slow
def test_one_cause_is_one_line_however_many_rows_have_it(tmp_path: Path) -> None:
    rows = [tidy(model=f"x-{n % 3}", item=f"word{n}") for n in range(30)]
    write_csv(tmp_path / "rows.csv", [*rows, *(tidy(wording=21) for n in range(5))])
    said = run_collect("import", "--study", "rmiat", "--db", tmp_path / "t.duckdb", tmp_path / "rows.csv").stderr
    assert "30 rows: 3 models unknown: x-0 (10), x-1 (10), x-2 (10); add them, or --map-model x-0=PROVIDER/NAME" in said
    assert "5 rows: wording must be one of the study's 20, but is 21 (first: " in said
    assert said.count("unknown") == 1


@pytest.mark.slow
def test_columns_and_models_of_other_names_are_mapped(tmp_path: Path) -> None:
    row = {{"answer": "response", "tokens": "n_tok"}.get(name, name): value for name, value in tidy().items()}
    mapped = {"columns": ["answer=response,tokens=n_tok"], "map_models": ["x-1=local/x"]}
    assert import_tidy(tmp_path, row | {"model": "x-1"}, **mapped).problems == []
    assert [(row["model"], row["answer"], row["tokens"]) for row in trials(tmp_path)] == [
        ("local/x", tidy()["answer"], tidy()["tokens"])
    ]
    with pytest.raises(UsageError, match=r'There is no column .of --map answer=reply. "reply" in '):
        import_tidy(tmp_path, row, columns=["answer=reply"])
    with pytest.raises(UsageError, match="--map must be NAME=NAME"):
        import_tidy(tmp_path, row, columns=["answer"])


@pytest.mark.slow
def test_rows_that_ask_the_same_are_reported_and_exact_copies_apart(tmp_path: Path) -> None:
    report = import_tidy(tmp_path, tidy(tokens=64), tidy(tokens=128), tidy(tokens=64), tidy(item="rose"))
    assert report.rows_imported == 4
    assert [warning.partition("rows.csv: ")[2][:58] for warning in report.warnings] == [
        "1 row asks what an earlier row asked: taken as further rep",
        "1 row asks what an earlier row asked and is an exact copy ",
    ]
