"""Files of providers that hold a key, lead it elsewhere, or are no files: refused in a sentence that repeats no key."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.errors import SlantError
from slant.collector.providers import provider_named
from tests.hostile.become import Hostile
from tests.hostile.providers import PROVIDER_FILES, SECRET, TRUE
from tests.support.commands import run_collect
from tests.support.tiny_study import write_tiny

MOST_S = 2.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "providers.toml"
    path.write_text(TRUE, "utf-8")
    return path


@pytest.mark.parametrize("hostile", PROVIDER_FILES, ids=lambda hostile: hostile.name)
def test_it_is_refused_in_a_sentence_and_no_key_is_repeated(hostile: Hostile, file: Path) -> None:
    hostile.become(file)
    begun = time.process_time()
    with pytest.raises(SlantError) as refused:
        collect(file.parent / "a.duckdb", "rmiat", ["lab/m"], provider_file=file)
    said = str(refused.value)
    assert hostile.sentence in said
    assert (SECRET[8:] in said, "\r" in said, "\0" in said) == (False, False, False)
    assert time.process_time() - begun < MOST_S


def test_a_command_says_so_as_python_does_and_makes_no_database(file: Path) -> None:
    file.write_text(TRUE.replace("https", "http"), "utf-8")
    options = ["--study", "rmiat", "--model", "lab/m", "--db", str(file.parent / "a.duckdb")]
    said = run_collect("--provider-file", file, *options)
    assert (said.exit_code, "must begin with https://" in said.stderr, "Traceback" in said.output) == (2, True, False)
    assert not (file.parent / "a.duckdb").exists()


def test_a_link_to_a_file_of_one_s_own_is_followed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = file.with_name("link.toml")
    link.symlink_to(file)
    monkeypatch.setenv("SLANT_PROVIDERS", str(link))
    assert provider_named("lab").base_url == "https://llm.example.org/v1"


def test_a_study_can_not_name_a_file_of_providers(file: Path) -> None:
    study = write_tiny(file.parent)
    Path(study).write_text(f'provider_file = "{file}"\n{Path(study).read_text("utf-8")}', "utf-8")
    with pytest.raises(SlantError, match="provider_file"):
        collect(file.parent / "a.duckdb", str(study), ["lab/m"])
