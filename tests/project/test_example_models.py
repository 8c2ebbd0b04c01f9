"""README, help, pages and new studies name models that live; one command changes all of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.designs import design_names
from slant.collector.example_models import EXAMPLE_MODEL, SECOND_MODEL
from slant.collector.providers import PROVIDERS
from slant.collector.providers.lifecycles import lifecycle_of
from slant.collector.providers.prices import packaged_price
from slant.collector.studies.catalogue import load_variants
from slant.collector.studies.new_study import write_new_study

NAMED = re.compile(
    rf"(?<![\w./-])({'|'.join(set(PROVIDERS) - {'simulated', 'local', 'ollama'})})/([\w.:-]*\w)(?![\w*./-])"
)
ABOUT_ENDED_MODELS = "model_choice.Rmd"
CHANGE = "The examples must name models that live: python tools/example_models.py openai/NAME anthropic/NAME"


def ended(text: str) -> set[str]:
    """The models that a text names and that have an end, announced or past; not those whose answers are imported."""
    lines = "\n".join(line for line in text.splitlines() if "--map-model" not in line)
    return {f"{provider}/{name}" for provider, name in NAMED.findall(lines) if lifecycle_of(provider, name)}


def helps(group: object, name: str, *before: str) -> Iterator[tuple[str, str]]:
    """The help of a program and of each of its commands."""
    yield " ".join([name, *before]), CliRunner().invoke(group, [*before, "--help"]).output
    listed = re.search(
        r"^Commands:\n((?:  .*\n)+)", CliRunner().invoke(group, [*before, "--help"]).output, re.MULTILINE
    )
    for command in re.findall(r"^  ([a-z][a-z-]+) ", listed[1] if listed else "", re.MULTILINE):
        yield from helps(group, name, *before, command)


def test_the_examples_live_and_have_a_price() -> None:
    for model in (EXAMPLE_MODEL, SECOND_MODEL):
        provider, _, name = model.partition("/")
        assert lifecycle_of(provider, name) is None, CHANGE
        assert packaged_price(provider, name), f"No price of {model} is known. {CHANGE}"


def test_the_readme_and_the_pages_name_no_model_that_ends(root: Path) -> None:
    sys.path.insert(0, str(root / "tools"))
    from example_models import pages

    sources = [*(root / "R").glob("*.R"), *(root / "inst").rglob("*.R"), root / "bench" / "README.md"]
    shown = [path for path in [*pages(root), *sources] if path.name != ABOUT_ENDED_MODELS]
    named = {path.name: ended(path.read_text("utf-8")) for path in shown}
    assert {page: models for page, models in named.items() if models} == {}, CHANGE
    assert EXAMPLE_MODEL in (root / "README.md").read_text("utf-8")


@pytest.mark.parametrize("program", [collect, analyze], ids=["collect", "analyze"])
def test_help_names_no_model_that_ends(program: object) -> None:
    texts = dict(helps(program, "collect" if program is collect else "analyze"))
    assert len(texts) > 10
    assert {command: models for command, text in texts.items() if (models := ended(text))} == {}, CHANGE


@pytest.mark.parametrize("design", design_names())
def test_a_new_study_asks_no_model_that_ends(design: str, tmp_path: Path) -> None:
    paths = write_new_study("drinks", design, tmp_path / "new")
    assert not any(re.search("(?:FIRST|SECOND)_", path.read_text("utf-8")) for path in paths)
    models = [model for study in load_variants(paths[0]).values() for model in study.models]
    assert not [m.model for m in models if lifecycle_of(m.provider, m.requested_model)], CHANGE


def test_the_command_changes_names_and_nothing_that_only_begins_like_them(root: Path) -> None:
    sys.path.insert(0, str(root / "tools"))
    from example_models import with_names

    text = "openai/gpt-6 and simulated/gpt-6, not gpt-6-mini, not gpt-6.1; gpt-6."
    assert (
        with_names(text, {"openai/gpt-6": "xai/grok-9"})
        == "xai/grok-9 and simulated/grok-9, not gpt-6-mini, not gpt-6.1; grok-9."
    )
