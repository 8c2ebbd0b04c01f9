"""Coders compared and estimates corrected from a database: simulated models, and people who never err."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant.analysis import agreement, fit
from slant.collector import collect, import_trials
from slant.collector.keep.text_samples import draw_sample
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.coding_sheets import strata_of
from slant.collector.studies.coding_study import write_texts_study
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_analyze
from tests.support.stored import rows_in

pytestmark = [pytest.mark.slow, pytest.mark.needs("R")]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts that a model codes with more false positives for men; people have coded 100 that were drawn."""
    folder = tmp_path_factory.mktemp("coders")
    path = write_new_study("reasons", "coding", folder / "reasons")[0]
    text = path.read_text("utf-8").replace("false_positives = 0.25", "false_positives = 0.6")
    path.write_text(text, "utf-8")
    collect(folder / "a.duckdb", path, ["simulated/gpt-6-luna", "simulated/people"])
    study = load_study("reasons", db=folder / "a.duckdb")
    draw_sample(folder / "a.duckdb", "reasons", strata_of(study, "gender", folder / "a.duckdb"), 100, "gender")
    return folder / "a.duckdb"


def test_errors_that_differ_between_levels_are_found_and_said(db: Path) -> None:
    found = agreement(db, draws=50)
    assert set(found.table["code"]) == {None, "time", "money", "other"}
    [row] = found.differences.filter(code="time", measure="false_positives").to_dicts()
    assert (row["level"], row["reference"]) == ("man", "woman")
    assert row["conf_low"] > 0
    assert any("the false-positive rate is" in warning for warning in found.warnings)


def test_of_several_codes_each_is_compared_whatever_a_text_has_besides(tmp_path: Path) -> None:
    path = write_new_study("themes", "coding", tmp_path / "themes")[0]
    path.write_text(path.read_text("utf-8").replace('kind = "one"', 'kind = "several"'), "utf-8")
    collect(tmp_path / "t.duckdb", path, ["simulated/gpt-6-luna", "simulated/claude-sonnet-5-5"])
    found = agreement(tmp_path / "t.duckdb", draws=0).table
    by_hand = """SELECT code, avg((a.given = b.given)::INTEGER) FROM codings a JOIN codings b USING (item, code)
                 WHERE a.coder < b.coder AND (a.given + b.given) IS NOT NULL GROUP BY code"""
    wanted = dict(rows_in(tmp_path / "t.duckdb", by_hand))
    assert dict(found.drop_nulls("code").select("code", "observed").iter_rows()) == pytest.approx(wanted)
    assert found.filter(pl.col("code").is_null())["observed"].item() < min(wanted.values())


def test_codes_taken_as_truth_people_and_corrected_stand_together_with_the_one_to_report(db: Path) -> None:
    said = run_analyze("--fit", "dsl", "--db", db)
    assert said.exit_code == 0, said.output
    assert 'Report the rows "corrected"' in said.output
    rows = fit(db, fit="dsl").tables["dsl"]["corrections"].filter(test="time", term="genderman")
    effects = dict(rows.select("method", "estimate").iter_rows())
    assert set(effects) == {"coder", "people", "corrected"}
    assert effects["coder"] > effects["corrected"] + 0.1
    page = db.with_name("report.html")
    assert run_analyze("report", "--db", db, "--out", page).exit_code == 0
    text = " ".join(page.read_text("utf-8").split())
    assert (
        "corrected for the coder&#39;s errors, 0 have an interval that excludes 0 (with codes taken as truth: " in text
    )


def test_an_archive_has_the_sample_so_that_corrected_estimates_are_made_again(db: Path) -> None:
    archive, check = db.with_name("reasons.zip"), db.with_name("check")
    sealed = run_analyze("seal", "--study", "reasons", "--db", db, "--out", archive)
    assert sealed.exit_code == 0, sealed.output
    replayed = run_analyze("replay", archive, "--out", check)
    assert "All recomputed results agree" in replayed.output, replayed.output
    [[n]] = rows_in(check / "replayed.duckdb", "SELECT count(*) FROM corrected_estimates WHERE method = 'corrected'")
    assert n > 0


def test_texts_that_are_coded_again_show_whether_a_coder_drifts_and_how_often_a_false_alarm_is_to_be_expected(
    db: Path,
) -> None:
    for _ in range(3):
        collect(db, load_study("reasons", db=db), ["simulated/gpt-6-luna"], again=50)
    said = run_analyze("agreement", "--db", db, "--show", "drift", "--draws", "0")
    assert said.exit_code == 0, said.output
    assert "No coder has drifted. CUSUMs have the reference value k = 0.5" in " ".join(said.output.split())
    drift = agreement(db, draws=0).drift
    of_all = drift.filter(pl.col("code").is_null())
    assert dict(of_all.group_by("compared_with").agg(pl.col("occasion").sort()).iter_rows()) == {
        "first": [2, 3, 4],
        "people": [1, 2, 3, 4],
    }
    assert set(of_all["n_texts"]) == {50}
    assert drift["decision_limit"].n_unique() == 1


