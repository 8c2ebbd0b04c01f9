"""Sensitivity: every specification a row, fitted once, the same from both languages, and a failure that says so."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.sensitivity import PlannedSpecification, plan_specifications, specifications
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.database import reading, writing
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import studies_dir
from tests.support.commands import run_analyze
from tests.support.fitted import small_database
from tests.support.given import Row, database
from tests.support.plain_r import rscript

QUICK = ("paper", "trimmed", "medians")
MODELS = ("claude-sonnet-4", "gpt-5")


def forced_choices() -> Iterator[Row]:
    """2 models x 2 domains x 2 blocks x 20 words; some invalid, more inconsistent in the incongruent block."""
    chance = random.Random(5)
    for model in MODELS:
        for test in ("gender_career", "gender_science"):
            for block in ("congruent", "incongruent"):
                for word in range(20):
                    wrong = chance.random() < (0.35 if block == "incongruent" and model == MODELS[0] else 0.15)
                    outcome = "refused" if chance.random() < 0.1 else "answered"
                    choice = None if outcome == "refused" else "two" if wrong else "one"
                    words = {"item": f"word {word}", "option_a": "one", "option_b": "two", "expected": "one"}
                    cell = {"study": "interference", "model": model, "test": test, "condition": block}
                    yield {**cell, **words, "outcome": outcome, "choice": choice}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("sensitivity") / "a.duckdb")


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("blocks") / "a.duckdb", forced_choices())


def changed_study(folder: Path, text: str) -> Path:
    """rmiat with the baseline and one more specification alone."""
    shutil.copytree(studies_dir() / "rmiat", folder / "rmiat")
    whole = (studies_dir() / "rmiat.toml").read_text("utf-8")
    kept = whole[: whole.index("[sensitivity.refusals_kept]")]
    (folder / "rmiat.toml").write_text(f"{kept}\n{text}", "utf-8")
    return folder / "rmiat.toml"


FAMILIES = """
[sensitivity.lognormal]
fit = "brms"
contrast = "condition"
settings = { iterations = 200, warmup = 100, chains = 1 }

[sensitivity.gaussian]
fit = "brms"
contrast = "condition"
settings = { family = "gaussian", iterations = 200, warmup = 100, chains = 1 }
"""


def of_families(folder: Path) -> Path:
    """rmiat with two families of its counts for specifications."""
    path = changed_study(folder, "")
    text = path.read_text("utf-8")
    path.write_text(text[: text.index("[sensitivity.")] + FAMILIES, "utf-8")
    return path


@pytest.mark.slow
def test_a_family_of_counts_is_a_specification_of_the_fit_that_every_study_has(db: Path, tmp_path: Path) -> None:
    study = load_study(of_families(tmp_path))
    planned = plan_specifications(db, study, (), None)
    assert {(work.name, work.arguments["arguments"]["family"]) for work in planned} == {
        ("lognormal", "lognormal"),
        ("gaussian", "gaussian"),
    }
    assert len(planned) == 2 * len(MODELS)
    for work in planned:
        assert work.arguments["arguments"]["step"] == "token_step"
        assert "token_step" in work.cell.rows.columns


@pytest.mark.slow
@pytest.mark.needs("brms")
def test_families_are_a_curve_of_ratios(db: Path, tmp_path: Path) -> None:
    study = of_families(tmp_path)
    own = Path(shutil.copy(db, tmp_path / "own.duckdb"))
    table = specifications(own, str(study), workers=1).table
    assert table["estimand"].unique().to_list() == ["ratio of medians"]
    assert table["unit"].unique().to_list() == ["ratio"]
    assert (table["conf_low"] < table["estimate"]).all()
    assert table["d"].null_count() == 0
    assert table["estimate"].is_between(1.0, 1.4).all()  # 30 tokens of some 230
    ((rows),) = figure_rows(own, load_study(study), ["specifications"])
    assert set(rows.rows["spec"]) == {"lognormal", "gaussian"}


def test_every_specification_is_a_row_in_each_cell(db: Path) -> None:
    table = specifications(db, "rmiat").table
    specs = list(load_study("rmiat").sensitivity)
    assert table.filter(pl.col("model") == "o3-mini")["spec"].to_list() == specs
    assert table.height == 2 * len(specs)
    assert set(table["status"]) <= {"ok", "singular", "warned"}
    assert table["estimand"].null_count() == 0
    assert set(table.filter(pl.col("spec") == "log_tokens")["unit"]) == {"ratio"}
    assert dict(table.filter(pl.col("model") == "o3-mini").select("spec", "n_left_out").iter_rows())["paper"] == 4


def test_the_baseline_is_the_papers_own_fit(db: Path) -> None:
    table = specifications(db, "rmiat", specs=["paper"]).table
    fits = analysis.fit(db, "rmiat", "lme4").table.filter(pl.col("term") == "conditionincompatible")
    for name in ("estimate", "std_error", "conf_low", "conf_high", "p_value"):
        assert table[name].to_list() == fits[name].to_list()


@pytest.mark.slow
def test_what_is_unchanged_is_not_fitted_again_and_what_changed_is(tmp_path: Path) -> None:
    db = small_database(tmp_path / "a.duckdb")
    first = specifications(db, "rmiat", specs=QUICK[:2]).table
    more = specifications(db, "rmiat", specs=QUICK).table
    kept = more.filter(pl.col("spec").is_in(QUICK[:2]))
    assert kept.equals(first)
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET tokens = tokens + 50 WHERE trial_id = 't1'")
    changed = specifications(db, "rmiat", specs=QUICK).table
    is_new = changed["fitted_at"] != more["fitted_at"]
    assert changed.filter(is_new).select("model", "spec").rows() == [("o3-mini", spec) for spec in QUICK]
    with reading(db) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT call_id) FROM sensitivity").fetchall() == [(6, 6)]
        assert connection.execute("SELECT count(*) FROM specifications WHERE change IS NOT NULL").fetchall() == [(6,)]


def test_a_hostile_formula_runs_nothing_and_is_a_row_that_says_so(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    study = changed_study(
        tmp_path,
        f"""[sensitivity.hostile]
