"""How long files take to come in: a survey with a row for each person, and a CSV with a row for each answer."""

from __future__ import annotations

import random
import resource
import tempfile
import time
from pathlib import Path

from bench.measures import Measure
from slant.collector import import_trials
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study

N_ITEMS = 50
LIMIT_S = 60.0


def people(n_people: int) -> list[Measure]:
    """A file of this many people with 50 answers each, by the clock and by the processor."""
    items = [f"I do thing number {number}" for number in range(1, N_ITEMS + 1)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "study.toml").write_text(
            'name = "traits"\ntitle = "Traits"\ndesign = "factorial"\n'
            f"factors.item = [{', '.join(map(repr, items))}]\n"
            'templates.plain = "How much does this describe you? {item}"\n'
            'questions.rating = { text = "Answer.", kind = "scale", max = 7 }\n'
            'models = [{ model = "m", provider = "openai" }]\n'
        )
        rng = random.Random(1)
        with (folder / "survey.csv").open("w") as file:
            file.write(f"ResponseId,email,{','.join(f'Q{number}' for number in range(1, N_ITEMS + 1))}\n")
            for person in range(n_people):
                answers = ",".join(str(rng.randint(1, 7)) for _ in items)
                file.write(f"R_{person},p{person}@example.org,{answers}\n")
        began, before = time.monotonic(), _processor_s()
        report = import_trials(
            folder / "t.duckdb",
            str(folder / "study.toml"),
            [folder / "survey.csv"],
            layout="people",
            columns=["item:answer=Q*"],
            map_values=[f"item:{number}={item}" for number, item in enumerate(items, 1)],
            consent="none needed: nobody answered",
            origin="bench/imports.py",
        )
        wall_s, processor_s = time.monotonic() - began, _processor_s() - before
    assert report.rows_imported == n_people * N_ITEMS
    what = f"answers of {n_people:,} people to {N_ITEMS} items, from a CSV into the database"
    return [
        Measure(what, wall_s, "s", None, LIMIT_S, "value"),
        Measure(f"{what}: processor time", processor_s, "s", None, LIMIT_S, "value"),
    ]


def rows(n_rows: int) -> list[Measure]:
    """A CSV of answers of two models to a study of `collect studies new`, by the clock and by the processor."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_new_study("mine", "association", folder / "mine")
        study = load_study(str(folder / "mine" / "study.toml"))
        trials = [each.trials[0] for model in study.models for each in plan(study, model)]
        rng = random.Random(1)
        with (folder / "rows.csv").open("w") as file:
            file.write("model,test,condition,group,item,wording,repetition,answer,tokens\n")
            for number in range(n_rows):
                trial = trials[number % len(trials)]
                place_of = f"{trial.model},{trial.test},{trial.condition},{trial.group},{trial.item},{trial.wording}"
                answer = rng.choice((trial.option_a, trial.option_b))
                file.write(f"{place_of},{number // len(trials) + 1},{answer},{rng.randint(50, 900)}\n")
        began, before = time.monotonic(), _processor_s()
        report = import_trials(folder / "t.duckdb", study, [folder / "rows.csv"])
        wall_s, processor_s = time.monotonic() - began, _processor_s() - before
    assert report.rows_imported == n_rows
    what = f"`collect import` of {n_rows:,} rows of a CSV"
    return [
        Measure(what, wall_s, "s", None, LIMIT_S, "value"),
        Measure(f"{what}: processor time", processor_s, "s", None, 2 * LIMIT_S, "value"),
    ]


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
