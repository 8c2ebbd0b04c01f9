"""Every value with which an SDK can say why an answer ended has a verdict; a new one fails here until it is decided."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slant.collector.providers.endings import ending_rows, known_endings
from slant.collector.providers.error_meanings import error_rows
from tools.sdk_values import sdk_values

SNAPSHOT = Path(__file__).parent / "sdk_values.csv"
OTHERS = ("google-genai", "mistralai", "together", "groq", "ollama")
ROOT = Path(__file__).parents[2]


def snapshot() -> list[tuple[str, str, str]]:
    """(sdk, dialect, value) of the SDKs that slant does not depend on, as they were on the date in that file."""
    with SNAPSHOT.open(encoding="utf-8", newline="") as file:
        return [(row["sdk"], row["dialect"], row["value"]) for row in csv.DictReader(file)]


def installed() -> list[tuple[str, str, str]]:
    return [(sdk, dialect, value) for sdk, _, dialect, value in sdk_values() if sdk in ("openai", "anthropic")]


def undecided(values: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    codes = {code for row in error_rows() for code in row["code"].split()}
    for sdk, dialect, value in values:
        is_decided = value in codes if dialect == "error" else (dialect, value) in known_endings()
        if value and not is_decided:
            yield sdk, dialect, value


def test_each_value_of_the_sdks_that_slant_depends_on_is_decided() -> None:
    assert {sdk for sdk, _, _ in installed()} == {"openai", "anthropic"}
    assert not list(undecided(installed()))


def test_each_value_of_the_other_sdks_is_decided() -> None:
    assert {sdk for sdk, _, _ in snapshot()} == set(OTHERS)
    assert not list(undecided(snapshot()))


def test_a_value_that_nobody_decided_about_is_found() -> None:
    assert list(undecided([("groq", "chat", "stop"), ("groq", "chat", "NEW_WORD")])) == [("groq", "chat", "NEW_WORD")]


def test_the_table_names_an_sdk_where_the_word_stands_in_its_types_and_only_there() -> None:
    in_types = {(sdk, dialect, value) for sdk, dialect, value in [*installed(), *snapshot()] if value}
    named = {(sdk, row["dialect"], row["ending"]) for row in ending_rows() for sdk in row["sdks"].split()}
    of_endings = {row for row in in_types if row[1] != "error"}
    assert of_endings - named == set()
    assert named - of_endings == {("ollama", "ollama", "not done")}  # done is false


@pytest.mark.slow
def test_the_newest_of_the_other_sdks_have_no_value_that_is_undecided(tmp_path: Path) -> None:
    """Installs them next to slant, in a folder that is thrown away; says which values the snapshot lacks."""
    folder = tmp_path / "sdks"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [folder / "bin/pip", "install", "--quiet", *OTHERS]
    done = subprocess.run(install, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"they can't be installed here: {done.stderr.strip().splitlines()[-1]}")
    command = [folder / "bin/python", ROOT / "tools/sdk_values.py"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    values = [(row["sdk"], row["dialect"], row["value"]) for row in csv.DictReader(told.stdout.splitlines())]
    assert {sdk for sdk, _, _ in values} == set(OTHERS)
    assert not list(undecided(values))
    assert set(values) == set(snapshot()), "tools/sdk_values.py says what belongs into sdk_values.csv"
