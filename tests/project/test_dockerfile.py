"""The Dockerfile and the workflow, as far as a test can see; `make test-image` runs the Dockerfile's lines for real."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def tool(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "tools"))
    return importlib.import_module("run_dockerfile")


def test_the_dockerfile_is_short_and_starts_from_debian(root: Path, tool: ModuleType) -> None:
    text = (root / "Dockerfile").read_text("utf-8")
    lines = list(tool.instructions(text))
    assert len(text.splitlines()) <= 20
    assert lines[0] == ("FROM", "debian:bookworm-slim")
    assert tool.suite_of("debian:bookworm-slim") == "bookworm"
    assert ("RUN", "make setup") in lines


def test_a_line_that_goes_on_is_one_and_a_comment_is_none(tool: ModuleType) -> None:
    text = "# first\nFROM debian:trixie\n\nRUN apt-get update && \\\n    apt-get install make\n"
    assert list(tool.instructions(text)) == [
        ("FROM", "debian:trixie"),
        ("RUN", "apt-get update &&      apt-get install make"),
    ]


def test_environment_and_folder_hold_for_the_lines_below(tool: ModuleType, tmp_path: Path) -> None:
    image = tool.Image(tmp_path)
    for line in (("ENV", "LANG=C.UTF-8 PATH=/opt/bin:/bin"), ("WORKDIR", "/data"), ("CMD", '["slant", "--help"]')):
        image.do(*line)
    assert image.environment == {"LANG": "C.UTF-8", "PATH": "/opt/bin:/bin"}
    assert (image.workdir, image.command) == ("/data", ["slant", "--help"])
    assert (tmp_path / "data").is_dir()


@pytest.mark.parametrize(("word", "rest"), [("ADD", "x /y"), ("ENTRYPOINT", "slant")])
def test_a_line_that_the_tool_does_not_know_is_never_left_out(
    tool: ModuleType, tmp_path: Path, word: str, rest: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        tool.Image(tmp_path).do(word, rest)
    assert f"Can't run {word} of the Dockerfile" in capsys.readouterr().err


def test_the_workflow_runs_the_two_commands_on_both_systems_and_needs_no_secret(root: Path) -> None:
    text = (root / ".github/workflows/test.yml").read_text("utf-8")
    assert re.findall(r"^ +- run: (.*)$", text, re.MULTILINE) == ["make demo", "make test"]
    assert "os: [ubuntu-latest, macos-latest]" in text
    assert "secrets." not in text
