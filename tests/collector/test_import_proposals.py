"""`collect import` without a study: what columns are taken for, and whether the proposed study takes the files."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner, Result

from slant.collector.cli import collect
from slant.collector.keep.database import reading

FLOWERS, INSECTS = ("rose", "tulip", "daisy", "lily"), ("ant", "wasp", "moth", "flea")
SPELLED = ("{}", "{}.", "**{}**", "Answer: {}")


def answered(conditions: Sequence[str] = ("congruent", "incongruent"), wordings: int = 3) -> list[dict[str, Any]]:
    """Words of two groups whose labels change places in the second condition, spelled in several ways."""
    rows = []
    for c, condition in enumerate(conditions):
        for wording in range(wordings):
            for i, word in enumerate(FLOWERS + INSECTS):
                label = ("Pleasant", "Unpleasant")[(word in INSECTS) != bool(c)]
                group = "flowers" if word in FLOWERS else "insects"
                answer = SPELLED[(i + wording) % 4].format(label)
                counted = 200 + 40 * c + 7 * i + 3 * wording
                rows.append({"c": condition, "w": wording, "i": word, "g": group, "a": answer, "n": counted})
    return rows


def renamed(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], **more: Any) -> list[dict[str, Any]]:
    return [{names[key]: value for key, value in row.items() if key in names} | more for row in rows]


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def run(*words: str) -> Result:
    return CliRunner().invoke(collect, ["import", *words], catch_exceptions=False)


def tidy(folder: Path) -> Path:
    names = {"c": "cond", "w": "prompt_id", "i": "stimulus", "a": "response", "n": "n_tok"}
    write_csv(folder / "tidy.csv", renamed(answered(), names, model_name="gpt-5-mini"))
    return folder / "tidy.csv"


def without_telling_names(folder: Path) -> Path:
    names = {"c": "v1", "i": "v2", "a": "v3", "n": "tokens"}
    rows = renamed(answered(("Incompatible", "Compatible")), names, v4="claude-sonnet-4")
    write_csv(folder / "plain.csv", rows, ";")
    return folder / "plain.csv"


def nested(folder: Path) -> Path:
    rows = [
        {
            "meta": {"condition": row["c"], "word": row["i"], "group": row["g"]},
            "reply": {"content": [{"text": row["a"]}], "usage": {"reasoning_tokens": row["n"]}},
            "model": "openai/gpt-5",
        }
        for row in answered(("pro-flowers", "anti flowers"))
    ]
    (folder / "nested.json").write_text(json.dumps(rows), "utf-8")
    return folder / "nested.json"


def batch(folder: Path) -> Path:
    lines = []
    for row in answered():
        usage = {"completion_tokens": row["n"] + 3, "completion_tokens_details": {"reasoning_tokens": row["n"]}}
        body = {"model": "gpt-5", "choices": [{"message": {"content": row["a"]}, "finish_reason": "stop"}]}
        response = {"status_code": 200, "body": {**body, "usage": usage}}
        name = f"{row['i']}|{row['c']}|{row['w'] + 1}"
        lines.append(json.dumps({"id": "x", "custom_id": name, "response": response, "error": None}))
    (folder / "batch.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "batch.jsonl"


def wide(folder: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(["Word", "LLM", "Template", "answer_usual", "answer_crossed", "tokens_usual", "tokens_crossed"])
    rows = answered(("usual", "crossed"))
    for usual, crossed in zip(rows[: len(rows) // 2], rows[len(rows) // 2 :], strict=True):
        book.active.append(
            [usual["i"], "meta/Llama-3 8B", usual["w"], usual["a"], crossed["a"], usual["n"], crossed["n"]]
        )
    book.save(folder / "wide.xlsx")
    return folder / "wide.xlsx"


def forced(folder: Path) -> Path:
    words = {
        "Tea": ("oolong", "chai"),
        "Coffee": ("latte", "mocha"),
        "Calm": ("rest", "hush"),
        "Lively": ("buzz", "rush"),
    }
    pairs = {"congruent": ("Tea / Calm", "Coffee / Lively"), "incongruent": ("Tea / Lively", "Coffee / Calm")}
    rows = [
        {"block": block, "word": word, "category": category, "choice_a": both[turn], "choice_b": both[1 - turn]}
        | {"answer": json.dumps({"answer": "AB"[category not in both[turn]]}), "model": "m"}
        for block, both in pairs.items()
        for category, known in words.items()
        for turn, word in enumerate(known)
    ]
    write_csv(folder / "forced.csv", rows)
    return folder / "forced.csv"


FILES = [tidy, without_telling_names, nested, batch, wide, forced]


@pytest.mark.parametrize("make", FILES)
def test_the_commands_that_it_names_take_every_row(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = make(Path())
    proposed = run(str(path))
    assert proposed.exit_code == 0, proposed.output
    command = next(line for line in proposed.output.splitlines() if line.startswith("Next: collect import"))
    taken = run(*shlex.split(command)[3:])
    assert taken.exit_code == 0, taken.output
    with reading(Path(f"{path.stem}.duckdb")) as connection:
        found = connection.execute("SELECT count(*), count(*) FILTER (outcome = 'answered') FROM trials").fetchone()
        assert found == ((16, 16) if make is forced else (48, 48))
        assert connection.execute("SELECT count(DISTINCT condition) FROM trials").fetchone() == (2,)


@pytest.mark.needs("R")
def test_the_first_fit_is_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from slant.analysis.cli.main import analyze

    monkeypatch.chdir(tmp_path)
    lines = run(str(nested(Path()))).output.splitlines()
    assert "pro-flowers is the reference condition" in "\n".join(lines)
    run(*shlex.split(next(line for line in lines if line.startswith("Next: ")))[3:])
    words = shlex.split(next(line for line in lines if line.strip().startswith("analyze --fit")))[1:]
    answer = CliRunner().invoke(analyze, [*words, "--format", "json"])
    [estimate] = json.loads(answer.stdout)
    assert (estimate["estimate"] > 1, estimate["df"]) == (True, 46)


def test_nothing_is_written_over_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tidy(Path())
    run(str(path))
    before = Path("tidy/study.toml").read_text("utf-8")
    again = run(str(path), "--map", "test==flowers")
    assert (again.exit_code, Path("tidy/study.toml").read_text("utf-8")) == (2, before)
    assert "is there already" in again.output
    assert not Path("tidy.duckdb").exists()


def test_what_fits_no_design_is_said_with_what_each_column_was_taken_for(tmp_path: Path) -> None:
    names = {"c": "cond", "i": "word", "a": "answer", "n": "tokens"}
    write_csv(tmp_path / "three.csv", renamed(answered(("a", "b", "c")), names, model="m"))
    three = run(str(tmp_path / "three.csv"))
    assert three.exit_code == 2
    assert "two conditions, and the files have 3: a, b, c" in three.output
    assert "condition: cond" in three.output
    write_csv(tmp_path / "none.csv", [{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    assert "--map answer=COLUMN" in run(str(tmp_path / "none.csv")).output


def test_hostile_names_make_no_other_file_and_no_other_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"c": "cond", "i": "word", "a": "answer", "n": "tokens"}
    rows = renamed(answered(), names, model='x"]\n[fits.evil]\nengine = "', test="../../flowers")
    write_csv(Path("rows.csv"), rows)
    proposed = run("rows.csv")
    assert proposed.exit_code in (0, 2)
    assert {path.name for path in tmp_path.iterdir()} <= {"rows.csv", "rows"}
    if proposed.exit_code == 0:
        assert "[fits.evil]" not in Path("rows/study.toml").read_text("utf-8").splitlines()


def test_an_export_of_slant_is_taken_without_the_studys_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(str(tidy(Path())))
    run("--study", "tidy", "--db", "a.duckdb", "tidy.csv")
    exported = CliRunner().invoke(collect, ["export", "--db", "a.duckdb", "--out", "back.csv"])
    assert exported.exit_code == 0, exported.output
    back = run("--study", "tidy", "--db", "b.duckdb", "back.csv")
    assert (back.exit_code, "48 rows imported" in back.output) == (0, True)
