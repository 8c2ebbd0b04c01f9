"""Python and Rscript give the same numbers, bit by bit: every table, every fit of every study, every check.

The tests walk over what there is (the views, the studies' fits, R's list of checks), so that a new one is covered by
itself. What is drawn at random is drawn after the same seed, and so is the same, too.

One thing no language has to the bit: lme4. Its sums depend in their last bits on where in memory the rows lie, so that
two runs of Rscript differ, too (an environment variable more is enough); after its last polish numbers are equal to
1e-8, and df, which come from numerical second derivatives, to six digits.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.calls.call import Call, computed
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.questions.checks.check_calls import calls_of_answers, calls_of_trials, read_answers
from slant.analysis.questions.checks.study_checks import calls_of_fits, fits_to_make
from slant.analysis.questions.checks.trials import mixed_fit, read_trials
from slant.analysis.rows.views import open_trials, view_names
from slant.collector.keep.view_heads import read_header, read_view_heads, view_texts
from slant.collector.studies.catalogue import Fit, Study, fits_of, list_studies, load_study
from slant.collector.study.crossed_fits import CROSSED
from tests.analysis.test_game_indices import all_rounds
from tests.support import ROOT
from tests.support.choices_made import QUICK, choices
from tests.support.choices_made import RUN as RUN_OF_CHOICES
from tests.support.fitted import RUN, trials
from tests.support.given import Row, database, read_rows
from tests.support.plain_r import as_check, as_job, differences, plain_r
from tests.support.simulated_rows import simulated_rows

OPTIMUM_REL_TOL = 1e-6  # of mixed models; it is df that varies most
# So that topics can be fitted to few and short texts, and chains be short.
SETTINGS = {
    "stm": {"topics": 3, "lower_thresh": 5, "max_em_its": 10, "n_examples": 2},
    "brms": QUICK,
    "learning": QUICK,
}
ITS_OWN = ("file", "file_md5", "file_bytes", "draws_file", "draws_md5", "draws_bytes", "compile_s", "sampling_s")
# Engines for pairs of profiles, people's times, tasks shown twice, changes one at a time and codes of people, none of
# which a study here has: tests of their own.
NOT_HERE = {"clogit", "d_score", "consistency", "paired", "dsl", "ppi"}
WORDS = ("group", "bias", "rule", "usual", "label", "fair", "think", "link", "answer", "check", "mean", "harm", "even")
TESTS = [
    {"test": "flowers_insects", "test_no": 1, "label": "Flowers <b>& Insects</b>"},
    {"test": "gender_career", "test_no": 6, "label": "Männer/Frauen"},
]


def rows_with_reasoning() -> Iterator[Row]:
    """The small database's trials in two tests, with texts, and with everything that may be unknown."""
    chance = random.Random(11)
    for number, row in enumerate(trials(tests=("flowers_insects", "gender_career"))):
        text = " ".join(chance.choices(WORDS, k=25)) + (" An IAT." if number % 50 == 0 else "")
        tokens = 64 * round(row["tokens"] / 64) if row["model"] == "o3-mini" else row["tokens"]
        yield {
            **row,
            "tokens": None if number % 77 == 5 else tokens,
            "reasoning_text": text,
            "reasoning_tokens": tokens,
            "output_tokens": tokens + 3,
            "latency_s": None,
            "cost_usd": number / 7e5,
            "position": number,
            "sent_at": "2026-01-01 10:00:00.25",
            "done_at": f"2026-01-01 10:00:{number % 50 + 1:02d}.125001",
        }


pytestmark = [pytest.mark.slow, pytest.mark.needs("stm", "nanoparquet")]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{k: v for k, v in row.items() if k != "latency_s"} for row in rows_with_reasoning()]
    more = [{**row, "run_id": "r2"} for row in choices(repetitions=3)]
    games = [[[3, 1], [1, 3]], [[2, 2], [0, 4]], [[5, 0], [1, 2]]]
    more += [{**row, "run_id": "r3"} for row in all_rounds("small", games)]
    answers = read_rows(ROOT / "tests" / "sql" / "pairing_answer_rows" / "given.csv")
    more += [
        {**row, "run_id": "r4", "repetition": n, "wording": 1 + place % 2, "option_a": row["option_a"] and f"tea {n}"}
        | {"test": test}
        for n in (1, 2, 3)
        for test in ("drinks", "meals")
        for place, row in enumerate(answers)
    ]
    decisions = read_rows(ROOT / "tests" / "sql" / "decision_turns" / "given.csv")
    for n in (1, 2, 3):
        more += [
            {**row, "study": "decision", "run_id": "r5", "repetition": n, "game": row["game"] and f"{row['game']} {n}"}
            | {"wording": n % 2 + 1, "option_a": row["option_a"] and f"Peter {n}"}
            for row in decisions
        ]
    runs = [{**RUN, "tests": TESTS}, {**RUN_OF_CHOICES, "run_id": "r2"}]
    for number, name in enumerate(("callbacks", "habits"), 6):
        study = load_study(name)
        more += [{**row, "run_id": f"r{number}"} for row in simulated_rows(study, repetitions=2)]
        its = {"study": name, "study_version": study.version, "source": "simulated", "design": "factorial"}
        runs.append({"run_id": f"r{number}", **its})
    return database(tmp_path_factory.mktemp("both") / "a.duckdb", [*rows, *more], runs)


