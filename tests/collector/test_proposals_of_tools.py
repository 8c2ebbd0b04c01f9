"""Files as tools write them: what a tool keeps for itself is no factor, and the ids that people give their requests are
read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from slant.collector.importing.renamed import Field
from tests.support.commands import run_collect
from tests.support.stored import rows_in

NAMES, JOBS = ("Emily", "Lakisha", "Greg"), ("nurse", "clerk")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported_as_proposed(file: str, *words: str) -> tuple[str, list[tuple[Any, ...]]]:
    """What is said of the columns, and the rows that the printed command brings in."""
    proposed = run_collect("import", file, *words)
    assert proposed.exit_code == 0, proposed.output
    command = next(line for line in proposed.output.splitlines() if line.startswith("Next: collect import"))
    run_collect(*shlex.split(command.replace("TEXT", "said"))[2:])
    rows = rows_in(
        Path(f"{Path(file).stem}.duckdb"), "SELECT model, repetition, count(*) FROM trials GROUP BY ALL ORDER BY ALL"
    )
    return proposed.output, rows


def batch_line(custom_id: str, text: str, n_tokens: int = 1) -> str:
    message = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 24, "completion_tokens": n_tokens, "total_tokens": 24 + n_tokens}
    usage |= {"completion_tokens_details": {"reasoning_tokens": n_tokens - 1}}
    body = {"object": "chat.completion", "model": "gpt-4o-mini", "choices": [message], "usage": usage}
    response = {"status_code": 200, "body": body}
    return json.dumps({"id": f"batch_req_{text}", "custom_id": custom_id, "response": response, "error": None})


def test_what_ids_of_requests_are_made_of_are_factors_and_the_last_number_the_repetition() -> None:
    ids = [f"req-{name}_{job}-{n}" for name in NAMES for job in JOBS for n in range(3)]
    Path("out.jsonl").write_text("\n".join(batch_line(name, str(2 + n % 4)) for n, name in enumerate(ids)))
    said, rows = imported_as_proposed("out.jsonl")
    assert "factors: custom_id#-_2 (3 levels); custom_id#-_3 (2 levels)" in said
    assert rows == [("gpt-4o-mini", n, 6) for n in (1, 2, 3)]


@pytest.mark.slow
def test_the_tokens_of_a_prompt_are_never_those_of_an_answer() -> None:
    ids = [(f"v1-{word}_{rule}", rule) for word in "abcd" for rule in ("congruent", "incongruent")]
    lines = [batch_line(name, ("Calm", "Lively")[n % 3 == 0], 65) for n, (name, _) in enumerate(ids * 3)]
    Path("out.jsonl").write_text("\n".join(lines))
    said, _ = imported_as_proposed("out.jsonl")
    assert "total_tokens" not in said
    assert rows_in(Path("out.duckdb"), "SELECT DISTINCT tokens FROM trials") == [(64,)]


def test_ids_that_only_count_are_said_to_tell_nothing() -> None:
    Path("out.jsonl").write_text("\n".join(batch_line(f"request_{n:04d}", str(n % 7)) for n in range(30)))
    said = run_collect("import", "out.jsonl").output
    assert "put its columns next to these by custom_id" in said


def test_a_log_of_which_every_sample_failed_says_why() -> None:
    samples = [{"id": n, "epoch": 1, "output": {"choices": []}, "error": {"message": "no network"}} for n in (1, 2)]
    Path("log.json").write_text(json.dumps({"eval": {"model": "m"}, "samples": samples}))
    said = run_collect("import", "log.json").output
    assert ("none of its 2 rows can be read" in said, "no network" in said) == (True, True)


def test_what_a_log_keeps_for_itself_is_no_factor() -> None:
    samples = [
        {"id": f"{name}_{job}", "input": f"Rate {name}, {job}.", "epoch": n, "metadata": {"name": name, "job": job}}
        | {"output": {"model": "m", "completion": str(n + 2), "choices": []}, "scores": {"match": {"value": n}}}
        for name in NAMES
        for job in JOBS
        for n in (1, 2)
    ]
    Path("log.json").write_text(json.dumps({"eval": {"model": "mockllm/m"}, "samples": samples}))
    said, rows = imported_as_proposed("log.json")
    assert "factors: name (3 levels); job (2 levels)\n" in said
    assert rows == [("m", 1, 6), ("m", 2, 6)]


def test_buttons_of_jspsych_are_factors_and_answers_without_its_own_columns() -> None:
    shown = [(name, job) for name in NAMES for job in JOBS]
    rows: list[dict[str, Any]] = []
    for person in ("s1", "s2"):
        rows.append({"trial_type": "html-keyboard-response", "trial_index": 0, "response": "x", "subject": person})
        rows += [
            {"trial_type": "html-button-response", "trial_index": n, "response": n % 2, "choices": ["Yes", "No"]}
            | {"subject": person, "name": name, "job": job, "stimulus": f"{name}, {job}?", "time_elapsed": n * 99}
            for n, (name, job) in enumerate(shown, 1)
        ]
    Path("data.json").write_text(json.dumps(rows))
    said, counted = imported_as_proposed("data.json")
    assert "factors: name (3 levels); job (2 levels)\n" in said
    assert sum(n for *_, n in counted) == 12


def test_a_workbook_may_begin_with_notes_and_name_its_columns_in_french() -> None:
    book = openpyxl.Workbook()
    book.active.append(["À lire"])
    sheet = book.create_sheet("données")
    sheet.append(["Modèle", "Prénom", "Essai", "Note (1-7)", "created_at"])
    for model in ("gpt-4o", "mistral-large"):
        for n, name in enumerate(("Émilie", "Fatima") * 2):
            sheet.append([model, name, n // 2 + 1, 2 + n, f"2025-03-0{n // 2 + 1} 10:00:00"])
    book.save("notes.xlsx")
    said, rows = imported_as_proposed("notes.xlsx", "--map", "answer=note (1-7)")
    assert ("factors: prénom (2 levels)\n" in said, "prenom: prénom" in said) == (True, True)
    assert rows == [(model, n, 2) for model in ("gpt-4o", "mistral-large") for n in (1, 2)]


@pytest.mark.parametrize(
    ("text", "part", "found"), [("a-b_c", ("-_", 2), "b"), ("ab", ("-", 1), None), ("a|b", ("|", 3), None)]
)
def test_a_part_of_a_text_is_a_field(text: str, part: tuple[str, int], found: str | None) -> None:
    assert Field("id", part=part).cell({"id": text}) == found
