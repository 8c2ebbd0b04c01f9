"""`collect studies` lists and checks them; `collect studies new` makes one of one's own that can be asked as it is."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections import Counter
from pathlib import Path

import pytest
from click.testing import Result

from slant.collector.designs import _DESIGNS, design_named
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study, load_variants, next_command
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect
from tests.support.tiny_audit import STUDY, write_audit
from tests.support.tiny_study import write_tiny


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
    trials = [one.trials[0] for one in plan(study, study.models[0])]
    counts = Counter((trial.condition, trial.factors["first_option"]) for trial in trials)
    assert list(counts.values()) == [len(trials) // 4] * 4


def test_studies_are_listed_one_a_row() -> None:
    result = typed("--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert result.exit_code == 0
    assert ("rmiat", "12920") in [(row["study"], row["trials_a_model"]) for row in rows]
    assert "rmiat" in typed().stdout


def test_a_study_shows_its_tests_models_variants_and_fits() -> None:
    result = typed("rmiat")
    for part in ("flowers_insects", "claude-3-7-sonnet-20250219", "balanced", "tokens ~ condition + (1 | wording)"):
        assert part in result.stdout
    assert "12,920 trials a model." in result.stderr


def test_a_pipe_gets_the_rows_of_one_part() -> None:
    result = typed("rmiat", "--show", "models", "--format", "json")
    assert [row["model"] for row in json.loads(result.stdout)][:2] == ["o3-mini", "deepseek-r1"]
    assert json.loads(typed("--format", "json", "rmiat").stdout)[0]["trials"] == 2000


def test_a_misspelt_study_names_the_nearest_and_exits_2() -> None:
    result = typed("rmait")
    assert result.exit_code == 2
    assert 'There is no study "rmait". Did you mean "rmiat"?' in result.stderr
    assert result.stdout == ""


def test_a_study_of_ones_own_is_checked(tmp_path: Path) -> None:
    result = typed("validate", str(write_tiny(tmp_path)))
    assert result.exit_code == 0
    assert result.stderr.startswith("ok: 8 trials a model\n")


def test_a_study_with_a_mistake_is_told_in_one_sentence_and_exits_2(tmp_path: Path) -> None:
    result = typed("validate", str(write_tiny(tmp_path, study=("title", "titel"))))
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: study.toml needs the key")
    assert "Traceback" not in result.output


def test_a_folder_without_a_study_file_is_no_study(tmp_path: Path) -> None:
    result = typed("validate", str(tmp_path))
    assert result.exit_code == 2
    assert "holds no study.toml" in result.stderr


def test_help_gives_an_example() -> None:
    for arguments in (["--help"], ["rmiat", "--help"], ["validate", "--help"]):
        assert "Example" in typed(*arguments).stdout


def test_next_is_the_effects_of_a_factorial_study_the_first_fit_of_a_file_or_the_tables(tmp_path: Path) -> None:
    named = {name: next_command(load_study(name), Path("a.duckdb")) for name in ("rmiat", "hiring")}
    assert named == {
        "rmiat": "analyze --fit lme4 --db a.duckdb",
        "hiring": "analyze tables --study hiring --db a.duckdb",
    }
    audit = load_study(write_audit(tmp_path))
    assert next_command(audit, tmp_path / "b c.duckdb").startswith("analyze --fit amce --db '")


@pytest.mark.parametrize("written", ["qestions", "question", "Questions"])
def test_a_misspelled_table_of_questions_is_named(written: str, tmp_path: Path) -> None:
    file = write_audit(tmp_path)
    file.write_text(STUDY.replace("questions", written), "utf-8")
    with pytest.raises(StudyError, match=f'There is no key "{written}" in .* Did you mean "questions"'):
        load_study(file)


def test_of_many_names_the_five_nearest_are_said() -> None:
    many = [f"table_{number}" for number in range(184)]
    assert str(UnknownNameError("table", "xyzzy", many)).count(",") == 4
    assert str(UnknownNameError("table", "xyzzy", many[:3])).count("table_") == 3


def test_a_study_file_here_is_found_by_its_name_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_audit(tmp_path).rename(tmp_path / "flat.toml")
    monkeypatch.chdir(tmp_path)
    assert load_study("flat").path == tmp_path / "flat.toml"


@pytest.mark.slow
def test_a_program_gets_rows_also_when_nothing_is_left_to_ask(tmp_path: Path) -> None:
    words = ["--study", str(write_audit(tmp_path)), "--simulated", "--db", str(tmp_path / "a.duckdb")]
    first, again = (run_collect(*words, "--format", "json") for _ in range(2))
    assert "Nothing to ask" in again.stderr
    (before,), (after,) = json.loads(first.stdout), json.loads(again.stdout)
    assert (after["asked"], after["already_done"]) == (0, before["planned"])