@pytest.fixture(scope="module")
def works(db: Path) -> list[PlannedFit]:
    found = []
    for study in map(load_study, list_studies()):
        of_design = [fit for name, fit in fits_of(study).items() if name not in study.fits]
        checked: dict[str, Fit] = {}
        if study.name == "rmiat":
            paper = mixed_fit(study)
            # no study here has such
            alone = replace(paper, name="alone", engine="lm", formula="tokens ~ condition", settings={})
            checked = {**fits_to_make(paper, fits_of(study)[CROSSED]), "alone": alone}
        if study.name == "callbacks":  # no study here names these engines
            rated = replace(study.fits["rating"], formula="rating ~ gender", settings={})
            checked = {
                "ordered": replace(rated, name="ordered", engine="clm"),
                "ordered_by_name": replace(
                    rated, name="ordered_by_name", engine="clmm", formula="rating ~ gender + (1 | name)"
                ),
            }
        for fit in {**study.fits, **checked, **{fit.name: fit for fit in of_design}}.values():
            found += plan_fits(db, study, fit, settings=SETTINGS.get(fit.engine))
    return found


def test_every_table_is_the_same_in_both_languages(db: Path, tmp_path: Path, works: list[PlannedFit]) -> None:
    planned = {(work.study, work.definition.name) for work in works}  # of others this database has no rows
    for study in map(load_study, sorted({work.study for work in works})):  # some tables show what was fitted
        for name, fit in fits_of(study).items():
            if (study.name, name) in planned:
                analysis.fit(db, study, name, settings=SETTINGS.get(fit.engine))
    analysis.specifications(db, "rmiat", specs=["paper", "log_tokens"])
    analysis.game_indices(db, n_boot=20, n_random=5)
    heads, texts = read_view_heads(), {read_header(text).name: text for text in view_texts()}
    shipped = set(heads)
    assert shipped == set(view_names(db))
    in_r = plain_r(tmp_path, db=str(db), views=sorted(shipped), fits=[], checks=[])["views"]
    unlike = {}
    for view in sorted(shipped):
        here, there = open_trials(db, view=view), in_r[view]
        if not heads[view].order and "ORDER BY" not in texts[view].rpartition("\nFROM")[2]:
            keys = list(heads[view].grain)
            here, there = here.sort(keys, nulls_last=True), sorted_texts(there, keys)
        unlike[view] = differences(without_nested(here), there)
    assert {view: found for view, found in unlike.items() if found} == {}
    assert open_trials(db, view="topic_words").height > 0
    assert open_trials(db, view="condition_contrasts").height > 0
    assert open_trials(db, view="allocation_indices")["random_si"].null_count() == 0


def sorted_texts(texts: dict[str, list[str]], keys: list[str]) -> dict[str, list[str]]:
    """In the order of these columns, which are texts in all that have no order of their own."""
    n = len(texts[keys[0]])
    places = sorted(range(n), key=lambda place: [_in_order(texts[key][place]) for key in keys])
    return {column: [values[place] for place in places] for column, values in texts.items()}


def _in_order(text: str | None) -> tuple[bool, float, str | None]:
    """Numbers are written in hexadecimal."""
    return text is None, float.fromhex(text) if text and text.startswith("0x") else 0.0, text


def without_nested(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists have no one text in both languages; no number stands in one."""
    return frame.select(name for name, kind in frame.schema.items() if not kind.is_nested() and kind != pl.Binary)


def test_every_engine_is_compared(works: list[PlannedFit]) -> None:
    assert {work.definition.engine for work in works} == set(ENGINES) - NOT_HERE


def test_every_fit_of_every_study_is_the_same_in_both_languages(
    db: Path, tmp_path: Path, works: list[PlannedFit]
) -> None:
    in_r = plain_r(tmp_path, db=str(db), views=[], fits=[as_job(work) for work in works], checks=[])["fits"]
    here = {number: answer.value for number, answer in computed([work.call for work in works])}
    assert len(in_r) == len(here) == len(works)
    for number, (work, there) in enumerate(zip(works, in_r, strict=True)):
        found = here[number]
        has_two = (work.definition.formula or "").count("|") > 1 or work.definition.engine == "crossed"
        rel_tol = OPTIMUM_REL_TOL if has_two else 0
        for name in ("estimates", "fits", "variances", "messages", "versions"):
            unlike = differences(found[name], there[name], rel_tol=rel_tol)
            assert unlike == [], (work.definition.name, work.cell.key, name)
        for name, table in (found.get("tables") or {}).items():
            unlike = differences(table.drop(ITS_OWN, strict=False), there[name], rel_tol=rel_tol)
            assert unlike == [], (work.definition.name, name)
        assert found["fits"]["status"][0] != "failed", (work.definition.name, work.cell.key, found["messages"])


def test_every_check_is_the_same_in_both_languages(db: Path, tmp_path: Path) -> None:
    study = load_study("rmiat")
    paper = mixed_fit(study)
    fits: dict[str, Any] = {
        name: analysis.fit(db, with_fit(study, one), one.name)
        for name, one in fits_to_make(paper, fits_of(study)[CROSSED]).items()
    }
    of_mixed = (*calls_of_trials(read_trials(db, study, None, None), paper, 0.05), *calls_of_fits(fits, 0.05, 0.1))
    calls: list[Call] = [call for _, call in of_mixed]
    for name in ("interference", "hiring"):
        its = load_study(name)
        calls += [call for _, call in calls_of_answers(read_answers(db, its, None, None), its, 0.05)]
    asked = [as_check(call, tmp_path, number) for number, call in enumerate(calls)]
    in_r = plain_r(tmp_path, db=None, views=[], fits=[], checks=asked)["checks"]
    for number, answer in computed(calls):
        assert not answer.error
        assert differences(answer.frames[""], in_r[number]["rows"]) == [], calls[number].function


def with_fit(study: Study, fit: Fit) -> Study:
    return replace(study, fits={fit.name: fit})
