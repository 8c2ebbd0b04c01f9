"""`collect studies new`: a study of one's own that can be checked, asked and fitted as it stands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import Result

from slant.collector.designs import _DESIGNS, design_named
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study, load_variants
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect


def typed(*words: str) -> Result:
    return run_collect("studies", *words)


@pytest.mark.slow
@pytest.mark.parametrize("design", _DESIGNS)
def test_a_new_study_passes_the_check_as_it_stands_and_says_what_to_type(
    design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = typed("new", "drinks", "--design", design)
    assert (said.exit_code, Path("drinks/study.toml").exists()) == (0, True)
    next_line = said.stderr.split("Next: collect ")[1].splitlines()[0]
    checked = run_collect(*shlex.split(next_line))
    assert (checked.exit_code, checked.stderr[:4]) == (0, "ok: ")
    assert "collect --study ./drinks/study.toml --simulated --db drinks.duckdb" in said.stderr


@pytest.mark.parametrize("design", _DESIGNS)
def test_its_name_stands_everywhere_and_every_variant_can_be_read(design: str, tmp_path: Path) -> None:
    paths = write_new_study("drinks", design, tmp_path / "a")
    assert all("STUDY" not in path.read_text("utf-8") for path in paths)
    assert {study.name for study in load_variants(paths[0]).values()} == {"drinks"}
    assert max(len(line) for path in paths[:1] for line in path.read_text("utf-8").splitlines()) <= 120


STARTS = [(name, start) for name in _DESIGNS for start in design_named(name).starts]


@pytest.mark.slow
@pytest.mark.parametrize(("design", "start"), STARTS)
def test_each_start_of_a_design_passes_the_check_and_counts_its_trials(design: str, start: str, tmp_path: Path) -> None:
    said = typed("new", "mine", "--design", design, "--start", start, "--folder", str(tmp_path / "mine"))
    assert said.exit_code == 0
    checked = typed("validate", str(tmp_path / "mine" / "study.toml"))
    assert (checked.exit_code, checked.stderr[:4]) == (0, "ok: ")


def test_a_start_that_a_design_has_not_is_a_sentence(tmp_path: Path) -> None:
    said = typed("new", "mine", "--design", "factorial", "--start", "conjiont", "--folder", str(tmp_path / "mine"))
    assert (said.exit_code, 'Did you mean "conjoint"?' in said.stderr) == (2, True)
    said = typed("new", "mine", "--design", "pairing", "--start", "conjoint", "--folder", str(tmp_path / "mine"))
    assert (said.exit_code, (tmp_path / "mine").exists()) == (2, False)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "words" / "stimuli.csv"
    mine.parent.mkdir()
    mine.write_text("mine", "utf-8")
    said = typed("new", "drinks", "--design", "association", "--folder", str(mine.parent))
    assert said.exit_code == 2
    assert "stimuli.csv is there already" in said.stderr
    assert [path.name for path in mine.parent.iterdir()] == ["stimuli.csv"]


@pytest.mark.parametrize(
    ("name", "design", "said"),
    [
        ("a b", "association", 'can\'t be called "a b"'),
        ("../drinks", "association", "can't be called"),
        ("rmiat", "association", "comes with slant"),
        ("drinks", "asociation", 'Did you mean "association"?'),
    ],
)
def test_a_name_that_can_t_be_is_told(name: str, design: str, said: str, tmp_path: Path) -> None:
    done = typed("new", name, "--design", design, "--folder", str(tmp_path / "new"))
    assert (done.exit_code, said in done.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_an_association_s_option_order_is_balanced_in_each_condition(tmp_path: Path) -> None:
    study = load_study(write_new_study("drinks", "association", tmp_path)[0])
    first = [
        (trial.condition, trial.factors["first_option"])
        for trial in (one.trials[0] for one in plan(study, study.models[0]))
    ]
    counts = {pair: first.count(pair) for pair in set(first)}
    assert len(counts) == 4
    assert set(counts.values()) == {len(first) // 4}


def test_its_models_have_the_only_frame_and_its_tests_their_places(tmp_path: Path) -> None:
    study = load_study(write_new_study("drinks", "association", tmp_path)[0])
    assert {study.frame, *(model.frame for model in study.models)} == {"plain"}
    assert [(test.test_no, test.test) for test in study.tests] == [(1, "tea_coffee"), (2, "rain_sun")]
    assert design_named("association").remarks(study) == [
        "Not asked: the 16 words of the attributes (ask_attributes = true asks them, too)."
    ]
