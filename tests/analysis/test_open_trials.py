"""`open_trials`: which view is opened where nobody names one, and of which study and version."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

import pytest

from slant.analysis.rows.views import open_trials
from slant.collector import collect
from slant.collector.errors import UnknownNameError
from tests.support.tiny_game import QUICK, write_game
from tests.support.tiny_study import write_tiny


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with an association study and a game with questions."""
    folder = tmp_path_factory.mktemp("both")
    db = folder / "a.duckdb"
    assert collect(db, write_game(folder), ["simulated/greedy"], **QUICK).is_complete
    assert collect(db, write_tiny(folder), ["simulated/small"], **QUICK).is_complete
    return db


def studies(db: Path) -> dict[str, str]:
    return dict(open_trials(db, view="studies").select("design", "study").unique().iter_rows())


def test_the_study_that_is_named_decides_which_view_is_opened(both: Path) -> None:
    names = studies(both)
    assert "condition_label" in open_trials(both, study=names["association"]).columns
    with pytest.warns(UserWarning, match="These are the rounds of games.*allocation_questions"):
        rounds = open_trials(both, study=names["allocation"])
    assert ({"job", "choice"} <= set(rounds.columns), rounds.height) == (True, 18)
    assert open_trials(both)["study"].n_unique() == 2


def test_a_version_is_opened_by_how_it_begins(both: Path) -> None:
    name = studies(both)["association"]
    trials = open_trials(both, study=name)
    version = trials["study_version"][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_trials(both, study=name, version=version[:6]).equals(trials)
    with pytest.raises(UnknownNameError, match='no version "nosuch" in'):
        open_trials(both, version="nosuch")


@pytest.mark.needs("DBI", "duckdb", "dbplyr")
def test_r_opens_the_same_rows(both: Path, tmp_path: Path, root: Path) -> None:
    names = studies(both)
    version = open_trials(both, study=names["association"])["study_version"][0]
    script = tmp_path / "open.R"
    script.write_text(
        f'for (file in list.files("{root}/R", full.names = TRUE)) source(file)\n'
        "shown <- function(...) { trials <- open_trials(...); rows <- as.data.frame(trials); close_trials(trials)\n"
        '  cat(nrow(rows), "job" %in% names(rows), "condition_label" %in% names(rows), "\\n") }\n'
        f'shown("{both}", study = "{names["allocation"]}")\n'
        f'shown("{both}", study = "{names["association"]}", version = "{version[:6]}")\n'
        f'shown("{both}")\n'
        f'tryCatch(open_trials("{both}", version = "nosuch"), error = function(e) cat(conditionMessage(e)))\n'
    )
    done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True, check=True)
    n_tiny, n_all = open_trials(both, study=names["association"]).height, open_trials(both).height
    lines = done.stdout.splitlines()
    assert lines[:3] == ["18 TRUE FALSE ", f"{n_tiny} FALSE TRUE ", f"{n_all} FALSE FALSE "]
    assert lines[3].startswith('Can\'t open version "nosuch"')
    assert version in lines[4]
    assert "These are the rounds of games." in done.stderr


@pytest.mark.slow
@pytest.mark.needs("DBI", "duckdb", "dbplyr")
def test_what_r_fits_to_opened_trials_is_called_as_the_study_calls_it(both: Path, tmp_path: Path, root: Path) -> None:
    study = studies(both)["association"]
    script = tmp_path / "labels.R"
    script.write_text(
        f'for (file in list.files("{root}/R", full.names = TRUE)) source(file)\n'
        f'trials <- as.data.frame(open_trials("{both}", study = "{study}"))\n'
        "trials$model_label <- 'The small one'; trials$tokens <- seq_len(nrow(trials)) %% 7\n"
        'sizes <- effect_size(trials, by = c("model", "test"))\n'
        f'plot_effect_sizes(sizes, "{tmp_path}/sizes.pdf", width = 3.5)\n'
        "plot <- plot_effect_sizes(sizes)\n"
        'cat(attr(plot, "alt_text"), levels(plot$data$model_shown), sep = "\\n")\n'
    )
    done = subprocess.run(["Rscript", str(script)], capture_output=True, text=True, check=True)
    assert "more tokens in the incompatible condition" in done.stdout
    assert "Simulated answers" in done.stdout
    assert done.stdout.splitlines()[-1] == "The small one"
    assert (tmp_path / "sizes.pdf").read_bytes()[:5] == b"%PDF-"
