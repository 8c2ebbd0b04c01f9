"""A code decides only where it was documented; a sentence everywhere; a limit of a minute ends nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from slant.collector.ask.retries import judge
from slant.collector.providers.error_origin import speakers
from slant.collector.providers.exchange import Exchange

ACTIONS = {"fail": "too_long", "rejected": "decline"}


def meant(provider: str, address: str | None, model: str, status: int, body: Any) -> str:
    exchange = Exchange("", "", status=status, body=body if isinstance(body, str) else json.dumps(body))
    action = judge(exchange, 1, speakers(provider, address, model)).action
    return ACTIONS.get(action, action)


def test_each_error_is_read_as_those_who_said_it_mean_it() -> None:
    """The rows differ in who is asked (host, provider, model), in who is named by a gateway, and in the words."""
    rows = [json.loads(line) for line in (Path(__file__).parent / "errors_of_providers.jsonl").open(encoding="utf-8")]
    wrong = [(row, got) for row in rows if (got := meant(*list(row.values())[:5])) != row["means"]]
    assert wrong == []


def test_the_collected_errors_of_providers_and_gateways_are_read_as_expected(shared: Path) -> None:
    wrong = []
    for line in (shared / "cases" / "door4" / "errors.jsonl").read_text().splitlines():
        case = json.loads(line)
        wanted = case["expected"].replace("too long", "too_long").replace("fail", "too_long").replace(" or ", "/")
        if "?" not in wanted and (got := meant("local", None, "m", case["status"], case["body"])) not in wanted.split(
            "/"
        ):
            wrong.append((case["case"], wanted, got))
    assert wrong == []
