"""Lists of Bai et al. as they lie: in a clone of their repository, in its folder of lists, or next to prompts.csv."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.collector import import_trials
from slant.collector.errors import StudyError
from slant.collector.studies.catalogue import load_variants
from slant.collector.studies.new_study import write_new_study
from slant.collector.study.folder import read_text
from tests.hostile.lists import write_lists
from tests.support.published_clone import write_clone

DESIGNS = ("pairing", "decision")


def _study(design: str, lists: Path, folder: Path) -> dict[str, str]:
    return {path.name: read_text(path) for path in write_new_study("bai", design, folder, lists)}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "tables").mkdir()
    write_lists(tmp_path / "tables")
    return write_clone(tmp_path / "tables", tmp_path / "clone")


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_scripts_of_a_clone_make_the_study_that_tables_of_their_texts_make(
    shared: Path, design: str, tmp_path: Path
) -> None:
    tables = shared / "data" / "word_association"
    clone = write_clone(tables, tmp_path / "llm-implicit-bias")
    of_clone = _study(design, clone, tmp_path / "a")
    assert of_clone == _study(design, tables, tmp_path / "b")
    assert of_clone == _study(design, clone / "stimuli", tmp_path / "c")


@pytest.mark.parametrize("design", DESIGNS)
def test_lists_without_prompts_make_a_study_with_prompts_of_slant_and_say_so(
    shared: Path, design: str, tmp_path: Path
) -> None:
    clone = write_clone(shared / "data" / "word_association", tmp_path / "clone")
    (clone / "prompt").rename(tmp_path / "elsewhere")
    assert "Their folder has no prompts" in _study(design, clone, tmp_path / "new")["study.toml"]
    assert load_variants(tmp_path / "new" / "study.toml")


def test_scripts_are_parsed_and_never_run(clone: Path, tmp_path: Path) -> None:
    script = clone / "prompt" / "implicit" / "gpt4" / "age" / "v1.py"
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + script.read_text())
    assert "{words}" in _study("pairing", clone, tmp_path / "new")["wordings.csv"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("old", "new"), [("pair_group[0]", "__import__('os').name"), ("prompt = (", "text = ("), ("prompt = (", "(")]
)
def test_a_script_of_another_form_is_named(clone: Path, old: str, new: str, tmp_path: Path) -> None:
    script = clone / "prompt" / "implicit" / "gpt4" / "age" / "v1.py"
    script.write_text(script.read_text().replace(old, new))
    with pytest.raises(StudyError, match=r"age/v1\.py"):
        _study("pairing", clone, tmp_path / "new")


def test_scripts_of_other_models_and_links_are_left_alone(clone: Path, tmp_path: Path) -> None:
    wanted = _study("pairing", clone, tmp_path / "a")
    (clone / "prompt" / "broken.py").write_text("this is no Python (")
    (clone / "prompt" / "link.py").symlink_to("/dev/zero")
    assert _study("pairing", clone, tmp_path / "b") == wanted
    assert load_variants(tmp_path / "b" / "study.toml")


@pytest.mark.slow
def test_answers_as_the_repository_has_them_come_in(shared: Path, tmp_path: Path) -> None:
    """There the rows of chained answers are numbered in a column without a name."""
    tables = shared / "data" / "word_association"
    text = (tables / "result_chained.csv").read_text("utf-8")
    (tmp_path / "result_chained.csv").write_text(text.removeprefix("row"), "utf-8")
    study = write_new_study("bai", "decision", tmp_path / "new", tables)[0]
    files = [tmp_path / "result_chained.csv"]
    report = import_trials(tmp_path / "a.duckdb", str(study), files, "openai/gpt-4", "bai", "chained")
    assert (report.rows_imported, report.problems) == (445, [])
