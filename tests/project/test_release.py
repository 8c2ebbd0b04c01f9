"""A release: one version everywhere, what `make dist` makes, and the Dockerfile and workflows, which tests can only
read (`make test-image` runs the Dockerfile's lines for real)."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml


@pytest.fixture
def dist(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "tools"))
    return importlib.import_module("dist")


def test_all_files_name_one_version(dist: ModuleType) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", dist.checked_version(None))
    assert set(dist.versions()) == {"pyproject.toml", "DESCRIPTION", "CITATION.cff"}


def test_a_tag_of_another_version_ends_in_a_sentence(dist: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    dist.checked_version(f"v{dist.checked_version(None)}")
    with pytest.raises(SystemExit):
        dist.checked_version("v9.9.9")
    assert "The tag is v9.9.9, but pyproject.toml" in capsys.readouterr().err


def workflow(root: Path, name: str) -> dict[str, dict[str, dict[str, object]]]:
    text = (root / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    assert "secrets." not in text
    read = yaml.safe_load(text)
    assert read["permissions"] == {"contents": "read"}
    return dict(read)


def test_a_release_is_built_and_tried_before_it_is_published(root: Path) -> None:
    jobs = workflow(root, "release")["jobs"]
    assert jobs["publish"]["needs"] == "build"
    runs = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert 'make dist ARGS="--tag $GITHUB_REF_NAME"' in runs
    assert any('pip" install dist/*.whl' in run and "collect --study rmiat" in run for run in runs)


def test_the_site_is_built_on_every_push_and_published_from_main_alone(root: Path) -> None:
    jobs = workflow(root, "docs")["jobs"]
    assert "make docs-site" in [step.get("run") for step in jobs["build"]["steps"]]
    assert jobs["publish"]["if"] == "github.ref == 'refs/heads/main' && github.event_name == 'push'"


def test_the_development_container_uses_the_dockerfile_and_the_README_s_set_up(root: Path) -> None:
    read = json.loads((root / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    assert (root / ".devcontainer" / read["build"]["dockerfile"]).resolve() == root / "Dockerfile"
    assert read["postCreateCommand"] == "make setup"


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
