"""Report the progress and cost of the studies in a database, and what a person should know before using it.

If runs asked shards (plan/conversations.py), their planned trials are those of the shards.

Warn of trials that ended without an answer: more than a few per cent of them, or unequally many by condition.

The rest may differ for that reason alone, so they should be looked at before any fit."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import lcm
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.ask.run_warnings import NOTHING_READ
from slant.collector.cost.estimate import dollars
from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseError, UsageError, as_typed
from slant.collector.keep.database import fetched, reading, shown_versions
from slant.collector.keep.frames import frame_of
from slant.collector.keep.journal_loader import offsets_in
from slant.collector.keep.stored_attempts import unloaded_lines
from slant.collector.keep.view_heads import ordered_view
from slant.collector.plan.conversations import Shard
from slant.collector.screen_tables import in_one_line
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

MAX_LOST = 0.05
"""Limit the share of trials without an answer that needs no warning."""
MIN_DIFFERENCE = 0.02
"""Set the difference of shares between two conditions that matters, if chance does not explain it (p < .01)."""
_Z = 2.576

Count = tuple[str, int, int]
"""Hold a condition, its trials without an answer, and all its trials."""


def unequal_losses(counts: Sequence[Count]) -> str | None:
    """Return the two conditions that differ most in their share of trials without an answer, in words; None if
    chance may explain the difference (a z test of two shares at 1 %), or it is less than two points.
    """
    shares = sorted((lost / n, lost, n, name) for name, lost, n in counts if n)
    if len(shares) < 2:
        return None
    (low, lost_a, n_a, name_a), (high, lost_b, n_b, name_b) = shares[0], shares[-1]
    pooled = (lost_a + lost_b) / (n_a + n_b)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    if high - low < MIN_DIFFERENCE or high - low <= _Z * error:
        return None
    return f"{lost_b:,} of {n_b:,} in {name_b}, {lost_a:,} of {n_a:,} in {name_a}"


def lost_answer_notes(db: Path, study: str, version: str | None = None, run_ids: Sequence[str] = ()) -> list[str]:
    """Return a sentence for each model that lacks too many answers. These are, of a study's collected trials (on the
    occasion of these runs), more than a few per cent, or unequally many by condition; none if the database can't be
    read now.
    """
    values = {"study": study, "version": version, "runs": list(run_ids)}
    try:
        rows = fetched(db, sql_query("outcomes_by_condition"), values, patience_s=1.0)
    except (DatabaseError, duckdb.Error):
        return []
    notes = []
    for variant, model in dict.fromkeys((row[0], row[1]) for row in rows):
        own = [(condition, outcome, n) for v, m, condition, outcome, n in rows if (v, m) == (variant, model)]
        name = model if len({row[0] for row in rows}) == 1 else f"{model} ({variant})"
        if sentence := _sentence(name, own):
            notes.append(sentence)
    if notes:
        notes.append(f"Look at them before any fit: collect view --db {as_typed(db)}")
    return notes


def other_notes(notes: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Return the notes of a run without the one that repeats `lost_answer_notes`."""
    return [note for note in notes if not lost or NOTHING_READ not in note]


def _sentence(model: str, rows: Sequence[tuple[str, str, int]]) -> str | None:
    n_all = sum(n for _, _, n in rows)
    lost = [(condition, outcome, n) for condition, outcome, n in rows if outcome != "answered"]
    n_lost = sum(n for _, _, n in lost)
    conditions = dict.fromkeys(condition for condition, _, _ in rows)
    by_condition = [
        (c, sum(n for of, _, n in lost if of == c), sum(n for of, _, n in rows if of == c)) for c in conditions
    ]
    differing = unequal_losses(by_condition)
    if not n_all or (n_lost / n_all <= MAX_LOST and differing is None):
        return None
    outcomes = dict.fromkeys(outcome for _, outcome, _ in lost)
    kinds = ", ".join(f"{sum(n for _, of, n in lost if of == outcome):,} {outcome}" for outcome in outcomes)
    unequally = f"; unequally: {differing}" if differing else ""
    return f"ATTENTION: {n_lost:,} of {n_all:,} trials of {model} ended without an answer ({kinds}{unequally})."


_MAX_CLASSES = 100_000  # shards are counted if at most this many make a plan; else the whole plan is shown
_Key = tuple[str | None, ...]
_Planned = Mapping[str, int]  # trials by test
ShardsOfRuns = Mapping[_Key, Mapping[Shard | None, _Planned]]
"""By source, study, version, variant and model; None is a run of the whole plan."""


