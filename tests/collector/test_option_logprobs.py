"""The graded measure: how the options' log-probabilities are found among the generated tokens, also where the letter
stands inside of JSON; and `collect --logprobs` against a real local server: what is asked, what is kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.ask.attempts import OptionLogprobs, read_option_logprobs
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.providers import (
    PROVIDERS,
    Provider,
    chat_completions,
    gemini,
    ollama,
    openai,
    openai_responses,
    provider_named,
    together,
)
from slant.collector.providers.logprobs import merged
from slant.collector.records import TokenLogprob
from tests.support import recorded_logprobs as recorded
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer
from tests.support.recorded_logprobs import PLEASANT, Step, chat
from tests.support.tiny_study import write_tiny

NONE = OptionLogprobs()


def measured(steps: list[Step], answer: str, a: str = "Pleasant", b: str = "Unpleasant") -> OptionLogprobs:
    reply = openai.reply(recorded.chat(steps, answer), {})
    return read_option_logprobs(reply.logprobs, reply.answer, a, b)


def probabilities(found: OptionLogprobs) -> tuple[float | None, float | None, str | None]:
    a, b = (
        None if value is None else round(math.exp(value), 6)
        for value in (found.option_a_logprob, found.option_b_logprob)
    )
    return a, b, found.logprob_kind


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (openai, recorded.chat(PLEASANT)),
        (chat_completions, recorded.columns(PLEASANT)),
        (together, recorded.columns(PLEASANT)),
        (openai_responses, recorded.responses(PLEASANT)),
        (gemini, recorded.gemini(PLEASANT)),
        (ollama, recorded.ollama(PLEASANT)),
    ],
)
def test_every_shape_gives_the_same_numbers(dialect: Any, body: dict[str, Any]) -> None:
    reply = dialect.reply(body, {})
    found = read_option_logprobs(reply.logprobs, reply.answer, "Pleasant", "Unpleasant")
    assert probabilities(found) == (0.75, 0.2, "exact")


USUAL = ("Pleasant", "Pleasant", "Unpleasant")  # the answer, and the options
MEASURED: dict[str, tuple[list[Step], tuple[str, str, str], tuple[float | None, float | None, str]]] = {
    "a label of several tokens is the product along its path": (
        [("Male", {"Male": 0.5, "Family": 0.4}), (" Names", {" Names": 0.9, "s": 0.1})],
        ("Male Names", "Male Names", "Family"), (0.45, 0.4, "exact"),
    ),
    "labels that share their first token are measured where they part": (
        [("Male", {"Male": 0.8}), (" Names", {" Names": 0.75, " Roles": 0.25})],
        ("Male Names", "Male Names", "Male Roles"), (0.6, 0.2, "exact"),
    ),
    "where one label is seen to begin only, both are measured by their first token": (
        [("Ple", {"Ple": 0.7, "Un": 0.3}), ("asant", {"asant": 0.5, "ad": 0.5})], USUAL, (0.7, 0.3, "first_token"),
    ),
    "a stray token that begins an option does not spoil an exact number": (
        [("Pleasant", {"Pleasant": 0.75, "Unpleasant": 0.2, "Un": 1e-6, "P": 1e-7})], USUAL, (0.75, 0.2, "exact"),
    ),
    "an option that is not among the likeliest is unknown": (
        [("Pleasant", {"Pleasant": 0.999})], USUAL, (0.999, None, "exact"),
    ),
    "both spellings of a token, with and without its space, count": (
        [(" Pleasant", {" Pleasant": 0.5, "Pleasant": 0.25, "Unpleasant": 0.125})], USUAL, (0.75, 0.125, "exact"),
    ),
    "the answer is found behind its reasoning and before the stop token": (
        [("Unpleasant", {"Unpleasant": 1.0}), ("?", {"?": 1.0}), ("</think>\n\n", {"</think>\n\n": 1.0}), *PLEASANT,
         ("<|im_end|>", {"<|im_end|>": 1.0})], USUAL, (0.75, 0.2, "exact"),
    ),
    "a refusal is graded, too": (
        [("I", {"I": 0.9, "Pleasant": 0.06, "Unpleasant": 0.04}), (" can't", {" can't": 1.0})],
        ("I can't", "Pleasant", "Unpleasant"), (0.06, 0.04, "exact"),
    ),
    "a word that only begins with the option is another word": (
        [("Pleasantly", {"Pleasantly": 0.9, "Unpleasant": 0.1})],
        ("Pleasantly", "Pleasant", "Unpleasant"), (None, 0.1, "exact"),
    ),
}  # fmt: skip


@each_row("said", MEASURED)
def test_each_option_has_the_probability_that_the_tokens_give_it(said: str) -> None:
    steps, (answer, a, b), found = MEASURED[said]
    assert probabilities(measured(steps, answer, a, b)) == found


@pytest.mark.parametrize("opening", ["[", " ", '"', "**"])
def test_an_opening_bracket_or_quote_is_passed_over(opening: str) -> None:
    steps: list[Step] = [(opening, {opening: 0.9, "Unpleasant": 0.1}), *PLEASANT, ("]", {"]": 1.0})]
    assert probabilities(measured(steps, f"{opening}Pleasant]".strip())) == (0.75, 0.2, "exact")


@pytest.mark.parametrize(
    ("steps", "answer", "a", "b"),
    [
        (PLEASANT, "Career", "Pleasant", "Unpleasant"),  # not the tokens of this answer
        (PLEASANT, "", "Pleasant", "Unpleasant"),
        (PLEASANT, "Pleasant", "Pleasant", "Pleasant things"),  # one begins with the other
        ([], "Pleasant", "Pleasant", "Unpleasant"),
        ([("Yes", {"Yes": 1.0})], "Yes", "Pleasant", "Unpleasant"),
    ],
)
def test_what_cannot_be_told_is_null_and_never_zero(steps: list[Step], answer: str, a: str, b: str) -> None:
    assert measured(steps, answer, a, b) == NONE


@pytest.mark.parametrize(
    "broken", [{"token": "x"}, {"token": 1, "logprob": -1.0}, {"token": "x", "logprob": "-1"}, None]
)
def test_a_list_with_a_hole_in_it_is_not_read_at_all(broken: Any) -> None:
    body = recorded.chat(PLEASANT)
    body["choices"][0]["logprobs"]["content"].append(broken)
    assert openai.reply(body, {}).logprobs == ()


pieces = st.lists(st.sampled_from(["Ple", "asant", "Un", "pleasant", "[", " ", "A"]), max_size=6)


@given(pieces, st.floats(0.01, 1.0), st.sampled_from([("Pleasant", "Unpleasant"), ("A", "B"), ("Un", "Unpleasant")]))
def test_a_logprob_is_never_above_zero_and_has_a_kind(words: list[str], p: float, options: tuple[str, str]) -> None:
    tokens = [TokenLogprob(word, math.log(p), ((word, math.log(p)), ("Un", -1.0))) for word in words]
    found = read_option_logprobs(tokens, "".join(words), *options)
    values = (found.option_a_logprob, found.option_b_logprob)
    assert all(value is None or value <= 0 for value in values)
    assert (found.logprob_kind is None) == (values == (None, None))


def test_what_asks_for_them_leaves_other_settings_as_they_are() -> None:
    sent = {"generationConfig": {"temperature": 0.5}, "include": ["a"], "model": "m"}
    asked = {"generationConfig": {"logprobs": 20}, "include": ["b"]}
    both = {"generationConfig": {"temperature": 0.5, "logprobs": 20}, "include": ["a", "b"], "model": "m"}
    assert merged(sent, asked) == both
    assert sent["generationConfig"] == {"temperature": 0.5}


@each_row("provider", PROVIDERS.values())
def test_all_but_three_give_log_probabilities(provider: Provider) -> None:
    assert (provider.logprobs is None) == (provider.name in ("anthropic", "groq", "mistral"))


async def calm(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    steps = [("Calm", {"Calm": 0.75, "Busy": 0.25})]
    return web.json_response(chat(steps, "Calm") if "logprobs" in body else chat([], "Calm"))


def kept(db: Path) -> pl.DataFrame:
    with reading(db) as connection:
        query = "SELECT option_a, option_a_logprob, option_b_logprob, logprob_kind FROM trials"
        frame: pl.DataFrame = frame_of(connection.sql(query))
    return frame


@pytest.fixture
def study(tmp_path: Path) -> str:
    return str(write_tiny(tmp_path))


@pytest.mark.slow
def test_the_logprobs_of_both_options_are_numbers_of_each_trial(db: Path, study: str) -> None:
    with LocalServer(calm) as server:
        words = ("--model", "local/small", "--base-url", server.base_url, "--logprobs", "--db", db)
        run_collect("--study", study, *words, code=0)
    assert all((body["logprobs"], body["top_logprobs"]) == (True, 20) for body in server.bodies)
    rows = kept(db)
    calm_is = pl.when(pl.col("option_a") == "Calm").then("option_a_logprob").otherwise("option_b_logprob")
    assert rows.select(calm_is.exp().alias("p"))["p"].to_list() == pytest.approx([0.75] * rows.height)
    assert set(rows["logprob_kind"]) == {"exact"}


def test_without_the_option_nothing_is_asked_and_nothing_is_made_up(tmp_path: Path, study: str) -> None:
    with LocalServer(calm) as server:
        collect(tmp_path / "t.duckdb", study, ["local/small"], base_url=server.base_url)
    assert not any("logprobs" in body for body in server.bodies)
    rows = kept(tmp_path / "t.duckdb")
    assert rows["option_a_logprob"].null_count() == rows["logprob_kind"].null_count() == rows.height > 0


@pytest.mark.slow
def test_asking_for_logprobs_makes_no_trial_pending_again(db: Path, study: str) -> None:
    with LocalServer(calm) as server:
        collect(db, study, ["local/small"], base_url=server.base_url)
        asked = len(server.bodies)
        collect(db, study, ["local/small"], base_url=server.base_url, logprobs=True)
    assert len(server.bodies) == asked > 0


def test_a_provider_that_is_asked_for_logprobs_is_otherwise_the_same() -> None:
    plain = provider_named("openai")
    asking = plain.asking_logprobs()
    assert asking.logprobs == plain.logprobs
    assert (asking.takes_tools, asking.can_enforce) == (True, True)
    assert asking.dialect.PROMPT_CACHE == plain.dialect.PROMPT_CACHE  # run_provenance names it
