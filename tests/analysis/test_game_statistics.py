"""`game_indices()` and `game_differences()`: what R makes of games, kept, labelled, and the same in plain R."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_folder
from slant.analysis.rows.result_warnings import chance_warnings
from slant.analysis.rows.views import open_trials, tables
from slant.collector.errors import DatabaseError, DatabaseWriteError, UnknownNameError, UsageError
from slant.collector.keep.database import writing
from slant.collector.keep.frames import frame_of
from tests.analysis.test_game_indices import KEPT, Matrix, all_rounds
from tests.support.given import Row, database, in_memory, insert
from tests.support.plain_r import environment, rscript

QUICK: dict[str, Any] = {"n_boot": 50, "n_random": 5, "seed": 7}
RUN = {
    "run_id": "r1", "study": "hiring", "study_version": "v1", "source": "simulated",
    "models": [{"model": "b", "model_no": 1, "label": "Model B"}, {"model": "a", "model_no": 2}],
}  # fmt: skip
LEANING: Matrix = [[7, 1, 1, 1], [1, 7, 1, 1], [1, 1, 7, 1], [1, 1, 1, 7]]


def games(seed: int, leaning: bool = False, n: int = 6) -> list[Any]:
    """Games of 40 rounds, at random or leaning."""
    drawn = np.random.default_rng(seed)
    p = np.array(LEANING).ravel() / 40 if leaning else np.full(16, 1 / 16)
    return [drawn.multinomial(40, p).reshape(4, 4).tolist() for _ in range(n)]


def rounds(variant: str, model: str, played: Sequence[Matrix], **more: Any) -> Iterator[Row]:
    for row in all_rounds(f"{variant}-{model}", played):
        yield {**row, "variant": variant, "model": model, **more}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    rows = [
        *rounds("main", "a", games(1)),
        *rounds("main", "b", games(2)),
        *rounds("main.cot", "b", games(3)),
        *rounds("steer", "a", games(4, leaning=True)),
        *rounds("steer", "b", games(5)),
    ]
    for row in rows:
        row["factors"] = row["factors"].replace(
            "{", f'{{"answer_format":"{"cot" if ".cot" in row["variant"] else "direct"}",'
        )
    return database(tmp_path / "a.duckdb", rows, [RUN])


def value(frame: pl.DataFrame, column: str, **where: Any) -> Any:
    return frame.filter(**where)[column].item()


@pytest.mark.slow
def test_what_is_returned_is_what_the_view_keeps(db: Path) -> None:
    found = analysis.game_indices(db, **QUICK)
    assert (found.n_cells, found.n_made, found.not_kept) == (5, 5, None)
    assert found.table.equals(tables(db, names=["game_index_intervals"])["game_index_intervals"])
    assert found.table["model_label"][0] == "Model B"
    assert found.table.filter(variant="main.cot").select("game_variant", "answer_format").row(0) == ("main", "cot")
    si = found.table.filter(index="si")
    assert ((si["boot_low"] < si["estimate"]) & (si["estimate"] < si["boot_high"])).all()
    assert si.filter(variant="steer", model="a")["conf_low"].item() > si["random_high"].max()


@pytest.mark.slow
def test_only_what_is_new_is_computed_again(db: Path) -> None:
    analysis.game_indices(db, **QUICK)
    assert analysis.game_indices(db, **QUICK).n_made == 0
    with writing(db) as connection:
        insert(
            connection,
            [
                {**row, "attempt_id": f"x{n}", "trial_id": f"x{n}"}
                for n, row in enumerate(
                    rounds("main", "b", games(6, n=1), game="late", conversation_id="late", repetition=9)
                )
            ],
        )
    kept = tables(db, names=["game_index_intervals"])["game_index_intervals"]
    assert kept.filter(~pl.col("is_current")).select("variant", "model").unique().rows() == [("main", "b")]
    again = analysis.game_indices(db, **QUICK)
    assert again.n_made == 1
    assert value(again.table, "n_games", variant="main", model="b", index="si") == 7
    assert again.table["is_current"].all()
    assert analysis.game_indices(db, **{**QUICK, "seed": 8}).n_made == 5


@pytest.mark.slow
def test_the_level_of_chance_is_simulated_once_for_cells_that_are_alike(db: Path) -> None:
    before = tables(db, names=["allocation_indices"])["allocation_indices"]
    assert before["random_si"].null_count() == before.height == 5
    found = analysis.game_indices(db, **QUICK).table
    after = tables(db, names=["allocation_indices"])["allocation_indices"]
    with duckdb.connect(str(db), read_only=True) as connection:
        assert connection.sql("SELECT count(*), count(DISTINCT index) FROM random_levels").fetchall() == [(6, 6)]
    for index, column in (("si", "random_si"), ("bgd", "random_bgd"), ("gasi", "random_gasi")):
        assert after[column].to_list() == found.filter(index=index)["random_level"].to_list()


@pytest.mark.slow
def test_one_variant_can_be_asked_for_with_or_without_its_answer_format(db: Path) -> None:
    found = analysis.game_indices(db, variants=["main"], **QUICK).table
    assert set(found["variant"]) == {"main", "main.cot"}
    assert set(analysis.game_indices(db, variants=["main.cot"], **QUICK).table["variant"]) == {"main.cot"}
    with pytest.raises(UnknownNameError, match=r'no variant .* "stear"'):
        analysis.game_indices(db, variants=["stear"], **QUICK)


@pytest.mark.slow
def test_conditions_are_compared_within_model_and_answer_format(db: Path) -> None:
    found = analysis.game_differences(db, n_draws=60, seed=7)
    assert found.table.equals(tables(db, names=["game_comparisons"])["game_comparisons"])
    assert found.table.select("model", "answer_format", "condition").unique(maintain_order=True).rows() == [
        ("b", "direct", "steer"),
        ("a", "direct", "steer"),
    ]
    at = {"model": "a", "index": "si"}
    assert value(found.table, "difference", **at) > 0.2
    assert value(found.table, "p_value", **at) == pytest.approx(1 / 61)
    assert value(found.table, "p_adjusted", **at) == pytest.approx(2 / 61)
    assert analysis.game_differences(db, n_draws=60, seed=7).n_made == 0


@pytest.mark.slow
def test_each_comparison_is_kept_as_it_ends_whatever_stops_the_others(db: Path) -> None:
    def stop(done: int, _: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analysis.game_differences(db, n_draws=60, seed=7, progress=stop, workers=1)
    again = analysis.game_differences(db, n_draws=60, seed=7)
    assert (again.n_comparisons, again.n_made) == (2, 1)


@pytest.mark.slow
def test_correction_is_for_what_is_asked_and_needs_nothing_computed_again(db: Path) -> None:
    analysis.game_differences(db, n_draws=60, seed=7)
    alone = analysis.game_differences(db, n_draws=60, seed=7, adjust="none", indices=["si"])
    assert (alone.n_made, alone.table.height) == (0, 2)
    assert alone.table["p_adjusted"].equals(alone.table["p_value"])
    formats = analysis.game_differences(db, between="answer_format", reference="direct", n_draws=20)
    assert formats.table.select("model", "variant", "condition").unique().rows() == [("b", "main", "cot")]
    pooled = analysis.game_differences(db, by=["answer_format"], n_draws=20).table
    assert pooled.select("model", "n_games", "n_games_reference", "is_current").unique().rows() == [
        (None, 12, 12, True)
    ]
    assert tables(db, names=["game_comparisons"])["game_comparisons"]["is_current"].all()


@pytest.mark.slow
def test_games_that_chance_plays_otherwise_are_not_compared(tmp_path: Path) -> None:
    rows = [*rounds("main", "a", games(1)), *rounds("long", "a", [(2 * np.array(g)).tolist() for g in games(2)])]
    db = database(tmp_path / "a.duckdb", [*rows, *rounds("steer", "a", games(3)), *rounds("one", "a", games(4, n=1))])
    found = analysis.game_differences(db, n_draws=20)
    assert found.table["condition"].unique().to_list() == ["steer"]
    assert [text.split(":")[1].split("(")[0].strip() for text in found.left_out] == ["long", "one"]
    with pytest.raises(UsageError, match="Nothing of this can be compared"):
        analysis.game_differences(db, conditions=["long"], n_draws=20)


@pytest.mark.slow
def test_pooled_conditions_hold_the_same_models_and_answer_formats_or_are_not_compared(db: Path) -> None:
    with pytest.raises(UsageError) as told:  # a never answered in the other format
        analysis.game_differences(db, by=["variant"], between="answer_format", reference="direct", n_draws=40)
    assert "in one of the two alone there is a, and they would differ in that, too" in str(told.value)
    found = analysis.game_differences(db, by=["model"], n_draws=40)
    assert found.table["model"].unique().to_list() == ["a"]
    assert [text.split(", and")[0] for text in found.left_out] == [
        "Not compared: steer (1 times): in one of the two alone there is cot"
    ]


@pytest.mark.slow
def test_chance_plays_the_rounds_that_were_answered_where_pooled_ones_were_refused(tmp_path: Path) -> None:
    pooled = [
        {**row, "variant": "pooled", "model": model, "repetition": n, "round": n, "conversation_id": f"{model}{n}"}
        | ({"outcome": "refused", "choice": None} if model == "shy" and n % 2 else {})
        for model in ("shy", "open")
        for n, row in enumerate(rounds("pooled", model, games(1, n=1)), 1)
    ]
    db = database(tmp_path / "a.duckdb", pooled)
    found = analysis.game_indices(db, **{**QUICK, "n_random": 60}).table.filter(index="si")
    assert value(found, "random_level", model="shy") > 1.5 * value(found, "random_level", model="open")
    view = tables(db, names=["allocation_indices"])["allocation_indices"]
    assert view.sort("model")["random_si"].to_list() == found.sort("model")["random_level"].to_list()


@pytest.mark.slow
def test_permutations_too_few_for_the_comparisons_are_said(db: Path) -> None:
    (said,) = analysis.game_differences(db, n_draws=30, indices=["si"]).warnings
    assert said.startswith("30 permutations are too few for 2 comparisons: no corrected p can be below 0.065.")
    assert "--n-draws 39 or more" in said
    assert analysis.game_differences(db, n_draws=39, indices=["si"]).warnings == ()
    assert analysis.game_differences(db, n_draws=30, indices=["si"], adjust="BH").warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"between": "temperature"}, 'no column to compare games by "temperature"'),
        ({"reference": "nobody"}, 'no variant with complete games "nobody"'),
        ({"between": "model"}, "--reference MODEL"),
        ({"by": ["variant"]}, "Remove that --by"),
        ({"indices": ["SI"]}, "no index"),
        ({"adjust": "sidak"}, "no way to adjust p"),
        ({"n_draws": 0}, "n_draws must be at least 1"),
        ({"source": "collected"}, "no collected games"),
        ({"study": "interference"}, "has no games"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_told_in_words(db: Path, asked: dict[str, Any], said: str) -> None:
    with pytest.raises((UsageError, DatabaseError), match=said):
        analysis.game_differences(db, **asked)


@pytest.mark.slow
def test_games_without_a_choice_or_an_end_have_no_indices(tmp_path: Path) -> None:
    facts = '{"answer_format":"direct","n_rounds":2,"groups":["g0","g1"],"class_sizes":[1,1]}'
    refused = {"study": "hiring", "test": "rounds", "outcome": "refused", "choice": None, "factors": facts, "game": "p"}
    asked = [{**refused, "round": n, "repetition": n, "conversation_id": f"c{n}", "condition": f"c{n}"} for n in (1, 2)]
    pooled = [{**row, "variant": "pooled", "model": "a"} for row in asked]
    open_game = list(rounds("main", "a", games(1, n=1)))[:-1]
    for rows in (pooled, open_game):
        (tmp_path / "a.duckdb").unlink(missing_ok=True)
        with pytest.raises(DatabaseError, match=r"holds 1 games of .*, and none is complete"):
            analysis.game_indices(database(tmp_path / "a.duckdb", rows), **QUICK)
    db = database(tmp_path / "b.duckdb", [*pooled, *rounds("main", "a", games(1))])
    assert analysis.game_indices(db, **QUICK).table["variant"].unique().to_list() == ["main"]
    assert list(chance_warnings(tables(db, names=["allocation_indices"]), db)) == []


def test_numbers_that_cannot_be_kept_are_given_all_the_same(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise DatabaseWriteError("The disk is full.")

    monkeypatch.setattr("slant.analysis.calls.results.writing", refuse)
    found = analysis.game_indices(db, **QUICK)
    assert (found.not_kept, found.table.height) == ("The disk is full.", 30)


def test_plain_r_gives_the_same_numbers_to_the_bit(db: Path, tmp_path: Path) -> None:
    chosen = open_trials(db, view="allocation_rounds").filter(pl.col("variant") != "main.cot")
    chosen.select("variant", "model", "game", "class", "choice").write_csv(tmp_path / "rounds.csv")
    printed = rscript("game_statistics_from_csv.R", tmp_path / "rounds.csv", r_folder(), **environment())
    there = {tuple(line.split(",")[:4]): line.split(",")[4:] for line in printed}
    indices = analysis.game_indices(db, **QUICK).table.filter(pl.col("variant") != "main.cot")
    differences = analysis.game_differences(db, n_draws=60, seed=7, adjust="BH").table
    here = {
        **bits("indices", indices, ("variant", "model", "index"), INTERVALS),
        **bits("differences", differences, ("condition", "model", "index"), TESTS),
    }
    assert set(there) == set(here)
    assert {key: values for key, values in there.items() if values != here[key]} == {}


INTERVALS = (
    "estimate", "sd", "conf_low", "conf_high", "boot_low", "boot_high", "random_level", "random_low", "random_high",
)  # fmt: skip
TESTS = ("difference", "std_error", "boot_low", "boot_high", "p_value", "p_unstudentised", "p_adjusted")


def bits(kind: str, frame: pl.DataFrame, key: Sequence[str], values: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    return {
        (kind, *(row[name] for name in key)): ["NA" if row[name] is None else f"{row[name]:.17g}" for name in values]
        for row in frame.to_dicts()
    }


def test_a_study_without_games_is_told_apart_from_one_that_nobody_has_played(db: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)has no games.*Studies that have: hiring, ultimatum"):
        analysis.game_indices(db, "rmiat", **QUICK)
    with pytest.raises(DatabaseError, match=r"(?s)To play some.*--study ultimatum"):
        analysis.game_indices(db, "ultimatum", **QUICK)


@pytest.mark.slow
def test_the_same_rounds_have_the_same_indices_in_sql_and_in_r(tmp_path: Path) -> None:
    draws = np.random.default_rng(3)
    with in_memory() as connection:
        games = {name: draws.poisson(mean, (8, 4, 4)).tolist() for name, mean in [("few", 0.6), ("many", 3.0)]}
        insert(connection, [row for name, played in games.items() for row in all_rounds(name, played)])
        connection.sql("SELECT model, game, class, choice FROM allocation_rounds").write_csv(
            str(tmp_path / "rounds.csv")
        )
        kept = frame_of(connection.sql("FROM allocation_indices")).rows(named=True)
    printed = rscript("game_indices_from_csv.R", tmp_path / "rounds.csv", r_folder(), **environment())
    found = {(model, index): values for model, index, *values in (line.split(",") for line in printed)}
    assert len(found) == len(kept) * len(KEPT)
    for row in kept:
        for name in KEPT:
            estimate, sd = found[row["model"], name]
            assert float(estimate) == pytest.approx(row[name], rel=1e-9)
            if f"{name}_sd" in row:
                assert float(sd) == pytest.approx(row[f"{name}_sd"], rel=1e-9)


def test_an_index_of_games_is_set_beside_the_scores_of_models(tmp_path: Path) -> None:
    models = [chr(ord("a") + n) for n in range(5)]
    rows = [row for n, model in enumerate(models) for row in rounds("main", model, games(n, leaning=n % 2 == 0))]
    db, scores = database(tmp_path / "a.duckdb", rows, [RUN]), tmp_path / "bbq.csv"
    scores.write_text("model,score,std_error\n" + "".join(f"{m},{n},.1\n" for n, m in enumerate(models)), "utf-8")
    found = analysis.validity(db, ["hiring.si", "hiring.gasi"], scores=scores)
    by_game = tables(db, names=["allocation_game_indices"])["allocation_game_indices"].group_by("model")
    expected = by_game.agg(pl.col("si").mean(), error=pl.col("si").std() / pl.len().sqrt()).sort("model")
    si = found.units.filter(measure_y="hiring.si").sort("model")
    assert si["y"].to_list() == pytest.approx(expected["si"].to_list())
    assert si["y_error"].to_list() == pytest.approx(expected["error"].to_list())
    assert found.units.filter(measure_y="hiring.gasi", model="a")["y"].item() == pytest.approx(
        analysis.game_indices(db, **QUICK).table.filter(index="gasi", model="a")["estimate"].item()
    )
    pearson = np.corrcoef(range(5), expected["si"])[0, 1]
    row = {"row": "pearson", "measure_y": "hiring.si"}
    assert found.table.filter(**row)["estimate"].item() == pytest.approx(pearson)
    for wrong, says in (("hiring.fit", "si"), ("hiring@other.si", "main"), ("hiring@steer.si", "main")):
        with pytest.raises(UnknownNameError, match=says):
            analysis.validity(db, [wrong], scores=scores)
