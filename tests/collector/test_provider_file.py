"""Providers of the user's own, from a file: asked like any other, recorded by name, with keys kept at home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.providers import PROVIDERS, Provider, provider_named
from slant.collector.providers.own_providers import checked_address
from slant.collector.run.key_consent import agree_to
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

KEY = "lab-key-0123456789"


def provider_file(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    file = folder / "providers.toml"
    file.write_text(text, "utf-8")
    monkeypatch.setenv("SLANT_PROVIDERS", str(file))
    return file


def row(address: str = "https://llm.example.org/v1", **more: str) -> str:
    lines = {"name": '"lab"', "address": f'"{address}"', "key_variable": '"LAB_API_KEY"', **more}
    return "[[providers]]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items())


PRICE = '[[prices]]\nprovider = "lab"\nmodel = "m"\ninput = 1\noutput = 10\ndate = 2026-11-01\n'


@pytest.mark.slow
def test_a_service_of_ones_own_is_asked_priced_and_recorded_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    with LocalServer() as server:
        more = {"key_header": '"api-key"', "headers": '{ "x-team" = "psy" }', "query": '{ "api-version" = "1" }'}
        provider_file(tmp_path, monkeypatch, row(server.base_url, **more) + PRICE)
        report = collect(tmp_path / "t.duckdb", str(write_tiny(tmp_path)), ["lab/m"], yes=True)
    assert report.is_complete
    assert {(h["api-key"], h["x-team"], h.get("Authorization")) for h in server.headers} == {(KEY, "psy", None)}
    rows = rows_in(tmp_path / "t.duckdb", "SELECT DISTINCT provider, model, requested_model, cost_usd FROM trials")
    assert rows == [("lab", "lab/m", "m", pytest.approx((100 * 1 + 74 * 10) / 1e6))]


@pytest.mark.slow
def test_python_names_a_file_for_one_call_and_the_environment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    monkeypatch.delenv("SLANT_PROVIDERS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    study, file = str(write_tiny(tmp_path)), tmp_path / "mine.toml"
    with LocalServer() as server:
        file.write_text(row(server.base_url), "utf-8")
        report = collect(tmp_path / "t.duckdb", study, ["lab/m"], yes=True, provider_file=file, processes=2)
        assert report.is_complete
    assert "SLANT_PROVIDERS" not in os.environ
    with pytest.raises(UnknownNameError):
        collect(tmp_path / "t.duckdb", study, ["lab/m"])
    with pytest.raises(UsageError, match="there is no such file"):
        collect(tmp_path / "t.duckdb", study, ["lab/m"], provider_file=tmp_path / "none.toml")


def test_its_query_is_sent_with_every_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider_file(tmp_path, monkeypatch, row(query='{ "api-version" = "2024-10-21" }', key_header='"api-key"'))
    provider = provider_named("lab")
    sent = provider.dialect.request(provider.address() or "", KEY, *_question())
    assert sent.url == "https://llm.example.org/v1/chat/completions?api-version=2024-10-21"
    assert sent.headers == {"api-key": KEY}


def _question() -> tuple:
    from tests.collector.test_providers import PROMPT, STUDY, TRIAL

    return STUDY.model("lab/m"), PROMPT, TRIAL


def test_it_speaks_any_dialect_and_names_its_own_endings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider_file(tmp_path, monkeypatch, row(dialect='"anthropic"', good_endings='["done"]'))
    provider = provider_named("lab")
    assert provider.dialect is PROVIDERS["anthropic"].dialect
    assert (provider.good_endings, provider.is_own, provider.costs_money) == (("done",), True, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[providers]\n", "it is not TOML"),
        (row("http://llm.example.org/v1"), "must begin with https://"),
        (row("ftp://llm.example.org/v1"), "is no address"),
        (row("https://me:secret@llm.example.org/v1"), "must not hold a name or password"),
        (row("https://llm.example.org/v1?key=abc"), "must not hold a query"),
        (row("https://llm.example.org/v1/chat/completions/"), "must end before /chat/completions, which slant adds"),
        (row(key_variable='"sk-proj-abcdefghij0123456789"'), "must be the name of a variable"),
        (row(headers='{ Authorization = "Bearer x" }'), "looks like a key"),
        (row(headers='{ "x-tag" = "sk-proj-abcdefghij0123456789" }'), "looks like a key"),
        (row(query='{ "api-key" = "x" }'), "looks like a key"),
        (row(headers='{ Host = "elsewhere" }'), "no header that a provider file can set"),
        (row(name='"openai"'), "a provider that slant has itself"),
        (row(key_variable='"OPENAI_API_KEY"'), "That key belongs to openai"),
        (row(dialect='"morse"'), "has no known dialect"),
        (row(adress='"x"'), 'There is no key "adress"'),
        (row() + row(), "listed twice"),
        (row() + row("https://other.example.org/v1", name='"two"'), "to two hosts"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_in_a_sentence(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = provider_file(tmp_path, monkeypatch, text)
    options = ["--study", "rmiat", "--model", "lab/m", "--dry-run", "--db", str(tmp_path / "t.duckdb")]
    said = run_collect("--provider-file", file, *options)
    assert sentence in said.output
    assert (said.exit_code, "Traceback" in said.output, "abcdefghij" in said.output) == (2, False, False)


def test_a_file_that_windows_saved_with_a_byte_order_mark_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider_file(tmp_path, monkeypatch, "\ufeff" + row().replace("\n", "\r\n"))
    assert provider_named("lab").address() == "https://llm.example.org/v1"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLANT_PROVIDERS", str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="there is no such file"):
        provider_named("lab")


def test_a_dry_run_names_the_address_and_a_moved_one_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--study", "rmiat", "--dry-run", "--db", str(tmp_path / "t.duckdb"), "--model", "openai/gpt-6-luna"]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert "is asked at https://api.openai.com/v1." in run_collect(*options).output
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    moved = run_collect(*options).output
    assert "MOVED: OPENAI_BASE_URL leads to http://127.0.0.1:9/v1" in moved
    assert "not at https://api.openai.com/v1, and the key in OPENAI_API_KEY goes there" in moved


@pytest.mark.parametrize("name", ["xai", "mistral", "groq", "qwen", "fireworks", "cerebras", "azure"])
def test_services_of_today_have_rows_of_their_own(name: str) -> None:
    provider = provider_named(name)
    sent = provider.dialect.request("https://x/v1", KEY, *_question())
    assert isinstance(provider, Provider)
    assert provider.base_url is None or provider.base_url.startswith("https://")
    assert sent.url == "https://x/v1/chat/completions"
    header = "api-key" if name == "azure" else "Authorization"
    assert KEY in sent.headers[header]


SECRET = "sk-proj-SECRETKEYabcdef0123456789XYZ"


@pytest.mark.parametrize(
    "address",
    [
        f"http://127.0.0.1:8080/v1?api_key={SECRET}",
        f"http://me:{SECRET}@127.0.0.1:8080/v1",
        f"http://{SECRET}@127.0.0.1:8080/v1",
        f"http://127.0.0.1:8080/{SECRET}/v1",
        f"http://127.0.0.1:8080/v1#{SECRET}",
        f"http://127.0.0.1:8080/{SECRET.replace('-', '%2D')}/v1",
        "http://127.0.0.1:8080/Zm9vYmFyQmF6UXV4MTIzNDU2Nzg5MGFiY2Q/v1",
        "http://127.0.0.1:8080/0123456789abcdef0123456789abcdef/v1",
        "http://127.0.0.1:8080/my-own-password/v1",
    ],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "my-own-password")
    with pytest.raises(UsageError) as refused:
        checked_address(address, "--base-url")
    assert not any(part in str(refused.value) for part in (SECRET, "Zm9v", "0123456789", "my-own"))


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:8080/v1",
        "https://sk-server-01.psychology.example.org/v1",
        "https://api.fireworks.ai/inference/v1/accounts/fireworks/models/llama-v3p1-405b-instruct",
        "https://name.openai.azure.com/openai/deployments/gpt-4o-2024-11-20",
        "https://gateway.example.org/6ba7b810-9dad-11d1-80b4-00c04fd430c8/v1",
    ],
)
def test_an_address_without_a_key_is_taken(address: str) -> None:
    assert checked_address(address, "--base-url") == address


def test_a_key_goes_to_a_host_of_the_file_once_somebody_agreed_to_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    study = write_tiny(tmp_path)
    with LocalServer() as server:
        text = row(server.base_url, key_variable='"AWS_SECRET_ACCESS_KEY"', costs_money="false")
        provider_file(tmp_path, monkeypatch, text)
        host = server.base_url.split("/")[2]
        with pytest.raises(UsageError, match="nobody agreed to") as refused:
            collect(tmp_path / "a.duckdb", study, ["lab/m"], repetitions=1)
        assert f"The key in AWS_SECRET_ACCESS_KEY goes to {host}" in str(refused.value)
        assert server.bodies == []
        agree_to([f"AWS_SECRET_ACCESS_KEY {host}"])  # as a person on a terminal does
        assert collect(tmp_path / "a.duckdb", study, ["lab/m"], repetitions=1).is_complete
        agree_to(["AWS_SECRET_ACCESS_KEY elsewhere.example"])  # which takes nothing back
        assert collect(tmp_path / "b.duckdb", study, ["lab/m"], repetitions=1).is_complete
