"""A proposed question reads every answer that it was made from: closed sets whole, numbers to their last digit."""

import csv
import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slant.collector.designs.factorial.proposed_conjoint import proposed_question
from slant.collector.designs.factorial.questions import parse_questions
from slant.collector.errors import StudyError, UsageError
from slant.collector.importing.imports import import_trials
from slant.collector.importing.proposals.proposal import ProposedImport, propose_study
from slant.collector.reading.spelling import folded
from slant.collector.study.toml_table import Table
from tests.support.each_row import each_row
from tests.support.stored import rows_in

WORDS = (
    "yes", "no", "maybe", "True", "False", "unknown", "A", "B", "C", "hire", "no hire",
    "interview", "agree", "not sure",
)  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.integers(0, 10).map(str),
    st.floats(-1e9, 1e9).map(lambda number: f"{number:.6g}"),
    st.floats(-100, 100).map(lambda number: f"{number:.2f}"),
    st.floats(0, 1).map(lambda number: f"{number:.3f}"),
    st.integers(0, 10**7).map(lambda number: f"${number:,}"),
)


def read_all(values: Sequence[str]) -> tuple[str, dict[str, str | None]]:
    """The kind that is proposed, and what its question reads in each answer."""
    proposed = proposed_question("answer", values)
    row = tomllib.loads("\n".join(proposed.lines))
    question = parse_questions(Table({"questions": {"answer": row}}, "a.toml"), ("t",), 1, None, ())["answer"]
    return row["kind"], {value: question.read(value, "forward", ()).value for value in values}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=4, unique=True), st.integers(2, 60))
def test_each_value_of_a_closed_set_is_read_as_itself(words: list[str], often: int) -> None:
    kind, read = read_all([words[0]] * often + words[1:] * 2)
    assert [value for value in words if read[value] is None] == []
    assert kind in ("text", "choice") or {"yes", "no"} >= set(read.values())
    assert len(set(read.values())) == len(words) or kind == "yes_no"


@settings(max_examples=100)
@given(st.lists(NUMBERS, min_size=2, max_size=30))
def test_each_number_is_read_to_its_last_digit(values: list[str]) -> None:
    try:
        kind, read = read_all(values)
    except StudyError:  # of "0.125" and the like nothing may settle the mark: the next test has its sentence
        return
    plain = {value: float(value.replace("$", "").replace(",", "")) for value in values}
    assert kind in ("number", "scale")
    assert {value: float(said or "nan") for value, said in read.items()} == plain


def test_a_majority_never_decides_what_the_rest_says() -> None:
    assert read_all(["yes"] * 40 + ["no"] * 30 + ["it depends"] * 2)[0] == "choice"
    assert read_all(["yes"] * 400 + ["No, never."] * 300 + ["it depends"])[0] == "yes_no"
    assert read_all(["Yes"] * 9 + ["No"] * 8 + ["I'm sorry, I can't answer that."] * 3)[0] == "yes_no"
    assert read_all(["Yes"] * 9 + ["No"] * 8 + ["[ERROR] API error", "", "NA"] * 3)[0] == "yes_no"
    assert read_all(["she is " + "very " * n + "kind" for n in range(30)])[0] == "text"


def test_numbers_that_nothing_settles_are_asked_about_once() -> None:
    with pytest.raises(StudyError, match="--decimal"):
        read_all(["3.142", "2.718"])
    assert proposed_question("a", ["3.142", "2.718"], mark=",").lines[2:4] == ("min = 2718", "max = 3142")


def proposed(tmp_path: Path, rows: list[dict[str, object]], *columns: str, **more: object) -> ProposedImport:
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return propose_study([tmp_path / "rows.csv"], columns, **more)  # type: ignore[arg-type]


ROWS = [
    {
        "model": "m",
        "sex": sex,
        "job": job,
        "run": run,
        "score": (run * 3 + len(job)) % 8,
        "n_chars": 90 + (run * run * len(job) + 31 * len(sex)) % 57,
    }
    | {"gpt_note": f"n{run}", "gpt_reason": "x", "output_id": 100 + run, "gpa": 2 + len(job) / 4}
    for sex in ("woman", "man")
    for job in ("nurse", "CEO", "driver")
    for run in range(1, 11)
]


def test_each_column_is_taken_or_not_with_the_reason(tmp_path: Path) -> None:
    made = proposed(tmp_path, ROWS)
    why = dict(sentence.split(": ", 1) for sentence in made.why)
    assert why.keys() == set(ROWS[0])
    assert why["score"].startswith("answers")
    assert [why[name].split(":")[0] for name in ("n_chars", "output_id", "gpt_reason")] == ["not taken"] * 3
    assert "job" in proposed(tmp_path, ROWS).files["study.toml"]
    without = proposed(tmp_path, ROWS, without=["job", "GPA"]).files["study.toml"]
    assert "job = " not in without
    with pytest.raises(UsageError, match="jbo"):
        proposed(tmp_path, ROWS, without=["jbo"])


