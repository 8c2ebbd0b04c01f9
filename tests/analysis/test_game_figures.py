"""Figures of games: which variants stand side by side is the study's to say, and nothing is computed for them."""

from __future__ import annotations

import csv
import shutil
import subprocess
from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant import analysis
from slant.analysis.paper.published import read_human_levels
from slant.analysis.plots.games import ROWS, study_figure_kinds
from slant.analysis.plots.registry import FigureRows, figure_rows
from slant.analysis.questions.games.indices import game_indices
from slant.collector import collect
from slant.collector.errors import DatabaseError, StudyError, UnknownNameError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.game_made import FIGURES, game_file, played

pytestmark = pytest.mark.slow

with_r = pytest.mark.needs("R")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return played(tmp_path_factory.mktemp("own"), FIGURES)


def rows_of(study: Path, db: Path, *names: str, variants: tuple[str, ...] = ()) -> dict[str, FigureRows]:
    return {one.figure: one for one in figure_rows(db, load_study(study), names, variants=variants)}


@with_r
def test_a_study_says_which_variants_a_figure_puts_side_by_side(own: tuple[Path, Path]) -> None:
    found = rows_of(*own, "rewards", "parts", "kin", "luck")
    rewards = found["rewards"]
    assert (rewards.function, rewards.part, rewards.note) == ("plot_stratification", None, None)
    assert set(rewards.grain) == {"source", "study_version"}
    shown = rewards.rows.select("variant", "variant_label", "model", "index", "title").rows()
    assert shown == [
        (variant, label, model, "si", "Does a bonus matter?")
        for variant, label in (("bonus", "with a bonus"), ("base", "base"))
        for model in ("random", "greedy")
    ]
    panels = found["parts"].rows.select("panel", "variant").unique(maintain_order=True).rows()
    assert sorted(panels) == [("all", "base"), ("all", "bonus"), ("no bonus", "base")]
    families = found["kin"].rows.select("family", "model", "order").unique().rows()
    assert found["kin"].function == "plot_families"
    assert sorted(families) == [("Simple", "greedy", 2), ("Simple", "random", 1)]
    luck = found["luck"]  # one row a game, beside what chance gives
    assert (luck.function, luck.rows.height) == ("plot_success", 2 * 3)
    assert luck.rows["random_level"].unique().to_list() == luck.rows["best_level"].unique().to_list() == [0.5]


@with_r
def test_a_title_that_compares_variants_needs_two_of_them(tmp_path: Path) -> None:
    study, db = played(tmp_path, FIGURES, kept=("base",))
    found = rows_of(study, db, "rewards", "parts")
    assert set(found) == {"parts"}  # it has no title that would ask for more than there is
    words = ["figures", "parts", "rewards", "--image", "svg", "--study", str(study), "--db", str(db)]
    result = run_analyze(*words, "--out", tmp_path)
    typed = f"collect --study {study} --variant NAME (bonus, base), then analyze indices --study {study}"
    assert f"Not drawn, because they have no rows: rewards. To make these rows: {typed}" in result.stderr


@with_r
def test_figures_of_one_variant_show_the_study_as_it_stands_unless_told(own: tuple[Path, Path]) -> None:
    usual = rows_of(*own, "learning_curves", "exploration", "allocations")
    parts = {name: one.part for name, one in usual.items()}
    assert parts == dict.fromkeys(("learning_curves", "exploration", "allocations"), "base")
    assert rows_of(*own, "exploration", variants=("bonus",))["exploration"].part == "bonus"
    with pytest.raises(UnknownNameError, match='Did you mean "bonus"'):
        rows_of(*own, "exploration", variants=("bonsu",))


@with_r
def test_every_figure_is_drawn_and_says_that_no_model_was_asked(own: tuple[Path, Path], tmp_path: Path) -> None:
    study, db = own
    names = ["rewards", "parts", "kin", "luck", "learning_curves", "exploration", "allocations"]
    drawn = analysis.figures(db, str(study), tmp_path, names=names, formats=["svg"])
    assert drawn["problem"].null_count() == drawn.height
    files = [Path(path).name for path in drawn["path"]]
    assert files[:2] == ["rewards-simulated.svg", "parts-simulated.svg"]
    assert "learning_curves-base-simulated.svg" in files
    assert drawn["alt_text"].str.contains("Simulated answers: no model was asked.", literal=True).all()