fit = "lme4"
contrast = "condition"
formula = "tokens ~ condition + (1 | wording) + I(writeLines('x', '{mark}'))"
""",
    )
    table = specifications(small_database(tmp_path / "a.duckdb"), str(study)).table
    status = dict(table.filter(pl.col("model") == "o3-mini").select("spec", "status").iter_rows())
    assert status == {"paper": "ok", "hostile": "failed"}
    said = table.filter(pl.col("spec") == "hostile")["messages"][0]
    assert '"writeLines" is not allowed in it' in said
    assert not mark.exists()


def test_a_study_sets_nothing_but_what_its_engine_may_be_told(tmp_path: Path) -> None:
    text = '[sensitivity.own]\nfit = "lme4"\ncontrast = "condition"\nsettings = { save_to = "/tmp/x.rds" }\n'
    with pytest.raises(UnknownNameError, match="save_to"):
        specifications(small_database(tmp_path / "a.duckdb"), str(changed_study(tmp_path, text)))


def test_names_rows_and_studies_that_are_not_there_are_one_sentence(db: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match='Did you mean "medians"'):
        specifications(db, "rmiat", specs=["median"])
    with pytest.raises(DatabaseError, match="no rows of source collected"):
        specifications(db, "rmiat", source="collected")
    study = changed_study(tmp_path, "")
    text = study.read_text("utf-8")
    study.write_text(text[: text.index("[sensitivity.")], "utf-8")
    with pytest.raises(UsageError, match="has no specifications"):
        specifications(db, str(study))


@pytest.mark.slow
def test_glmer_gives_a_row_for_each_model_and_domain(blocks: Path) -> None:
    table = specifications(blocks, "interference", specs=["glmer_quick"]).table
    assert table.select("model", "test").rows() == [
        (model, test) for model in MODELS for test in ("gender_career", "gender_science")
    ]
    assert set(table["unit"]) == {"probability"}
    assert table["d"].null_count() == 4
    fit = analysis.fit(blocks, "interference", "interference_lme4", settings={"n_agq": 0}).tables["lme4"]["contrasts"]
    same = fit.filter(pl.col("kind") == "population", pl.col("scale") == "delta_p")
    assert table["estimate"].to_list() == same["estimate"].to_list()


@pytest.mark.slow
def test_repetitions_have_a_random_effect_where_asked(blocks: Path, tmp_path: Path) -> None:
    rows = [{**row, "repetition": repetition} for repetition in (1, 2, 3) for row in forced_choices()]
    db = database(tmp_path / "a.duckdb", rows)
    settings = {"n_agq": 0, "random": ["repetition"]}
    found = analysis.fit(db, "interference", "interference_lme4", settings=settings).variances
    assert sorted(found["group"]) == ["item", "repetition"]
    assert dict(found.select("group", "n_groups").iter_rows())["repetition"] == 3
    with pytest.raises(UsageError, match="it is the same in all rows"):
        analysis.fit(blocks, "interference", "interference_lme4", settings=settings)


@pytest.mark.slow
def test_each_level_of_a_rotation_is_the_reference_in_turn(blocks: Path) -> None:
    works = plan_specifications(blocks, load_study("interference"), ["reference"], None)
    assert [work.name for work in works] == ["reference:gpt-5"]
    assert works[0].definition.levels["model"] == ("gpt-5", "claude-sonnet-4")
    assert works[0].arguments["arguments"]["levels"]["model"] == ["gpt-5", "claude-sonnet-4"]


def blocks_study(folder: Path, text: str, settings: str = "") -> str:
    """interference with these specifications alone, and with these settings in place of the study's of its fits."""
    shutil.copytree(studies_dir() / "interference", folder / "interference")
    whole = (studies_dir() / "interference.toml").read_text("utf-8")
    kept = whole[: whole.index("[sensitivity.paper]")]
    for line in filter(None, settings.splitlines()):
        kept = re.sub(f"^{line.split(' = ')[0]} = .*$", line, kept, flags=re.MULTILINE)
    (folder / "interference.toml").write_text(kept + text, "utf-8")
    return str(folder / "interference.toml")


