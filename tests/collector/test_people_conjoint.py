"""The people of a published conjoint come in through the design factorial (../shared/data, read and never kept)."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_home import r_installation
from slant.collector import import_trials
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, opened_journal
from slant.collector.system.json_text import encoded

PERSON = ("age_group", "education", "gender", "party", "ideology")
SAID = {"layout": "people", "consent": "of an online panel", "origin": "its authors"}


def toml(value: object) -> str:
    return encoded(value).decode()


def write_conjoint(data: Path, folder: Path) -> tuple[Path, Path]:
    """A study whose factors have the levels of the file, with personas of five columns, and the rows with those."""
    profiles, people = (pl.read_csv(data / name, infer_schema=False) for name in ("profiles.csv", "people.csv"))
    factors = profiles.columns[3:12]
    of_person = people.select("person", *(pl.col(name).alias(f"of_person_{name}") for name in PERSON))
    rows = profiles.join(of_person, on="person", how="left", maintain_order="left")
    rows.rename({"position": "place"}).with_columns(name=pl.lit("A. Panellist")).write_csv(folder / "rows.csv")
    lines = [
        'name = "newcomers"', 'title = "Whom to admit"', 'design = "factorial"', "profiles.count = 2",
        'templates.plain = "{profiles}"', 'crossing = { takes = "random", n = 10 }',
        'questions.chosen = { text = "Which one?", kind = "choice", options = "profiles" }',
        'questions.rating = { text = "Rate {profile}.", kind = "scale", each_profile = true }',
        'models = [{ model = "gpt-6-luna", provider = "openai" }]',
        *(f"factors.{name} = {toml(sorted(profiles[name].unique()))}" for name in factors),
        'personas.file = "personas.csv"',
    ]  # fmt: skip
    header = ",".join(["level", "text", *(f"of_person_{name}" for name in PERSON)])
    (folder / "personas.csv").write_text(f"{header}\nvoter,You vote.,18-29,none,male,neither,middle\n")
    (folder / "study.toml").write_text("\n".join(lines))
    return folder / "study.toml", folder / "rows.csv"


@pytest.fixture(scope="module")
def conjoint(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = shared / "data" / "conjoint_immigration"
    if not data.exists():
        pytest.skip(f"{data} is not here")
    folder = tmp_path_factory.mktemp("conjoint")
    study, rows = write_conjoint(data, folder)
    columns = [f"of_person_{name}" for name in PERSON]
    report = import_trials(folder / "t.duckdb", str(study), [rows], person=columns, **SAID)
    assert (report.people, report.problems) == (1407, [])
    assert set(report.left_out) == {"support", "name"}
    return folder / "t.duckdb"


@pytest.mark.slow
def test_the_people_of_a_conjoint_come_in_as_they_answered(conjoint: Path) -> None:
    with reading(conjoint) as connection:
        rows = frame_of(connection.view("factorial_profiles"))
    chosen = rows.filter(question="chosen")
    who = chosen.filter(pl.col("chosen").is_not_null())["participant"]
    assert (len(who), who.n_unique()) == (14_018, 1404)
    rated = rows.filter(question="rating")
    counts = rated["rating"].value_counts().sort("rating")["count"].to_list()
    assert counts == [1503, 1462, 1858, 3258, 2862, 2020, 1097]
    assert rated["participant"].n_unique() == 1406


@pytest.mark.slow
def test_columns_of_people_are_attributes_of_profiles_and_of_participants(conjoint: Path) -> None:
    with reading(conjoint) as connection:
        shown = connection.sql("SELECT any_value(attributes) FROM factorial_profiles WHERE participant = 1").fetchall()
        told = connection.sql("SELECT attributes FROM participants WHERE participant = 1").fetchall()
    [(attributes,)], [(told,)] = shown, told
    assert told.keys() == {f"of_person_{name}" for name in PERSON}
    assert told.items() <= attributes.items()


@pytest.mark.slow
def test_nothing_but_what_was_asked_for_is_in_the_journal(conjoint: Path) -> None:
    [path] = journal_paths(journal_folder(conjoint))
    with opened_journal(path) as journal:
        text = journal.read()
    assert text.count(b"human") > 21_000
    assert b"Panellist" not in text
    assert b"rows.csv" not in text


@pytest.mark.slow
@pytest.mark.needs("Matrix")
def test_marginal_means_of_people_have_errors_over_people(conjoint: Path, shared: Path) -> None:
    study = str(conjoint.with_name("study.toml"))
    found = analysis.fit(conjoint, study, "marginal_means", only={"test": ["chosen"]}).table
    known = pl.read_csv(shared / "data" / "conjoint_immigration" / "recomputed.csv", infer_schema_length=None)
    known = known.filter(quantity="marginal mean", outcome="chosen", subset="all", weights="none")
    known = known.with_columns(term=pl.concat_str("attribute", pl.lit(": "), "level"))
    both = found.join(known, on="term", suffix="_known")
    assert both.height == 50
    assert (both["estimate"] - both["estimate_known"]).abs().max() < 1e-6
    assert (both["std_error"] - both["se"]).abs().max() < 1e-6


PLAIN_AMCE = """
rows <- utils::read.csv(commandArgs(TRUE)[[1]])
rows <- rows[!is.na(rows$chosen), ]
for (name in names(rows)[4:12]) rows[[name]] <- factor(rows[[name]], sort(unique(rows[[name]]), method = "radix"))
fit <- lm(reformulate(names(rows)[4:12], "chosen"), rows)
x <- model.matrix(fit)
scores <- rowsum(x * residuals(fit), rows$person)
inverse <- solve(crossprod(x))
small <- nrow(scores) / (nrow(scores) - 1) * (nrow(x) - 1) / (nrow(x) - ncol(x))
error <- sqrt(diag(inverse %*% crossprod(scores) %*% inverse) * small)
write.csv(data.frame(term = colnames(x), estimate = coef(fit), error), row.names = FALSE)
"""


@pytest.mark.slow
@pytest.mark.needs("Matrix")
def test_effects_of_people_are_those_of_plain_r_with_errors_over_people(conjoint: Path, shared: Path) -> None:
    home = r_installation()
    assert home is not None
    conjoint.with_name("plain.R").write_text(PLAIN_AMCE)
    file = shared / "data" / "conjoint_immigration" / "profiles.csv"
    run = [str(home.rscript), "--vanilla", str(conjoint.with_name("plain.R")), str(file)]
    plain = pl.read_csv(io.StringIO(subprocess.run(run, capture_output=True, text=True, check=True).stdout))
    found = analysis.fit(conjoint, str(conjoint.with_name("study.toml")), "amce", only={"test": ["chosen"]}).table
    both = found.with_columns(term=pl.col("term").str.replace(": ", "")).join(plain, on="term", suffix="_plain")
    assert both.height == plain.height - 1 == 41
    assert (both["estimate"] - both["estimate_plain"]).abs().max() < 1e-8
    assert (both["std_error"] - both["error"]).abs().max() < 1e-8
