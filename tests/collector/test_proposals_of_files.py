"""Files of answers as labs keep them and as tools write them, for which a study is proposed: nested, of many kinds,
named as models; what a tool keeps for itself is no factor, and the ids that people give their requests are read."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

from slant.collector.errors import UsageError
from slant.collector.importing.proposals.proposal import ProposedImport, propose_study
from slant.collector.importing.renamed import Field
from tests.support.commands import run_collect
from tests.support.raw_rows import table
from tests.support.stored import rows_in

NAMES, JOBS = ("Emily", "Greg", "Zoë"), ("nurse", "clerk")
RATED = [
    {"name": name, "job": job, "run": run, "rating": 2 + run + len(name) % 2}
    for name in NAMES
    for job in JOBS
    for run in (1, 2)
]


def _proposed(path: Path, rows: Any) -> ProposedImport:
    path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
    return propose_study([path])


def _factors(proposed: ProposedImport) -> str:
    return next(said for said in proposed.remarks if said.startswith("factors: "))


def test_models_may_be_the_names_of_files(tmp_path: Path) -> None:
    for model in ("gpt-4o", "claude-3-5-sonnet"):
        pl.DataFrame(RATED).with_row_index("id").write_csv(tmp_path / f"{model}.csv")
    proposed = propose_study([tmp_path])
    assert ("model: {file}" in proposed.taken, proposed.layout) == (True, "tidy")
    assert 'map = ["model={file}"' in proposed.files["study.toml"]


def test_lists_of_records_by_model_are_records_of_it(tmp_path: Path) -> None:
    proposed = _proposed(tmp_path / "all.json", {"gpt-4o": RATED, "claude-3-5-sonnet": RATED})
    assert "model: key" in proposed.taken


def test_what_a_document_says_of_all_records_is_said_of_each(tmp_path: Path) -> None:
    proposed = _proposed(tmp_path / "all.json", {"model": "gpt-4o", "created": "x", "data": RATED})
    assert 'model = "gpt-4o"' in proposed.files["study.toml"]


def _langsmith(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    return {"id": f"r{n}", "inputs": {"word": word, "job": job}, "outputs": {"output": rating}}


def _langfuse(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    asked = [{"role": "user", "content": "Rate."}]
    said = {"role": "assistant", "content": rating}
    own = {"metadata": {"word": word, "job": job}, "usage": {"output": n}}
    return {"id": f"r{n}", "name": "rate", "input": asked, "output": said, **own}


def _helm(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    instance = {"id": f"id{n}", "input": {"text": f"Rate {word} {job}"}}
    return {"instance": instance, "request": {"model": "x/y-1"}, "result": {"completions": [{"text": rating}]}}


def _evals(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    data = {"prompt": [{"role": "user", "content": f"Rate {word} {job}"}], "sampled": [rating]}
    return {"run_id": "r", "event_id": n, "sample_id": f"rate.{n}", "type": "sampling", "data": data}


def _own(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    """A record of a lab: what was shown under a name of ours, two fields of an answer under theirs."""
    return {"condition": {"word": word, "job": job}, "parsed": {"rating": rating, "why": f"so {n}"}}


def _own_answer(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    """The same with the answers in a table that is called so."""
    return {"word": word, "job": job, "answer": {"rating": rating, "why": f"so {n}"}}


def _own_two(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    """The same with two answers, of which some lack one."""
    said = {"rating": rating} | ({"hire": ("yes", "no")[n % 7 // 4]} if n else {})
    return {"condition": {"word": word, "job": job}, "parsed": said}


def _merged(word: str, job: str, rating: str, n: int) -> dict[str, Any]:
    """A request with its response next to it."""
    asked = [{"role": "user", "content": f"Rate {word} {job} in answer {n}."}]
    said = {"role": "assistant", "content": rating}
    return {"metadata": {"word": word, "job": job}, "messages": asked, "choices": [{"message": said}]}


@pytest.mark.parametrize("record", [_own, _own_answer, _merged, _langsmith, _langfuse, _helm, _evals])
def test_records_of_tools_are_flattened_and_no_prompt_is_an_answer(record: Any, tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(record(row["name"], row["job"], str(row["rating"]), n)) for n, row in enumerate(RATED))
    proposed = _proposed(tmp_path / "log.jsonl", lines)
    assert any(said.startswith("answer: a scale from 1 to 5") for said in proposed.remarks)
    assert _factors(proposed) in ("factors: word (3 levels); job (2 levels)", "factors: text (6 levels)")
    assert "rating" not in proposed.left


def test_a_table_of_what_was_shown_may_have_a_name_of_ours() -> None:
    for record, n_answers in ((_own, len(RATED)), (_own_two, 2 * len(RATED) - 1)):
        lines = [json.dumps(record(row["name"], row["job"], str(row["rating"]), n)) for n, row in enumerate(RATED)]
        name = f"a{record.__name__}.jsonl"
        Path(name).write_text("\n".join(lines))
        said, rows = imported_as_proposed(name, "--model", "gpt-4o")
        assert sum(n for *_, n in rows) == n_answers
        assert ("rating: a scale from 1 to 5" in said) == (record is _own_two)


def test_fields_that_no_name_tells_are_listed_with_the_map_to_type() -> None:
    lines = [
        json.dumps({"model": "gpt-4o", "shown": {"name": row["name"]}, "out": {"x": row["rating"]}}) for row in RATED
    ]
    Path("a.jsonl").write_text("\n".join(lines))
    refused = run_collect("import", "a.jsonl", code=2)
    assert "Fields inside fields: shown.name, out.x. To take one: --map answer=out.x" in refused.output
    said = [{"role": "user", "content": "Rate."}, {"role": "assistant", "content": "4"}]
    Path("b.json").write_text(json.dumps([{"model": "gpt-4o", "name": row["name"], "messages": said} for row in RATED]))
    assert "what was answered: --map answer=messages[1].content" in run_collect("import", "b.json", code=2).output
    run_collect("import", "a.jsonl", "--map", "answer=out.x", code=0)


def test_heads_and_ends_of_a_log_are_no_levels(tmp_path: Path) -> None:
    rows = [{"type": "head"}, *({"model": "gpt-4o", **row} for row in RATED), {"type": "end"}]
    proposed = _proposed(tmp_path / "log.jsonl", "\n".join(map(json.dumps, rows)))
    assert _factors(proposed) == "factors: name (3 levels); job (2 levels)"


def test_questions_may_have_capitals_and_be_numbered(tmp_path: Path) -> None:
    asked = [{**row, "question": f"Trust_{row['run']}"} for row in RATED]
    assert "[questions.trust_1]" in _proposed(tmp_path / "a.json", asked).files["study.toml"]
    numbered = [{"name": row["name"], "job": row["job"], "Q1": ("Agree", "Disagree")[row["run"] % 2]} for row in RATED]
    assert "answer: q1" in _proposed(tmp_path / "b.json", numbered).taken


@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_ipc_stream])
def test_arrow_is_read_as_a_file_and_as_a_stream(write: Any, tmp_path: Path) -> None:
    write(pl.DataFrame(RATED), tmp_path / "rated.feather")
    assert _factors(propose_study([tmp_path / "rated.feather"])) == "factors: name (3 levels); job (2 levels)"


def test_amounts_may_have_decimal_commas(tmp_path: Path) -> None:
    lines = [f"{row['name']};{row['job']};{1200 + 7 * (n * 5 % 12)},50" for n, row in enumerate(RATED)]
    proposed = _proposed(tmp_path / "offers.csv", "\n".join(["name;job;offer", *lines]))
    assert "answer: a number, from 1200.5 to 1277.5 here" in proposed.remarks


def test_files_without_a_column_in_common_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,rating\nEmily,3\n")
    (tmp_path / "b.csv").write_text("variable,meaning\nrating,1 to 7\n")
    with pytest.raises(UsageError, match="2 files that have no column in common"):
        propose_study([tmp_path])


def test_the_three_headers_of_a_survey_are_no_answers(tmp_path: Path) -> None:
    rows = [f"R_{n},{('woman', 'man')[n % 2]},{1 + n % 7}" for n in range(12)]
    ids = ",".join(f'"{{""ImportId"": ""{name}""}}"' for name in ("_recordId", "shown", "QID1"))
    text = "\n".join(["ResponseId,shown,Q1", "Response ID,shown,How suitable?", ids, *rows])
    proposed = _proposed(tmp_path / "survey.csv", text)
    assert _factors(proposed) == "factors: shown (2 levels)"
    assert 'kind = "scale"' in proposed.files["study.toml"]


def test_an_answer_in_json_is_asked_for_by_its_key(tmp_path: Path) -> None:
    said = [{**row, "rating": None, "response": json.dumps({"rating": row["rating"], "why": "x"})} for row in RATED]
    proposed = _proposed(tmp_path / "a.json", said)
    assert ("[questions.rating]" in proposed.files["study.toml"], "answer: response" in proposed.taken) == (True, True)
    assert "of the answers, which are JSON, not taken: why" in proposed.remarks


def test_several_answers_in_json_are_questions_that_are_asked_together() -> None:
    said = [{"Trust": row["rating"], "hire": row["rating"] > 2, "größe": 1, "why": "x"} for row in RATED]
    rows = [{**row, "rating": None, "output": json.dumps(each)} for row, each in zip(RATED, said, strict=True)]
    Path("a.json").write_text(json.dumps(rows))
    told, _ = imported_as_proposed("a.json", "--model", "gpt-4o")
    assert "not taken: größe, why\n" in told
    query = "SELECT question, count(value) FROM factorial_answer_rows GROUP BY ALL ORDER BY ALL"
    assert rows_in(Path("a.duckdb"), query) == [("hire", len(RATED)), ("trust", len(RATED))]


def test_notes_above_the_header_are_left_out_and_a_column_called_by_a_sign_is_not(tmp_path: Path) -> None:
    body = pl.DataFrame(RATED).write_csv()
    assert _factors(_proposed(tmp_path / "a.csv", f"# exported, by our lab\n#\n{body}")).startswith("factors: name")
    (tmp_path / "b.csv").write_text("#,name\n1,a\n")
    assert table(tmp_path / "b.csv").columns == ["#", "name"]


def test_rows_that_cannot_be_read_are_counted_where_a_study_is_proposed(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(pl.DataFrame(RATED).write_csv().encode("latin-1"))
    remarks = propose_study([path]).remarks
    assert remarks[0].startswith(f"4 rows can't be read, the first: {path}, line 10: holds a byte that is not UTF-8")
    assert "iconv" in remarks[1]


def test_a_line_of_millions_of_letters_names_no_columns(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Its first line must name the columns"):
        _proposed(tmp_path / "line.txt", "x" * 10_000_000)


def test_scores_of_a_log_are_no_factors(tmp_path: Path) -> None:
    def sample(row: dict[str, Any]) -> dict[str, Any]:
        said = {"model": "m", "completion": str(row["rating"]), "choices": []}
        own = {"metadata": {"name": row["name"], "job": row["job"]}, "messages": [{"content": f"Rate {row['name']}."}]}
        scores = {"match": {"value": "CI"[row["run"] % 2], "explanation": str(row["rating"])}}
        return {"id": f"{row['name']}-{row['job']}", "epoch": row["run"], "output": said, "scores": scores, **own}

    log = {"eval": {"model": "mockllm/m"}, "samples": list(map(sample, RATED))}
    assert _factors(_proposed(tmp_path / "log.json", log)) == "factors: name (3 levels); job (2 levels)"


PEOPLE, WORK = ("Emily", "Lakisha", "Greg"), ("nurse", "clerk")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported_as_proposed(file: str, *words: str) -> tuple[str, list[tuple[Any, ...]]]:
    """What is said of the columns, and the rows that the printed command brings in."""
    proposed = run_collect("import", file, *words, code=0)
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
    ids = [f"req-{name}_{job}-{n}" for name in PEOPLE for job in WORK for n in range(3)]
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
        for name in PEOPLE
        for job in WORK
        for n in (1, 2)
    ]
    Path("log.json").write_text(json.dumps({"eval": {"model": "mockllm/m"}, "samples": samples}))
    said, rows = imported_as_proposed("log.json")
    assert "factors: name (3 levels); job (2 levels)\n" in said
    assert rows == [("m", 1, 6), ("m", 2, 6)]


def test_buttons_of_jspsych_are_factors_and_answers_without_its_own_columns() -> None:
    shown = [(name, job) for name in PEOPLE for job in WORK]
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
