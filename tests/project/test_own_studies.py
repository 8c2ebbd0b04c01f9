"""Studies written from nothing go through every command by their names alone, in the shell, Python, R and SQL."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant import analysis
from slant.collector import merge
from slant.collector.errors import UsageError
from tests.support import ROOT
from tests.support.commands import run_analyze, run_collect
from tests.support.own_studies import OWN, collected

PRINTED = """place,model,test,condition,quantity,printed,tolerance
Table 1,small,tea_coffee,usual,n,24,
Table 1,small,tea_coffee,,refusals,7,1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """drinks.duckdb, pets.duckdb and posts.duckdb with one study each, all.duckdb with all three."""
    its = tmp_path_factory.mktemp("own")
    for name in OWN:
        collected(name, its / name, its / f"{name}.duckdb")
    merge(its / "all.duckdb", [its / f"{name}.duckdb" for name in OWN])
    return its


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


DRINKS, PETS, POSTS, ALL = "drinks", "pets", "posts", "all"
CASES = [
    (DRINKS, "tables tokens_by_condition", 0, "crossed"),
    (DRINKS, "tables", 0, "effect_size_parts"),
    (DRINKS, "--fit lme4", 0, "conditioncrossed"),
    (DRINKS, "--fit effect_size", 0, "cohens_d"),
    (DRINKS, "--fit step_sensitivity", 0, "1 fit: 1 ok"),
    (DRINKS, "check", 0, "No trial was refused"),
    (DRINKS, "sensitivity", 0, "difference of means"),
    (DRINKS, "figures --out figures_drinks tokens effect_sizes", 0, "tokens-simulated-base.svg"),
    (DRINKS, "report --out drinks.html", 0, "drinks.html"),
    (DRINKS, "indices", 2, 'The study "drinks" has no games'),
    (DRINKS, "permute --permutations 40", 0, "words assigned to groups at random"),
    (DRINKS, "compare", 2, 'published = "published.csv"'),
    (PETS, "tables consistency_by_condition", 0, "together"),
    (PETS, "--fit lme4", 0, "conditionapart"),
    (PETS, "--fit lme4 --show contrasts", 0, "delta_p"),
    (PETS, "--fit effect_size", 2, "Known: answered, chosen, lme4"),
    (PETS, "check", 0, "The place of an option affects the choice in none of 2 cells"),
    (PETS, "check --show left_out", 0, "carries_effect"),
    (PETS, "check --show influence", 2, "first_option, left_out, missing_answers"),
    (PETS, "check --out pets_check.html", 0, "pets_check.html"),
    (PETS, "sensitivity", 0, "delta P"),
    (PETS, "permute --permutations 2 --engine lme4", 0, "In the reference cell"),
    (PETS, "figures --out figures_pets permutations", 0, "permutations-lme4-simulated-base.svg"),
    (PETS, "report --out pets.html", 0, "pets.html"),
    (POSTS, "tables allocation_indices", 0, "equal"),
    (POSTS, "indices --n-boot 10 --n-random 4", 0, "2 cells"),
    (POSTS, "differences --n-draws 20 --reference base", 0, "1 comparisons"),
    (POSTS, "check", 0, "No game of 3 was cut short"),
    (POSTS, "check --show game_influence", 0, "random_high"),
    (POSTS, "check --out posts_check.html", 0, "posts_check.html"),
    (POSTS, "figures --out figures_posts allocations", 0, "allocations-base-simulated.svg"),
    (POSTS, "report --out posts.html", 0, "posts.html"),
    (ALL, "tables outcome_counts", 0, "posts"),
    (ALL, "--fit lme4", 0, 'Not fitted: "posts"'),
    (ALL, "--fit effect_size --study drinks", 0, "cohens_d"),
    (ALL, "check", 2, "holds several studies: drinks, pets, posts"),
    (ALL, "check --study pets", 0, "Pets and places"),
    (ALL, "report --out all.html", 2, "holds several studies: drinks, pets, posts"),
    (ALL, "report --out all.html --study pets", 0, "all.html"),
    (ALL, "indices --n-boot 10 --n-random 4", 0, 'This is about "posts"'),
]


