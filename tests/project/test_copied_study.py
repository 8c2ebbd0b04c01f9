"""A copy of a shipped study under other names has the same tables, fits, checks and figures from the same answers."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from slant import analysis
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.checks.study_checks import check
from slant.collector.api import collect
from slant.collector.importing.imports import import_trials
from slant.collector.keep.export import export_trials
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import studies_dir
from tests.support.choices_made import QUICK

NEW = "zz_"  # before a name: the order of names stays
RENAMED = {
    "rmiat": {
        "rmiat/tests.csv": ["test"],
        "rmiat/stimuli.csv": ["test", "word"],
        "rmiat/frames.csv": ["test", "label_a", "label_b"],
        "rmiat/simulation.csv": ["test", "condition"],
    },
    "interference": {
        "interference/tests.csv": ["test"],
        "interference/stimuli.csv": ["test", "word"],
        "interference/pairs.csv": ["test", "condition"],
        "interference/simulation.csv": ["test", "condition"],
    },
}
EXPORTED = {
    "rmiat": ["test", "condition", "item", "option_a", "option_b", "expected", "answer", "choice"],
    "interference": ["test", "condition", "item"],
}
ASKED = {"rmiat": "simulated/o3-mini", "interference": "simulated/gpt-5"}
TABLES = {
    "rmiat": ["tokens_by_condition", "refusal_counts", "effect_size_parts", "outcome_counts"],
    "interference": [
        "compliance_by_condition",
        "consistency_by_condition",
        "observed_delta_p",
        "block_order",
        "missing_by_condition",
    ],
}


def rename_columns(file: Path, columns: list[str]) -> None:
    with file.open(encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))
    with file.open("w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, rows[0])
        writer.writeheader()
        writer.writerows({**row, **{name: f"{NEW}{row[name]}" for name in columns if row[name]}} for row in rows)


def copied(name: str, folder: Path) -> Path:
    """The study as zz_NAME, with other names of its tests, conditions, options and words."""
    study = load_study(name)
    shutil.copytree(studies_dir() / name, folder / name)
    text = (studies_dir() / f"{name}.toml").read_text("utf-8")
    for old in [*(test.test for test in study.tests), *(one.condition for one in study.conditions)]:
        text = text.replace(f'"{old}"', f'"{NEW}{old}"')
    text = re.sub(r"(?m)^(name = )\"", rf'\1"{NEW}', re.sub(r"(?m)^published = .*$", "", text), count=1)
    for file, columns in RENAMED[name].items():
        rename_columns(folder / file, columns)
    (folder / "study.toml").write_text(text, "utf-8")
    return folder / "study.toml"


def as_it_was(frame: pl.DataFrame) -> list[dict[str, object]]:
    """Rows without what must differ: the version, and NEW before names."""
    frame = frame.drop(
        "study_version", "call_id", "data_hash", "seconds", "fitted_at", "made_at", "messages", strict=False
    )
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(pl.col(texts).str.replace_all("zz[_ ]", "")).to_dicts()


def names_of_game(name: str) -> re.Pattern[str]:
    """The study's own name, and those of its groups, classes and jobs, as whole words."""
    study = load_study(name)
    jobs = [job for one in study.data.classes for job in one.jobs]
    words = [name, *study.data.groups, *(one.name for one in study.data.classes), *jobs]
    return re.compile(rf"\b({'|'.join(map(re.escape, words))})\b")


def copied_game(name: str, folder: Path) -> Path:
    """The game as zz_NAME, with other names of its groups, classes and jobs, wherever they stand."""
    folder.mkdir()
    text = re.sub(r"(?m)^published = .*$", "", (studies_dir() / f"{name}.toml").read_text("utf-8"))
    (folder / "study.toml").write_text(names_of_game(name).sub(rf"{NEW}\1", text), "utf-8")
    return folder / "study.toml"


RENAMED_FACTORS = """
UPDATE attempts SET factor_lists = map_from_entries(list_transform(map_entries(factor_lists), lambda entry: {
    'key': entry.key, 'value': list_transform(entry.value, lambda text: regexp_replace(text, $1, $2, 'g'))}))
"""


def rename_in_database(db: Path, names: re.Pattern[str], version: str) -> None:
    """The same in every text that was kept of a game."""
    with duckdb.connect(str(db)) as connection:
        columns = connection.execute(
            "SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN information_schema.tables t"
            " USING (table_name) WHERE t.table_type = 'BASE TABLE' AND c.data_type = 'VARCHAR'"
        ).fetchall()
        for table, column in columns:
            new = "?" if column == "study_version" else f"regexp_replace(\"{column}\", ?, '{NEW}\\1', 'g')"
            value = version if column == "study_version" else names.pattern
            connection.execute(f'UPDATE "{table}" SET "{column}" = {new} WHERE "{column}" IS NOT NULL', [value])  # noqa: S608
        connection.execute(RENAMED_FACTORS, [names.pattern, rf"{NEW}\1"])


