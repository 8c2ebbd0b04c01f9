"""Cohen's d and its parts in SQL, next to the same in plain Python, and on the authors' own rows next to print."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from statistics import mean, variance

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.keep.view_heads import ordered_view
from tests.support.given import in_memory, insert

cells = st.tuples(
    st.sampled_from(["compatible", "incompatible"]),
    st.none() | st.integers(0, 40_000),
    st.sampled_from(["Pleasant", "No"]),
)
CONDITIONS = {"Stereotype-Consistent": "compatible", "Stereotype-Inconsistent": "incompatible"}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with in_memory() as opened:
        yield opened


def plain_d(rows: list[tuple[str, int | None, str]], refusals_removed: bool) -> tuple[float | None, float | None]:
    """d and its standard error as the conventions have them, without any SQL."""
    kept = [row for row in rows if row[1] is not None and not (refusals_removed and row[2] == "No")]
    low, high = ([row[1] for row in kept if row[0] == name] for name in ("compatible", "incompatible"))
    if len(low) < 2 or len(high) < 2:
        return None, None
    n = len(low) + len(high)
    pooled = sqrt(((len(low) - 1) * variance(low) + (len(high) - 1) * variance(high)) / (n - 2))
    if pooled == 0:
        return None, None
    d = (mean(high) - mean(low)) / pooled
    return d, sqrt(n / (len(low) * len(high)) + d**2 / (2 * n))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(cells, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_sql_agrees_with_plain_python_on_any_rows_in_any_order(
    connection: duckdb.DuckDBPyConnection, rows: list[tuple[str, int | None, str]], random: object
) -> None:
    random.shuffle(rows)  # type: ignore[attr-defined]
    connection.execute("DELETE FROM attempts")
    insert(connection, [{"condition": c, "tokens": tokens, "answer": answer} for c, tokens, answer in rows])
    found = ordered_view(connection, "effect_size_parts").select("refusals_removed, d, std_error").fetchall()
    assert [row[0] for row in found] == [True, False]
    for refusals_removed, d, std_error in found:
        wanted = plain_d(rows, refusals_removed)
        assert (d, std_error) == (wanted if wanted[0] is None else pytest.approx(wanted, rel=1e-9, abs=1e-9))


def authors_rows(shared: Path, model: str, test: str) -> list[dict[str, object]]:
    """One of the authors' files as rows of `attempts`, without the importer."""
    folder = look_up(shared / "published" / "map_models.csv", "model", model)["author_folder"]
    file = look_up(shared / "published" / "map_tests.csv", "test", test)["author_file"]
    frame = pl.read_csv(shared / "data" / "rmiat" / folder / f"{file}.csv", infer_schema=False)
    return [
        {
            "model": model,
            "test": test,
            "source": "imported",
            "condition": CONDITIONS[row["condition"]],
            "answer": row["attribute"],
            "tokens": row["tokens"],
            "reasoning_text": row.get("thought"),
        }
        for row in frame.to_dicts()
    ]


def look_up(file: Path, key: str, value: str) -> dict[str, str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return next(row for row in csv.DictReader(lines) if row[key] == value)


def printed(shared: Path, table: str, model: str, test: str) -> list[dict[str, str]]:
    with (shared / "published" / f"{table}.csv").open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if (row["model"], row["test"]) == (model, test)]


def assert_agrees(recomputed: float, text: str) -> None:
    decimals = len(text.partition(".")[2])
    assert abs(recomputed - float(text)) <= 0.5 * 10**-decimals + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("model", "test"), [("o3-mini", "flowers_insects"), ("claude-3.7-sonnet", "race_bertrand")])
def test_the_authors_rows_give_the_printed_tables(shared: Path, model: str, test: str) -> None:
    with in_memory() as opened:
        insert(opened, authors_rows(shared, model, test))
        for row in printed(shared, "s5_descriptives", model, test):
            where = f"condition = '{row['condition']}'"
            ((found, sd),) = (
                opened.view("tokens_by_condition").filter(where).project("mean_tokens, sd_tokens").fetchall()
            )
            assert_agrees(found, row["mean"])
            assert_agrees(sd, row["sd"])
            for mentions in printed(shared, "s11_iat_mentions", model, test):
                if mentions["condition"] == row["condition"]:
                    ((found,),) = opened.view("iat_mentions").filter(where).project("n_mentions").fetchall()
                    assert_agrees(found, mentions["mentions"])
        ((refusals,),) = opened.view("refusal_counts").project("n_refusals").fetchall()
        assert_agrees(refusals, printed(shared, "s4_refusals", model, test)[0]["refusals"])
        ((d,),) = opened.view("effect_size_parts").filter("refusals_removed").project("d").fetchall()
        starless = [row for row in printed(shared, "s3_effect_sizes", model, test) if row["refusals_removed"] == "true"]
        assert_agrees(d, starless[0]["d"])
        if model == "o3-mini":
            assert opened.view("token_sources").project("step").fetchall() == [(64,)]