def test_people_who_coded_by_another_codebook_or_one_level_only_are_named(db: Path, tmp_path: Path) -> None:
    path = write_new_study("edited", "coding", tmp_path / "edited")[0]
    other = tmp_path / "e.duckdb"
    collect(other, path, ["simulated/gpt-6-luna"])
    study = load_study("edited", db=other)
    drawn = draw_sample(other, "edited", strata_of(study, "", other), 80)
    by_gender = {item: study.data.texts[item].factors["gender"] for item in drawn.items}
    women = [item for item, gender in by_gender.items() if gender == "woman"]
    sheet = tmp_path / "sheet.csv"
    codes = [*(f"{item},anna,time\n" for item in women), f"{women[0]},ben,money\n"]
    sheet.write_text("".join(["item,coder,code\n", *codes]), "utf-8")
    import_trials(other, study, [sheet])
    found = agreement(other, draws=0)
    assert any("no drawn text of gender = man" in warning for warning in found.warnings)
    assert set(found.table.filter(coder_1="anna", coder_2="ben")["source"]) == {"human"}
    path.write_text(path.read_text("utf-8").replace("or pays too little", "or more"), "utf-8")
    collect(other, path, ["simulated/gpt-6-luna", "simulated/claude-sonnet-5-5"])
    said = " ".join(agreement(other, draws=0).warnings)
    assert f"People gave {len(codes)} codes by another version of the codebook" in said


def test_labels_that_nobody_drew_correct_nothing(db: Path, tmp_path: Path) -> None:
    path = write_new_study("chosen", "coding", tmp_path / "chosen")[0]
    collect(tmp_path / "b.duckdb", path, ["simulated/gpt-6-luna", "simulated/people"])
    messages = fit(tmp_path / "b.duckdb", fit="dsl").messages["text"].to_list()
    assert any("drawn at random" in message for message in messages)
    assert any("not drawn at random" in warning for warning in agreement(tmp_path / "b.duckdb", draws=0).warnings)


def test_drawn_texts_with_points_of_a_scale_are_a_random_sample(tmp_path: Path) -> None:
    path = write_new_study("points", "coding", tmp_path / "points")[0]
    before, _, after = path.read_text("utf-8").partition("[codebook]")
    after = after.partition("[prompt]")[2].partition("[simulation")[0]
    path.write_text(f'{before}[codebook]\nkind = "scale"\nlowest = 1\nhighest = 5\n\n[prompt]{after}', "utf-8")
    collect(tmp_path / "p.duckdb", path, ["simulated/gpt-6-luna", "simulated/people"])
    draw_sample(tmp_path / "p.duckdb", "points", strata_of(load_study(path), "", tmp_path / "p.duckdb"), 60)
    found = agreement(tmp_path / "p.duckdb", level="interval", draws=0)
    assert (found.warnings, found.errors.height) == ([], 0)


def test_answers_of_a_kept_study_are_coded_with_what_is_known_of_each_clustered_by_what_names_share(
    tmp_path: Path,
) -> None:
    audit = write_new_study("shops", "factorial", tmp_path / "shops")[0]
    text = audit.read_text("utf-8").replace('kind = "yes_no"', 'kind = "text"').partition("\n# A fit:")[0]
    degrees = (
        'degree = { levels = ["none", "a degree"] }\n\n[crossing]\nforbidden = [{ job = "nurse", degree = "none" }]\n'
    )
    text = text.replace("\n# Several wordings", f"{degrees}\n# Several wordings").replace(
        " as {job}", " as {job}, {degree}"
    )
    audit.write_text(text, "utf-8")
    collect(tmp_path / "s.duckdb", audit, ["simulated/gpt-6-luna"])
    study = load_study("shops", db=tmp_path / "s.duckdb")
    paths = write_texts_study("why", tmp_path / "s.duckdb", study, tmp_path / "why", test="interview")
    coding = load_study(paths[0])
    assert coding.data.cluster == "name"
    assert coding.data.factors["gender"] == ("woman", "man")
    assert set(pl.read_csv(tmp_path / "why" / "texts.csv")["test"]) == {"interview"}
    assert coding.fits == {}
    made = coding.design.analyses.fits(coding)["dsl"]
    assert made.formula == "people ~ gender + origin + job * degree"
    assert made.settings["estimator"] == "amce"
