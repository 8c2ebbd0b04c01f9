"""When models end: a dated table next to what the SDKs carry, and a sentence before anybody pays."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from slant.collector.cli import collect as command
from slant.collector.providers import PROVIDERS
from slant.collector.providers.lifecycles import lifecycle_of, lifecycles, read_anthropic, read_openai

TODAY = date(2026, 11, 26)


def of_openai() -> dict[str, str]:
    """The announced days by model, from the text under the SDK's list of models."""
    from openai.types.shared import chat_model  # takes seconds, in each process that collects tests

    text = Path(chat_model.__file__).read_text("utf-8").partition("Deprecated values:")[2]
    days = {}
    for entry in text.split("\n- "):
        if day := re.search(r"date:\s+(20\d\d-\d\d-\d\d)", " ".join(entry.split())):
            days |= dict.fromkeys(re.findall(r'"([^"\s]+)"', entry), day.group(1))
    return days


def test_the_table_has_every_day_that_openais_sdk_carries() -> None:
    days = of_openai()
    assert len(days) > 50
    assert {name: str(lifecycles()["openai", name].ends) for name in days} == days


def test_the_table_has_every_day_that_anthropics_sdk_carries() -> None:
    from anthropic._data import DEPRECATED_MODELS

    for name, day in DEPRECATED_MODELS.items():
        spelt = re.sub(r"(\d)(st|nd|rd|th)", r"\1", day)
        assert lifecycles()["anthropic", name].ends == datetime.strptime(spelt, "%B %d, %Y").date()


def test_each_row_is_of_a_known_provider_and_has_a_source() -> None:
    for (provider, _), row in lifecycles().items():
        assert provider in PROVIDERS
        assert row.source
        assert row.successor or not row.is_routed


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("openai/o3-mini", "is gone since 23 October 2026 (openai"),
        ("openai-responses/o3-mini-2025-01-31", "is gone since 23 October 2026"),
        ("anthropic/claude-3-7-sonnet-20250219", "is gone since 19 February 2026"),
        ("anthropic/claude-sonnet-4-5", "goes on 30 November 2026, in 4 days"),
        ("openai/gpt-5", "goes on 11 December 2026, in 15 days"),
        ("openai/gpt-5", "Its provider names gpt-6.1-sol as successor."),
        ("gemini/gemini-2.5-pro", "will be answered by gemini-3.8-flash from 1 December 2026"),
    ],
)
def test_the_end_of_a_model_is_one_sentence(name: str, sentence: str) -> None:
    known = lifecycle_of(*name.split("/"))
    assert known is not None
    assert sentence in known.sentence(name, TODAY)


@pytest.mark.parametrize("name", ["openai/gpt-6-luna", "anthropic/claude-sonnet-5-5", "local/o3-mini"])
def test_a_model_without_an_announced_end_has_none(name: str) -> None:
    assert lifecycle_of(*name.split("/")) is None


def test_what_a_provider_says_of_its_model_is_read() -> None:
    assert read_openai({"id": "m", "shutdown_date": "2027-01-14"}).ends == date(2027, 1, 14)
    assert read_openai({"id": "m", "shutdown_date": None}) is None
    deprecated = {"id": "c", "lifecycle": "deprecated", "retires_at": "2026-11-30T00:00:00Z"}
    assert read_anthropic(deprecated).ends == date(2026, 11, 30)
    assert read_anthropic({"id": "c", "lifecycle": "active", "retires_at": None}) is None


def test_a_dry_run_says_that_a_model_is_gone_before_it_says_what_it_would_cost(tmp_path: Path) -> None:
    options = ["--study", "rmiat", "--model", "openai/o3-mini", "--dry-run", "--db", str(tmp_path / "t.duckdb")]
    said = CliRunner().invoke(command, options)
    assert "openai/o3-mini is gone since 23 October 2026" in said.stderr
    assert said.exit_code == 0
