"""What is said of counts that are of two kinds in one model, or contradict each other; and whose charge counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.doubtful_counts import doubtful_count_notes
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny


def asked(folder: Path, *usages: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The kept counts and costs of a study of eight trials, where each usage is told in turn."""
    n = iter(range(10**6))

    async def told(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion() | {"usage": usages[next(n) % len(usages)]})

    db = folder / "t.duckdb"
    with LocalServer(told) as server:
        collect(db, write_tiny(folder), ["local/small"], base_url=server.base_url)
    with duckdb.connect(str(db), read_only=True) as connection:
        query = "SELECT DISTINCT output_tokens, tokens, token_source, cost_usd, price_source FROM attempts ORDER BY ALL"
        return connection.execute(query).fetchall()


PLAIN = {"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29}
NEWER = {**PLAIN, "completion_tokens_details": {"reasoning_tokens": 15}}


def test_one_model_with_two_meanings_of_its_tokens_is_told(tmp_path: Path) -> None:
    assert asked(tmp_path, PLAIN, NEWER) == [(20, 15, "usage", None, None), (20, 20, "output", None, None)]
    [note] = doubtful_count_notes(tmp_path / "t.duckdb")
    assert "2 kinds" in note
    assert "4 of output (all output tokens), 4 of usage (the provider's count of the reasoning)" in note


def test_counts_that_contradict_each_other_are_told_with_one_of_them(tmp_path: Path) -> None:
    above = {**PLAIN, "completion_tokens_details": {"reasoning_tokens": 300}}
    assert asked(tmp_path, above) == [(20, None, None, None, None)]  # and not the whole output in its place
    [note] = doubtful_count_notes(tmp_path / "t.duckdb")
    assert "in 8 of 8 answers the provider's counts contradict each other" in note
    assert "300 reasoning tokens are more than the 20 of the output" in note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("charge", "cost"),
    [
        ({"cost": 0.00125}, 0.00125),
        ({"cost": {"total_cost": 0.5}}, 0.5),
        ({"cost_in_usd_ticks": 12_500_000}, 0.00125),
        ({"cost": 0.0, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.25}}, 0.25),
        ({"cost": -1}, None),
        ({"cost": 0.0, "is_byok": True}, None),
    ],
)
def test_what_the_provider_says_that_it_charged_is_the_cost(tmp_path: Path, charge: Any, cost: float | None) -> None:
    [(*_, kept, source)] = asked(tmp_path, {**PLAIN, **charge})
    assert (kept, source) == (cost, None if cost is None else "provider")
