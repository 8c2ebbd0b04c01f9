"""`analyze check`: the same numbers from both languages, and a page that says what they mean."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.pages.check_page import as_json, as_rows, as_text, write_page
from slant.analysis.questions.checks.check_findings import Checks, findings
from slant.analysis.questions.checks.check_table import mixed_model_checks
from slant.analysis.questions.checks.sentences import Finding, count_of, number
from slant.analysis.questions.checks.study_checks import check, with_words
from slant.analysis.questions.checks.trials import read_trials
from slant.collector.errors import DatabaseError, StudyError, UsageError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze
from tests.support.fitted import RUN, trials
from tests.support.given import Row, database
from tests.support.plain_r import rscript
from tests.support.stored import rows_in


def by_condition(row: Row) -> dict[str, str]:
    """The order of options as in the paper: it tells the condition."""
    return {"first_option": "Pleasant" if row["condition"] == "compatible" else "Unpleasant"}


def balanced(row: Row) -> dict[str, str]:
    return {"first_option": "Pleasant" if (row["wording"] + len(row["item"])) % 2 else "Unpleasant"}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed(tmp_path_factory.mktemp("checks") / "a.duckdb", factors=by_condition)


@pytest.fixture(scope="module")
def found(db: Path) -> Checks:
    return check(db)


def finding_of(checks: Checks, name: str) -> Finding:
    ((_, page),) = findings(checks)
    return next(one for one in page if one.check == name)


def changed(path: Path, **more: Any) -> Path:
    """The small database with something else in every row; a function is asked of each."""
    rows: list[Row] = [
        {**row, **{key: value(row) if callable(value) else value for key, value in more.items()}} for row in trials()
    ]
    return database(path, rows, [RUN])


@pytest.mark.slow
def test_every_check_has_rows_for_every_model_and_test(found: Checks) -> None:
    made = {known.check for known in mixed_model_checks() if not known.kept_by}
    assert set(found.rows) == made - {"meta"}  # too few to pool
    for name, rows in found.rows.items():
        assert rows.columns[:5] == ["source", "study_version", "variant", "model", "test"], name
        models = [rows[column] for column in ("model", "other_model") if column in rows.columns]
        assert pl.concat(models).unique(maintain_order=True).to_list() == ["o3-mini", "deepseek-r1"], name
    assert found.rows["influence"].height == 20
    assert found.not_kept is None


@pytest.mark.slow
def test_python_and_rscript_give_bit_equal_numbers(found: Checks, tmp_path: Path) -> None:
    is_cell = pl.col("model") == "o3-mini"
    columns = ["condition", "wording", "item", "tokens", "is_refusal", "is_valid"]
    found.trials.filter(is_cell).select(columns).write_csv(tmp_path / "rows.csv")
    there = rscript("check_from_csv.R", tmp_path / "rows.csv", r_folder())
    rows = {name: one.filter(is_cell) for name, one in found.rows.items()}
    numbers = [
        *rows["residuals"].select("skewness", "sd_ratio", "qq_correlation").row(0),
        *rows["skew"].select("d_log", "p_ranks").row(0),
        *rows["refusals"].select("d_lowest", "d_highest", "tipping_sd").row(0),
        *rows["influence"]["estimate"],
        *rows["influence"]["cooks_distance"],
    ]
    assert numbers == [float.fromhex(line) for line in there]


def test_the_numbers_beside_the_paper_are_those_of_the_fits(found: Checks, db: Path) -> None:
    effects = analysis.fit(db, fit="lme4").table.filter(pl.col("term") == "conditionincompatible")
    # The paper's own stops where lme4 does, as printed; the others go on to the optimum.
    printed = pytest.approx(effects["p_value"].to_list(), rel=1e-5)
    assert found.rows["crossed"]["reference_p"].to_list() == printed
    for name in ("corrections", "words"):
        assert found.rows[name]["p_value"].to_list() == printed
    assert found.rows["influence"]["p_all"].unique(maintain_order=True).to_list() == printed


def test_nulls_and_corrections_are_over_words_and_wordings_too(found: Checks) -> None:
    crossed, equivalence = found.rows["crossed"], found.rows["equivalence"]
    assert equivalence["df"].to_list() == crossed["df"].to_list()
    assert equivalence["std_error"].to_list() == pytest.approx((crossed["std_error"] / crossed["sd"]).to_list())
    together = found.rows["corrections_over_words"]
    assert together["p_value"].to_list() == crossed["p_value"].to_list()
    assert set(together["n_tests"]) == {crossed.height}
    ((_, page),) = findings(found)
    said = {one.check: " ".join(one.details) for one in page}
    assert "of all models corrected together" in said["corrections"]
    assert "percentile of the other" in said["equivalence"]


def test_effects_at_words_are_compared_between_models_and_cells_are_marked_whose_sign_refusals_could_have_made(
    found: Checks,
) -> None:
    (pair,) = found.rows["same_words"].to_dicts()
    effects = found.rows["effects_by_word"].pivot("model", index="item", values="estimate")
    assert pair["correlation"] == pytest.approx(effects.select(pl.corr("o3-mini", "deepseek-r1")).item())
    finding = finding_of(found, "same_words")
    assert "of 1 test: between two models effects at words correlate by" in finding.verdict
    kept = found.rows["refusals"]["is_sign_kept_by_missing"]
    assert found.rows["crossed"]["is_sign_kept_by_missing"].to_list() == kept.to_list()
    details = " ".join(finding_of(found, "words").details)
    assert ("could have changed the sign in" in details) == (not all(kept))


@pytest.mark.slow
def test_fits_that_take_long_are_kept_and_not_made_again(found: Checks, db: Path) -> None:
    def kept() -> list[tuple[Any, ...]]:
        return rows_in(db, "SELECT fit, call_id, fitted_at FROM fits WHERE fit <> 'effect_size' ORDER BY ALL")

    before = kept()
    assert {name for name, *_ in before} == {"lme4", "lme4_words", "crossed", "lme4_leave_one_out"}
    assert check(db).rows["influence"].equals(found.rows["influence"])
    assert kept() == before


def test_each_finding_has_a_verdict_with_its_number(found: Checks) -> None:
    ((grain, page),) = findings(found)
    assert grain["source"] == "simulated"
    assert {one.standing for one in page} <= {"not found", "note", "caution"}
    assert [one.verdict for one in page if not re.search(r"\d", one.verdict)] == []
    assert as_rows(found).columns == ["source", "study_version", "variant", "check", "standing", "verdict", "details"]


def test_verdicts_come_first_on_the_terminal(found: Checks) -> None:
    lines = as_text(found).splitlines()
    assert lines[3].startswith("SIMULATED data, variant base")
    assert re.match(r"(not found|note|CAUTION) ", lines[5])


@pytest.mark.slow
def test_the_bound_decides_about_the_nulls(db: Path) -> None:
    wide = check(db, bound=5.0)
    assert wide.rows["equivalence"]["p_equivalence"].max() < 0.05  # type: ignore[operator]
    assert check(db, bound=0.01).rows["equivalence"]["p_equivalence"].min() > 0.05  # type: ignore[operator]
    with pytest.raises(UsageError, match="bound must be above 0"):
        check(db, bound=0)


@pytest.mark.slow
def test_cut_off_answers_are_counted_and_a_balanced_order_tells_nothing(tmp_path: Path) -> None:
    ends = {"finish_reason": lambda row: "length" if row["item"] == "ant" else "stop"}
    checks = check(changed(tmp_path / "a.duckdb", factors=balanced, **ends))
    limits = finding_of(checks, "token_limits")
    assert limits.verdict == "40 answers of 160 (25.00 %) are known to be cut off."
    assert limits.standing == "caution"
    assert limits.details[0] == "How an answer ended is known for 160 of 160."
    order = finding_of(checks, "option_order")
    assert order.verdict.startswith("The order of the options reveals the condition in none of 2 cells")
    assert "the order has an effect (p < 0.05) in" in order.details[0]


@pytest.mark.slow
def test_an_order_that_changes_with_the_condition_is_said_to(found: Checks) -> None:
    order = finding_of(found, "option_order")
    assert order.verdict.startswith("The order of the options reveals the condition in all 2 cells")
    assert "collect --variant balanced" in order.details[1]


@pytest.mark.slow
def test_what_can_not_be_checked_is_said_as_doubtful_and_the_rest_goes_on(tmp_path: Path) -> None:
    db = changed(tmp_path / "a.duckdb", tokens=lambda row: 64 if row["model"] == "o3-mini" else row["tokens"])
    checks = check(db)
    assert any("o3-mini" in said and "nothing to explain" in said for said in checks.warnings)
    assert any(re.match("Caution: .*residuals.*o3-mini", said) for said in checks.warnings)
    assert "in none of 1 model" in finding_of(checks, "residuals").verdict
    assert set(checks.rows["corrections"]["model"]) == {"deepseek-r1"}


@pytest.mark.slow
def test_what_rests_on_a_doubtful_fit_is_labelled(found: Checks) -> None:
    words = found.rows["words"]
    assert set(words["fit_status"]) <= {"ok", "singular", "warned"}
    rows = {**found.rows, "words": words.with_columns(fit_status=pl.lit("singular"))}
    finding = finding_of(replace(found, rows=rows), "words")
    assert "Caution: 2 singular of 2 fits; the warnings say which and why." in finding.details
    assert finding.columns[-1] == "fit_status"


def without(found: Checks, name: str, columns: tuple[str, ...], where: pl.Expr) -> Checks:
    """The same checks, as if what R found in these rows were unknown."""
    is_known = pl.when(~where)
    rows = found.rows[name].with_columns(is_known.then(column).alias(column) for column in columns)
    return replace(found, rows={**found.rows, name: rows})


@pytest.mark.slow
def test_what_could_not_be_refitted_is_not_counted_as_unchanged(found: Checks) -> None:
    some = finding_of(without(found, "crossed", ("verdict",), pl.col("model") == "o3-mini"), "words")
    assert re.search(r"Of \d significant effects?, \d stay so", some.verdict)
    details = " ".join(some.details)
    assert "Could not be refitted over words and wordings, and is not counted: 1 model: o3-mini" in details
    assert some.standing != "not found"
    none = without(found, "crossed", ("verdict",), pl.lit(True))
    assert finding_of(none, "words").standing == "not checked"


@pytest.mark.slow
def test_refits_without_a_prompt_that_failed_are_left_out_and_counted(found: Checks) -> None:
    ends = ("is_influential", "changes_sign", "changes_conclusion")
    unknown = ("estimate", "p_value", "change", "cooks_distance", *ends)
    is_failed = (pl.col("model") == "o3-mini") | (pl.col("left_out") == "1")
    some = finding_of(without(found, "influence", unknown, is_failed), "influence")
    assert re.search(r"in (none of 1|1 of 1) mixed model\.", some.verdict)
    assert "11 of 20 refits without a prompt failed, and are not counted." in some.details
    assert some.details[0].startswith("Largest Cook's distance: 0.")
    assert finding_of(without(found, "influence", unknown, pl.lit(True)), "influence").standing == "not checked"


def test_what_is_unknown_is_not_the_largest(found: Checks) -> None:
    is_first = pl.col("model") == "o3-mini"
    for name, columns in (("residuals", ("skewness", "largest")), ("variance_shares", ("share",))):
        unknown = finding_of(without(found, name, columns, is_first), name)
        assert "o3-mini" not in " ".join(unknown.details)
        numbers = (pl.when(~is_first).then(one).otherwise(float("nan")).alias(one) for one in columns)
        nan = found.rows[name].with_columns(numbers)
        assert finding_of(replace(found, rows={**found.rows, name: nan}), name) == unknown
    only_distance = without(found, "influence", ("cooks_distance",), is_first)
    assert "o3-mini" not in finding_of(only_distance, "influence").details[0]


def test_what_others_allowed_is_not_known_of_imports(tmp_path: Path) -> None:
    settings = {"max_completion_tokens": 400}
    models = [{**model, "settings": settings} for model in RUN["models"]]
    study = load_study("rmiat")
    for source, limits in (("collected", [400]), ("imported", [None])):
        db = database(tmp_path / f"{source}.duckdb", trials(source), [{**RUN, "source": source, "models": models}])
        assert read_trials(db, study, None, None)["token_limit"].unique().to_list() == limits


def test_rows_of_a_check_that_died_are_one_sentence(db: Path, found: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = {name: rows for name, rows in found.rows.items() if name != "influence"}
    partial = replace(found, rows=rest, warnings=["Not checked: x"])
    monkeypatch.setattr("slant.analysis.questions.checks.study_checks.check", lambda *_, **__: partial)
    answer = run_analyze("check", "--show", "influence", "--db", db)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "Not checked: x\n" in answer.stderr
    assert 'The check "influence" failed' in answer.stderr


def test_a_check_that_only_reads_what_is_kept_computes_nothing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slant.analysis.questions.checks.study_checks.check", None)
    for name, command in (("counts", "--fit brms"), ("calibration", "calibrate")):
        answer = run_analyze("check", "--show", name, "--db", db)
        assert answer.exit_code == 2
        assert f'The check "{name}" has nothing to show' in answer.stderr
        assert f"analyze {command} --study rmiat" in answer.stderr


def test_the_page_escapes_what_others_wrote_and_loads_nothing(found: Checks, tmp_path: Path) -> None:
    text = write_page(found, tmp_path / "c.html").read_text("utf-8")
    assert "Flowers &lt;b&gt;&amp; Insects&lt;/b&gt;" in text
    assert "<script" not in text
    assert "<b>" not in text
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|https?://", re.sub(r"base64,[^\"]+", "", text))
    assert len(re.findall(r'<img src="data:image/png;base64,[^"]+" alt="[^"]{80,}"', text)) == 2
    marked = write_page(found, tmp_path / "c.md").read_text("utf-8")
    assert r"Flowers \<b\>& Insects\</b\>" in marked
    assert marked.count("\n### ") == 13


def test_machines_get_findings_and_the_rows_of_every_check(found: Checks) -> None:
    content = json.loads(as_json(found))
    assert len(content["findings"]) == 13
    assert {name: len(rows) for name, rows in content["rows"].items()}["influence"] == 20


@pytest.mark.slow
def test_a_wrong_ending_an_unknown_check_and_no_trials_are_one_sentence(db: Path, root: Path) -> None:
    for arguments, said in ((["--out", "c.pdf"], "must end in .html or .md"), (["--show", "infuence"], "influence")):
        command = [sys.executable, "-m", "slant.analysis", "check", "--db", str(db)]
        answer = subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stdout) == (2, "")
        assert said in answer.stderr
    with pytest.raises(DatabaseError, match="no rows of source collected"):
        check(db, source="collected")
    with pytest.raises(StudyError, match="checks need a mixed model"):
        check(db, replace(load_study("rmiat"), fits={}))


def test_numbers_read_as_in_print() -> None:
    assert (number(-0.004), number(-1.5), number(1234.5, 1), number(None)) == (
        "0.00",
        "\u22121.50",
        "1,234.5",
        "unknown",
    )
    counts = {(0, 1): "none of 1 model", (1, 1): "1 of 1 model", (0, 2): "none of 2 models", (2, 2): "all 2 models"}
    assert {counted: count_of(*counted, "model") for counted in counts} == counts
    assert [count_of(n, 3, "model") for n in (0, 2, 3)] == ["none of 3 models", "2 of 3 models", "all 3 models"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "there"),
    [
        ("tokens ~ condition + (1 | wording)", "tokens ~ condition + (1 | wording) + (1 | item)"),
        (
            "tokens ~ condition + (1 + condition || wording) + (1 + condition || item)",
            "tokens ~ condition + (1 | wording) + (1 | item)",
        ),
    ],
)
def test_a_model_gets_one_intercept_of_its_words_and_not_two(formula: str, there: str) -> None:
    assert with_words(formula) == there
