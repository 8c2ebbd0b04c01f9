"""`analyze power` and `plan_power()`: R's numbers next to calls, costs and times, for the three designs."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from click.testing import Result

from slant import analysis, collector
from slant.analysis.bridge.r_home import r_installation
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.questions.checks.check_calls import read_profiles
from slant.analysis.questions.power import PowerPlan, plan_power
from slant.analysis.questions.power_of_levels import pilot_respondents, simulated_profiles
from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseError, StudyError, UsageError
from slant.collector.studies.catalogue import load_study
from tests.analysis.test_factorial_fits import import_simulated
from tests.support.commands import run_analyze
from tests.support.fitted import small_database
from tests.support.tiny_audit import PAIRS, STUDY, audit, write_audit

GIVEN = {"word": 250.0, "wording": 30.0, "residual": 3200.0, "sd": 60.0}
NUMBERS = ("std_error", "df", "mde", "mde_d", "power")
SCRIPT = """
for (file in list.files(commandArgs(TRUE)[[1]], "[.]R$", full.names = TRUE)) source(file)
given <- list(word = 250, wording = 30, residual = 3200, sd = 60)
plan <- suppressMessages(plan_power(given, n_words = c(16, 50), n_wordings = 20, n_repetitions = c(1, 3), effect = 10))
writeLines(sprintf("%a", unlist(t(plan[c("std_error", "df", "mde", "mde_d", "power")]))))
"""


@pytest.fixture(scope="module")
def given() -> PowerPlan:
    return analysis.plan_power(
        "rmiat", variances=GIVEN, n_words=[16, 50], n_wordings=[20], n_repetitions=[1, 3], effect=10, models=["o3-mini"]
    )


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_database(tmp_path_factory.mktemp("power") / "a.duckdb")


def power(*words: object) -> Result:
    return run_analyze("power", *words)


@pytest.mark.slow
def test_python_and_rscript_give_bit_equal_numbers(given: PowerPlan) -> None:
    installed = r_installation()
    assert installed is not None
    command = [str(installed.rscript), "--vanilla", "-e", SCRIPT, str(r_folder())]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [float.fromhex(line) for line in answer.stdout.split()] == [
        value for row in given.table.select(NUMBERS).rows() for value in row
    ]


def test_each_row_has_its_calls_cost_and_time(given: PowerPlan) -> None:
    table = given.table
    assert table["n_calls"].to_list() == [640, 1920, 2000, 6000]
    per_call = (table["cost_usd_about"] / table["n_calls"]).to_list()
    assert per_call == pytest.approx([per_call[0]] * 4)
    assert per_call[0] > 0
    assert (table["time_s_low"] < table["time_s_high"]).all()
    assert "prices as of" in given.cost_rests_on[0]


def test_it_says_which_number_to_raise_and_that_repetitions_do_not_replace_words(given: PowerPlan) -> None:
    assert set(given.table["raise"]) == {"words"}
    assert given.advice[0].startswith("Raise the number of words")
    assert given.advice[1].startswith("Repetitions can't replace words")


@pytest.mark.slow
def test_a_pilot_gives_the_standard_errors_of_its_own_numbers(db: Path) -> None:
    plan = analysis.plan_power("rmiat", db, n_words=[4], n_wordings=[10], n_repetitions=[1])
    effects = analysis.fit(db, "rmiat", "crossed").tables["crossed"]["effects"]
    assert plan.table["test"].to_list() == effects["test"].to_list()
    assert plan.table["std_error"].to_list() == pytest.approx(effects["std_error"].to_list(), rel=0.1)  # refusals


@pytest.mark.slow
def test_forced_choices_are_planned_by_words_and_repetitions(tmp_path: Path) -> None:
    db = tmp_path / "choices.duckdb"
    collector.collect(db, "interference", ["simulated/gpt-5"])
    plan = analysis.plan_power("interference", db, n_words=[80, 160], n_repetitions=[1, 4], n_wordings=[1])
    table = plan.table.filter(pl.col("test") == plan.table["test"][0])
    assert table["std_error"].is_sorted(descending=True)
    assert (table["mde"] < 0.5).all()


@pytest.mark.slow
def test_games_are_planned_by_their_number(tmp_path: Path) -> None:
    result = power("--study", "hiring", "--game", 0.04, "--games", "10,40", "--effect", 0.2, "--format", "csv")
    assert result.exit_code == 0, result.output
    table = pl.read_csv(result.stdout.encode())
    assert table["n_games"].unique(maintain_order=True).to_list() == [10, 40]
    assert table["std_error"][0] == pytest.approx((2 * 0.04 / 10) ** 0.5)
    assert table["n_calls"][0] == 2 * 10 * 40


@pytest.mark.slow
def test_the_shell_prints_a_table_and_draws(db: Path, tmp_path: Path) -> None:
    figure = tmp_path / "power.svg"
    result = power("--study", "rmiat", "--from", db, "--words", "8,16", "--model", "o3-mini", "--figure", figure)
    assert result.exit_code == 0, result.output
    assert "mde_d" in result.stdout
    assert "Minimum detectable effect by the number of words" in result.stderr
    assert "<svg" in figure.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--study", "rmiat"), "either a pilot or given"),
        (("--study", "rmiat", "--word", "1"), "needs the variance of residual"),
        (("--word", "1", "--residual", "1"), "needs a study"),
        (("--study", "rmiat", "--from", "no such.duckdb"), "There is no"),
        (("--study", "decision", "--word", "1", "--residual", "1"), "(design decision) can't be planned for"),
        (("--study", "rmiat", "--word", "1", "--residual", "1", "--words", "16,x"), "numbers separated by commas"),
        (("--from", "no.duckdb", "--labels", "100", "--effect", "1"), "takes only --source besides"),
        (("--study", "rmiat", "--word", "1", "--residual", "1", "--games", "5"), "power, and no games."),
        (("--study", "hiring", "--game", "1", "--words", "5"), "uses games, effect and power, and no words."),
        (("--study", "callbacks", "--effect", "0.2"), "effects that you expect belong into its [simulation]"),
        (("--study", "rmiat", "--word", "1", "--residual", "1", "--figure", "a.bmp"), "ends in .svg or .png"),
    ],
)
def test_what_is_missing_is_said_with_what_to_type(words: tuple[str, ...], message: str) -> None:
    result = power(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert "mde" not in result.output  # nothing is computed before that


def test_python_refuses_a_pilot_beside_given_variances(db: Path) -> None:
    with pytest.raises(UsageError, match="either a pilot or given"):
        analysis.plan_power("rmiat", db, variances=GIVEN)


SIMULATION = """
[simulation]
utilities.job = { nurse = 3.0 }
"""


@pytest.mark.slow
def test_a_study_of_factors_is_planned_by_its_own_simulation(tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    file.write_text(file.read_text() + SIMULATION)
    steps: list[tuple[int, int]] = []
    plan = analysis.plan_power(
        file, n_repetitions=[24], n_data_sets=15, models=["small", "other"], progress=lambda *step: steps.append(step)
    )
    assert steps[-1] == (16, 16)
    assert plan.table["model"].unique().sort().to_list() == ["other", "small"]
    assert (plan.table["power"] <= plan.table["power_uncorrected"]).all()  # p is corrected
    rows = {(row["test"], row["attribute"]): row for row in plan.table.iter_rows(named=True)}
    assert rows["rating", "job"]["power_uncorrected"] > 0.8
    assert rows["rating", "gender"]["power"] <= 0.25
    assert rows["rating", "job"]["first"] == "clerk"
    assert rows["rating", "job"]["estimate"] > 1
    assert (rows["hire", "job"]["n_calls"], rows["hire", "job"]["n_data_sets"]) == (24 * 32, 15)


def test_without_a_simulation_and_with_a_pilot_it_says_what_to_do(tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    with pytest.raises(StudyError, match="has no \\[simulation\\] with utilities"):
        analysis.plan_power(file)
    result = run_analyze("power", "--study", file, "--word", "3")
    assert "a factorial study is simulated, without variances" in result.output


def test_a_plan_of_two_prompts_a_level_says_that_repetitions_add_none(tmp_path: Path) -> None:
    names = "level,gender\nAda,woman\nCai,man\n"
    file = write_audit(tmp_path, names=names)
    file.write_text(file.read_text() + SIMULATION)
    plan = analysis.plan_power(file, n_repetitions=[20], n_data_sets=2, models=["small"])
    assert plan.table["df"].max() < 2
    assert plan.advice[1].startswith("Each level of gender, name and job has few names or prompts (1.0 ")
    assert plan.advice[2].startswith("The one pair of gender is decided in sentences of `analyze` by p ")


UTILITIES = "\n[simulation]\nutilities = { gender = { man = -2.0 } }\nrefusal_rate = 0.02\nmalformed_rate = 0\n"


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    """A pilot of a small audit, twelve times asked, as its design simulates it."""
    folder = tmp_path_factory.mktemp("pilot")
    file = write_audit(folder)
    file.write_text(f"{file.read_text('utf-8')}{UTILITIES}", encoding="utf-8")
    import_simulated(load_study(file), folder / "a.duckdb", folder / "rows.jsonl", 12)
    return folder / "a.duckdb", load_study(file)


@pytest.mark.slow
@pytest.mark.parametrize("text", [STUDY, PAIRS], ids=["vignettes", "pairs"])
def test_simulated_profiles_have_the_numbers_of_the_view(text: str, tmp_path: Path) -> None:
    study = audit(tmp_path, text=text)
    import_simulated(study, tmp_path / "a.duckdb", tmp_path / "rows.jsonl", 2)
    stored = read_profiles(tmp_path / "a.duckdb", study, None)
    assert stored is not None
    made = simulated_profiles(study, "small", {}, 7, 2).filter(data_set=6)  # the seed is 1, and 7 imports'
    key = ["test", "template", "persona", "item", "repetition", "position", "gender", "measured"]
    expected = stored.drop_nulls("measured").select(key).with_columns(pl.col("persona").fill_null("")).sort(key)
    assert made.select(key).sort(key).equals(expected.cast(dict(made.select(key).schema)))


@pytest.mark.needs("ordinal")
def test_a_model_that_refuses_all_leaves_the_plan_of_the_others(tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    others = '[simulation.models.silent]\nrefusal_rate = 1.0\n[[models]]\nmodel = "silent"\nprovider = "local"\n'
    file.write_text(f"{file.read_text('utf-8')}{UTILITIES}{others}", encoding="utf-8")
    study = load_study(file)
    for model in study.models:
        import_simulated(replace(study, models=(model,)), tmp_path / "a.duckdb", tmp_path / f"{model.model}.jsonl", 4)
    plan = plan_power(study, tmp_path / "a.duckdb", n_data_sets=2, n_repetitions=[1])
    assert set(plan.table["model"]) == {"small"}
    assert plan.advice[0].startswith('silent is not planned: The pilot has 0 answers to "')
    with pytest.raises(DatabaseError, match='silent is not planned: The pilot has 0 answers to "'):
        plan_power(study, tmp_path / "a.duckdb", models=["silent"])


@pytest.mark.needs("ordinal")
def test_a_pilot_of_factors_gives_a_respondent_for_each_question(audited: tuple[Path, Study]) -> None:
    db, study = audited
    found, unplanned = pilot_respondents(db, study, None, None)
    assert unplanned == []
    assert set(found) == {("small", "rating"), ("small", "hire")}
    rating = found["small", "rating"]
    assert rating.utilities["gender"]["man"] == pytest.approx(-2, abs=0.8)
    assert len(rating.thresholds) == 4
    assert list(rating.thresholds) == sorted(rating.thresholds)
    assert 0 <= rating.refusal_rate < 0.1


@pytest.mark.slow
@pytest.mark.needs("ordinal")
def test_a_plan_from_a_pilot_of_factors_is_simulated_and_drawn_in_the_shell(
    audited: tuple[Path, Study], tmp_path: Path
) -> None:
    db, _ = audited
    figure = tmp_path / "power.svg"
    options = ("--repetitions", "1,16", "--data-sets", 10, "--figure", figure, "--format", "csv")
    result = power("--study", audited[1].path, "--from", db, *options)
    assert result.exit_code == 0, result.output
    table = pl.read_csv(result.stdout.encode()).filter(attribute="gender", test="rating")
    assert table["power"].is_sorted()
    assert table["power_uncorrected"][1] > 0.5
    assert "Power by the size of the difference" in result.stderr
    assert "<svg" in figure.read_text("utf-8")