@pytest.fixture(scope="module")
def both_games(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A database of games of hiring, the copy of the study, and the same games as games of the copy."""
    folder = tmp_path_factory.mktemp("copied_games")
    own, copy = folder / "own.duckdb", folder / "copy.duckdb"
    collect(own, "hiring", ["simulated/thompson", "simulated/human_like"])
    study = copied_game("hiring", folder / "study")
    shutil.copyfile(own, copy)
    rename_in_database(copy, names_of_game("hiring"), load_study(study).version)
    return own, study, copy


GAME_TABLES = ["allocation_indices", "allocation_matrices", "allocation_shares", "allocation_success",
               "allocation_learning_curves", "allocation_exploration", "allocation_game_ends"]  # fmt: skip


@pytest.mark.slow
def test_a_copied_game_has_the_same_tables_indices_and_checks(both_games: tuple[Path, Path, Path]) -> None:
    own, study, copy = both_games
    there, here = (
        analysis.game_indices(db, its, n_boot=20, n_random=5).table for db, its in ((own, "hiring"), (copy, str(study)))
    )
    assert as_it_was(here) == as_it_was(there)
    for table in GAME_TABLES:
        of_own, of_copy = (analysis.tables(db, names=[table])[table] for db in (own, copy))
        assert of_own.height > 0
        # not to the last bit: DuckDB adds up in another order from one query to the next
        rows = [pl.DataFrame(as_it_was(its), infer_schema_length=None) for its in (of_copy, of_own)]
        assert_frame_equal(*rows, check_exact=False, rel_tol=1e-12, abs_tol=1e-12)
    found = [check(db, its).rows for db, its in ((own, "hiring"), (copy, str(study)))]
    assert {name: as_it_was(rows) for name, rows in found[1].items()} == {
        name: as_it_was(rows) for name, rows in found[0].items()
    }


@pytest.mark.slow
def test_figures_of_a_copied_game_are_drawn_from_the_same_rows(both_games: tuple[Path, Path, Path]) -> None:
    own, study, copy = both_games
    for name in ("allocations", "learning_curves"):
        there, here = (list(figure_rows(db, load_study(its), [name])) for db, its in ((own, "hiring"), (copy, study)))
        assert [as_it_was(one.rows) for one in here] == [as_it_was(one.rows) for one in there]
        assert there


@pytest.fixture(scope="module", params=["rmiat", "interference"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path, Path]:
    """The study's name, a database of its answers, the copy, and a database of the same answers to the copy."""
    name, folder = request.param, tmp_path_factory.mktemp("copied")
    first, own, copy = folder / "first.duckdb", folder / "own.duckdb", folder / "copy.duckdb"
    collect(first, name, [ASKED[name]], pilot=800)
    export_trials(first, out=folder / "own.csv", view="trials")
    text = (folder / "own.csv").read_text("utf-8").replace("simulated", "collected")
    (folder / "own.csv").write_text(text, "utf-8")
    import_trials(own, name, [folder / "own.csv"])
    study = copied(name, folder / "study")
    shutil.copyfile(folder / "own.csv", folder / "copy.csv")
    rename_columns(folder / "copy.csv", ["study", *EXPORTED[name]])
    import_trials(copy, str(study), [folder / "copy.csv"])
    return name, own, study, copy


@pytest.mark.slow
def test_a_copy_has_the_same_tables(both: tuple[str, Path, Path, Path]) -> None:
    name, own, _, copy = both
    there, here = analysis.tables(own, names=TABLES[name]), analysis.tables(copy, names=TABLES[name])
    for table in TABLES[name]:
        assert as_it_was(here[table]) == as_it_was(there[table])
        assert there[table].height > 0


@pytest.mark.slow
def test_a_copy_has_the_same_fits(both: tuple[str, Path, Path, Path]) -> None:
    name, own, study, copy = both
    fit = {"rmiat": "effect_size", "interference": "interference_lme4"}[name]
    there, here = analysis.fit(own, name, fit), analysis.fit(copy, str(study), fit)
    if name == "rmiat":
        assert as_it_was(here.table) == as_it_was(there.table)
    else:  # where answers are separated only the likelihood is a number that two runs of lme4 agree on
        assert as_it_was(here.table.select("term")) == as_it_was(there.table.select("term"))
        assert here.diagnostics["log_lik"].item() == pytest.approx(there.diagnostics["log_lik"].item(), rel=1e-9)
    assert there.table["estimate"].is_not_null().any()


@pytest.mark.slow
def test_figures_of_a_copy_are_drawn_from_the_same_rows(both: tuple[str, Path, Path, Path]) -> None:
    name, own, study, copy = both
    wanted = {"rmiat": ["tokens", "refusals"], "interference": ["compliance"]}[name]
    there = list(figure_rows(own, load_study(name), wanted))
    here = list(figure_rows(copy, load_study(study), wanted))
    assert [as_it_was(one.rows) for one in here] == [as_it_was(one.rows) for one in there]
    assert name == "interference" or there


@pytest.mark.slow
@pytest.mark.parametrize("both", ["interference"], indirect=True)
def test_a_copied_forced_choice_has_the_same_checks(both: tuple[str, Path, Path, Path]) -> None:
    name, own, study, copy = both
    there, here = check(own, name).rows, check(copy, str(study)).rows
    assert {one: as_it_was(rows) for one, rows in here.items()} == {one: as_it_was(rows) for one, rows in there.items()}


@pytest.mark.slow
@pytest.mark.needs("brms")
@pytest.mark.parametrize("both", ["interference"], indirect=True)
def test_a_copied_forced_choice_has_the_same_chains(both: tuple[str, Path, Path, Path]) -> None:
    name, own, study, copy = both
    there = analysis.fit(own, name, "interference", settings=QUICK)
    here = analysis.fit(copy, str(study), "interference", settings=QUICK)
    assert as_it_was(here.table) == as_it_was(there.table)
    assert there.bayes["contrasts"].height > 0
    for table in ("predictions", "contrasts"):
        assert as_it_was(here.bayes[table]) == as_it_was(there.bayes[table])
