"""Calls of our functions in R: each a function, its rows and arguments, and what its result is about.

`computed()` answers them in R worker processes, or on any `concurrent.futures.Executor`; results.py keeps what they
gave. A call needs nothing but this package and R on the machine that it reaches.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import polars as pl

from slant.analysis.bridge.r_code import r_code_hash
from slant.analysis.bridge.worker import Died, run_jobs
from slant.analysis.rows.data_hash import hash_of_rows
from slant.collector.errors import RError
from slant.collector.keep.database import let_go
from slant.collector.records import stable_id
from slant.collector.system.operating_system import core_count

_GROUP_S = 0.5  # calls that take less go to a worker together, so that short ones don't pay for as many crossings
_GROUP = 32
_HEED_CTRL_C_S = 0.2  # see analysis/bridge/worker.py


@dataclass(frozen=True)
class Call:
    """One call of one of our functions in R.

    function, rows, arguments: what R is given; rows are its first argument, the others go by name (None: left out).
    about: what the result is of (study, model, test …). In the database a new result takes the place of the earlier one
    that is about the same.
    tables: which table of the database keeps which data frame that R returns, by its name; "" is the frame of a
    function that returns one alone, "about" a row of `about` and `columns`.
    columns: further columns of the first of these tables, which change no number (a label, say).
    fill: values of columns that R's frames lack in any of the tables.
    shaped: gives the frames as they are to be kept, where that is not as R returned them.
    failed: the table that has a row of a call that failed, too.
    warnings: what is doubtful about the rows; beside R's own warnings.
    packages: those of R that it needs. cores: "all" where it spreads over them by itself (its argument `cores`).
    keeps: arguments that name a file beside the database, with the ending of that file's name. says: the name under
    which it tells, in a file (its argument `say`), what it is doing. asides: arguments that change no number.
    nested: the argument, a list, that holds the arguments of `cores`, `keeps`, `says` and `asides`, where it isn't the
    function itself that takes them.
    """

    function: str
    rows: pl.DataFrame | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    fill: Mapping[str, Any] = field(default_factory=dict)
    shaped: Callable[[Answer], Mapping[str, pl.DataFrame]] | None = None
    failed: str = ""
    warnings: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    cores: Literal["one", "all"] = "one"
    keeps: Mapping[str, str] = field(default_factory=dict)
    says: str = ""
    asides: Mapping[str, Any] = field(default_factory=dict)
    nested: str = ""
    hash_of_data: str | None = None

    @cached_property
    def data_hash(self) -> str:
        """The same for the same rows in the same order, with the same warnings, on every machine."""
        return self.hash_of_data or hash_of_rows(self.rows, self.warnings)

    @cached_property
    def place(self) -> str:
        """What it is about, as text."""
        return json.dumps(dict(self.about), ensure_ascii=False, sort_keys=True, default=str)

    @cached_property
    def id(self) -> str:
        """Of all that decides its numbers, but for the versions of R and its packages, which only R can tell."""
        arguments = {name: _hashable(value) for name, value in self.arguments.items()}
        return stable_id("call", self.function, self.place, self.data_hash, arguments, r_code_hash())

    def given(self, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The arguments as R is given them, `more` (files, cores) among them."""
        aside = {**self.asides, **(more or {})}
        if self.nested:
            return {**self.arguments, self.nested: {**self.arguments.get(self.nested, {}), **aside}}
        return {**self.arguments, **aside}


def _hashable(value: Any) -> Any:
    return hash_of_rows(value) if isinstance(value, pl.DataFrame) else value


@dataclass(frozen=True)
class Answer:
    """What R gave: `value` as the bridge converts it, warnings and messages as "kind: text", versions, seconds.

    error: why there is no value, the sentence first; `has_died` where the process did.
    """

    value: Any = None
    messages: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: tuple[str, ...] = ()
    has_died: bool = False

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """Its data frames by name, those of `tables` among them."""
        if isinstance(self.value, pl.DataFrame):
            return {"": self.value}
        named = dict(self.value or {})
        named |= named.pop("tables", None) or {}
        return {name: value for name, value in named.items() if isinstance(value, pl.DataFrame)}

    def raise_error(self) -> None:
        """RError with what R said, where there is no value."""
        if self.error:
            raise RError(*self.error)


@dataclass(frozen=True)
class _Task:
    """What a worker needs of a call."""

    function: str
    rows: pl.DataFrame | None
    arguments: Mapping[str, Any]
    packages: tuple[str, ...]
    cores: Literal["one", "all"] = "one"


@dataclass(frozen=True)
class CallGroup:
    """Calls that one worker answers one after another."""

    tasks: tuple[_Task, ...]

    @property
    def packages(self) -> tuple[str, ...]:
        """What workers are forked with. A call that takes all cores has one worker, which loads what it needs itself:
        what it is forked from would hold brms, some 300 MB, beside it."""
        return tuple(dict.fromkeys(name for task in self.tasks if task.cores == "one" for name in task.packages))


