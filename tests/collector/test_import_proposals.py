"""`collect import` without a study: what columns are taken for, and whether the proposed study takes the files."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import Result

from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.importing.proposals.proposal import propose_study
from slant.collector.keep.database import reading
from tests.support.commands import run_analyze, run_collect
from tests.support.each_row import each_row
from tests.support.raw_rows import write_csv
from tests.support.stored import rows_in

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


def run(*words: str) -> Result:
    return run_collect("import", *words)


def tidy(folder: Path) -> Path:
    names = {"c": "cond", "w": "prompt_id", "i": "stimulus", "a": "response", "n": "n_tok"}
    write_csv(folder / "tidy.csv", renamed(answered(), names, model_name="gpt-5-mini"))
    return folder / "tidy.csv"


def without_telling_names(folder: Path) -> Path:
    names = {"c": "v1", "i": "v2", "a": "v3", "n": "tokens"}
    rows = renamed(answered(("Incompatible", "Compatible")), names, v4="claude-sonnet-4")
    write_csv(folder / "plain.csv", rows, delimiter=";")
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.needs("R")
def test_the_first_fit_is_of_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.chdir(tmp_path)
    lines = run(str(nested(Path()))).output.splitlines()
    assert "pro-flowers is the reference condition" in "\n".join(lines)
    run(*shlex.split(next(line for line in lines if line.startswith("Next: ")))[3:])
    words = shlex.split(next(line for line in lines if line.strip().startswith("analyze --fit")))[1:]
    answer = run_analyze(*words, "--format", "json")
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
    write_csv(tmp_path / "texts.csv", [{"model": "m", "cond": f"c{n}", "answer": "a long text " * 9} for n in range(9)])
    texts = run(str(tmp_path / "texts.csv"))
    assert texts.exit_code == 2
    assert "two conditions, and the files have 9: c0, c1" not in texts.output  # it has no tokens
    assert "condition: cond" in texts.output
    write_csv(tmp_path / "none.csv", [{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    assert "--map answer=COLUMN" in run(str(tmp_path / "none.csv")).output


def test_tokens_under_three_conditions_are_factors_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"c": "cond", "i": "word", "a": "answer", "n": "tokens"}
    write_csv(Path("three.csv"), renamed(answered(("a", "b", "c")), names, model="m"))
    three = run("three.csv")
    assert "two conditions, and the files have 3: a, b, c" in three.output
    assert "answer: a choice among Pleasant, Unpleasant" in three.output


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


@pytest.mark.slow
def test_an_export_of_slant_is_taken_without_the_studys_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(str(tidy(Path())))
    run("--study", "tidy", "--db", "a.duckdb", "tidy.csv")
    run_collect("export", "--db", "a.duckdb", "--out", "back.csv", code=0)
    back = run("--study", "tidy", "--db", "b.duckdb", "back.csv")
    assert (back.exit_code, "48 rows imported" in back.output) == (0, True)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proposed_and_imported(folder: Path, name: str, rows: Sequence[Mapping[str, Any]], *words: str) -> list[Any]:
    """A study is proposed for these rows, and the command that it names imports them all."""
    file = folder / f"{name}.csv"
    write_csv(file, rows)
    proposed = run(str(file), *words)
    assert proposed.exit_code == 0, proposed.output
    command = next(line for line in proposed.output.splitlines() if line.startswith("Next: collect import "))
    done = run(*shlex.split(command.removeprefix("Next: collect import ").replace("TEXT", "said")))
    assert done.exit_code == 0, done.output
    return rows_in(
        Path(f"{name}.duckdb"), "SELECT count(*), count(DISTINCT model), min(outcome), max(outcome) FROM trials"
    )


NAMES = ('Maria "Mari" Paz', "Émile, Jr.", "李雷", "O'Brien")


@pytest.mark.slow
def test_a_rating_with_a_column_for_each_factor_is_a_factorial_study(here: Path) -> None:
    rows = [
        {"model": model, "applicant": name, "sex": "fm"[i % 2], "job": job, "response": f"**{2 + i}**/7"}
        for model in ("gpt-4o", "claude-3-opus")
        for i, name in enumerate(NAMES)
        for job in ("nurse", "CEO")
    ]
    assert proposed_and_imported(here, "audit", rows * 2) == [(32, 2, "answered", "answered")]
    text = Path("audit/study.toml").read_text()
    assert 'design = "factorial"' in text
    assert "min = 1\nmax = 7" in text
    assert Path("audit/applicant.csv").read_text().splitlines()[:2] == ["level,sex", '"Maria ""Mari"" Paz",f']


def test_several_columns_of_answers_are_as_many_questions(here: Path) -> None:
    rows = [
        {"model": "gpt-4o", "sex": sex, "land": land, "salary": f"${50 + k},000", "hire": ("Yes.", "No")[k % 2]}
        for sex in ("woman", "man")
        for land in ("US", "DE")
        for k in range(3)
    ]
    assert proposed_and_imported(here, "wide", rows) == [(24, 1, "answered", "answered")]
    text = Path("wide/study.toml").read_text()
    assert [kind in text for kind in ('kind = "number"', 'unit = "dollars"', 'kind = "yes_no"')] == [True] * 3


@pytest.mark.parametrize(("seen", "ends"), [("-99", "min = 1\nmax = 5"), ("-98", "min = -98\nmax = 5")])
def test_what_was_seen_and_not_answered_is_no_end_of_a_scale(here: Path, seen: str, ends: str) -> None:
    rows = [{"pid": n, "sex": "fm"[n % 2], "rating": n % 5 + 1 if n % 6 else seen} for n in range(1, 31)]
    proposed = propose_study([write_csv(here / "survey.csv", rows)], is_of_people=True)
    assert ends in proposed.files["study.toml"]


@pytest.mark.slow
def test_vignettes_that_people_rated_come_in_as_people(here: Path) -> None:
    rows = [
        {"pid": person, "age": age, "sex": sex, "rating": (person + age) % 11}
        for person in range(1, 6)
        for age in (25, 45)
        for sex in ("woman", "man")
    ]
    assert proposed_and_imported(here, "survey", rows) == [(20, 1, "answered", "answered")]
    assert rows_in(Path("survey.duckdb"), "SELECT DISTINCT source FROM trials") == [("human",)]


def test_profiles_side_by_side_are_a_conjoint(here: Path) -> None:
    rows = [
        {"person": p, "task": t, "place": k, "rooms": 1 + (p + t + k) % 3, "way": "ab"[(p + k) % 2], "chosen": k - 1}
        for p in range(1, 7)
        for t in (1, 2)
        for k in (1, 2)
    ]
    assert proposed_and_imported(here, "flats", rows) == [(12, 1, "answered", "answered")]
    assert "count = 2" in Path("flats/study.toml").read_text()


def test_of_an_association_study_each_column_has_its_reason_and_one_can_be_taken_out(tmp_path: Path) -> None:
    names = {"c": "cond", "w": "wording", "i": "v2", "a": "response", "n": "n_tok", "g": "grp"}
    rows = renamed(answered(), names, model="m", note="", seen="x")
    write_csv(tmp_path / "a.csv", [{**row, "id": n} for n, row in enumerate(rows)])
    why = dict(sentence.split(": ", 1) for sentence in propose_study([tmp_path / "a.csv"], without=["grp"]).why)
    said = {"cond": "condition, by its name", "v2": "item, by its values: short texts", "id": "the name of a request"}
    said |= {"grp": "not taken: said by --not", "seen": "not taken: its name", "note": "not taken: it is empty"}
    assert {column: why[column][: len(start)] for column, start in said.items()} == said
    assert why.keys() == {*rows[0], "id"}


def conjoint(**columns: Callable[[int, int, int], object]) -> list[dict[str, object]]:
    """Rows of 6 people with 4 tasks of 2 profiles each, of which the first or the second is chosen."""
    shown = {"rooms": lambda p, t, k: 1 + (p + t * k) % 3, "way": lambda p, t, k: "ab"[(p // 2 + t + k) % 2]}
    return [
        {name: made(p, t, k) for name, made in {**columns, **shown}.items()}
        for p in range(1, 7)
        for t in range(1, 5)
        for k in (1, 2)
    ]


def was_chosen(p: int, t: int, k: int) -> bool:
    return (p * 5 + t * t + p * t) % 2 == k - 1


CONJOINTS: dict[str, dict[str, Callable[[int, int, int], object]]] = {
    "cases": {"CaseID": lambda p, t, k: p, "contest_no": lambda p, t, k: t, "profile": lambda p, t, k: k},
    "zero": {"subject": lambda p, t, k: p, "task": lambda p, t, k: t - 1, "alternative": lambda p, t, k: k - 1},
    "letters": {
        "person": lambda p, t, k: p,
        "pair_id": lambda p, t, k: 4 * p + t,
        "option": lambda p, t, k: "AB"[k - 1],
    },
    "in_order": {"person": lambda p, t, k: p, "task": lambda p, t, k: t},
    "one_each": {"id": lambda p, t, k: 4 * p + t, "profile": lambda p, t, k: k},
}


@pytest.mark.slow
@each_row("name", CONJOINTS)
def test_choices_of_profiles_are_no_scale_however_tasks_are_written(name: str, here: Path) -> None:
    marks: dict[str, Callable[[int, int, int], object]] = {
        "chosen_one": lambda p, t, k: int(was_chosen(p, t, k)),
        "choice": lambda p, t, k: str(was_chosen(p, t, k)).upper(),
    }
    for number, (column, mark) in enumerate(marks.items()):
        rows = conjoint(**CONJOINTS[name], **{column: mark})
        assert proposed_and_imported(here, f"{name}_{number}", rows) == [(24, 1, "answered", "answered")]
        text = Path(f"{name}_{number}/study.toml").read_text()
        assert ("count = 2" in text, text.count('kind = "choice"'), text.count("kind = ")) == (True, 1, 1)


def test_profiles_that_a_model_chose_among_come_in_one_by_one_and_it_is_said(here: Path) -> None:
    rows = conjoint(
        model=lambda p, t, k: "gpt-4o", run=lambda p, t, k: p, task=lambda p, t, k: t, profile=lambda p, t, k: k,
        chosen=lambda p, t, k: int(was_chosen(p, t, k)),
    )  # fmt: skip
    assert proposed_and_imported(here, "asked", rows) == [(48, 1, "answered", "answered")]
    text = Path("asked/study.toml").read_text()
    assert ("come in one by one" in text, "task = [" in text, "profile = [" in text) == (True, False, False)


def test_a_study_without_models_advises_another_command_than_was_typed(here: Path) -> None:
    proposed_and_imported(here, "flats", conjoint(**CONJOINTS["in_order"], chosen=lambda *at: int(was_chosen(*at))))
    for words in ((), ("--simulated",), ("--dry-run",), ("--batch",), ("--model", EXAMPLE_MODEL)):
        done = run_collect("--study", "./flats/study.toml", *words)
        assert (done.exit_code, "[[models]]" in done.output) == (1 if "--model" in words else 2, True), done.output
        assert "collect --study ./flats/study.toml --simulated" not in done.output
    asked = run("--study", "./flats/study.toml", "flats.csv")
    assert "--layout people --consent TEXT" in asked.output


@pytest.mark.slow
def test_games_of_choices_and_rewards_are_an_allocation_study(here: Path) -> None:
    rows = [
        {"model": "gpt-4o", "game": g, "round": k, "choice": ("Elm", "Oak", "Ash")[(g + k) % 3], "success": k % 2}
        for g in (1, 2)
        for k in range(6)
    ]
    assert proposed_and_imported(here, "games", rows) == [(12, 1, "answered", "answered")]
    of_people = [{"person": row["game"], **{n: row[n] for n in ("round", "choice", "success")}} for row in rows]
    arms = [{**row, "choice": (1, 10, 2)[number % 3]} for number, row in enumerate(of_people)]  # 1 stands in 10
    assert proposed_and_imported(here, "arms", arms) == [(12, 1, "answered", "answered")]


def test_rounds_of_two_people_are_an_observed_study(here: Path) -> None:
    rows = [
        {"id": person, "game": "PD", "move": "CD"[k % 2], "partner": ("AI", "human")[person % 2], "payoff": 3 * k % 7}
        for person in range(1, 5)
        for k in range(6)
    ]
    assert proposed_and_imported(here, "rounds", rows) == [(24, 1, "answered", "answered")]
    assert 'formula = "payoff ~ partner + (1 | participant)"' in Path("rounds/study.toml").read_text()


@pytest.mark.slow
def test_a_row_with_a_level_that_the_study_lacks_is_a_sentence(here: Path) -> None:
    rows = [
        {"model": "gpt-4o", "sex": sex, "job": job, "rating": 3} for sex in "fm" for job in ("a", "b") for _ in "ab"
    ]
    proposed_and_imported(here, "audit", rows)
    write_csv(here / "more.csv", [{"model": "gpt-4o", "sex": "x", "job": "a", "rating": 3}])
    done = run("--study", "./audit/study.toml", "--db", "audit.duckdb", str(here / "more.csv"))
    assert (done.exit_code, 'has "x" as sex, which is no level of the study' in done.output) == (1, True)
