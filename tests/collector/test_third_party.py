"""A provider of another package: installed by pip, found by its entry point, asked like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.errors import ProviderError, UnknownNameError
from slant.collector.providers import provider_named
from tests.support.installed_package import installed
from tests.support.local_server import LocalServer, standing_for
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

ENTRY_POINTS = "[slant.providers]\nacme = slant_acme:PROVIDER\nopenai = slant_acme:PROVIDER\n"
MODULE = '''
"""Acme speaks OpenAI's chat completions and wants its key in a header of its own."""
from dataclasses import replace

from slant.collector.providers import Provider, openai


class Acme:
    LOGPROBS = openai.LOGPROBS

    def request(self, base_url, key, model, prompt, trial):
        return replace(openai.request(base_url, None, model, prompt, trial), headers={"x-acme-key": key})

    def reply(self, body, headers):
        return openai.reply(body, headers)


PROVIDER = Provider("acme", Acme(), "https://api.acme.example/v1", "ACME_API_KEY", "ACME_BASE_URL")
'''


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip installed the package slant-acme, without touching this environment."""
    return installed(tmp_path_factory.mktemp("acme"), "slant-acme", MODULE, ENTRY_POINTS)


def declare(folder: Path, line: str, package: str = "slant-other") -> Path:
    """A package whose entry point says `line`, as pip would leave it."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[slant.providers]\n{line}\n", "utf-8")
    return folder


@pytest.mark.slow
def test_an_installed_provider_is_asked_and_its_answers_are_kept(
    acme: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(acme)
    monkeypatch.setenv("ACME_API_KEY", "acme-key")
    db = tmp_path / "t.duckdb"
    with LocalServer() as server, standing_for("acme", server) as base_url:
        report = collect(db, str(write_tiny(tmp_path)), ["acme/rocket"], base_url=base_url, yes=True)
    assert report.is_complete
    assert {headers["x-acme-key"] for headers in server.headers} == {"acme-key"}
    rows = rows_in(db, "SELECT DISTINCT provider, model, reasoning_tokens FROM trials")
    assert rows == [("acme", "acme/rocket", 64)]


def test_a_package_cannot_put_itself_in_the_place_of_a_known_provider(
    acme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(acme)
    assert provider_named("openai").key_variable == "OPENAI_API_KEY"


def test_an_unknown_name_is_told_the_nearest_installed_one(acme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(acme)
    with pytest.raises(UnknownNameError, match='Did you mean "acme"'):
        provider_named("acmee")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("broken = slant_nothing:PROVIDER", "can't be loaded.\n  ModuleNotFoundError"),
        ("broken = slant.collector.errors:SlantError", "is not what it says"),
        ("broken = slant.collector.providers:Provider", "is not what it says"),
    ],
)
def test_a_provider_that_cannot_be_used_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.syspath_prepend(declare(tmp_path, line))
    with pytest.raises(ProviderError) as caught:
        provider_named("broken")
    assert said in str(caught.value)
    assert "slant-other" in str(caught.value)


def test_two_packages_with_one_name_are_refused_rather_than_chosen_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        monkeypatch.syspath_prepend(
            declare(tmp_path / str(number), f"twin = twin{number}:PROVIDER", f"slant-t{number}")
        )
    with pytest.raises(ProviderError, match="slant-t1, slant-t2"):
        provider_named("twin")
