"""How far the studies in a database are, what they have cost, and what a person should know before using it."""

from __future__ import annotations

import contextlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.designs import design_named
from slant.collector.errors import DatabaseError, JournalError, OlderDatabaseError
from slant.collector.keep.database import reading, shown_versions
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths, journal_size
from slant.collector.keep.journal_loader import loaded_offsets, offsets_in
from slant.collector.keep.stored_attempts import unloaded_attempts
from slant.collector.progress.shards import shards_of_runs, with_shards
from slant.collector.study.records import Study
from slant.collector.system.shipped_files import sql_query

_OUTCOMES = ("n_answered", "n_refused", "n_filtered", "n_truncated", "n_malformed")
_COUNTS = ("n_done", "n_not_asked", *_OUTCOMES, "n_failed_attempts")
_COSTS = ("n_unpriced", "cost_usd")
_KEYS = ("source", "study", "study_version", "variant", "model")
_KNOWN_COST = pl.when(pl.col("cost_usd").count() > 0).then(pl.col("cost_usd").sum()).alias("cost_usd")


def progress(db: Path, by: str = "model") -> pl.DataFrame:
    """One row for each source, study, variant and model (`by="test"`: and test), over all runs together.

    Answers that a run has put into its journal, but not yet into the database, are counted too. `n_not_asked` are the
    trials of games that ended early: nobody is going to ask them. Where shards of the plan were asked, `n_planned` is
    theirs, `shard` names them, and `n_whole` is the whole. `n_unpriced` answers have no known cost, and `cost_usd` is
    NULL where none has.
    """
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.sql("SELECT * FROM run_progress"))
        if "n_not_asked" not in rows.columns:  # an older slant made the file, and it can't be changed now
            rows = rows.with_columns(n_not_asked=pl.lit(0, pl.Int64))
        if "n_unpriced" not in rows.columns:
            rows = rows.with_columns(n_unpriced=pl.lit(0, pl.Int64), cost_usd=pl.lit(None, pl.Float64))
        offsets = offsets_in(connection)
        shards = shards_of_runs(connection)
    rows = pl.concat(
        [rows.select(*_KEYS, "test", "n_planned", *_COUNTS, *_COSTS), _late(db, offsets)], how="diagonal_relaxed"
    )
    if (versions := shown_versions()) is not None:
        rows = rows.filter(pl.col("study_version").is_in(versions))
    # a run that goes on where another stopped has the same plan: what was planned is not added up over runs
    per_test = rows.group_by([*_KEYS, "test"], maintain_order=True).agg(
        pl.col("n_planned").max(), pl.col(*_COUNTS, "n_unpriced").sum(), _KNOWN_COST
    )
    per_test = with_shards(per_test, shards, _KEYS)
    if by == "test":
        return per_test
    sums = pl.col("n_planned", "n_whole", *_COUNTS, "n_unpriced").sum()
    shard = pl.col("shard").drop_nulls().first()
    per_model = per_test.group_by(_KEYS, maintain_order=True).agg(sums, _KNOWN_COST, shard)
    whole = pl.when(pl.col("shard").is_not_null()).then("n_whole")
    return per_model.select(*_KEYS, "shard", "n_planned", whole.alias("n_whole"), *_COUNTS, *_COSTS)


def _late(db: Path, offsets: dict[str, int]) -> pl.DataFrame:
    """Counts of what the journals hold behind these offsets."""
    columns = (*_KEYS, "test", "outcome", "is_final", "factors")
    is_first = pl.col("occasion").is_null()
    parts = [attempts.filter(is_first).select(columns) for attempts in unloaded_attempts(db, offsets)]
    if not parts:
        return pl.DataFrame(schema=dict.fromkeys([*_KEYS, "test"], pl.String) | dict.fromkeys(_COUNTS, pl.Int64))
    final = pl.col("is_final")
    ended = [(final & (pl.col("outcome") == name.removeprefix("n_"))).sum().alias(name) for name in _OUTCOMES]
    failed = (pl.col("outcome") == "failed").sum().alias(_COUNTS[-1])
    rows = pl.concat(parts)
    counts = rows.group_by(*_KEYS, "test").agg(final.sum().alias("n_done"), *ended, failed)
    return counts.join(_not_asked(rows), on=[*_KEYS, "test"], how="full", coalesce=True).with_columns(
        pl.col(*_COUNTS).fill_null(0)
    )


def _not_asked(rows: pl.DataFrame) -> pl.DataFrame:
    """By test, the trials that games which ended early will not have; the round that ended one says so."""
    last = rows.filter("is_final", pl.col("factors").str.contains('"not_asked":{', literal=True))
    pairs = pl.col("factors").str.extract(r'"not_asked":\{([^}]*)\}').str.extract_all(r'"\w+":\d+')
    split = pl.col("not_asked").str.extract_groups(r'"(?<test>\w+)":(?<n_not_asked>\d+)')
    counts = (
        last.select(*_KEYS, pairs.alias("not_asked")).explode("not_asked").select(*_KEYS, split).unnest("not_asked")
    )
    return counts.group_by(*_KEYS, "test").agg(pl.col("n_not_asked").cast(pl.Int64).sum())


