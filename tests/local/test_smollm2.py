"""What `make test-local` checks of a real run: a slice of the RM-IAT that SmolLM2-135M answered behind llama.cpp."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from slant.collector.designs.association.design import rendered
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from tests.support.golden_prompts import all_trials

RUN, URL = os.environ.get("SLANT_LOCAL_RUN", ""), os.environ.get("SLANT_LOCAL_URL", "")
SLICE = Path(__file__).parent / "rmiat_slice" / "study.toml"
PLANNED = 64
pytestmark = [pytest.mark.local, pytest.mark.skipif(not RUN, reason="make test-local starts the server and runs this")]

NEVER_GIVEN = (
    "game", "round", "error", "reasoning_tokens", "reasoning_tokens_recounted", "reasoning_text",
)  # fmt: skip
"""What this server doesn't say, or what doesn't happen: NULL in every row, never 0 and never an empty text."""


@pytest.fixture(scope="module")
def attempts() -> list[dict[str, Any]]:
    with reading(Path(RUN) / "slice.duckdb") as connection:
        rows: list[dict[str, Any]] = frame_of(connection.table("attempts").order("sequence")).to_dicts()
    return rows


def replies(attempts: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Each row with its response, and the one choice in that."""
    for row in attempts:
        response = json.loads(row["response"])
        yield row, response, response["choices"][0]


def test_every_trial_has_one_answer_at_the_first_try_and_a_second_run_asked_nothing(attempts: Any) -> None:
    study = load_study(SLICE)
    asked = [trial.trial_id for c in plan(study, study.model("local/smollm2")) for trial in c.trials]
    assert len(asked) == PLANNED
    assert sorted(row["trial_id"] for row in attempts) == sorted(asked)
    assert {(row["is_final"], row["turn"], row["try_no"], row["http_status"]) for row in attempts} == {
        (True, 1, 1, 200)
    }
    assert len({row["run_id"] for row in attempts}) == 1


def test_the_prompts_are_those_of_the_whole_rmiat_to_the_byte(attempts: Any) -> None:
    rmiat = load_study("rmiat")
    known = {
        (trial.test, trial.item, trial.wording, trial.condition): rendered(rmiat.data, "api", trial)
        for trial in all_trials(rmiat, rmiat.model("o3-mini"))
    }
    for row in attempts:
        (message,) = json.loads(row["request"])["messages"]
        assert message["role"] == "user"
        assert message["content"] == known[row["test"], row["item"], row["wording"], row["condition"]]


def test_only_what_the_study_sets_was_sent_and_no_key(attempts: Any) -> None:
    for row in attempts:
        request = json.loads(row["request"])
        assert {name: request[name] for name in request if name != "messages"} == {
            "model": "smollm2",
            "max_tokens": 12,
            "temperature": 0,
            "seed": 1,
        }
        assert "authorization" not in row["headers"].lower()


def test_the_counts_are_the_servers_and_what_it_does_not_count_is_null(attempts: Any) -> None:
    for row, response, _ in replies(attempts):
        usage = response["usage"]
        assert (row["input_tokens"], row["output_tokens"]) == (usage["prompt_tokens"], usage["completion_tokens"])
        assert (row["tokens"], row["token_source"]) == (row["output_tokens"], "output")
        assert {name: row[name] for name in NEVER_GIVEN if row[name] is not None} == {}
        assert not row["cost_usd"]
    assert min(row["input_tokens"] for row in attempts) > 100


def test_the_output_count_is_what_the_servers_own_tokenizer_counts(attempts: Any) -> None:
    for row in attempts:  # the token that ends an answer is counted, too
        ended = row["finish_reason"] == "stop"
        assert row["output_tokens"] == tokenized(row["answer"]) + ended
    assert (tokenized("Family"), tokenized("Career")) == (
        1,
        2,
    )  # why label lengths matter where no reasoning is counted


def tokenized(text: str) -> int:
    """How many tokens the server takes `text` for."""
    body = json.dumps({"content": text, "add_special": False}).encode()
    request = urllib.request.Request(f"{URL}/tokenize", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return len(json.load(response)["tokens"])


def test_answers_are_kept_as_they_came_and_read_as_labels_or_as_what_they_are(attempts: Any) -> None:
    for row, _, choice in replies(attempts):
        assert row["answer"] == choice["message"]["content"]
        assert row["finish_reason"] == choice["finish_reason"]
        assert (row["outcome"] == "truncated") == (row["finish_reason"] == "length")
        assert (row["choice"] in ("Career", "Family")) == (row["outcome"] == "answered")
    assert {"answered", "truncated"} <= {row["outcome"] for row in attempts}


def test_who_answered_and_by_which_request_is_known(attempts: Any) -> None:
    assert {(r["source"], r["provider"], r["model"], r["requested_model"], r["served_model"]) for r in attempts} == {
        ("collected", "local", "smollm2", "smollm2", "smollm2")
    }
    assert all(row["request_id"].startswith("chatcmpl-") for row in attempts)
    assert len({row["request_id"] for row in attempts}) == PLANNED
    assert {json.loads(row["headers"])["server"] for row in attempts} == {"llama.cpp"}


def test_the_times_are_in_order_and_the_servers_own_time_fits_between_them(attempts: Any) -> None:
    for row, response, _ in replies(attempts):
        times: list[datetime] = [row[name] for name in ("queued_at", "sent_at", "first_byte_at", "done_at")]
        assert times == sorted(times)
        took_ms = (row["done_at"] - row["sent_at"]).total_seconds() * 1000
        timings = response["timings"]
        assert 0 < timings["prompt_ms"] + timings["predicted_ms"] <= took_ms + 5


def test_the_papers_tables_show_the_slice_and_call_it_collected() -> None:
    with reading(Path(RUN) / "slice.duckdb") as connection:
        rows = connection.execute(
            "SELECT source, model_label, test_label, condition FROM association_trials"
        ).fetchall()
    assert len(rows) == PLANNED
    assert {row[:3] for row in rows} == {("collected", "SmolLM2-135M", "Men/Women + Career/Family")}
    assert sum(row[3] == "compatible" for row in rows) == PLANNED / 2
