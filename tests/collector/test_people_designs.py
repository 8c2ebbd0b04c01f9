"""People's rows of a design that reads texts are read as a model's are: the same answers have the same readings."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.collector import collect, import_trials
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

SAID = {"layout": "people", "consent": "informed", "origin": "a test"}
ASKED = ("test", "condition", "item", "wording", "answer")
OF_RUNS = (
    "source", "run_id", "trial_id", "conversation", "model", "model_label", "model_no", "participant", "repetition",
    "position", "seed", "batch_id",
)  # fmt: skip


def view_rows(db: Path, view: str) -> pl.DataFrame:
    with reading(db) as connection:
        rows = frame_of(connection.view(view))
    varying = ("tokens", "latency", "cost", "served", "reasoning", "token_source", "response_time")
    shared = [name for name in rows.columns if name not in OF_RUNS and not name.startswith(varying)]
    return rows.select(shared).sort([name for name in ASKED if name in shared], nulls_last=True)


def test_pairings_of_people_are_read_as_those_of_a_model(tmp_path: Path) -> None:
    """Only which group a prompt named first is not known of people."""
    study, view = "word_association", "pairing_trials"
    collect(tmp_path / "m.duckdb", study, ["simulated/gpt-4o"], pilot=5, yes=True)
    with reading(tmp_path / "m.duckdb") as connection:
        answered = frame_of(connection.table("attempts").filter("outcome = 'answered'"))
    rows = answered.select(ASKED)
    rows.with_columns(participant=pl.lit("ann")).write_csv(tmp_path / "rows.csv")
    report = import_trials(tmp_path / "p.duckdb", study, [tmp_path / "rows.csv"], **SAID)
    assert [problem.text for problem in report.problems] == []
    assert (report.people, report.rows_imported) == (1, rows.height)
    models, people = (view_rows(tmp_path / name, view) for name in ("m.duckdb", "p.duckdb"))
    models = models.filter(pl.col("answer").is_in(rows["answer"].to_list()))
    assert people.height == models.height > 0
    differing = [name for name in models.columns if not people[name].equals(models[name], null_equal=True)]
    assert differing == ["first_group"]