def with_shards(rows: pl.DataFrame, shards: ShardsOfRuns, keys: tuple[str, ...]) -> pl.DataFrame:
    """Return rows of one test and model each: `n_planned` of the shards that were asked, `shard` ("2/8"; several
    separated by commas) and `n_whole`, the trials of the whole plan. Both are NULL if the whole plan was asked, or if
    shards overlap in a way that can't be added up."""
    changed = [_of_shards(row, shards.get(tuple(row[name] for name in keys), {})) for row in rows.iter_rows(named=True)]
    schema = {"n_planned": pl.Int64, "shard": pl.String, "n_whole": pl.Int64}
    columns = pl.DataFrame(changed, schema=schema, orient="row")
    others = [name for name in rows.columns if name not in (*keys, "test", *schema)]
    return rows.drop("n_planned").hstack(columns).select(*keys, "test", "shard", "n_planned", "n_whole", *others)


def _of_shards(row: Mapping[str, Any], shards: Mapping[Shard | None, _Planned]) -> tuple[int | None, str | None, Any]:
    whole = row["n_planned"]
    if whole is None or not shards or None in shards:
        return whole, None, None
    apart = disjoint([shard for shard in shards if shard is not None])
    names = together(apart)
    if apart is None or names == [Shard(1, 1)]:
        return whole, None, None
    return sum(shards[shard].get(row["test"], 0) for shard in apart), ", ".join(map(str, names)), whole


