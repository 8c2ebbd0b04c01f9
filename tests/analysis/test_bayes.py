"""Bayesian models: fitted once, kept next to the database, opened again; and what is doubtful says so everywhere."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from click.testing import Result

from slant import analysis
from slant.analysis.bridge.r_home import r_installation
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.cli.fits import bayes_table
from slant.analysis.fitting.fits import FitResult
from slant.analysis.questions.bayes_draws import Draws
from slant.analysis.rows.study_choice import find_fits
from slant.analysis.rows.views import open_trials
from slant.collector.errors import DatabaseError, RError, UnknownNameError, UsageError
from tests.support.choices_made import QUICK, database_of_choices
from tests.support.commands import run_analyze
from tests.support.plain_r import rscript
from tests.support.processes import HAS_PROC, is_running, members_of, wait_until

pytestmark = pytest.mark.needs("brms")
EXPECTED = {"models": 1, "predictions": 16, "contrasts": 16, "effects": 0, "checks": 10, "loo": 1, "pointwise": 0}
FLAGS = ["--chains", "1", "--iterations", "200", "--warmup", "100"]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database_of_choices(tmp_path_factory.mktemp("bayes") / "a.duckdb")


@pytest.fixture(scope="module")
def found(db: Path) -> FitResult:
    return analysis.fit(db, "interference", "interference", settings=QUICK)


@pytest.fixture(scope="module")
def draws(db: Path, found: FitResult) -> Draws:
    return analysis.read_draws(db, fit="interference")


def shell(db: Path, *arguments: str) -> Result:
    return run_analyze("--fit", "interference", "--study", "interference", "--db", db, *arguments)


@pytest.mark.slow
def test_a_fit_has_its_tables_and_the_models_in_the_order_of_the_study(found: FitResult) -> None:
    assert {name: frame.height for name, frame in found.bayes.items()} == EXPECTED
    assert found.table["term"].to_list()[:4] == ["intercept", "blockincongruent", "modelgpt-5", "domaingender_science"]
    assert found.table["term"].to_list()[-1] == "sd_item"
    assert "model = claude-sonnet-4" in found.bayes["models"]["reference"].item()
    assert found.diagnostics.select("n", "n_missing", "n_groups").row(0) == (39, 9, 12)


def test_what_did_not_converge_says_so_in_every_frame_and_every_view(db: Path, found: FitResult) -> None:
    of_choices = [frame for name, frame in found.bayes.items() if EXPECTED[name]]
    frames = [found.table, found.diagnostics, found.variances, found.messages, *of_choices]
    views = ["diagnostics", "estimates", "predictions", "contrasts", "checks"]
    names = [*(f"bayes_{view}" for view in views), "condition_contrasts"]
    for frame in [*frames, *(open_trials(db, view=name) for name in names)]:
        assert frame.height > 0
        assert frame["is_converged"].to_list() == [False] * frame.height
        assert frame["verdict"].str.starts_with("Doubtful").all()
    assert found.diagnostics["status"].item() == "warned"


@pytest.mark.slow
def test_the_second_call_fits_nothing_and_another_seed_is_another_fit(
    db: Path, found: FitResult, tmp_path: Path
) -> None:
    again = analysis.fit(db, "interference", "interference", settings=QUICK)
    assert again.diagnostics["seconds"].item() == found.diagnostics["seconds"].item()
    for name, frame in found.bayes.items():
        assert again.bayes[name].equals(frame), name
    assert again.table.equals(found.table)
    own = Path(shutil.copy(db, tmp_path))  # so that the last fit of the other tests is theirs
    other = analysis.fit(own, "interference", "interference", settings={**QUICK, "seed": 2})
    assert other.table["estimate"].to_list() != found.table["estimate"].to_list()
    assert open_trials(own, view="bayes_diagnostics").height == 2


@pytest.mark.slow
def test_a_refit_with_the_same_seed_gives_the_same_numbers(db: Path, found: FitResult) -> None:
    again = analysis.fit(db, "interference", "interference", settings=QUICK, refit=True)
    assert again.table.equals(found.table)
    assert again.diagnostics["seconds"].item() != found.diagnostics["seconds"].item()


@pytest.mark.needs("nanoparquet")
def test_draws_come_back_as_they_were_summed_up(draws: Draws, found: FitResult) -> None:
    frame = draws.frame
    assert frame.columns[:4] == [".chain", ".iteration", ".draw", "b_Intercept"]
    assert frame.height == QUICK["iterations"] - QUICK["warmup"]
    assert frame["b_Intercept"].mean() == pytest.approx(found.table["estimate"][0])
    assert str(draws.about["verdict"]).startswith("Doubtful")
    assert draws.tables["contrasts"]["estimate"].sort().equals(found.bayes["contrasts"]["estimate"].sort())


@pytest.mark.needs("nanoparquet")
def test_a_file_that_is_not_the_one_that_was_kept_is_not_opened(tmp_path: Path, draws: Draws) -> None:
    draws.path.read_bytes()
    copied = Draws(draws.about, draws.tables, tmp_path / "b.duckdb", draws._md5)
    with pytest.raises(DatabaseError, match="The fitted model is not next to the database"):
        copied.path  # noqa: B018
    (tmp_path / "b.duckdb.models").mkdir()
    (tmp_path / "b.duckdb.models" / draws.path.name).write_bytes(b"another")
    with pytest.raises(DatabaseError, match="is not the model that this database recorded"):
        copied.path  # noqa: B018


@pytest.mark.needs("nanoparquet")
def test_arviz_gets_chains_draws_and_items(draws: Draws) -> None:
    pytest.importorskip("arviz", reason="the optional Python package arviz is not installed")
    posterior = draws.to_arviz().posterior
    assert dict(posterior.sizes) == {"chain": 1, "draw": 100, "item": 12}
    assert float(posterior["b_Intercept"].mean()) == pytest.approx(draws.frame["b_Intercept"].mean())
    word = "gender_career:.word.3"
    own = float(posterior["r_item"].sel(item=word).mean())
    assert own == pytest.approx(draws.frame[f"r_item[{word},Intercept]"].mean())


@pytest.mark.needs("nanoparquet")
def test_without_arviz_a_sentence_says_how_to_get_it(draws: Draws, monkeypatch: pytest.MonkeyPatch) -> None:
    missing: ModuleType | None = None
    monkeypatch.setitem(sys.modules, "arviz", missing)
    with pytest.raises(UsageError, match=r"pip install arviz"):
        draws.to_arviz()


@pytest.mark.slow
def test_the_shell_prints_contrasts_with_what_they_are_worth(db: Path, found: FitResult) -> None:
    answer = shell(db, *FLAGS, "--show", "contrasts", "--format", "csv")
    rows = pl.read_csv(answer.stdout.encode())
    assert rows["estimate"].to_list() == pytest.approx(found.bayes["contrasts"]["estimate"].to_list(), rel=1e-5)
    assert rows["is_converged"].to_list() == [False] * rows.height
    assert "Caution: interference, all models: R-hat goes up to" in answer.stderr
    assert answer.exit_code == 0
    diagnosed = pl.read_csv(shell(db, *FLAGS, "--show", "diagnostics", "--format", "csv").stdout.encode())
    assert diagnosed.select("n_draws", "chains", "status").row(0) == (100, 1, "warned")


def test_a_fit_that_the_study_lacks_names_those_it_has(db: Path) -> None:
    with pytest.raises(UnknownNameError, match='this is about "interference"') as caught:
        analysis.fit(db, "interference", "stm")
    assert "brms, compliance, compliance_lme4, interference" in str(caught.value)
    with pytest.raises(UnknownNameError, match=r"keeps the study as it was asked; fits added since: --study \./FILE"):
        find_fits("mine", db, None)


@pytest.mark.slow
def test_four_rows_of_one_model_are_fitted_and_say_what_that_is_worth(tmp_path: Path) -> None:
    answer = shell(database_of_choices(tmp_path / "a.duckdb", words=1, models=("gpt-5",)), *FLAGS, "--format", "csv")
    assert "the formula is now is_consistent ~ block * domain + (1 | item)" in answer.stderr
    assert "log odds are kept finite by the priors" in answer.stderr
    assert pl.read_csv(answer.stdout.encode())["is_converged"].to_list() == [False] * 5


@pytest.mark.slow
def test_what_would_take_hours_is_refused_with_an_estimate(db: Path) -> None:
    with pytest.raises(RError, match=r"Won't fit 48 rows, 1 chains of 900000000 iterations: about \d+ hours") as caught:
        analysis.fit(db, "interference", "interference", settings={**QUICK, "iterations": 900_000_000})
    assert "--force" in str(caught.value)


@pytest.mark.slow
@pytest.mark.needs("nanoparquet")
def test_rscript_draws_the_same_from_a_csv(db: Path, draws: Draws, tmp_path: Path) -> None:
    open_trials(db, view="forced_choice_trials").write_csv(tmp_path / "rows.csv")
    rscript("draws_from_csv.R", tmp_path / "rows.csv", r_folder(), tmp_path / "draws.parquet", draws.about["seed"])
    assert pl.read_parquet(tmp_path / "draws.parquet").equals(draws.frame)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_PROC, reason="looks for processes in /proc")
def test_ctrl_c_ends_the_chains_too(db: Path, found: FitResult, root: Path) -> None:
    command = ["--fit", "interference", "--study", "interference", "--db", str(db), "--iterations", "1000000"]
    code = "from slant.analysis.cli.main import analyze; analyze()"
    parent = subprocess.Popen([sys.executable, "-c", code, *command], cwd=root, start_new_session=True)
    try:
        assert wait_until(lambda: len(groups_of(parent.pid)) > 2, patience_s=300)  # the worker, and its chains
        chains = groups_of(parent.pid)
        parent.send_signal(signal.SIGINT)
        assert parent.wait(20) != 0
    finally:
        parent.kill()
    assert wait_until(lambda: not any(map(is_running, chains)), patience_s=5)


def groups_of(session: int) -> list[int]:
    """The processes of a session that are in a group of a worker's own."""
    return [process for process, group in members_of(session) if group != session]


