"""Files with a column for each model, logs with marks of their own, and rows of jsPsych that are no trials."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.support.commands import run_collect
from tests.support.stored import rows_in

NAMES, JOBS = ("Emily", "Lakisha", "Greg"), ("nurse", "clerk")
CELLS = [(name, job) for name in NAMES for job in JOBS]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def as_proposed(file: str) -> tuple[str, list[tuple[Any, ...]]]:
    """Return what is said, of the proposal and of the printed import, and the rows by model."""
    proposed = run_collect("import", file, code=0)
    command = next(line for line in proposed.output.splitlines() if line.startswith("Next: collect import"))
    done = run_collect(*shlex.split(command.replace("TEXT", "said"))[2:])
    rows = rows_in(Path(f"{Path(file).stem}.duckdb"), "SELECT model, count(*) FROM trials GROUP BY ALL ORDER BY ALL")
    return proposed.output + done.output, rows


@pytest.mark.slow
def test_columns_called_as_models_are_proposed_as_a_row_for_each_model() -> None:
    lines = [
        "name,job,gpt-4o,claude-3-7-sonnet",
        *(f"{name},{job},{n % 5 + 2},4" for n, (name, job) in enumerate(CELLS)),
    ]
    Path("wide.csv").write_text("\n".join(lines))
    said, rows = as_proposed("wide.csv")
    assert "model and answer: gpt-4o:claude-3-7-sonnet\n" in said
    assert rows == [("claude-3-7-sonnet", 6), ("gpt-4o", 6)]


def test_columns_of_answers_and_counts_by_model_are_proposed_together() -> None:
    book = openpyxl.Workbook()
    book.active.append(["word", "rule", "GPT-4o answer", "GPT-4o tokens", "o3-mini answer", "o3-mini tokens"])
    for n, word in enumerate(("rose", "tulip", "ant", "wasp")):
        for rule in ("congruent", "incongruent"):
            label = "Good" if (n < 2) == (rule == "congruent") else "Bad"
            book.active.append([word, rule, label, 50 + n, label, 70 + n])
    book.save("wide.xlsx")
    said, rows = as_proposed("wide.xlsx")
    assert ("model and tokens: * tokens" in said, "design association" in said) == (True, True)
    assert rows == [("gpt-4o", 8), ("o3-mini", 8)]


def test_what_promptfoo_notes_of_its_own_work_is_no_factor() -> None:
    results = [
        {"vars": {"name": name, "job": job}, "provider": {"id": "openai:gpt-4o", "label": ""}, "success": n % 2 == 0}
        | {"score": n % 2, "failureReason": n % 2, "testIdx": n, "promptIdx": 0, "id": f"a-{n % 3}-{n}"}
        | {"prompt": {"raw": "x", "label": "Rate {{name}}"}, "metadata": {"_promptfooFileMetadata": {}}}
        | {"response": {"output": f"{n % 5 + 2}", "tokenUsage": {}}, "error": "Expected more" if n % 2 else None}
        for n, (name, job) in enumerate(CELLS)
    ]
    Path("log.json").write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    said, rows = as_proposed("log.json")
    assert "factors: name (3 levels); job (2 levels)\n" in said
    assert rows == [("gpt-4o", 6)]


def test_instructions_and_fixations_of_jspsych_are_counted_and_no_errors() -> None:
    rows: list[dict[str, Any]] = [{"trial_type": "instructions", "trial_index": 0, "view_history": [{"page_index": 0}]}]
    for n, (name, job) in enumerate(CELLS * 2):
        rows.append({"trial_type": "html-keyboard-response", "trial_index": 2 * n + 1, "stimulus": "+"})
        rows.append({"trial_type": "html-slider-response", "trial_index": 2 * n + 2, "response": n % 5 + 2})
        rows[-1] |= {"name": name, "job": job, "slider_start": 4, "stimulus": f"{name}, {job}"}
    Path("data.json").write_text(json.dumps(rows))
    said, counted = as_proposed("data.json")
    assert "13 rows name no trial and no answer" in said
    assert "not imported" not in said
    assert counted == [("unnamed", 12)]