def disjoint(shards: Iterable[Shard]) -> list[Shard] | None:
    """Return the shards that contain all the others and do not overlap; None if there are none."""
    largest: list[Shard] = []
    for shard in sorted(set(shards), key=lambda one: (one.of, one.number)):
        if not any(shard.of % other.of == 0 and (shard.number - other.number) % other.of == 0 for other in largest):
            largest.append(shard)
    if (n_classes := lcm(*(shard.of for shard in largest))) > _MAX_CLASSES:
        return None
    return largest if len(_classes(largest, n_classes)) == sum(n_classes // shard.of for shard in largest) else None


def together(shards: list[Shard] | None) -> list[Shard]:
    """Return the fewest shards that are the same as these disjoint ones of one number: 1/4 and 3/4 are 1/2."""
    n_classes = lcm(*(shard.of for shard in shards or ()))
    classes = _classes(shards or [], n_classes)
    for of in (of for of in range(1, n_classes + 1) if n_classes % of == 0):
        numbers = {place % of for place in classes}
        if len(numbers) * (n_classes // of) == len(classes):
            return [Shard(number + 1, of) for number in sorted(numbers)]
    return []


def _classes(shards: Iterable[Shard], n_classes: int) -> set[int]:
    return {place for shard in shards for place in range(shard.number - 1, n_classes, shard.of)}


def shards_of_runs(connection: duckdb.DuckDBPyConnection) -> ShardsOfRuns:
    """Return the shards that runs asked, with their trials by test, by source, study, version, variant and model."""
    shards: defaultdict[_Key, dict[Shard | None, _Planned]] = defaultdict(dict)
    for *key, model, settings in connection.execute(sql_query("shards_of_runs")).fetchall():
        shard, planned = _shard_in(settings, model)
        before = shards[*key, model].get(shard, {})
        shards[*key, model][shard] = {test: max(n, before.get(test, 0)) for test, n in planned.items()}
    return shards


def _shard_in(settings: str | None, model: str) -> tuple[Shard | None, _Planned]:
    """Return the shard in a run's settings, which another person may have written."""
    try:
        parsed = json.loads(settings or "{}")
        return Shard.read(parsed["shard"]), {str(test): int(n) for test, n in parsed["shard_planned"][model].items()}
    except (ValueError, KeyError, TypeError, AttributeError, UsageError):
        return None, {}


_OUTCOMES = ("n_answered", "n_refused", "n_filtered", "n_truncated", "n_malformed", "n_rejected")
_COUNTS = ("n_done", "n_not_asked", *_OUTCOMES, "n_failed_attempts")
_COSTS = ("n_unpriced", "cost_usd")
_KEYS = ("source", "study", "study_version", "variant", "model")


def progress(db: Path, by: str = "model") -> pl.DataFrame:
    """Return rows by source, study, variant, model (`by="test"`: and test), over all runs together.

    Answers that a run has put into its journal, but not yet into the database, are counted, too. `n_not_asked` are the
    trials of games that ended early: they will never be asked. If shards of the plan were asked, `n_planned` is theirs,
    `shard` names them, and `n_whole` is the number of the whole plan; rows of files have no plan. `n_unpriced` answers
    have no known cost, and `cost_usd` is NULL if none has.
    """
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.sql("SELECT * FROM run_progress"))
        offsets = offsets_in(connection)
        shards = shards_of_runs(connection)
    rows = pl.concat(
        [rows.select(*_KEYS, "test", "n_planned", *_COUNTS, *_COSTS), _late(db, offsets)], how="diagonal_relaxed"
    )
    if (versions := shown_versions()) is not None:
        rows = rows.filter(pl.col("study_version").is_in(versions))
    known_cost = pl.when(pl.col("cost_usd").count() > 0).then(pl.col("cost_usd").sum()).alias("cost_usd")
    # a run that resumes another has the same plan: planned trials are not added up over runs
    per_test = rows.group_by([*_KEYS, "test"], maintain_order=True).agg(
        pl.col("n_planned").max(), pl.col(*_COUNTS, "n_unpriced").sum(), known_cost
    )
    per_test = with_shards(per_test, shards, _KEYS)
    if by == "test":
        return per_test
    planned = pl.when(pl.col("n_planned").count() > 0).then(pl.col("n_planned").sum()).alias("n_planned")
    sums = pl.col("n_whole", *_COUNTS, "n_unpriced").sum()
    shard = pl.col("shard").drop_nulls().first()
    per_model = per_test.group_by(_KEYS, maintain_order=True).agg(planned, sums, known_cost, shard)
    whole = pl.when(pl.col("shard").is_not_null()).then("n_whole")
    return per_model.select(*_KEYS, "shard", "n_planned", whole.alias("n_whole"), *_COUNTS, *_COSTS)


def _late(db: Path, offsets: dict[str, int]) -> pl.DataFrame:
    """Count what the journals hold beyond these offsets."""
    columns = (*_KEYS, "test", "outcome", "is_final", "factors")
    is_first = pl.col("occasion").is_null()
    parts = [lines.attempts.filter(is_first).select(columns) for lines in unloaded_lines(db, offsets)]
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
    """Return the trials that games which ended early will not have, by test; the round that ended one says so."""
    last = rows.filter("is_final", pl.col("factors").str.contains('"not_asked":{', literal=True))
    pairs = pl.col("factors").str.extract(r'"not_asked":\{([^}]*)\}').str.extract_all(r'"\w+":\d+')
    split = pl.col("not_asked").str.extract_groups(r'"(?<test>\w+)":(?<n_not_asked>\d+)')
    counts = (
        last.select(*_KEYS, pairs.alias("not_asked")).explode("not_asked").select(*_KEYS, split).unnest("not_asked")
    )
    return counts.group_by(*_KEYS, "test").agg(pl.col("n_not_asked").cast(pl.Int64).sum())


def occasion_sentences(db: Path) -> list[str]:
    """Return a sentence for each later occasion on which trials were asked again (`collect --again`)."""
    with reading(db) as connection:
        occasions = ordered_view(connection, "retest_occasions")
        rows = occasions.select("study, model, occasion, n_trials, n_wanted, asked_to, cost_usd").fetchall()
        return [
            f"{study}, {model}: occasion {occasion} has {count_text(n_trials, 'answer')} to trials asked again "
            f"(--again {wanted}), the last of {last:%Y-%m-%d}"
            f"{f'; cost_usd lacks their {dollars(cost)}' if cost is not None else ''}."
            for study, model, occasion, n_trials, wanted, last, cost in rows
        ]


def warnings(db: Path) -> list[str]:
    """Return the problems of the rows themselves: trials ended twice, unreadable journal lines, another model
    serving."""
    with reading(db) as connection:
        doubled, repeated = connection.execute(sql_query("trials_ended_twice")).fetchall()[0]
        unreadable = connection.execute(sql_query("unreadable_lines")).fetchall()
        moved, cut = (
            connection.execute(sql_query("marked_games"), {"mark": mark}).fetchall()
            for mark in ("served_model_before", "input_tokens_before")
        )
    sentences = (
        [f"ended twice, and counted twice: {count_text(doubled, 'trial')} (view duplicate_finals)."] if doubled else []
    )
    if repeated:
        trials = count_text(repeated, "trial")
        sentences.append(f"answered for two collectors: {trials}; the first answer counts (view duplicate_finals).")
    sentences += [
        f"can't be read in the journal {name}: {count_text(count, 'line')} (table journal_problems)."
        for name, count in unreadable
    ]
    sentences += other_model_sentences(db)
    sentences += [
        f"answered by more than one model: {count_text(count, 'game')} of {model} (view allocation_game_ends)."
        for model, count in moved
    ]
    sentences += [
        f"in {count_text(count, 'game')} of {model} the server may have cut off what was said first "
        "(input_tokens_before)."
        for model, count in cut
    ]
    return sentences


def other_model_sentences(db: Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model that answered in place of the requested one; none if the database can't be read
    now.
    """
    return [_other_model(row) for row in _rows_now(db, "other_served_models", {"study": study})]


def _rows_now(db: Path, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a query for a note: if the database can't be read now, none."""
    with suppress(DatabaseError, duckdb.Error), reading(db, patience_s=1.0) as connection:
        return frame_of(connection.sql(sql_query(query), params=dict(values))).to_dicts()
    return []


def _other_model(row: Mapping[str, Any]) -> str:
    first, last = (f"{row[name]:%Y-%m-%d %H:%M}" if row[name] else "?" for name in ("first_done_at", "last_done_at"))
    kept = "excluded from all tables (with them: --other-models)" if row["n_left_out"] else "shown as a separate model"
    return (
        f"answered by another model: {count_text(row['n_trials'], 'trial')} of {row['model']} came from "
        f"{in_one_line(row['served_model'])} and not from {row['requested_model']}, from {first} to {last} UTC; "
        f"they are {kept} (view served_models)."
    )


def cost_notes(rows: pl.DataFrame) -> list[str]:
    """Return sentences about answers without a known cost though others of the same model are priced; `rows` are those
    of `progress()`."""
    models = rows.group_by("source", "study", "study_version", "variant", "model", maintain_order=True)
    sums = models.agg(pl.col("n_unpriced").sum(), pl.col("cost_usd").count().alias("n_known"))
    partly = sums.filter(pl.col("n_known") > 0, pl.col("n_unpriced") > 0)
    return [
        f"no known cost: {count_text(n, 'answer')} of {model}; cost_usd lacks them."
        for model, n in partly.select("model", "n_unpriced").iter_rows()
    ]


def changed_models(db: Path, run_ids: Sequence[str] | None = None) -> list[str]:
    """Return sentences about models that changed in mid-run (in any, or in one of these runs): which ones answered, how
    many trials, from when."""
    with reading(db) as connection:
        rows = frame_of(ordered_view(connection, "served_model_changes"))
    rows = rows if run_ids is None else rows.filter(pl.col("run_id").is_in(run_ids))
    groups = rows.group_by("run_id", "model", maintain_order=True)
    return [_change(run_id, model, list(group.iter_rows(named=True))) for (run_id, model), group in groups]


def _change(run_id: Any, model: Any, rows: list[dict[str, Any]]) -> str:
    parts = [
        f"{in_one_line(row['served_model'])} answered {count_text(row['n_trials'], 'trial')} "
        f"from {row['first_done_at']:%Y-%m-%d %H:%M:%S} to {row['last_done_at']:%Y-%m-%d %H:%M:%S} UTC"
        for row in rows
    ]
    return f"the model behind {model} changed during run {run_id}: {'; '.join(parts)} (view served_model_changes)."


_CODED = "choice IN (option_a, option_b) AND expected IN (option_a, option_b)"


def closing_notes(db: Path, study: Study, run_ids: Sequence[str] = ()) -> list[str]:
    """Return the notes at the end of these runs on the answers in their database."""
    coverage = coverage_note(db, study)
    of_runs = [*changed_models(db, run_ids), *_unknown_words(db, run_ids)] if run_ids else []
    return [*([coverage] if coverage else []), *other_model_sentences(db, study.name), *of_runs]


def _unknown_words(db: Path, run_ids: Sequence[str]) -> list[str]:
    """Return sentences about names that answered in these runs and have words of unknown meaning."""
    return [
        f"{row['requested_model']} was asked for and {in_one_line(row['served_model'])} answered "
        f'{count_text(row["n_trials"], "trial")} of {row["model"]}: what "{row["unknown_words"]}" means '
        "there is not known, and the answers are kept (view served_names)."
        for row in _rows_now(db, "unknown_served_words", {"runs": list(run_ids)})
    ]


def coverage_note(db: Path, study: Study) -> str | None:
    """Return a sentence about the valid answers to this version of a study; None if there are none, if the study is
    about tokens or expects no option, or if the database can't be read now: a note is not worth losing a run."""
    if study.design.analyses.counts_tokens:
        return None
    which = "outcome = 'answered' AND option_a IS NOT NULL AND expected IS NOT NULL AND study = ? AND study_version = ?"
    query = f"SELECT count(*), count_if({_CODED}) FROM trials WHERE {which}"  # noqa: S608
    try:
        [(valid, coded)] = fetched(db, query, [study.name, study.version], patience_s=1.0)
    except (DatabaseError, duckdb.Error):
        return None
    if not valid:
        return None
    share = "100 %" if coded == valid else f"{100 * coded / valid:.1f} %, and not all"
    return f"Coverage: {coded:,} of {valid:,} valid answers can be coded as consistent or not ({share})."
