"""What is exported comes back: answers of every design, in every format, are the same rows after an import."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from slant.collector import collect, export_trials, import_trials
from slant.collector.designs import design_named
from slant.collector.designs.study import Study
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, journal_run, opened_journal
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study
from tests.support.stored import rows_in
from tests.support.tiny_choice import write_choice
from tests.support.tiny_game import write_game
from tests.support.tiny_study import write_tiny

SAME = (
    "model", "test", "condition", "item", '"group"', "wording", "repetition", "round", "option_a", "option_b",
    "expected", "outcome", "answer", "choice", "detail", "tokens", "reasoning_tokens", "output_tokens",
    "reasoning_text", "factors", "trial_id", "game", "conversation_id", "position", "token_source", "served_model",
    "cost_usd", "option_a_logprob", "option_b_logprob", "logprob_kind",
)  # fmt: skip
SAID = ["I'm sorry, but I can't do that.", "banana", "NA", "Yes.", "1", "3"]


def tea(folder: Path) -> Path:
    """An association with names that R would change, a word with an accent, and wordings from 0."""
    file = write_tiny(
        folder,
        study=('design = "association"', 'design = "association"\nconditions = ["pro-tea", "anti.tea"]'),
        stimuli=("tea_coffee,group_a,Tea,sencha", "tea_coffee,group_a,Tea,thé-vert"),
    )
    first, second = '"Sort ""{word}"": [{category_1}, {category_2}]."', '"Put {word}: {category_1} or {category_2}?"'
    wordings = f"wording,text\n0,{first}\n1,{second}\n"
    (folder / "wordings.csv").write_text(wordings, encoding="utf-8")
    return file


def started(design: str, start: str | None = None) -> Any:
    def write(folder: Path) -> Path:
        write_new_study("mine", design, folder, start=start)
        return folder / "study.toml"

    return write


STUDIES = {
    "association": (tea, "base"), "forced_choice": (write_choice, "base"), "pairing": (started("pairing"), "base"),
    "coding": (started("coding"), "base"), "decision": (started("decision"), "base"),
    "decision in one message": (started("decision"), "one_message"), "chained": (started("decision"), "chained"),
    "game": (write_game, "base"), "vignette": (started("factorial"), "base"),
    "conjoint": (started("factorial", "conjoint"), "base"), "personas": (started("factorial", "personas"), "base"),
    "questionnaire": (started("factorial", "questionnaire"), "base"),
}  # fmt: skip


class Studies(dict[str, Study]):
    """Loaded once; not shown where an example fails, for they are long."""

    def __repr__(self) -> str:
        return "studies"


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Studies:
    written = {name: write(tmp_path_factory.mktemp("study")) for name, (write, _) in STUDIES.items()}
    return Studies({name: load_study(str(path), STUDIES[name][1]) for name, path in written.items()})


def planned(study: Study) -> list[dict[str, Any]]:
    """Some trials of two repetitions as a file names them, with the options that an answer may choose."""
    rows = []
    for conversation in list(plan(study, study.models[0], repetitions=2))[::7][:8]:
        for trial in conversation.trials[:4]:
            options = (trial.option_a, trial.option_b, *trial.factors.get("groups", ()), *SAID)
            row = {name: getattr(trial, name) for name in ("model", "test", "condition", "item", "group", "wording")}
            if trial.round or trial.game is None:
                row |= {"repetition": trial.repetition, "options": [text for text in options if text]}
                shown = {"option_a": trial.option_a, "option_b": trial.option_b, "expected": trial.expected}
                row |= shown if study.design.name == "forced_choice" else {}
                rows.append(row | {"game": trial.game, "round": trial.round})
    return rows


def answers(rows: list[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
    said = [
        st.fixed_dictionaries(
            {
                "answer": st.sampled_from(row["options"]) | text,
                "outcome": st.sampled_from([None, None, "refused", "filtered", "truncated", "malformed"]),
                **dict.fromkeys(("tokens", "reasoning_tokens", "output_tokens"), st.none() | st.integers(0, 10**9)),
                "token_source": st.sampled_from([None, "usage", "output", "template", "retokenized"]),
                "reasoning_text": st.none() | text.filter(bool),
                "served_model": st.sampled_from([None, row["model"]]),
                "cost_usd": st.none() | st.floats(0, 10, allow_subnormal=False),
                "option_a_logprob": st.none() | st.floats(-50, 0, allow_subnormal=False),
                "option_b_logprob": st.sampled_from([None, -0.25]),
                "logprob_kind": st.sampled_from(["exact", "first_token"]),
            }
        ).map(lambda answer, row=row: {name: row[name] for name in row if name != "options"} | answer)
        for row in rows
    ]
    return st.tuples(*said).map(list)


def kept(db: Path, ending: str) -> list[Mapping[str, Any]]:
    with reading(db) as connection:
        found: list[dict[str, Any]] = frame_of(
            connection.sql(f"SELECT {', '.join(SAME)} FROM trials ORDER BY trial_id")  # noqa: S608
        ).to_dicts()
    rows = [row | {"factors": json.loads(row["factors"] or "{}")} for row in found]
    return [row | {"answer": row["answer"] or ""} for row in rows] if ending == "csv" else rows  # as CSV has it


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
@settings(max_examples=2, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data(), ending=st.sampled_from(["parquet", "csv", "jsonl"]))
def test_answers_of_every_design_come_back_as_they_were(
    name: str, data: st.DataObject, ending: str, studies: Studies, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study: Study = studies[name]
    folder = tmp_path_factory.mktemp("round")
    rows = data.draw(answers(planned(study)))
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    first = import_trials(folder / "a.duckdb", study, [folder / "rows.jsonl"], variant=study.variant)
    assert first.problems == []
    out = folder / f"out.{ending}"
    export_trials(folder / "a.duckdb", out=out, view="association_trials" if name == "association" else "trials")
    report = import_trials(folder / "b.duckdb", study, [out], variant=study.variant)
    assert report.problems == []
    assert kept(folder / "b.duckdb", ending) == kept(folder / "a.duckdb", ending)
    again = import_trials(folder / "a.duckdb", study, [out], variant=study.variant)
    assert (again.rows_imported, again.problems) == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
@settings(max_examples=3, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data(), is_numbered=st.booleans())
def test_rows_alike_become_what_each_would_become_alone(
    name: str, data: st.DataObject, is_numbered: bool, studies: Studies, tmp_path_factory: pytest.TempPathFactory
) -> None:
    study: Study = studies[name]
    folder = tmp_path_factory.mktemp("alike")
    several = data.draw(st.lists(answers(planned(study)), min_size=2, max_size=6))
    rows = [row | {"repetition": n if is_numbered else None} for n, some in enumerate(several, 1) for row in some]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slant.collector.importing.row_contents._MAX_ANSWERS", 0)
        alone = import_trials(folder / "alone.duckdb", study, [folder / "rows.jsonl"], variant=study.variant)
    alike = import_trials(folder / "alike.duckdb", study, [folder / "rows.jsonl"], variant=study.variant)
    assert replace(alike, run_id=None) == replace(alone, run_id=None)
    assert attempts(folder / "alike.duckdb") == attempts(folder / "alone.duckdb")


def attempts(db: Path) -> list[dict[str, Any]]:
    """All that a database has of its attempts, but for the name of their run."""
    with reading(db) as connection:
        rows = frame_of(connection.sql("SELECT * FROM attempts ORDER BY sequence")).rows(named=True)
    run = journal_run(journal_paths(journal_folder(db))[0])
    return [row | {"run_id": None, "attempt_id": row["attempt_id"].replace(run, "")} for row in rows]


def test_the_journal_has_an_answer_once_that_many_rows_give(studies: Studies, tmp_path: Path) -> None:
    study: Study = studies["association"]
    row = planned(study)[0]
    [answer, *_] = row.pop("options")
    rows = [row | {"answer": answer, "tokens": n, "repetition": n} for n in range(1, 41)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    import_trials(tmp_path / "a.duckdb", study, [tmp_path / "rows.jsonl"])
    [path] = journal_paths(journal_folder(tmp_path / "a.duckdb"))
    with opened_journal(path) as file:
        [line] = [record for record in map(json.loads, file) if record.get("kind") == "answers"]
    assert (len(line["shared"]), len(line["rows"]["trial_id"])) == (1, 39)
    assert [row["tokens"] for row in attempts(tmp_path / "a.duckdb")] == list(range(1, 41))


def test_games_of_others_need_their_rounds_and_choices_alone(tmp_path: Path) -> None:
    study = load_study(str(write_game(tmp_path)))
    columns = ("game", "round", "job", "choice", "is_success")
    played = [("g1", 1, "Judge", "Ato", True), ("g1", 2, "porter", "Benos", False), ("g2", 1, "Pilot", "", None)]
    with (tmp_path / "rounds.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *played])
    report = import_trials(tmp_path / "a.duckdb", study, [tmp_path / "rounds.csv"], model="small")
    assert (report.rows_imported, report.rows_without_answer, report.problems) == (2, 1, [])
    rounds = rows_in(tmp_path / "a.duckdb", "SELECT class, job, choice, is_success FROM allocation_rounds")
    assert rounds == [("high", "Judge", "Ato", True), ("low", "Porter", "Beno", False)]


def test_a_round_that_no_study_has_is_told(tmp_path: Path) -> None:
    study = load_study(str(write_game(tmp_path)))
    rows = ("g1,9,Judge,Ato", "g1,1,Nurse,Ato", ",1,Judge,Ato", "g1,,Judge,Ato", "g1,1,Judge,Ato")
    (tmp_path / "rounds.csv").write_text("\n".join(["game,round,item,answer", *rows]))
    report = import_trials(tmp_path / "a.duckdb", study, [tmp_path / "rounds.csv"], model="small")
    said = [problem.text for problem in report.problems]
    words = ("round must be", "Nurse", "a column game", "round must be")
    assert [each in text for each, text in zip(words, said, strict=True)] == [True] * 4


def test_an_export_of_questions_about_each_profile_comes_back(tmp_path: Path) -> None:
    factors = {"price": [500, 900], "sea": ["near", "far"]}
    text = [
        'name = "flats"',
        'title = "t"',
        'design = "factorial"',
        *(f"factors.{n} = {f}" for n, f in factors.items()),
    ]
    text += ['templates.plain = "{profiles}"', "profiles.count = 2", 'crossing = { takes = "random", n = 9 }']
    text += ['questions.fair = { text = "Is {profile} fair?", kind = "yes_no", each_profile = true }']
    (tmp_path / "study.toml").write_text("\n".join([*text, 'models = [{ model = "m", provider = "local" }]']))
    collect(tmp_path / "a.duckdb", str(tmp_path / "study.toml"), simulated=True)
    export_trials(tmp_path / "a.duckdb", "flats", tmp_path / "a.csv")
    rows = (tmp_path / "a.csv").read_text().replace("simulated", "collected")
    (tmp_path / "a.csv").write_text(rows)
    report = import_trials(tmp_path / "b.duckdb", str(tmp_path / "study.toml"), [tmp_path / "a.csv"])
    assert (report.rows_imported, report.problems) == (18, [])
    query = "SELECT item, about, levels, value FROM factorial_answer_rows ORDER BY ALL"
    assert rows_in(tmp_path / "a.duckdb", query) == rows_in(tmp_path / "b.duckdb", query)


def test_every_design_of_slants_own_is_among_these() -> None:
    from slant.collector.designs import design_names

    written = {name for name in design_names() if design_named(name).asks.asks_anyone}
    played = {"association", "forced_choice", "pairing", "coding", "decision", "allocation", "factorial"}
    assert written - played == set()
