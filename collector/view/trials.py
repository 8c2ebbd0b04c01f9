"""Read the trials of a database: a page of them, one with all that is kept of it, a game, the games.

Show pairs: the same question in two conditions, first those whose token counts differ most.

A design says which trials are a pair (`Analyses.pairs_by`). Pairs are of one model, for counts of two models are not
comparable, and of one study, variant and source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression, FunctionExpression

from slant.collector.designs import Design, design_named
from slant.collector.errors import DesignError, UnknownNameError, UnknownTrialError, UsageError
from slant.collector.request_messages import Message, messages_of, values_of
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.notes_file import NotesFile
from slant.collector.view.paging import Order, Page, between, page_of, read_key, rows_of
from slant.collector.view.trial_filter import TextSearch, TrialFilter

ON_A_PAGE = 50
GAMES_ON_A_PAGE = 100
_GAMES_BY = (
    "study", "source", "study_version", "variant", "model", "repetition", "test", "item", "condition", "game",
)  # fmt: skip
_GAMES = Order(tuple((name, False) for name in _GAMES_BY))
"""Order games as neighbouring_games.sql does."""
_LISTED = (
    "trial_id", "run_id", "sequence", "source", "study", "variant", "model", "test", "condition", "item", "group",
    "wording", "game", "round", "repetition", "outcome", "choice", "expected", "tokens", "token_source",
    "output_tokens", "done_at", "latency_s", "cost_usd",
)  # fmt: skip
_PLACE = ("run_id", "sequence", "attempt_id")
_NEARBY = 5_000
_EXCERPTS = {"answer": 160, "reasoning_text": 160}


@contextmanager
def chosen_trials(
    connection: duckdb.DuckDBPyConnection, chosen: TrialFilter, notes: NotesFile | None, search: TextSearch | None
) -> Iterator[duckdb.DuckDBPyRelation]:
    """Yield the trials that a filter leaves, unordered, including filters by notes and by a search."""
    if chosen.label and notes is None:
        raise UsageError("A filter by label needs the notes.", "Start with: collect view --notes notes.csv")
    labelled = notes.trials_with(chosen.label) if notes and chosen.label else ()
    with search.matches(connection) if search else nullcontext("") as matches:
        yield chosen.rows(connection, labelled, matches)


def page_of_trials(
    connection: duckdb.DuckDBPyConnection,
    trials: duckdb.DuckDBPyRelation,
    chosen: TrialFilter,
    query: Mapping[str, str],
) -> Page:
    """Return the page that an address asks for. In the order of asking its trials mostly lie together: they are
    identified in narrow columns, for sorting a million wide rows takes longer than everything else.
    """
    columns: list[Expression] = [ColumnExpression(name) for name in _LISTED]
    for name, length in _EXCERPTS.items():
        cut = FunctionExpression("substr", ColumnExpression(name), ConstantExpression(1), ConstantExpression(length))
        columns.append(cut.alias(name))
    if not chosen.sort:
        page = page_of(trials, chosen.order, ON_A_PAGE, query, [ColumnExpression(name) for name in _PLACE])
        # few other trials lie between those of one run with nearby numbers
        are_known = bool(page.rows) and not any(None in place.values() for place in page.rows)
        numbers = [place["sequence"] for place in page.rows] if are_known else []
        is_one_run = len({place["run_id"] for place in page.rows}) == 1
        if numbers and is_one_run and max(numbers) - min(numbers) < _NEARBY:
            near = between("sequence", page.rows) & between("run_id", page.rows)
            wide = connection.view("trials").filter(near).select(ColumnExpression("attempt_id"), *columns)
            rows = {row["attempt_id"]: row for row in rows_of(wide)}
            return replace(page, rows=[rows[place["attempt_id"]] for place in page.rows])
    return page_of(trials, chosen.order, ON_A_PAGE, query, columns)


@dataclass(frozen=True)
class OneTrial:
    """Hold a trial with all its attempts, the last of which ended it (`row`; the latest if it is pending)."""

    row: dict[str, Any]
    attempts: list[dict[str, Any]]
    run: dict[str, Any]
    model: dict[str, Any]
    facts: dict[str, str]
    design: Design | None


def one_trial(connection: duckdb.DuckDBPyConnection, trial_id: str) -> OneTrial:
    """Return a trial; UnknownNameError if the database has no such trial."""
    rows = attempts_of(connection, [trial_id])[trial_id]
    row = last_attempt(rows)
    row["factors"], factors_text = values_of(row["factors"]), row["factors"]
    started, ended = row["sent_at"], row["done_at"]
    is_live = not row["batch_id"] and started and ended
    row |= {"factors_text": factors_text, "latency_s": (ended - started).total_seconds() if is_live else None}
    run = rows_of(_with(connection.table("runs"), run_id=row["run_id"]))
    model = rows_of(_with(connection.table("run_models"), run_id=row["run_id"], model=row["model"]))
    design = design_of(run[0]["design"] if run else None)
    return OneTrial(row, rows, next(iter(run), {}), next(iter(model), {}), facts_of(design, row), design)


def occasions_of(connection: duckdb.DuckDBPyConnection, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the answers to a trial that was asked on several days (`collect --again`), the first one first; else
    none.
    """
    first_id = row["first_trial_id"] or row["trial_id"]
    attempts = connection.sql("FROM attempts").filter(ColumnExpression("is_final"))
    columns = ("trial_id", "occasion", "done_at", "served_model", "outcome", "choice", "tokens")
    later = rows_of(_with(attempts, first_trial_id=first_id).select(*columns))
    first = rows_of(_with(attempts, trial_id=first_id).select(*columns)) if later else []
    return sorted([*first, *later], key=lambda r: r["occasion"] or 1)


