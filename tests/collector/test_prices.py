"""Prices: found by name, overridden by the user, and turned into the cost of an answer; unknown is never 0."""

from __future__ import annotations

from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.errors import UsageError
from slant.collector.providers import PROVIDERS, anthropic, chat_completions, gemini, openai, openai_responses
from slant.collector.providers.prices import _SHIPPED, Price, cost_usd, load_prices, packaged_price, read_prices
from slant.collector.records import Reply
from tests.support.each_row import each_row

OWN = """[[prices]]
provider = "local"
model = "small"
input = 1.0
output = 10.0
date = 2026-11-21
source = "my contract"
"""
A = Price("p", "m", 1.0, 10.0, 0.5, 1.25, 0.5, "2026-11-21", "")


@pytest.fixture(autouse=True)
def no_prices_of_this_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("SLANT_PRICES", raising=False)


def write(path: Path, text: str = OWN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_each_shipped_price_is_of_a_known_provider_dated_and_sane() -> None:
    for price in load_prices():
        assert price.provider in PROVIDERS
        assert 0 < price.input < price.output < 1000
        assert price.cached_input is None or price.cached_input < price.input
        assert (price.date[:3], price.source) == ("202", "the provider's public price page")


@pytest.mark.parametrize("name", ["o3-mini", "o3-mini-2025-01-31"])
@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_a_snapshot_has_the_price_of_its_model_on_either_api(provider: str, name: str) -> None:
    found = load_prices().find(provider, name)
    assert found is not None
    assert (found.input, found.output) == (1.1, 4.4)


@each_row("named", ["openai/o3-mini-tall", "local/o3-mini", "qwen/qwen3-max", "openai/gpt-9-imagined"])
def test_another_model_whose_name_begins_alike_or_that_no_source_has_has_no_price(named: str) -> None:
    assert load_prices().find(*named.split("/")) is None


def test_prices_of_ones_own_go_first_and_the_nearest_file_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cheap, dear = OWN.replace("10.0", "2.0"), OWN.replace("10.0", "3.0")
    write(tmp_path / "config" / "slant" / "prices.toml", cheap)
    outputs = [load_prices()]
    monkeypatch.setenv("SLANT_PRICES", str(write(tmp_path / "variable.toml", dear)))
    outputs += [load_prices(), load_prices(write(tmp_path / "named.toml"))]
    assert [prices.find("local", "small").output for prices in outputs] == [2.0, 3.0, 10.0]  # type: ignore[union-attr]
    assert outputs[2].find("openai", "o3-mini") is not None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("output = 10.0\n", "", 'has no "output"'),
        ("output = 10.0", "output = -1", "must be a number that is not negative"),
        ("output = 10.0", "output = nan", "must be a number that is not negative"),
        ("output = 10.0", "outputs = 1", '"output"'),
        ("date = 2026-11-21\n", "", 'has no "date"'),
        ("source", "sauce", 'Did you mean "source"'),
        ("[[prices]]", "[[prices]", "not TOML"),
    ],
)
def test_a_price_that_breaks_the_rules_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said.replace("[", r"\[")):
        load_prices(write(tmp_path / "own.toml", OWN.replace(old, new)))


def test_a_file_of_prices_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        load_prices(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("dialect", "body", "cost"),
    [
        # 1,000 in, of them 400 cached; 100 out: (600 x 1 + 400 x 0.5 + 100 x 10) / 1e6
        (openai, {"usage": {"prompt_tokens": 1000, "completion_tokens": 100,
                            "prompt_tokens_details": {"cached_tokens": 400}}}, 0.0018),
        (chat_completions, {"usage": {"prompt_tokens": 1000, "completion_tokens": 100,
                                "prompt_cache_hit_tokens": 400}}, 0.0018),
        (openai_responses, {"usage": {"input_tokens": 1000, "output_tokens": 100,
                                      "input_tokens_details": {"cached_tokens": 400}}}, 0.0018),
        # Anthropic counts what is outside the cache; 200 written at 1.25 besides: + 250 / 1e6
        (anthropic, {"usage": {"input_tokens": 600, "cache_read_input_tokens": 400, "output_tokens": 100,
                               "cache_creation_input_tokens": 200}}, 0.00205),
        # thoughts are billed as output
        (gemini, {"usageMetadata": {"promptTokenCount": 1000, "cachedContentTokenCount": 400,
                                    "candidatesTokenCount": 20, "thoughtsTokenCount": 80}}, 0.0018),
    ],
)  # fmt: skip
def test_each_dialect_is_charged_for_cached_input_and_for_reasoning(
    dialect: Any, body: dict[str, Any], cost: float
) -> None:
    assert cost_usd(A, dialect.reply(body, {})) == pytest.approx(cost)
    assert cost_usd(A, dialect.reply(body, {}), is_batch=True) == pytest.approx(cost / 2)


@pytest.mark.parametrize("dialect", [openai, anthropic, gemini, openai_responses])
def test_a_reply_without_counts_has_an_unknown_cost(dialect: Any) -> None:
    assert cost_usd(A, dialect.reply({}, {})) is None
    assert cost_usd(None, Reply(input_tokens=1, output_tokens=1)) is None


counts = st.integers(0, 10**7)


@given(counts, counts, counts, counts)
def test_a_cost_is_never_negative_and_more_output_never_cheaper(sent: int, cached: int, written: int, out: int) -> None:
    def of(tokens: int) -> float:
        reply = Reply(input_tokens=sent, cached_input_tokens=cached, cache_write_tokens=written, output_tokens=tokens)
        found = cost_usd(A, reply)
        assert found is not None
        return found

    assert 0 <= of(out) <= of(out + 1)


def test_the_shipped_prices_are_those_of_the_package_where_it_has_them() -> None:
    """Two of DeepSeek are retired, and the package kept an older price of them."""
    differing = {
        price.model
        for price in read_prices(_SHIPPED)
        if (packaged := packaged_price(price.provider, price.model)) is not None
        and (price.input, price.output) != (packaged.input, packaged.output)
    }
    assert differing == {"deepseek-chat", "deepseek-reasoner"}


@each_row(
    ("provider", "model"),
    [
        ("openai", "gpt-6-luna"),
        ("openai-responses", "gpt-5.6-terra"),
        ("anthropic", "claude-sonnet-5-5"),
        ("gemini", "gemini-3.8-flash"),
        ("deepseek", "deepseek-v4-pro"),
        ("xai", "grok-4.7"),
        ("mistral", "mistral-large-latest"),
        ("groq", "openai/gpt-oss-20b"),
        ("fireworks", "accounts/fireworks/models/deepseek-v4-flash"),
        ("cerebras", "gpt-oss-120b"),
    ],
)
def test_todays_families_have_a_price_with_the_packages_version_and_a_date(provider: str, model: str) -> None:
    price = load_prices().find(provider, model)
    assert price is not None
    assert price.source == f"the package genai-prices {version('genai-prices')}"
    assert date.fromisoformat(price.date) <= date.today()
    assert price.output > price.input > 0


def test_a_price_by_the_hour_is_the_dearest_of_the_day() -> None:
    times = (datetime(2026, 11, 3, hour, tzinfo=UTC) for hour in (2, 12))
    night, noon = (packaged_price("deepseek", "deepseek-v4-flash", at) for at in times)
    assert night == noon
    assert noon is not None
    assert noon.output == 1.2