# One of each kind that is quick; the others in the full suite.
ALWAYS = {
    (DRINKS, "tables tokens_by_condition"), (DRINKS, "--fit lme4"), (DRINKS, "compare"), (DRINKS, "indices"),
    (PETS, "tables consistency_by_condition"), (PETS, "--fit lme4"), (PETS, "--fit effect_size"),
    (POSTS, "tables allocation_indices"), (POSTS, "indices --n-boot 10 --n-random 4"),
    (ALL, "tables outcome_counts"), (ALL, "check"), (ALL, "report --out all.html"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("db", "typed", "exit_code", "said"),
    [
        pytest.param(*case, id=f"{case[0]}: {case[1]}", marks=[] if case[:2] in ALWAYS else [pytest.mark.slow])
        for case in CASES
    ],
)
def test_every_analysis_of_a_study_of_ones_own_gives_results_or_a_sentence(
    here: Path, db: str, typed: str, exit_code: int, said: str
) -> None:
    result = run_analyze(*typed.split(), "--db", f"{db}.duckdb")
    assert said in result.output, result.output
    assert result.exit_code == exit_code
    if said.endswith(".html"):
        assert result.stdout.strip() == str(here / said)  # its path, and nothing else
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_the_collectors_commands_know_it_too(here: Path, name: str) -> None:
    db = f"{name}.duckdb"
    for typed in ("methods", f"export --out {name}.csv --overwrite", "status"):
        result = run_collect(*typed.split(), "--db", db)
        assert result.exit_code == 0, result.output
    assert pl.read_csv(f"{name}.csv").height > 0


@pytest.mark.slow
def test_figures_and_sentences_call_conditions_as_the_study_does(here: Path) -> None:
    drawn = analysis.figures(
        "drinks.duckdb", out="words", names=["tokens", "effect_sizes", "refusals"], formats=["svg"]
    )
    words = " ".join(drawn["alt_text"])
    assert "as usual" in words
    assert "crossed" in words
    assert "compatible" not in words
    assert "more tokens in the crossed condition" in words


@pytest.mark.slow
def test_printed_numbers_in_one_file_are_all_that_a_comparison_takes(here: Path) -> None:
    file = here / "drinks" / "study.toml"
    text = file.read_text("utf-8")
    (here / "drinks" / "published.csv").write_text(PRINTED, "utf-8")
    file.write_text('published = "published.csv"\n' + text, "utf-8")
    try:
        rows = analysis.compare("drinks.duckdb", str(file))
    finally:
        file.write_text(text, "utf-8")
    assert rows.select("table", "quantity", "recomputed", "tolerance", "agrees").rows() == [
        ("Table 1", "n", 24.0, 0.5, True),
        ("Table 1", "refusals", 0.0, 1.0, False),
    ]


@pytest.mark.slow
def test_python_opens_what_is_there_and_asks_where_there_is_more(here: Path) -> None:
    for name in OWN:
        assert analysis.open_trials(f"{name}.duckdb")["study"].unique().to_list() == [name]
    assert set(analysis.open_trials("all.duckdb")["study"]) == set(OWN)
    with pytest.raises(UsageError, match="--study drinks"):
        analysis.report("all.duckdb", out="never.html")


@pytest.mark.slow
def test_sql_gives_each_study_its_rows(here: Path) -> None:
    with duckdb.connect("all.duckdb", read_only=True) as shell:
        rows = shell.sql("SELECT study, list(DISTINCT condition) FROM tokens_by_condition GROUP BY ALL").fetchall()
        conditions = shell.sql("SELECT condition FROM consistency_by_condition").fetchall()
        designs = shell.sql("SELECT study, design FROM studies").fetchall()
    assert [(study, sorted(its)) for study, its in rows] == [("drinks", ["crossed", "usual"])]
    assert sorted(conditions) == [("apart",), ("together",)]
    assert sorted(designs) == [("drinks", "association"), ("pets", "forced_choice"), ("posts", "allocation")]


R = """
for (file in list.files(file.path(commandArgs(TRUE)[[1]], "R"), full.names = TRUE)) source(file)
drinks <- as.data.frame(open_trials("drinks.duckdb"))
print(effect_size(drinks)$estimates$estimate)
print(levels(shown_conditions(drinks)))
pets <- as.data.frame(open_trials("pets.duckdb"))
print(levels_of(pets, "condition"))
posts <- as.data.frame(open_trials("posts.duckdb", view = "allocation_rounds"))
print(nrow(game_indices(posts, by = "variant", n_draws = 0, n_random = 0)) > 0)
all <- as.data.frame(open_trials("all.duckdb", study = "drinks"))
print(unique(all$study))
"""


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_topics_of_too_few_texts_are_a_sentence(here: Path) -> None:
    result = run_analyze("--fit", "stm", "--db", "drinks.duckdb")
    assert "Lower the threshold" in result.output
    assert result.exit_code == 1


@pytest.mark.slow
@pytest.mark.needs("DBI", "duckdb")
def test_r_takes_the_same_studies(here: Path) -> None:
    pytest.importorskip("rpy2")
    done = subprocess.run(["Rscript", "-e", R, str(ROOT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    expected = analysis.fit("drinks.duckdb", fit="effect_size").table["estimate"][0]
    first, *rest = done.stdout.splitlines()
    assert float(first.split()[1]) == pytest.approx(expected, rel=1e-6)
    assert rest == ['[1] "as usual" "crossed" ', '[1] "together" "apart"   ', "[1] TRUE", '[1] "drinks"']
