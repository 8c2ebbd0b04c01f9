"""The settings of `collect` are said once, in collector/request/record.py: shell, Python, R and a run have them so."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click
import pytest

import slant
from slant.collector.cli import collect
from slant.collector.commands.terminal_watcher import TerminalWatcher
from slant.collector.request.record import Request
from slant.collector.request.setting import settings_of

ONLY_PRINTED = {"output_format"}


def test_options_and_arguments_have_one_name_and_one_default() -> None:
    options = {option.name: option for option in collect.params if isinstance(option, click.Option)}
    arguments = inspect.signature(slant.collect).parameters
    in_shell = {name for name, declared in settings_of(Request).items() if declared.setting.in_shell}
    passed_on = {name for name, option in options.items() if option.expose_value or name == "provider_file"}
    assert passed_on - ONLY_PRINTED == in_shell
    assert set(arguments) == {*settings_of(Request), "watcher"}
    for name in in_shell - {"db", "study", "models"}:
        assert options[name].opts == [f"--{name.replace('_', '-')}"]
        assert arguments[name].default in (None, False, options[name].default)


def test_help_of_python_has_every_setting_with_type_default_and_words() -> None:
    told = " ".join((slant.collect.__doc__ or "").split())
    for name, declared in settings_of(Request).items():
        assert f" {name}: " in told
        assert declared.is_required or f" = {declared.default!r} " in told
    assert "time_limit: float = 600.0 The longest wait for an answer. In seconds." in told
    assert "The most that the study may cost in `db`" in told


def test_r_has_the_settings_of_the_record(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "tools"))
    from r_settings import FILE, with_settings

    text = FILE.read_text("utf-8")
    assert with_settings(text) == text, "What R has is not fresh: python tools/r_settings.py, then make docs"
    sys.modules.pop("r_settings")


def test_the_shell_hands_its_options_on_to_collect_and_does_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    from slant.collector import api

    given: dict[str, object] = {}
    monkeypatch.setattr(api, "collect", lambda **settings: given.update(settings))
    monkeypatch.setattr(TerminalWatcher, "show", lambda *_, **__: None)
    collect(["--study", "rmiat", "--model", "a/b", "--repetitions", "3", "--db", "x.duckdb"], standalone_mode=False)
    assert isinstance(given.pop("watcher"), TerminalWatcher)
    assert {name: value for name, value in given.items() if value != getattr(Request, name, None)} == {
        "study": "rmiat", "models": ("a/b",), "repetitions": 3, "db": Path("x.duckdb"),
    }  # fmt: skip


def test_a_run_keeps_how_it_asked_under_names_with_units() -> None:
    live = Request("a.duckdb", "rmiat", time_limit=7.0, budget=2.0).kept()
    assert (live["time_limit_s"], live["budget_usd"], live["concurrency"]) == (7.0, 2.0, 16)
    batch = Request("a.duckdb", "rmiat", batch=True, budget=2.0).kept()
    assert (batch["batch"], batch["budget_usd"], batch["wait"]) == (True, 2.0, False)
    assert "wait" not in live
    assert "concurrency" not in batch