@pytest.mark.slow
def test_a_rotated_fit_of_glmer_is_the_same_in_every_cell_and_in_their_order(blocks: Path, tmp_path: Path) -> None:
    text = """[sensitivity.NAME]
fit = "interference_lme4"
contrast = "block"
settings = { n_agq = 0 }
"""
    rotated = text.replace("NAME", "turned") + 'rotate = "model"\nlabel = "reference: {level}"\n'
    table = specifications(blocks, blocks_study(tmp_path, text.replace("NAME", "plain") + rotated)).table
    assert table["spec"].to_list() == ["plain", "turned:gpt-5"] * 4
    assert set(table["label"]) == {"plain", "reference: gpt-5"}
    for _, pair in table.group_by("model", "test"):
        assert pair["estimate"][0] == pytest.approx(pair["estimate"][1], abs=1e-4)


@pytest.mark.slow
def test_a_hostile_prior_runs_nothing_and_is_a_row_that_says_so(blocks: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    prior = f"normal(0, system('touch {mark}'))"
    text = (
        f'[sensitivity.own]\nfit = "interference"\ncontrast = "block"\nsettings = {{ priors = {{ b = "{prior}" }} }}\n'
    )
    table = specifications(blocks, blocks_study(tmp_path, text)).table
    assert table["status"].to_list() == ["failed"]
    assert "as a prior" in table["messages"][0]
    assert not mark.exists()


@pytest.mark.slow
def test_bayesian_specifications_share_one_compiled_model(blocks: Path, tmp_path: Path) -> None:
    short = "chains = 2\niterations = 400\nwarmup = 200\n"
    whole = (studies_dir() / "interference.toml").read_text("utf-8")
    text = whole[whole.index("[sensitivity.paper]") : whole.index("[sensitivity.random_slopes]")]
    table = specifications(blocks, blocks_study(tmp_path, text, short)).table
    specs = ["paper", "sum_coding", "reference:gpt-5", "priors_halved", "priors_doubled", "invalid_as_inconsistent"]
    assert table["spec"].to_list() == specs * 4
    assert not set(table["status"]) & {"failed"}
    assert table["p_positive"].is_between(0, 1).all()
    n = dict(table.select("spec", "n").iter_rows())
    assert n["invalid_as_inconsistent"] == 160 > n["paper"]
    first = table.filter(pl.col("test") == "gender_career", pl.col("model") == MODELS[0])
    found = dict(first.select("spec", "estimate").iter_rows())
    assert min(found.values()) > 0
    assert found["priors_halved"] < found["priors_doubled"]  # the narrower prior pulls the block's effect to 0


def from_rscript(works: Sequence[PlannedSpecification], folder: Path) -> list[float]:
    """The numbers of these specifications of one cell, row after row."""
    columns = {name: column for work in works for name, column in work.cell.rows.to_dict().items()}
    pl.DataFrame(columns).write_csv(folder / "rows.csv")
    chosen = ("drop_flags", "drop_outcomes", "missing_as")
    jobs = [{**work.arguments, **{name: getattr(work.specification, name) for name in chosen}} for work in works]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    there = rscript("specification_from_csv.R", folder / "rows.csv", r_folder(), folder / "jobs.json")
    return [float.fromhex(line) if line != "NA" else math.inf for line in there]


def numbers(table: pl.DataFrame) -> list[float]:
    """As `from_rscript` gives them; what is unknown is infinite, so that it can be compared."""
    names = ("estimate", "conf_low", "conf_high", "p_value", "d", "d_low", "d_high")
    return [math.inf if row[name] is None else row[name] for row in table.to_dicts() for name in names]


@pytest.mark.slow
def test_the_same_numbers_come_from_rscript(db: Path, tmp_path: Path) -> None:
    works = plan_specifications(db, load_study("rmiat"), (), None)
    # The last digits of a fit with two random effects differ from one run of R to the next.
    first = [work for work in works if work.cell.key["model"] == "o3-mini" and work.name != "maximal"]
    table = specifications(db, "rmiat").table.filter(pl.col("model") == "o3-mini", pl.col("spec") != "maximal")
    assert from_rscript(first, tmp_path) == numbers(table)


@pytest.mark.slow
def test_the_same_probabilities_come_from_rscript(blocks: Path, tmp_path: Path) -> None:
    works = plan_specifications(blocks, load_study("interference"), ["glmer_quick"], None)
    there = from_rscript(works, tmp_path)
    table = specifications(blocks, "interference", specs=["glmer_quick"]).table
    assert len(there) == 4 * 7
    assert there == numbers(table)


@pytest.mark.slow
def test_the_command_prints_rows_lists_and_draws(db: Path, tmp_path: Path) -> None:
    listed = run_analyze("sensitivity", "--study", "rmiat", "--list", "--format", "csv")
    assert listed.output.splitlines()[1].startswith("paper,as in the paper,lme4,")
    only = [word for name in QUICK for word in ("--spec", name)]
    figure = tmp_path / "curve.svg"
    words = ["sensitivity", "--study", "rmiat", *only, "--db", db, "--figure"]
    done = run_analyze(*words, figure, "--format", "json")
    assert done.exit_code == 0, done.output
    assert [row["spec"] for row in json.loads(done.stdout)] == [*QUICK, *QUICK]
    assert done.stderr.startswith("6 fits: ")
    assert "Specification curve of 3 specifications" in figure.read_text("utf-8")
    wrong = run_analyze(*words, "curve.pdf")
    assert "ends in .svg or .png" in str(wrong.output) + str(wrong.exception)


@pytest.mark.slow
def test_the_curve_is_a_figure_of_the_study_once_it_is_kept(db: Path, tmp_path: Path) -> None:
    specifications(db, "rmiat", specs=QUICK)
    rows = analysis.figures(db, "rmiat", tmp_path, names=["specifications"], formats=["svg"])
    assert [Path(path).name for path in rows["path"]] == ["specifications-simulated-base.svg"]
    assert re.match(r"Specification curve of \d specifications in 2 cells: ", rows["alt_text"][0])
    (drawn,) = figure_rows(db, load_study("rmiat"), ["specifications"])
    assert set(drawn.rows["model_label"]) == {"o3-mini", "DeepSeek-R1"}
