"""Topics: fitted, kept, opened again, matched to the print; and what can't be fitted, in sentences."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from bench.fitting import both_ways
from slant import analysis
from slant.analysis.bridge.r_home import r_installation
from slant.analysis.fitting.fits import FitResult
from slant.analysis.paper.published import StudyViews, published_numbers
from slant.analysis.paper.sources import NUMBERS
from slant.analysis.paper.topic_match import matched, missing_of_print
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.topics.topic_models import STALE, stale_model_warnings
from slant.collector.errors import DatabaseError, RError, UnknownNameError
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import Study, load_study
from tests.support.given import Row, database
from tests.support.topics_made import QUICK, RUN, talking, talking_database

PAPERS_FIRST = {1: ["output", "sister"], 2: ["think", "sure"], 3: ["bias", "implicit"]}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return talking_database(tmp_path_factory.mktemp("topics") / "a.duckdb")


@pytest.fixture(scope="module")
def found(db: Path) -> FitResult:
    return analysis.fit(db, fit="stm", settings={**QUICK, "topics": 3})


def frex(result: FitResult) -> dict[int, set[str]]:
    words = result.topics["words"].filter(pl.col("kind") == "frex", pl.col("place") <= 7)
    return {topic: set(part["word"]) for (topic,), part in words.group_by("topic")}


def bias_topic(result: FitResult) -> int:
    return next(topic for topic, words in frex(result).items() if "bias" in words)


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_topic_has_the_words_of_those_who_talk_of_it(found: FitResult) -> None:
    topics, prevalence = found.topics["topics"], found.topics["prevalence"]
    assert topics["proportion"].sum() == pytest.approx(1)
    assert topics["n_dominant"].sum() == found.topics["models"]["n_documents"].item() == 240
    by_model = prevalence.filter(pl.col("scope") == "model", pl.col("topic") == bias_topic(found))
    assert by_model.sort("estimate")["model"].last() == "claude-3.7-sonnet"
    assert (by_model["conf_low"] < by_model["estimate"]).all()
    assert (by_model["estimate"] < by_model["conf_high"]).all()
    assert set(prevalence["scope"]) == {"model", "condition", "test", "model x condition"}


@pytest.mark.needs("stm")
def test_answers_without_a_readable_text_are_counted_and_said(found: FitResult) -> None:
    assert found.diagnostics["n_missing"].to_list() == [6]
    assert "6 rows without reasoning_text left out." in found.messages["text"].to_list()


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_what_is_kept_is_not_fitted_again_and_is_the_same_in_the_views(db: Path, found: FitResult) -> None:
    again = analysis.fit(db, fit="stm", settings={**QUICK, "topics": 3})
    assert again.diagnostics.equals(found.diagnostics)
    for name, frame in found.topics.items():
        assert again.topics[name].equals(frame), name
    kept = analysis.read_topics(db, study="rmiat", source="imported").tables
    assert kept["proportions"]["proportion"].to_list() == found.topics["topics"]["proportion"].to_list()
    assert kept["effects"]["estimate"].to_list() == found.table["estimate"].to_list()
    assert kept["examples"]["text"].to_list() == found.topics["examples"]["text"].to_list()


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_the_model_opens_again_in_python_and_with_rs_own_readrds(db: Path, found: FitResult) -> None:
    model = analysis.read_topics(db)
    shares = model.documents()
    assert shares.height == 240
    means = [shares[f"topic_{topic}"].mean() for topic in (1, 2, 3)]
    assert means == pytest.approx(found.topics["topics"]["proportion"].to_list())
    installed = r_installation()
    assert installed is not None
    code = f"x <- readRDS('{model.path}'); cat(class(x$model), dim(x$model$theta), class(x))"
    answer = subprocess.run([str(installed.rscript), "-e", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "STM 240 3 slant_topics"


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_file_that_slant_did_not_write_is_not_opened(tmp_path: Path) -> None:
    db = talking_database(tmp_path / "a.duckdb")
    with pytest.raises(DatabaseError, match="holds no topic model"):
        analysis.read_topics(db)
    analysis.fit(db, fit="stm", settings={**QUICK, "topics": 2, "max_em_its": 2})
    model = analysis.read_topics(db)
    file = model.path
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(DatabaseError, match="is not the model that this database recorded"):
        model.documents()
    file.unlink()
    with pytest.raises(DatabaseError, match="not next to the database"):
        _ = model.path


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_contrast_is_the_coefficient_in_the_reference_model_with_p_adjusted(found: FitResult) -> None:
    of_model = found.topics["contrasts"].drop_nulls("model")
    reference = of_model.filter(pl.col("model") == "claude-3.7-sonnet").sort("topic")
    coefficients = found.table.filter(pl.col("term").str.ends_with(": conditionincompatible"))
    assert reference["std_error"].to_list() == pytest.approx(coefficients["std_error"].to_list(), rel=0.05)
    assert reference["estimate"].to_list() == pytest.approx(coefficients["estimate"].to_list(), abs=0.01)
    p = sorted(of_model["p_value"])
    holm = [min(1, max((len(p) - i) * p[i] for i in range(n + 1))) for n in range(len(p))]
    assert sorted(of_model["p_holm"]) == pytest.approx(holm)
    bh = [min(1, min(len(p) / (i + 1) * p[i] for i in range(n, len(p)))) for n in range(len(p))]
    assert sorted(of_model["p_bh"]) == pytest.approx(bh)


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_shift_is_a_difference_of_means_and_stands_beside_d_of_its_cell(db: Path, found: FitResult) -> None:
    answers = analysis.open_trials(db).select("trial_id", "model", "test", "condition")
    shares = analysis.read_topics(db).documents().join(answers, on="trial_id")
    means = shares.group_by("model", "test", "condition").agg(pl.col("topic_2").mean())
    wide = means.pivot("condition", index=["model", "test"], values="topic_2")
    sizes = analysis.fit(db, fit="effect_size").table.select("model", "test", d="estimate")
    shifts = found.topics["shifts"].filter(pl.col("topic") == 2).join(wide, on=["model", "test"])
    both = shifts.join(sizes, on=["model", "test"])
    assert both.height == 6
    expected = (both["incompatible"] - both["compatible"]).to_list()
    assert both["estimate"].to_list() == pytest.approx(expected)
    assert both["cohens_d"].to_list() == pytest.approx(both["d"].to_list())
    all_models = found.topics["correlations"].filter(pl.col("topic") == 2, pl.col("model").is_null())
    r = both.select(pl.corr("estimate", "cohens_d")).item()
    assert all_models.select("r", "n_cells").row(0) == (pytest.approx(r), 6)


def only(keep: str, value: str) -> Iterable[Row]:
    return (row for row in talking() if row[keep] == value)


@pytest.mark.slow
@pytest.mark.needs("stm")
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda: ({**row, "reasoning_text": "..."} for row in talking()), "none has a word left after cleaning"),
        (
            lambda: ({**row, "reasoning_text": "think" if n == 7 else "."} for n, row in enumerate(talking())),
            "Can't fit topics to one document.",
        ),
        (lambda: only("model", "gpt-oss-20b"), 'by "model": it is "gpt-oss-20b" in all 80 texts'),
        (lambda: ({**row, "reasoning_text": None} for row in talking()), "No rows are left"),
        (lambda: (row for n, row in enumerate(talking()) if n % 60 == 0), "a word must be in more than 5 of them"),
    ],
)
def test_what_can_not_be_fitted_is_a_row_that_says_why(tmp_path: Path, rows: object, said: str) -> None:
    db = database(tmp_path / "a.duckdb", rows(), [RUN])  # type: ignore[operator]
    result = analysis.fit(db, fit="stm", settings=QUICK)
    assert result.diagnostics["status"].to_list() == ["failed"]
    assert said in result.diagnostics["messages"].item()
    assert all(frame.is_empty() for frame in result.topics.values())


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_one_topic_and_unknown_settings_are_refused(db: Path) -> None:
    with pytest.raises(RError, match="one topic would be all the texts"):
        analysis.fit(db, fit="stm", settings={"topics": 1})
    with pytest.raises(UnknownNameError, match='Did you mean "topics"'):
        analysis.fit(db, fit="stm", settings={"topic": 4})


def words_of(topics: dict[int, list[str]]) -> pl.DataFrame:
    rows = [(topic, "frex", n, word) for topic, listed in topics.items() for n, word in enumerate(listed, 1)]
    return pl.DataFrame(rows, schema=["topic", "kind", "place", "word"], orient="row")


def test_topics_are_matched_by_shared_words_whatever_their_order() -> None:
    words = words_of({1: ["bias", "racial", "implicit"], 2: ["sure", "okay"], 3: ["sister", "thus"]})
    match = matched(words, PAPERS_FIRST)
    assert match.select("paper_topic", "topic", "n_shared", "n_near", "shared").rows() == [
        (1, 3, 1, 1, "sister"),
        (2, 2, 1, 1, "sure"),
        (3, 1, 1, 2, "bias"),
    ]


def test_the_best_match_is_the_best_in_all_not_the_best_of_the_first() -> None:
    printed = {1: ["a", "b"], 2: ["a", "c"]}
    match = matched(words_of({1: ["a", "b"], 2: ["a", "b", "x"]}), printed)
    assert match["n_shared"].sum() == 3
    fewer = matched(words_of({1: ["a", "c"]}), printed)
    assert fewer.select("topic", "n_shared").rows() == [(None, 0), (1, 2)]


@pytest.mark.needs("stm")
def test_a_fit_without_all_of_the_papers_texts_says_what_it_lacks(db: Path, found: FitResult) -> None:
    study = load_study("rmiat")
    missing = missing_of_print(StudyViews(db, study))["missing"].to_list()
    assert missing[0].startswith("claude-3.7-sonnet in race_greenwald, ")
    assert missing[0].endswith("; qwen3-8b")


def quick_study(**settings: object) -> Study:
    """The study for few texts, as its own file would say it."""
    its = load_study("rmiat")
    stm = its.fits["stm"]
    return replace(its, fits={**its.fits, "stm": replace(stm, settings={**stm.settings, **QUICK, **settings})})


def compared_with_print(db: Path, study: Study) -> pl.DataFrame:
    tables = pl.col("table").is_in(["S13", "S14"]) | pl.col("quantity").str.contains("topic3|stm_")
    return analysis.compare(db, study, tables=["S13", "S14", "text"]).filter(tables)


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_print_is_set_beside_the_matched_topics_and_not_judged_by_a_model_of_fewer_texts(db: Path) -> None:
    study = quick_study()
    analysis.fit(db, study, "stm")
    rows = NUMBERS.recomputed(StudyViews(db, study))
    shares = rows.filter(pl.col("quantity").str.starts_with("topic "))
    assert shares["recomputed"].sum() == pytest.approx(100)
    assert rows["missing"].str.contains("qwen3-8b").all()
    is_of_model = pl.col("quantity").is_in(["proportion_pct", "ci_low", "ci_high"])
    by_model = rows.filter(is_of_model).group_by("model").agg(pl.col("recomputed").count())
    assert dict(by_model.iter_rows()) == {"claude-3.7-sonnet": 3, "deepseek-r1": 3, "gpt-oss-20b": 3, "qwen3-8b": 0}
    assert "t111 stm_topic3_condition_b" in rows["quantity"].to_list()
    compared = compared_with_print(db, study)
    here = compared.drop_nulls("recomputed")
    assert set(here["status"]) == {"not checkable"}
    assert here["note"].str.starts_with("Only part of its data is here.").all()
    (number_of_topics,) = compared.filter(pl.col("quantity").str.starts_with("t110")).to_dicts()
    assert (number_of_topics["recomputed"], number_of_topics["status"]) == (None, "not checkable")
    assert number_of_topics["note"].startswith("The authors' choice")


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_kept_model_of_other_texts_or_settings_is_not_compared(tmp_path: Path) -> None:
    db, study = talking_database(tmp_path / "a.duckdb"), quick_study(max_em_its=2)
    analysis.fit(db, study, "stm", refusals_removed=False)
    analysis.fit(db, study, "stm", settings={"lower_thresh": 6})
    assert set(compared_with_print(db, study)["recomputed"]) == {None}
    analysis.fit(db, study, "stm")
    analysis.fit(db, study, "stm", settings={"lower_thresh": 6}, refit=True)  # the last, but not the study's own
    assert compared_with_print(db, study)["recomputed"].count() == 4 + 9 + 5
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET reasoning_text = 'sure, okay' WHERE attempt_id = 'a1'")
    for its in (study, quick_study(max_em_its=3)):
        rows = compared_with_print(db, its)
        assert set(rows["recomputed"]) == {None}
        notes = rows.filter(pl.col("status") == "not checkable", pl.col("note").str.starts_with(STALE))["note"]
        assert len(notes) == rows.height - 1 == 4 + 12 + 5
        (drawn,) = figure_rows(db, its, ["topic_prevalence"])
        assert drawn.note == STALE
        assert stale_model_warnings(db, its) == [f"Topics (imported): {STALE}"]


@pytest.mark.slow
@pytest.mark.needs("stm")
def test_a_coefficient_is_compared_only_with_one_of_the_same_regression(tmp_path: Path) -> None:
    """Printed: that of Claude, the reference, in ~ condition * model."""
    claimed = pl.col("quantity").str.contains("stm_topic3_condition")
    rest = [row for row in talking() if row["model"] != "claude-3.7-sonnet"]
    for n, (rows, effects) in enumerate([(talking(), "~ condition + model"), (rest, "~ condition * model")]):
        db = database(tmp_path / f"{n}.duckdb", rows, [RUN])
        study = quick_study(effects=effects, max_em_its=2)
        analysis.fit(db, study, "stm")
        coefficients = compared_with_print(db, study).filter(claimed)
        assert coefficients["recomputed"].null_count() == 3
        assert set(coefficients["status"]) == {"not checkable"}
        assert coefficients["note"].str.contains("with claude-3.7-sonnet as the reference").all()


@pytest.mark.needs("stm")
def test_shared_words_are_told_but_are_no_number_of_the_paper(db: Path, found: FitResult) -> None:
    assert not published_numbers(load_study("rmiat"))["quantity"].str.contains("frex_words").any()
    assert "n_shared" in matched(found.topics["words"], PAPERS_FIRST).columns


@pytest.mark.needs("stm")
@pytest.mark.slow
def test_all_texts_are_prepared_and_fitted_as_published(shared: Path, tmp_path: Path) -> None:
    found = both_ways(tmp_path / "some.rds")
    assert (found["n_texts"], found["n_documents"], found["n_words"]) == (31_989, 31_781, 246)
    assert found["engine"] == "fast"
    assert [round(100 * share, 2) for share in found["proportions"]] == [28.93, 18.68, 11.38, 41.01]
