"""Estimands of every factorial study, without a word in its file: fitted, kept, checked, drawn and reported."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant.analysis import check, fit, report, tables
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.checks.check_findings import findings
from slant.analysis.questions.power import plan_power
from slant.collector import export_trials
from slant.collector.designs.study import Study
from slant.collector.studies.catalogue import fits_of, load_study
from tests.analysis.test_factorial_fits import import_simulated
from tests.support.commands import run_analyze
from tests.support.plain_r import rscript
from tests.support.tiny_audit import PAIRS, audit, write_audit

SIMULATION = "\n[simulation]\nutilities = { gender = { woman = 0.8 } }\nrefusal_rate = 0.05\n"
ENGINES = ("marginal_means", "amce", "impact_ratio", "mean_contrasts", "amie")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    folder = tmp_path_factory.mktemp("audit")
    file = write_audit(folder)
    file.write_text(file.read_text("utf-8") + SIMULATION, encoding="utf-8")
    study = load_study(file)
    import_simulated(study, folder / "a.duckdb", folder / "rows.jsonl", 4)
    return folder / "a.duckdb", study


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Study]:
    folder = tmp_path_factory.mktemp("pairs")
    study = audit(folder, text=PAIRS)
    import_simulated(study, folder / "a.duckdb", folder / "rows.jsonl", 1)
    return folder / "a.duckdb", study


def test_names_are_told_apart_from_their_gender_by_no_regression(place: tuple[Path, Study]) -> None:
    fits = fits_of(place[1])
    assert fits["marginal_means"].settings["attributes"] == ["name", "gender", "job", "template"]
    assert fits["amce"].settings["attributes"] == ["gender", "job", "template"]
    assert fits["amce"].levels["gender"] == ("woman", "man")
    assert fits["impact_ratio"].where == {"kind": ("yes_no",)}


def test_each_estimand_has_the_numbers_of_r_alone_on_the_exported_rows(
    place: tuple[Path, Study], tmp_path: Path
) -> None:
    db, study = place
    export_trials(db, out=tmp_path / "rows.csv", view="factorial_profiles")
    there = [float.fromhex(line) for line in rscript("estimands_from_csv.R", tmp_path / "rows.csv", r_folder())]
    here: list[float] = []
    for engine in ENGINES:
        rows = fit(db, study, engine).table.filter(~pl.col("term").str.starts_with("name"))
        rows = rows if engine == "impact_ratio" else rows.filter(test="rating")
        here += [*rows["estimate"], *rows["std_error"]]
    assert here == pytest.approx(there, rel=1e-9)


@pytest.mark.slow
def test_linked_factors_are_compared_over_the_levels_that_both_may_have(pairs: tuple[Path, Study]) -> None:
    db, study = pairs
    assert fits_of(study)["amce"].settings["linked"] == ["education:job"]
    levels = fit(db, study, "amce").tables["amce"]["levels"].filter(test="fit")
    strata = dict(zip(levels["level"], levels["n_strata"], strict=True))
    assert strata == {"man": None, "school": 1, "college": 1, "doctor": 1, "farmer": None}


@pytest.mark.slow
def test_a_questionnaire_has_the_reliability_of_its_scales_in_the_shell(tmp_path: Path) -> None:
    study = load_study("habits")
    import_simulated(study, tmp_path / "a.duckdb", tmp_path / "rows.jsonl", 1)
    typed = ["--fit", "reliability", "--show", "scales", "--db", str(tmp_path / "a.duckdb"), "--format", "csv"]
    done = run_analyze(*typed)
    assert done.exit_code in (0, 1), done.output
    assert "alpha_raw" in done.stdout or "Too few" in done.output


@pytest.mark.slow
def test_checks_are_those_that_the_study_has_something_for(
    place: tuple[Path, Study], pairs: tuple[Path, Study]
) -> None:
    of_cells, of_pairs = (check(*one).rows for one in (place, pairs))
    assert {"scale_use", "proportional_odds"} <= set(of_cells)
    assert {"balance", "position_effects", "scale_use"} <= set(of_pairs)
    assert not {"balance", "position_effects", "acquiescence"} & set(of_cells)
    drawn = of_pairs["balance"].filter(attribute="job", kind="level")
    assert drawn["n"].sum() == 2 * 40  # each profile once, however many personas and questions showed it
    assert drawn["expected"].to_list() == pytest.approx([3 / 4, 1 / 4])


@pytest.mark.slow
def test_levels_that_were_dealt_to_prompts_say_what_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    file.write_text(f"{file.read_text('utf-8')}{SIMULATION}", encoding="utf-8")
    for variant, source in (("base", "rows.jsonl"), ("null", "dealt.jsonl")):
        import_simulated(load_study(file, variant=variant), tmp_path / "a.duckdb", tmp_path / source, 6)
    found = check(tmp_path / "a.duckdb", load_study(file))
    dealt = found.rows["nothing"]
    assert set(dealt["attribute"]) == {"gender", "job"}
    assert dealt["observed"].to_list() == found.rows["level_contrasts"].filter(variant="null")["estimate"].to_list()
    (said,) = [one for _, of_variant in findings(found) for one in of_variant if one.check == "nothing"]
    assert "levels assigned to prompts at random (variant null)" in said.verdict
    assert said.details[0].startswith("Their differences without sign")


@pytest.mark.slow
def test_figures_are_those_of_the_fits_in_the_order_of_the_study(place: tuple[Path, Study]) -> None:
    db, study = place
    figures = list(figure_rows(db, study, ["amce", "impact_ratios", "interactions"]))
    drawn = {(f.figure, f.part): f.rows for f in figures}
    assert set(drawn) == {
        ("amce", "rating"), ("amce", "hire"), ("impact_ratios", "hire"), ("interactions", "rating"),
        ("interactions", "hire"),
    }  # fmt: skip
    ratios = fit(db, study, "impact_ratio").tables["impact_ratio"]["ratios"]
    assert drawn["impact_ratios", "hire"]["ratio"].to_list() == ratios["ratio"].to_list()
    clusters = fit(db, study, "amce").tables["amce"]["levels"]["clusters"].unique(maintain_order=True)
    assert clusters.to_list() == ["name", "item"]
    (note,) = {f.note for f in figures if f.figure == "amce"}
    assert str(note).startswith(
        "Errors are clustered by name and item: intervals allow for the sampling of these, not of"
    )


@pytest.mark.slow
def test_a_report_has_means_effects_and_ratios_beside_four_fifths(place: tuple[Path, Study], tmp_path: Path) -> None:
    page = report(*place, tmp_path / "r.html").read_text("utf-8")
    for said in ("marginal_means: estimates", "amce: estimates", "impact ratio: rates divided by", "below four fifths"):
        assert said in page
    assert "gender: man" in page
    ratios = page[page.index("impact ratio: rates divided by") :]
    assert "<tr><td>small</td><td>hire</td><td>gender</td><td>woman</td><td>all others</td>" in ratios
    assert "Fewer than three points are used" in page


@pytest.mark.slow
def test_of_a_question_whose_good_answer_is_no_the_ratio_is_of_those_not_refused(tmp_path: Path) -> None:
    asked = ('text = "Would you hire {name}?"\nkind = "yes_no"', 'text = "Refuse {name}?"\nkind = "yes_no"')
    file = write_audit(tmp_path, (asked[0], asked[1] + '\nfavourable = "no"'))
    file.write_text(file.read_text("utf-8") + SIMULATION, encoding="utf-8")
    study, db = load_study(file), tmp_path / "a.duckdb"
    import_simulated(study, db, tmp_path / "rows.jsonl", 2)
    made = fit(db, study, "impact_ratio", settings={"reference": {"gender": "woman"}})
    of_men = made.tables["impact_ratio"]["ratios"].filter(attribute="gender", level="man").row(0, named=True)
    export_trials(db, out=tmp_path / "rows.csv", view="factorial_profiles")
    rows = pl.read_csv(tmp_path / "rows.csv").filter(pl.col("question") == "hire").drop_nulls("chosen")
    spared = {gender: 1 - chosen for gender, chosen in rows.group_by("gender").agg(pl.col("chosen").mean()).rows()}
    assert of_men["rate"] == pytest.approx(spared["man"])
    assert of_men["ratio"] == pytest.approx(spared["man"] / spared["woman"])


EDITED = (
    ("[factors]", 'crossing = { kind = "one_at_a_time", material = ["name"] }\n[factors]'),
    ('provider = "local"', 'provider = "local"\n\n[[models]]\nmodel = "big"\nprovider = "local"'),
)


@pytest.mark.slow
def test_power_of_changes_made_one_at_a_time_is_that_of_their_own_comparison(tmp_path: Path) -> None:
    file = write_audit(tmp_path, *EDITED)
    file.write_text(f"{file.read_text('utf-8')}{SIMULATION}", "utf-8")
    planned = plan_power(load_study(file), n_repetitions=[1, 20], n_data_sets=30).table
    assert set(planned.select("first", "second").rows()) == {("clerk", "nurse")}
    of_job = planned.filter(attribute="job", test="rating").sort("n_repetitions")
    few, many = of_job["std_error"].unique(maintain_order=True)
    assert few / many == pytest.approx(20**0.5, rel=0.35)  # names do not differ in the simulation
    assert of_job["power"][-1] >= of_job["power"][0]


@pytest.mark.slow
def test_changes_made_one_at_a_time_have_a_table_and_a_figure_also_over_all_models(tmp_path: Path) -> None:
    study = audit(tmp_path, *EDITED)
    import_simulated(study, tmp_path / "a.duckdb", tmp_path / "rows.jsonl", 3)
    drawn = {f.part: f.rows for f in figure_rows(tmp_path / "a.duckdb", study, ["paired_differences"])}
    assert {"rating", "rating, all models"} <= set(drawn)
    shown = tables(tmp_path / "a.duckdb", names=["version_differences"])["version_differences"]
    own = shown.filter(test="rating", fit="paired_models")
    assert own["estimate"].to_list() == drawn["rating, all models"]["estimate"].to_list()
    assert own["mean_absolute"].null_count() == 0
