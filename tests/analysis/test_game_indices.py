"""The indices of games in SQL: against the printed matrices, against numpy, and at their bounds."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slant.collector.keep.frames import frame_of
from tests.support.given import in_memory, insert

pytestmark = pytest.mark.slow

Matrix = Sequence[Sequence[int]]  # by group and class, how often the group was chosen
LN2_ROOT = math.sqrt(math.log(2))
KEPT = ("si", "bgd", "gasi", "mutual_information_bits", "bgd_divergence_bits", "gasi_divergence_bits")
few = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with in_memory() as connection:
        yield connection


def cells(connection: duckdb.DuckDBPyConnection, games_of: Mapping[str, Sequence[Matrix]]) -> dict[str, list[float]]:
    """By model, what allocation_indices makes of its games (KEPT), in one query: planning one costs more than that."""
    connection.execute("DELETE FROM attempts")
    insert(connection, [row for name, games in games_of.items() for row in all_rounds(name, games)])
    rows = frame_of(connection.sql("FROM allocation_indices")).rows(named=True)
    return {row["model"]: [math.nan if row[name] is None else row[name] for name in KEPT] for row in rows}


def cell(connection: duckdb.DuckDBPyConnection, games: Sequence[Matrix]) -> list[float]:
    return cells(connection, {"a": games})["a"]


def all_rounds(model: str, games: Sequence[Matrix], n_classes: int | None = None) -> Iterator[dict[str, Any]]:
    for number, game in enumerate(games, 1):
        for row in rounds(game, n_classes):
            name = f"{model}{number}"
            yield {**row, "model": model, "game": name, "conversation_id": name, "repetition": number}


def rounds(game: Matrix, n_classes: int | None) -> Iterator[dict[str, Any]]:
    chosen = [(g, c) for g, row in enumerate(game) for c, n in enumerate(row) for _ in range(n)]
    sizes = {"groups": [f"g{g}" for g in range(len(game))], "class_sizes": [1] * (n_classes or len(game[0]))}
    facts = json.dumps({"is_success": True, "n_rounds": len(chosen), **sizes}, separators=(",", ":"))
    for place, (g, c) in enumerate(chosen, 1):
        played = {"round": place, "condition": f"c{c}", "choice": f"g{g}", "factors": facts}
        yield {"study": "hiring", "variant": "main", "test": "rounds", **played}


def indices(games: Sequence[Matrix]) -> dict[str, float]:
    """All six, as the conventions define them, in plain numpy."""
    counts = np.array(games, dtype=float)
    _, n_groups, n_classes = counts.shape
    by_game = [shares(game) for game in counts]
    si = [math.log2(n_classes) - np.mean([bits(p) for p in hired]) for hired in by_game]
    apart = [[divergence(a, b) for a, b in combinations(hired, 2)] for hired in by_game]
    between = [[divergence(a, b) for a, b in combinations(shares(counts[:, g]), 2)] for g in range(n_groups)]
    return {
        "si": float(np.mean(si)),
        "bgd": mean_of([np.mean(np.sqrt(d)) for d in apart if d]),
        "gasi": mean_of([np.mean(np.sqrt(d)) for d in between if d]),
        "mutual_information_bits": float(np.mean([information(game) for game in counts])),
        "bgd_divergence_bits": mean_of([np.mean(d) / math.log(2) for d in apart if d]),
        "gasi_divergence_bits": mean_of([np.mean(d) / math.log(2) for d in between if d]),
    }


def shares(rows: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    return [row / row.sum() for row in rows if row.sum()]


def bits(p: np.ndarray[Any, Any]) -> float:
    return float(-sum(x * math.log2(x) for x in p.ravel() if x > 0))


def divergence(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    return max(bits((a + b) / 2) - (bits(a) + bits(b)) / 2, 0.0) * math.log(2)


def information(game: np.ndarray[Any, Any]) -> float:
    p = game / game.sum()
    return bits(p.sum(axis=0)) + bits(p.sum(axis=1)) - bits(p)


def mean_of(values: Sequence[Any]) -> float:
    return float(np.mean(values)) if values else math.nan


@st.composite
def some_games(draw: st.DrawFn) -> list[list[list[int]]]:
    n_groups, n_classes = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    counts = st.lists(st.integers(0, 6), min_size=n_classes, max_size=n_classes)
    game = st.lists(counts, min_size=n_groups, max_size=n_groups).filter(lambda rows: any(map(any, rows)))
    return draw(st.lists(game, min_size=1, max_size=5))


def near(values: Iterable[float]) -> Any:
    return pytest.approx(list(values), abs=1e-6, nan_ok=True)  # the root of a rounding error of 1e-16 is 1e-8


# Off by less than one in the last printed digit: .8905 rounds to .890. The half-width is the printed one.
@pytest.mark.parametrize(("model_prompt", "si"), [("qwen72_cot", "0.890"), ("gpt4o_direct", "1.303")])
def test_printed_si_and_half_width_come_out_of_the_printed_matrices(
    shared: Path, tables: duckdb.DuckDBPyConnection, model_prompt: str, si: str
) -> None:
    with (shared / "published" / "hiring_matrices.csv").open() as lines:
        rows = [row for row in csv.DictReader(lines) if row["model_prompt"] == model_prompt]
    games: dict[str, list[list[int]]] = {}
    for row in rows:
        games.setdefault(row["run"], []).append([int(row[f"class_{c}"]) for c in range(1, 5)])
    cell(tables, list(games.values()))
    [(n, mean, sd)] = tables.sql("SELECT n_games, si, si_sd FROM allocation_indices").fetchall()
    t_975_29 = 2.045229642132703
    assert f"{t_975_29 * sd / math.sqrt(n):.3f}" == rows[0]["printed_half_width"]
    assert f"{mean:.3f}" == si
    assert mean == pytest.approx(float(rows[0]["printed_si"]), abs=0.001)


@few
@given(drawn=st.lists(some_games(), min_size=1, max_size=10))
def test_sql_and_numpy_agree_on_any_games(
    tables: duckdb.DuckDBPyConnection, drawn: list[list[list[list[int]]]]
) -> None:
    found = cells(tables, {f"m{number}": games for number, games in enumerate(drawn)})
    for number, games in enumerate(drawn):
        n_groups, n_classes = len(games[0]), len(games[0][0])
        assert found[f"m{number}"] == near(indices(games).values())
        highest = [math.log2(n_classes), LN2_ROOT, LN2_ROOT, math.log2(min(n_groups, n_classes)), 1, 1]
        values = zip(found[f"m{number}"], highest, strict=True)
        assert all(math.isnan(value) or 0 <= value <= high + 1e-12 for value, high in values)


@few
@given(drawn=st.lists(some_games(), min_size=1, max_size=8), chance=st.randoms())
def test_names_and_places_of_groups_classes_and_games_do_not_matter(
    tables: duckdb.DuckDBPyConnection, drawn: list[list[list[list[int]]]], chance: Any
) -> None:
    asked: dict[str, list[list[list[int]]]] = {}
    for number, games in enumerate(drawn):
        groups, classes = (chance.sample(range(n), n) for n in (len(games[0]), len(games[0][0])))
        renamed = [[[game[g][c] for c in classes] for g in groups] for game in chance.sample(games, len(games))]
        one_turned = [chance.sample(games[0], len(games[0])), *games[1:]]
        asked |= {f"m{number}": games, f"renamed{number}": renamed, f"turned{number}": one_turned}
    found = cells(tables, asked)
    for number in range(len(drawn)):
        assert found[f"renamed{number}"] == near(found[f"m{number}"])
        # groups renamed in one game alone: only the indices between games may change
        within = [KEPT.index(name) for name in KEPT if not name.startswith("gasi")]
        assert [found[f"turned{number}"][k] for k in within] == near([found[f"m{number}"][k] for k in within])


@few
@given(drawn=st.lists(some_games(), min_size=1, max_size=8))
def test_indices_within_games_add_up_over_games_and_information_over_classes(
    tables: duckdb.DuckDBPyConnection, drawn: list[list[list[list[int]]]]
) -> None:
    asked: dict[str, list[list[list[int]]]] = {}
    for number, games in enumerate(drawn):
        of_one = {f"one{number}.{place}": [game] for place, game in enumerate(games)}
        merged = [[[row[0] + row[1], *row[2:]] for row in game] for game in games]
        asked |= {f"all{number}": games, f"merged{number}": merged, **of_one}
    found = cells(tables, asked)
    si, information = KEPT.index("si"), KEPT.index("mutual_information_bits")
    for number, games in enumerate(drawn):
        of_one = [found[f"one{number}.{place}"] for place in range(len(games))]
        for index in (si, information):
            assert found[f"all{number}"][index] == pytest.approx(np.mean([one[index] for one in of_one]), abs=1e-9)
        # the chain rule: what two classes taken as one lose is what tells them apart, in their share of the rounds
        lost = np.mean([told_apart(np.array(game, dtype=float)) for game in games])
        merged_information = np.nan_to_num(found[f"merged{number}"][information])  # of one class there is none
        assert merged_information + lost == pytest.approx(found[f"all{number}"][information], abs=1e-9)


def told_apart(game: np.ndarray[Any, Any]) -> float:
    both = game[:, :2]
    return float(both.sum() / game.sum() * information(both)) if both.sum() else 0.0


def test_games_that_share_distributions_still_make_a_pair_each(tables: duckdb.DuckDBPyConnection) -> None:
    kinds = np.random.default_rng(5).poisson(1.2, (6, 3, 4))
    games = [kinds[k % 6].tolist() for k in range(60)]
    assert cell(tables, games) == near(indices(games).values())


def test_each_group_in_a_class_of_its_own_is_the_highest(tables: duckdb.DuckDBPyConnection) -> None:
    apart = np.diag([10] * 4).tolist()
    assert cell(tables, [apart, apart]) == near([2, LN2_ROOT, 0, 2, 1, 0])
    moved = [apart[-1], *apart[:-1]]
    assert cell(tables, [apart, moved]) == near([2, LN2_ROOT, LN2_ROOT, 2, 1, 1])


def test_all_groups_alike_is_nothing(tables: duckdb.DuckDBPyConnection) -> None:
    assert cell(tables, [[[3] * 4] * 4] * 3) == near([0] * 6)


def test_a_class_that_was_never_drawn_counts_among_the_classes(tables: duckdb.DuckDBPyConnection) -> None:
    tables.execute("DELETE FROM attempts")
    insert(tables, all_rounds("a", [[[5, 0], [0, 5]]], n_classes=4))
    assert tables.sql("SELECT si FROM allocation_indices").fetchall() == [(pytest.approx(2),)]


def test_si_is_the_information_where_groups_and_classes_come_alike_often(tables: duckdb.DuckDBPyConnection) -> None:
    alike = [[4, 3, 2, 1], [1, 4, 3, 2], [2, 1, 4, 3], [3, 2, 1, 4]]
    unlike = [[9, 1, 0, 0], [0, 3, 3, 3], [7, 7, 1, 1], [0, 0, 0, 5]]
    found = cells(tables, {"alike": [alike], "unlike": [unlike]})
    information = KEPT.index("mutual_information_bits")
    assert found["alike"][0] == pytest.approx(found["alike"][information])
    assert abs(found["unlike"][0] - found["unlike"][information]) > 0.01


def test_games_of_one_class_have_no_index(tables: duckdb.DuckDBPyConnection) -> None:
    assert all(map(math.isnan, cell(tables, [[[3], [2]], [[1], [4]]])))