@with_r
def test_a_study_without_figures_has_all_variants_side_by_side_and_what_lacks_is_said(
    own: tuple[Path, Path], tmp_path: Path
) -> None:
    study, db = game_file(tmp_path), Path(shutil.copy(own[1], tmp_path / "b.duckdb"))
    assert rows_of(study, db, "stratification")["stratification"].rows["variant"].unique().len() == 2
    with duckdb.connect(str(db)) as connection:
        connection.execute("DELETE FROM game_indices WHERE variant = 'bonus'")
    said = (
        f"2 of 4 cells are not drawn, because their indices are not stored yet: type `analyze indices --study {study}`."
    )
    assert rows_of(study, db, "stratification")["stratification"].note == said
    with duckdb.connect(str(db)) as connection:
        connection.execute("DELETE FROM game_indices")
    assert set(rows_of(study, db, "stratification", "exploration")) == {"exploration"}
    with pytest.raises(DatabaseError, match=f"analyze indices --study {study}"):
        analysis.figures(db, str(study), tmp_path, names=["stratification"])


def test_the_lines_of_people_are_those_that_the_paper_itself_prints(tmp_path: Path) -> None:
    study = load_study("hiring")
    assert study.published is not None
    with study.published.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == "humans" and not row["place"].startswith("v4")]
    cells = [zip(row["quantity"].split("; "), row["printed"].split("; "), strict=True) for row in rows]
    printed = {(name, float(at)) for row in cells for name, at in row if name in ("si", "bgd", "gasi")}
    levels = read_human_levels(study)
    assert set(levels.select("index", "human").iter_rows()) == printed
    assert levels["game_variant"].unique().to_list() == ["main"]
    assert read_human_levels(load_study(game_file(tmp_path))).is_empty()


def test_the_hiring_game_has_the_figures_of_its_paper() -> None:
    study = load_study("hiring")
    paper = {"stratification", "families", "success_rates", "features", "steers", "settings", "hidden_mapping"}
    assert set(study_figure_kinds(study)) == paper
    assert {"elicited_rates", "controlled_indices", "allocations"} < set(ROWS)
    assert study.figures["steers"].all_variants == ("main", "steer_fair", "steer_values", "steer_norm", "steer_bonus")
    assert study_figure_kinds(load_study("rmiat")) == {}


def test_figures_are_no_part_of_what_is_asked(tmp_path: Path) -> None:
    bare, full = (load_study(game_file(tmp_path, more)).version for more in ("", FIGURES))
    assert bare == full


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('variants = ["bonsu"]', 'Did you mean "bonus"'),
        ('families = { Kin = ["greedi"] }', 'Did you mean "greedy"'),
        ('variants = ["base"]\npanels = { a = ["base"] }', 'has both "panels" and "variants"'),
        ('variant = ["base"]', 'Did you mean "variants"'),
    ],
)
def test_a_figure_that_can_not_be_is_refused_in_words(tmp_path: Path, wrong: str, said: str) -> None:
    with pytest.raises((StudyError, UnknownNameError), match=said):
        load_study(game_file(tmp_path, f'[figures.one]\nwhat = "w"\n{wrong}\n'))


@with_r
def test_what_indices_do_is_drawn_from_games_that_r_makes_up(own: tuple[Path, Path]) -> None:
    (one,) = figure_rows(own[1], load_study(own[0]), ["controlled_indices"])
    assert one.grain == {"source": "simulated"}
    si = one.rows.filter(pl.col("index") == "si").sort("p")["estimate"]
    assert si.last() == pytest.approx(2)
    assert si.first() < 1.2


_FIGURES_IN_R = """
for (file in list.files("R", full.names = TRUE)) source(file)
lines <- readLines("vignettes/hiring.Rmd", encoding = "UTF-8")
chunk <- function(name) {
  from <- grep(sprintf("^```\\\\{r %s", name), lines) + 1
  lines[seq(from, from + which(lines[-seq_len(from)] == "```")[[1]] - 1)]
}
to <- commandArgs(TRUE)
code <- parse(text = gsub("hiring.duckdb", to[[1]], c(chunk("file"), chunk("figures")), fixed = TRUE))
setwd(to[[2]])
options(warn = 2)
eval(code)
"""


@with_r
def test_who_has_only_r_and_the_file_draws_every_figure_of_the_paper(root: Path, tmp_path: Path) -> None:
    db, drawn = tmp_path / "a.duckdb", tmp_path / "drawn"
    drawn.mkdir()
    (tmp_path / "draw.R").write_text(_FIGURES_IN_R, "utf-8")
    for variant in ("main", "success_0_1", "elicited_rates", "resettlement", "steer_bonus", "hidden_mapping"):
        collect(db, "hiring", ["simulated/greedy", "simulated/random"], variant=variant)
    game_indices(db, n_boot=20, n_random=20)
    command = ["Rscript", str(tmp_path / "draw.R"), str(db), str(drawn)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {f"figure_{n}" for n in (2, 5, 6, 7, 8, 12, 13)}
    more = {"figures_9_to_11", "appendix_d", "learning_curves", "exploration"}
    assert {file.stem for file in drawn.glob("*.svg")} == figures | more
    for file in drawn.glob("*.svg"):
        assert "imulated" in file.read_text("utf-8").partition("<desc>")[2].partition("</desc>")[0], file.name