def occasion_sentences(db: Path) -> list[str]:
    """What was asked again on later occasions (`collect --again`), a sentence each; none in an older slant's file."""
    query = "SELECT study, model, occasion, n_trials, n_wanted, asked_to FROM retest_occasions"
    with suppress(OlderDatabaseError), reading(db) as connection:
        rows = connection.execute(query).fetchall()
        return [
            f"{study}, {model}: occasion {occasion} has {n_trials:,} answers to trials asked again (--again {wanted}), "
            f"the last of {last:%Y-%m-%d}."
            for study, model, occasion, n_trials, wanted, last in rows
        ]
    return []


def waiting_bytes(db: Path) -> int:
    """Bytes in the journals that the database has not loaded yet."""
    offsets = loaded_offsets(db)
    waiting = 0
    for path in journal_paths(journal_folder(db)):
        with suppress(JournalError):  # a damaged one is told by whoever loads it
            waiting += max(0, journal_size(path) - offsets.get(journal_name(path), 0))
    return waiting


def warnings(db: Path) -> list[str]:
    """What is wrong with the rows themselves: trials ended twice, unreadable journal lines, another model serving."""
    with reading(db) as connection:
        doubled, repeated = connection.execute(sql_query("trials_ended_twice")).fetchall()[0]
        unreadable = connection.execute(sql_query("unreadable_lines")).fetchall()
        drifted = connection.execute(sql_query("other_served_models")).fetchall()
        moved, cut = (
            connection.execute(sql_query("marked_games"), {"mark": mark}).fetchall()
            for mark in ("served_model_before", "input_tokens_before")
        )
    sentences = [f"{doubled:,} trials were ended twice, and count twice (view duplicate_finals)."] if doubled else []
    if repeated:
        sentences.append(
            f"{repeated:,} trials were answered for two collectors: the first answer counts (view duplicate_finals)."
        )
    sentences += [
        f"{count:,} lines of the journal {name} can't be read (table journal_problems)." for name, count in unreadable
    ]
    sentences += [
        f"{count:,} trials of {model} were answered by another model (view served_models)." for model, count in drifted
    ]
    sentences += [
        f"{count:,} games of {model} were answered by more than one model (view allocation_game_ends)."
        for model, count in moved
    ]
    sentences += [
        f"in {count:,} games of {model} the server may have cut off what was said first (input_tokens_before)."
        for model, count in cut
    ]
    return sentences


def cost_notes(rows: pl.DataFrame) -> list[str]:
    """Sentences about answers whose cost is not known though others of the same model are priced; `rows` as of
    `progress()`."""
    models = rows.group_by("source", "study", "study_version", "variant", "model", maintain_order=True)
    sums = models.agg(pl.col("n_unpriced").sum(), pl.col("cost_usd").count().alias("n_known"))
    partly = sums.filter(pl.col("n_known") > 0, pl.col("n_unpriced") > 0)
    return [
        f"{n:,} answers of {model} have no known cost: cost_usd lacks them."
        for model, n in partly.select("model", "n_unpriced").iter_rows()
    ]


def changed_models(db: Path) -> list[str]:
    """Sentences about models that changed in mid-run: which ones answered, how many trials, from when."""
    with reading(db) as connection, contextlib.suppress(duckdb.CatalogException):
        rows = frame_of(connection.sql("FROM served_model_changes"))
        groups = rows.group_by("run_id", "model", maintain_order=True)
        return [_change(run_id, model, list(group.iter_rows(named=True))) for (run_id, model), group in groups]
    return []


def _change(run_id: Any, model: Any, rows: list[dict[str, Any]]) -> str:
    parts = [
        f"{row['served_model']} answered {row['n_trials']:,} trials from {row['first_done_at']:%Y-%m-%d %H:%M:%S} "
        f"to {row['last_done_at']:%Y-%m-%d %H:%M:%S} UTC"
        for row in rows
    ]
    return f"the model behind {model} changed during run {run_id}: {'; '.join(parts)} (view served_model_changes)."


_CODED = "choice IN (option_a, option_b) AND expected IN (option_a, option_b)"


def coverage_note(db: Path, study: Study) -> str | None:
    """One sentence on the valid answers to this version of a study; None where there are none, where the study is about
    tokens or expects no option, or where the database can't be looked at just now: a note is not worth a run."""
    if design_named(study.design).analyses_tokens:
        return None
    which = "outcome = 'answered' AND option_a IS NOT NULL AND expected IS NOT NULL AND study = ? AND study_version = ?"
    query = f"SELECT count(*), count_if({_CODED}) FROM trials WHERE {which}"  # noqa: S608
    try:
        with reading(db, patience_s=1.0) as connection:
            [(valid, coded)] = connection.execute(query, [study.name, study.version]).fetchall()
    except (DatabaseError, duckdb.Error):
        return None
    if not valid:
        return None
    share = "100 %" if coded == valid else f"{100 * coded / valid:.1f} %, and not all"
    return f"Coverage: {coded:,} of {valid:,} valid answers can be coded as consistent or not ({share})."