def answer_group(group: CallGroup) -> list[Answer]:
    """Runs in a worker. RError where a package or a function is missing; what R refuses is an answer with an error."""
    from slant.analysis.bridge import r

    r.start()
    return [_answer(r, task) for task in group.tasks]


def _answer(r: Any, task: _Task) -> Answer:
    r.require(task.packages)
    begun = time.monotonic()
    given = {name: value for name, value in task.arguments.items() if value is not None}
    try:
        value, conditions = r.call(task.function, *([] if task.rows is None else [task.rows]), **given)
    except RError as error:
        return Answer(error=(error.what, *error.details), seconds=time.monotonic() - begun)
    seconds = time.monotonic() - begun
    own = value if isinstance(value, Mapping) else {}
    heard = [frame for frame in (own.get("messages"), conditions) if frame is not None]
    messages = tuple(f"{kind}: {' '.join(text.split())}" for frame in heard for kind, text in frame.iter_rows())
    versions = own.get("versions")
    if versions is None:
        versions, _ = r.call("versions_of", list(task.packages))
    return Answer(value, messages, dict(versions.iter_rows()), seconds)


def computed(
    calls: Sequence[Call],
    workers: int | None = None,
    executor: Executor | None = None,
    more: Mapping[int, Mapping[str, Any]] | None = None,
) -> Generator[tuple[int, Answer], None, None]:
    """Yields (number of the call, its answer) as calls end: short ones beside each other and in groups, then, one after
    another, those that take all cores. `more` are further arguments of some calls, by their numbers.

    `workers` R processes (default: the cores), or an executor of the caller's: it is only given work and never shut
    down, and its processes need R and this package; threads of this process don't do. Raises RError where a package is
    missing, no worker can start, or the executor itself breaks. Leaving early ends what was begun.
    """
    tasks = [
        _Task(call.function, call.rows, call.given((more or {}).get(number)), call.packages, call.cores)
        for number, call in enumerate(calls)
    ]
    if tasks:
        let_go()  # others may write while R computes
    count = workers or core_count()
    together = [number for number, call in enumerate(calls) if call.cores == "one"]
    took = []
    with closing(_run(tasks, [[number] for number in together[: 2 * count]], workers, executor)) as first:
        for number, answer in first:
            took.append(answer.seconds)
            yield number, answer
    rest = together[2 * count :]
    size = _group_size(took, len(rest), count)
    yield from _run(tasks, [rest[at : at + size] for at in range(0, len(rest), size)], workers, executor)
    for number, call in enumerate(calls):
        if call.cores == "all":
            yield from _run(tasks, [[number]], 1, executor)


def answered(call: Call, executor: Executor | None = None) -> Any:
    """The value of one call that is kept nowhere. RError where R can't, or its process died."""
    with closing(computed([call], 1, executor)) as answers:
        ((_, answer),) = answers
    answer.raise_error()
    return answer.value


def _group_size(took: Sequence[float], n: int, count: int) -> int:
    """Every worker has several groups, so that they end together."""
    if not took:
        return 1
    mean = max(sum(took) / len(took), 1e-4)
    return max(1, min(_GROUP, int(_GROUP_S / mean), n // (4 * count)))


def _run(
    tasks: Sequence[_Task], groups: list[list[int]], workers: int | None, executor: Executor | None
) -> Generator[tuple[int, Answer], None, None]:
    jobs = [CallGroup(tuple(tasks[number] for number in group)) for group in groups]
    alone: list[int] = []
    with closing(_answers(jobs, workers, executor)) as results:
        for place, answers in results:
            if isinstance(answers, Died) and len(groups[place]) > 1:
                alone += groups[place]  # one of them killed the process; alone, it shows which
            elif isinstance(answers, Died):
                yield groups[place][0], Answer(error=(answers.reason,), has_died=True)
            else:
                yield from zip(groups[place], answers, strict=True)
    if alone:
        yield from _run(tasks, [[number] for number in alone], workers, executor)


def _answers(
    jobs: Sequence[CallGroup], workers: int | None, executor: Executor | None
) -> Generator[tuple[int, list[Answer] | Died], None, None]:
    if executor is None:
        yield from run_jobs(answer_group, jobs, workers)
        return
    futures: dict[Future[Any], int] = {}
    try:
        for number, job in enumerate(jobs):
            futures[executor.submit(answer_group, job)] = number
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _HEED_CTRL_C_S, FIRST_COMPLETED)
            for future in sorted(done, key=lambda ended: futures[ended]):
                yield futures[future], future.result()
    except BrokenExecutor as error:
        raise RError(
            "The executor that was to call R has broken: one of its processes ended.",
            str(error),
            "What had ended is kept: the same call goes on from there.",
        ) from error
    finally:
        for future in futures:
            future.cancel()