def crossed(**columns: Callable[[int], object]) -> list[dict[str, object]]:
    """48 rows of two models, three names and two jobs, with more columns of each row's number."""
    place = {"model": lambda n: ("gpt-4o", "llama-3")[n % 2], "name": lambda n: ("Ann", "Bob", "Cy")[n // 2 % 3]}
    place |= {"job": lambda n: ("cook", "judge")[n // 6 % 2]}
    return [{name: made(n) for name, made in {**place, **columns}.items()} for n in range(48)]


def uneven(*values: object) -> Callable[[int], object]:
    return lambda n: values[(n * n + n // 5) % len(values)]


@each_row(
    ("more", "kind", "factors"),
    [
        ({"verdict": uneven("guilty", "not guilty", "hung"), "n_words": lambda n: n * n % 97}, "choice", "name job"),
        ({"finding": uneven("guilty", "hung", "hung"), "elapsed_ms": lambda n: n * n % 97}, "choice", "name job"),
        ({"Gehalt": lambda n: f"{30 + n * 7 % 40}.{n:03d},50"}, "number", "name job"),
        ({"offer": uneven("$95k", "$110,000", "$1.2M")}, "number", "name job"),
        ({"dose": uneven("5 mg", "10 mg", "20 mg", "5 mg")}, "number", "name job"),
        ({"credit_score": lambda n: 600 + 10 * (n // 2 % 3), "approved": uneven("yes", "no")}, "yes_no", "name job"),
        ({"rating": uneven(1, 4, 5, 7), "human_rating": uneven(2, 2, 3, 6, 7)}, "scale", "name job"),
        ({"question": lambda n: f"Is it {n}?", "response": uneven("A", "B", "C")}, "choice", "name job"),
        ({"sample": lambda n: n // 12, "score": uneven(10, 35, 90)}, "number", "name job"),
        ({"tokens": lambda n: 20 + n, "response": uneven("Yes", "No")}, "yes_no", "name job"),
    ],
)  # fmt: skip
def test_the_answer_is_found_next_to_what_was_shown_counted_or_rated(
    more: dict[str, Callable[[int], object]], kind: str, factors: str, tmp_path: Path
) -> None:
    made = proposed(tmp_path, crossed(**more), decimal="," if "Gehalt" in more else None)
    study = tomllib.loads(made.files["study.toml"])
    assert [question["kind"] for question in study["questions"].values()] == [kind]
    assert " ".join(study["factors"]) == factors


def test_a_survey_with_a_column_for_each_part_of_its_tasks_says_what_to_write(tmp_path: Path) -> None:
    cells = {f"F-{task}-{place}-{n}": "a" for task in (1, 2, 3) for place in (1, 2) for n in (1, 2)}
    with pytest.raises(UsageError, match="a row has 3 tasks of a conjoint") as refused:
        proposed(tmp_path, [{"ResponseId": f"R_{n}", **cells, "choice1": "1"} for n in range(20)])
    assert "read.qualtrics" in str(refused.value)


def test_what_a_mapping_says_is_done(tmp_path: Path) -> None:
    made = proposed(tmp_path, ROWS, "answer=n_chars,employment=job,repetition=run").files["study.toml"]
    assert ('kind = "number"' in made, "employment = " in made, "score = [" in made) == (True, True, False)
    long = proposed(tmp_path, ROWS, "test:answer=score:gpa").files["study.toml"]
    assert [name in long for name in ("[questions.score]", "[questions.gpa]", "n_chars")] == [True, True, False]


def test_of_a_list_of_answers_the_first_is_not_taken_alone(tmp_path: Path) -> None:
    records = [
        {"model": "m", "name": name, "results": [{"answer": str(n)} for n in range(1, 6)]}
        for name in ("Ann", "Ben") * 3
    ]
    (tmp_path / "a.json").write_text(json.dumps(records))
    with pytest.raises(UsageError, match="up to 5 answers, in results"):
        propose_study([tmp_path / "a.json"])
    ranked = [{"model": "m", "name": name, "ranking": ["x", "y"]} for name in "ab" * 4]
    (tmp_path / "b.json").write_text(json.dumps(ranked))
    with pytest.raises(UsageError, match=r"Lists are in ranking.*--map answer=ranking\[0\]"):
        propose_study([tmp_path / "b.json"])


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, object]]:
    """Rows of factors whose levels come again, an answer of any kind, and columns that nobody was shown."""
    n_factors, n_more = draw(st.integers(1, 4)), draw(st.integers(0, 20))
    levels = [
        draw(st.lists(st.text("abcÄ -.&", min_size=1), min_size=2, max_size=3, unique_by=folded))
        for _ in range(n_factors)
    ]
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=3, unique=True))
    answers = draw(st.lists(draw(st.sampled_from([NUMBERS, st.sampled_from(words)])), min_size=24, max_size=24))
    rows: list[dict[str, object]] = []
    for n, answer in enumerate(answers):
        shown = {f"factor_{f}": of[n // 2**f % len(of)] for f, of in enumerate(levels)}
        more = {f"more_{column}": f"{n * n % 23}.{column}" for column in range(n_more)}
        rows.append({"model": "ab"[n % 2], **shown, **more, "score": answer})
    return rows


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=tables())
def test_a_proposal_imports_all_rows_that_it_was_made_from(
    rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    made = proposed(folder, rows, decimal=".")
    for name, text in made.files.items():
        (folder / name).write_text(text)
    report = import_trials(folder / "a.duckdb", str(folder / "study.toml"), [folder / "rows.csv"])
    assert (report.rows_imported, report.problems) == (24, [])
    assert rows_in(folder / "a.duckdb", "SELECT outcome, count(*) FROM trials GROUP BY 1") == [("answered", 24)]
