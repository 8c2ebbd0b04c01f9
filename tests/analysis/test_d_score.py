"""People's response times in an association study: D of each person, and the models' d of tokens next to it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant.analysis import fit, tables
from tests.support.fitted import RUN, trials
from tests.support.given import database

LATENCIES = {"compatible": (500, 620, 700), "incompatible": (800, 930, 1000)}


def people(n: int = 4) -> list[dict[str, object]]:
    """The first trials of each condition, answered by `n` people: the later ones are slower where words go against."""
    models = [row for row in trials() if row["model"] == "o3-mini"]
    rows: list[dict[str, object]] = []
    for person in range(1, n + 1):
        for condition, latencies in LATENCIES.items():
            own = [row for row in models if row["condition"] == condition][: len(latencies)]
            for row, latency in zip(own, latencies, strict=True):
                slower = latency + 30 * person * (condition == "incompatible")
                more = {"participant": person, "response_time_ms": slower, "is_error": False, "phase": "test"}
                rows.append({
                    **row, **more, "source": "human", "model": "people", "run_id": "h", "tokens": None,
                    "token_source": None, "answer": "Pleasant",
                })  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = [RUN, {**RUN, "run_id": "h", "source": "human"}]
    return database(tmp_path_factory.mktemp("people") / "a.duckdb", [*trials(), *people()], runs)


def test_people_have_a_d_of_their_latencies_without_a_word_in_the_study(db: Path) -> None:
    made = fit(db, "rmiat", "d_score")
    scores = made.tables["d_score"]["people"]
    assert scores["unit"].to_list() == ["1", "2", "3", "4"]
    first = pl.Series([500, 620, 700, 830, 960, 1030])
    expected = (first[3:].mean() - first[:3].mean()) / first.std()  # type: ignore[operator]
    assert scores["d"][0] == pytest.approx(expected)
    assert made.table["estimate"].to_list() == pytest.approx([scores["d"].mean()])


@pytest.mark.slow
def test_tokens_stand_beside_latencies_in_one_table(db: Path) -> None:
    fit(db, "rmiat", "d_score")
    sizes = fit(db, "rmiat", "effect_size").table.filter(source="simulated", model="o3-mini")
    both = tables(db, "rmiat", ["tokens_and_latencies"])["tokens_and_latencies"]
    own = both.filter(model="o3-mini")
    assert own["n_people"].unique().to_list() == [4]
    assert set(own["d"]) <= set(sizes["estimate"])
    assert own["people_d"].null_count() == 0