def test_topics_of_a_bayesian_model_are_refused_instead_of_an_empty_table(db: Path, found: FitResult) -> None:
    refused = shell(db, *FLAGS, "--show", "words")
    assert refused.exit_code != 0
    assert 'There is no table "words" of interference.' in refused.stderr


@pytest.mark.slow
def test_a_binomial_model_of_lme4_is_shown_without_what_only_token_counts_have() -> None:
    row = pl.DataFrame({"model": ["gpt-5"], "refusals_removed": [True], "measure": [None], "estimate": [1.0]})
    empty = dict.fromkeys(("models", "contrasts"), pl.DataFrame())
    of_tokens = FitResult("lme4", row, row, row, row, None, lambda *_: None, {"lme4": empty, "brms": empty})
    of_choices = replace(of_tokens, tables={"lme4": {**empty, "contrasts": row}, "brms": empty})
    assert bayes_table(of_choices, "table", in_full=False).columns == ["model", "estimate"]
    assert bayes_table(of_tokens, "table", in_full=False).columns == row.columns


def test_draws_that_r_could_not_write_say_what_to_install() -> None:
    about, kept = {"fit": "interference", "call_id": "a"}, {"draws_md5": None, "file_md5": "b"}
    with pytest.raises(DatabaseError, match="were not stored") as caught:
        _ = Draws(about, {}, Path("a.duckdb"), kept).frame
    assert 'install.packages("nanoparquet")' in str(caught.value)


@pytest.mark.slow
def test_draws_and_all_that_is_made_of_them_are_those_of_brms_itself(root: Path) -> None:
    r = r_installation()
    lacking = "for (p in c('brms', 'rstan')) stopifnot(requireNamespace(p, quietly = TRUE))"
    if r is None or subprocess.run([str(r.rscript), "-e", lacking], capture_output=True).returncode != 0:
        pytest.skip("R's package brms is not on this machine")
    script = [str(r.rscript), "--vanilla", str(root / "tests" / "support" / "golden_brms.R"), str(root / "R")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=2400, check=False)
    answers = dict(line.split() for line in done.stdout.splitlines() if line.endswith((" TRUE", " FALSE")))
    assert len(answers) == 22, done.stderr
    assert {name for name, answer in answers.items() if answer != "TRUE"} == set()