def attempts_of(
    connection: duckdb.DuckDBPyConnection, trial_ids: Sequence[str], cell: Mapping[str, str] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """Return the attempts of these trials in their order. Raise UnknownNameError if a trial has none. `cell`: what is
    known about all of them (a model, for example), so that other ids need not be read.

    Their places are found in one scan of narrow columns, and the rows at those places are read at once."""
    attempts = _with(connection.sql("FROM attempts"), **(cell or {}))
    is_asked_for = ColumnExpression("trial_id").isin(*map(ConstantExpression, trial_ids))
    places = rows_of(attempts.filter(is_asked_for).select("trial_id", "run_id", "sequence"))
    by_trial: dict[str, list[dict[str, Any]]] = {trial_id: [] for trial_id in trial_ids}
    for place in {tuple(place.items()) for place in places}:
        for row in rows_of(_with(attempts, **dict(place))):
            by_trial[row["trial_id"]].append(row)
    for trial_id, rows in by_trial.items():
        if not rows:
            raise UnknownTrialError("trial", trial_id)
        rows.sort(key=lambda row: (row["turn"] or 0, row["try_no"] or 0, str(row["done_at"])))
    return by_trial


def last_attempt(attempts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the attempt that ended a trial; the latest of a pending one."""
    return next((row for row in attempts if row["is_final"]), attempts[-1])


def neighbours(trials: duckdb.DuckDBPyRelation, order: Order, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the trials before and after this one in a list."""
    key = [None if row[name] is None else str(row[name]) for name in order.names]
    sides = []
    for is_backwards in (True, False):
        beyond = order.sorted(order.beyond(trials, key, is_backwards=is_backwards), is_backwards=is_backwards)
        sides.append(beyond.limit(1).select("trial_id").fetchall())
    before, behind = (rows[0][0] if rows else None for rows in sides)
    return before, behind


@dataclass(frozen=True)
class Game:
    """Hold a conversation of many turns: its trials in order, each with what its design says about it (`facts`, by
    `heads`). `name`: what the design calls it; if it `has_rounds` (a game), the growing table of choices by condition:
    `counts` of a round are those of its condition, up to and including this round. `always`: what is the same for all
    trials."""

    name: str
    has_rounds: bool
    trials: list[dict[str, Any]]
    heads: list[str]
    always: dict[str, str]
    columns: list[str]
    table: dict[str, Counter[str]]


def one_game(connection: duckdb.DuckDBPyConnection, game: str) -> Game:
    """Return the trials of a game; UnknownNameError if the database has no game of this name."""
    rows = rows_of(_with(connection.view("trials"), game=game))
    if not rows:
        raise UnknownTrialError("game", game)
    rows.sort(key=lambda row: (row["round"] is None, row["round"] or 0, row["sequence"]))
    design = design_of(design_of_study(connection, rows[0]["study"]))
    name, has_rounds = (design.asks.conversation, design.asks.plays_games) if design else ("conversation", False)
    table: dict[str, Counter[str]] = {}
    for row in rows:
        row["factors"] = values_of(row["factors"])
        row["facts"] = facts_of(design, row)
        if has_rounds and row["round"] is not None and row["outcome"] == "answered" and row["choice"] is not None:
            counts = table.setdefault(row["condition"], Counter())
            counts[row["choice"]] += 1
            row["counts"] = dict(counts)
    options = [option for row in rows[:1] if design and has_rounds for option in design.analyses.options(row)]
    columns = dict.fromkeys([*options, *(column for counts in table.values() for column in counts)])
    names = dict.fromkeys(name for row in rows for name in row["facts"])
    alike = {name: {row["facts"].get(name) for row in rows} for name in names}
    always = {name: str(*texts) for name, texts in alike.items() if len(rows) > 1 and len(texts) == 1}
    return Game(name, has_rounds, rows, [name for name in names if name not in always], always, list(columns), table)


def new_messages(row: Mapping[str, Any], before: Mapping[str, Any] | None) -> list[Message]:
    """Return the messages to the model in a turn: its own answer, which is sent along with the next question, is shown
    in its own turn.
    """
    messages = messages_of(row["request"])[0]
    if before is None or not messages or messages[0].text.strip() != (before["answer"] or "").strip():
        return messages
    return messages[1:]


def page_of_games(trials: duckdb.DuckDBPyRelation, query: Mapping[str, str]) -> Page:
    games = trials.query("chosen", sql_query("shown_games"))
    assert games is not None  # it is a query, which has rows
    return page_of(games, _GAMES, GAMES_ON_A_PAGE, query)


def neighbouring_games(trials: duckdb.DuckDBPyRelation, game: str) -> tuple[str | None, str | None]:
    """Return the games before and after this one in the list of these trials; none if it is not in it."""
    games = trials.query("chosen", sql_query("neighbouring_games"))
    assert games is not None  # it is a query, which has rows
    places = _with(games, game=game).select("before", "behind").fetchall()
    return places[0] if places else (None, None)


def conversation_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the designs' names for conversations of many turns in the runs here: "game", "conversation"."""
    designs = connection.execute("SELECT DISTINCT design FROM runs").fetchall()
    names = {design.asks.conversation for (name,) in designs if (design := design_of(name)) is not None}
    return sorted(names - {""})


def design_of_study(connection: duckdb.DuckDBPyConnection, study: str) -> str | None:
    rows = connection.execute("SELECT design FROM studies WHERE study = ? AND design IS NOT NULL", [study]).fetchall()
    return rows[0][0] if rows else None


def design_of(name: str | None) -> Design | None:
    """Return the design; None if it is unknown here: its package is not installed."""
    try:
        return design_named(name) if name else None
    except (UnknownNameError, DesignError):
        return None


def facts_of(design: Design | None, row: Mapping[str, Any]) -> dict[str, str]:
    """Return the design's facts about a trial. If a stranger's design fails, return the trial's plain factors."""
    try:
        return design.analyses.facts(row) if design else {name: str(value) for name, value in row["factors"].items()}
    except Exception as error:  # the code of another package may raise anything
        return {"not known": f"{type(error).__name__} in the design"}


def _with(relation: duckdb.DuckDBPyRelation, **values: object) -> duckdb.DuckDBPyRelation:
    for name, value in values.items():
        column = ColumnExpression(name)
        relation = relation.filter(column.isnull() if value is None else column == ConstantExpression(value))
    return relation


PAIRS_ON_A_PAGE = 50
CELL = ("study", "source", "variant", "model")
SORTS = {"": ("size", True), "more": ("difference", True), "fewer": ("difference", False)}
"""Order pairs by the largest difference either way, by most tokens more, or most tokens fewer than the reference."""


@dataclass(frozen=True)
class PairChoice:
    """Hold which pairs: in which cell, between which conditions, in which order. `cells` are the ones to choose
    from."""

    cells: list[list[str]]
    cell: list[str]
    pairs_by: tuple[str, ...]
    conditions: list[str]
    reference: str
    other: str
    sort: str

    @property
    def order(self) -> Order:
        return Order((SORTS[self.sort], ("reference_id", False), ("other_id", False)))

    def query(self, **changes: str) -> dict[str, str]:
        whole = dict(zip(CELL, self.cell, strict=True))
        whole |= {"reference": self.reference, "other": self.other, "sort": self.sort, **changes}
        return {name: value for name, value in whole.items() if value}


def paired_cells(connection: duckdb.DuckDBPyConnection) -> list[list[str]]:
    """Return the cells of studies whose design makes pairs, as their runs list them; the latest run first."""
    rows = connection.execute(sql_query("paired_cells")).fetchall()
    return [cell for *cell, name in rows if (design := design_of(name)) is not None and design.analyses.pairs_by]


def pair_choice(connection: duckdb.DuckDBPyConnection, query: Mapping[str, str]) -> PairChoice | None:
    """Return the choice of pairs in an address, with defaults: the latest run's first model, the first two conditions.
    None if no study here makes pairs."""
    cells = paired_cells(connection)
    fitting = [cell for cell in cells if all(query.get(n, "") in ("", v) for n, v in zip(CELL, cell, strict=True))]
    if not cells:
        return None
    if not fitting:
        raise UsageError("There are no pairs of this study, source, variant and model.")
    cell = fitting[0]
    named = connection.execute(sql_query("condition_order"), {"study": cell[0]}).fetchall()
    conditions = [name for (name,) in named]
    design = design_of(design_of_study(connection, cell[0]))
    if design is None or len(conditions) < 2:
        raise UsageError(f"The study {cell[0]} has {len(conditions)} conditions, and a pair needs two.")
    reference, other = query.get("reference") or conditions[0], query.get("other") or conditions[1]
    if {reference, other} - set(conditions) or query.get("sort", "") not in SORTS:
        raise UsageError(f"The conditions of {cell[0]} are {', '.join(conditions)}.")
    return PairChoice(cells, cell, design.analyses.pairs_by, conditions, reference, other, query.get("sort", ""))


def pairs_of(connection: duckdb.DuckDBPyConnection, choice: PairChoice) -> duckdb.DuckDBPyRelation:
    """Return the pairs, unordered, one row each: the columns that they share, both trials, both token counts, the
    difference (other minus reference) and its `size`."""
    trials = connection.view("trials")
    is_of_cell = [ColumnExpression(n) == ConstantExpression(v) for n, v in zip(CELL, choice.cell, strict=True)]
    sides, shared = [], ("study_version", *choice.pairs_by)
    for side, condition in (("reference", choice.reference), ("other", choice.other)):
        is_of_side = ColumnExpression("condition") == ConstantExpression(condition)
        rows = trials.filter(reduce(and_, is_of_cell, is_of_side))
        own = [ColumnExpression(old).alias(f"{side}_{new}") for old, new in _OWN.items()]
        sides.append(rows.select(*(ColumnExpression(name) for name in shared), *own).set_alias(side))
    joined = sides[0].join(sides[1], ", ".join(f'"{name}"' for name in shared), how="inner")
    difference = ColumnExpression("other_tokens") - ColumnExpression("reference_tokens")
    kept = [ColumnExpression(name) for name in joined.columns]
    return joined.select(*kept, difference.alias("difference"), FunctionExpression("abs", difference).alias("size"))


_OWN = {"trial_id": "id", "tokens": "tokens", "outcome": "outcome"}


@dataclass(frozen=True)
class PairSteps:
    """Hold a pair, and the places of those before and after it; None if it is the first or the last."""

    row: dict[str, Any]
    before: str | None
    behind: str | None


def steps_of_pair(pairs: duckdb.DuckDBPyRelation, order: Order, place: str | None) -> PairSteps | None:
    """Return the pair at a place of the list (None: the first); None if there is none."""
    key = read_key(place) if place else None
    rows = rows_of(order.sorted(order.beyond(pairs, key, with_itself=True) if key else pairs).limit(2))
    if not rows:
        return None
    before = []
    if key:
        before = rows_of(order.sorted(order.beyond(pairs, key, is_backwards=True), is_backwards=True).limit(1))
    places = [order.key_of(row) for row in (*before, *rows)]
    return PairSteps(rows[0], places[0] if before else None, places[-1] if len(rows) > 1 else None)
