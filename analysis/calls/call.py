"""Calls of our functions in R: each a function, its rows and arguments, and what its result is about.

`computed()` answers them in R worker processes, or on any `concurrent.futures.Executor`; results.py keeps what they
gave. A call needs nothing but this package and R on the machine that it reaches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from slant.analysis.bridge.r_code import r_code_hash
from slant.analysis.bridge.worker import Died, run_jobs
from slant.analysis.calls.executors import LeftOut, Lost, Workers, by_executor, worker_count
from slant.analysis.calls.task import Answer as Answer
from slant.analysis.calls.task import CallGroup, Task, answer_group
from slant.analysis.rows.data_hash import hash_of_rows
from slant.collector.keep.database import let_go
from slant.collector.stable_ids import stable_id
from slant.collector.system.files import contents, moved, write_file

SAY = "say"
"""The argument that names a file in which R tells what it is doing; it lies on this machine."""
_GROUP_S = 0.5  # calls that take less go to a worker together, so that short ones don't pay for as many crossings
_GROUP = 32
_Answering = Callable[[Sequence[Sequence[Task]]], Generator[tuple[int, list[Answer] | Died], None, None]]


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
    warnings: what is doubtful about the rows; next to R's own warnings.
    packages: those of R that it needs. cores: "all" where it spreads over them by itself (its argument `cores`).
    keeps: arguments that name a file next to the database, with the ending of that file's name. says: the name under
    which it tells, in a file (its argument `say`), what it is doing. asides: arguments that change no number.
    writes, reads: arguments that name a file which it writes or reads; they come and go with the call, wherever it is
    answered.
    nested: the argument, a list, that holds the arguments of `cores`, `keeps`, `says`, `asides`, `writes` and `reads`,
    where it isn't the function itself that takes them.
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
    writes: Mapping[str, Path] = field(default_factory=dict)
    reads: Mapping[str, Path] = field(default_factory=dict)
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


def _hashable(value: Any) -> Any:
    return hash_of_rows(value) if isinstance(value, pl.DataFrame) else value


def computed(calls: Sequence[Call], workers: Workers = None) -> Generator[tuple[int, Answer], None, None]:
    """Yield (number of the call, its answer) as calls end: short ones next to each other and in groups. Those that take
    all cores come last, one after another here, next to each other on the workers of an executor.

    `workers` R processes (default: the cores), or an executor of the caller's: it is only given work and never shut
    down; wherever its workers are, they need R and this package. Raises RError if a package is missing, no worker
    can start, a worker has other versions, or the executor breaks. Leaving early ends what was begun.
    """
    tasks = [_task(call, workers) for call in calls]
    if tasks:
        let_go()  # others may write while R computes
    took: list[float] = []
    answer = _by_workers(workers)
    for groups in _stages(calls, workers, took):
        with closing(_run(tasks, groups, answer)) as answers:
            for number, of_call in answers:
                took.append(of_call.seconds)
                yield number, _with_files(calls[number], of_call)


def _stages(calls: Sequence[Call], workers: Workers, took: Sequence[float]) -> Iterator[list[list[int]]]:
    """Group of calls, by their numbers; each stage begins when the one before has ended. `took`: the seconds of those
    that have ended.
    """
    together = [number for number, call in enumerate(calls) if call.cores == "one"]
    singles = [[number] for number, call in enumerate(calls) if call.cores == "all"]
    count = worker_count(workers)
    first, rest = together[: 2 * count], together[2 * count :]
    if first:
        yield [[number] for number in first]
    groups = _groups(rest, took, count)
    if isinstance(workers, Executor):  # on other machines, what takes all cores of one keeps nobody waiting
        yield [*singles, *groups]
    else:
        yield groups
        yield from ([single] for single in singles)


def answer_of(call: Call, workers: Workers = None) -> Answer:
    """Return the answer of one call that is kept nowhere. RError if R can't, or its process died."""
    with closing(computed([call], workers)) as answers:
        ((_, answer),) = answers
    answer.raise_error()
    return answer


def answered(call: Call, workers: Workers = None) -> Any:
    """Return the value of `answer_of`."""
    return answer_of(call, workers).value


def _task(call: Call, workers: Workers) -> Task:
    """With paths of this machine, where R runs on it; else with the names of files, and what is in them."""
    takes_all = call.cores == "all"
    names = ("rows", "arguments", "packages", "nested")
    same: dict[str, Any] = {name: getattr(call, name) for name in names}
    if isinstance(workers, Executor):
        more = {name: value for name, value in call.asides.items() if name != SAY}
        writes = {name: path.name for name, path in call.writes.items()}
        reads = {name: contents(path, None) for name, path in call.reads.items()}
        return Task(call.function, **same, more=more, writes=writes, reads=reads, takes_all_cores=takes_all)
    files = {name: str(path) for name, path in {**call.writes, **call.reads}.items()}
    cores = {"cores": worker_count(workers)} if takes_all else {}
    return Task(call.function, **same, more={**call.asides, **files, **cores}, takes_all_cores=takes_all)


def _with_files(call: Call, answer: Answer) -> Answer:
    """Put files that came back where they belong, each whole or not at all."""
    said = []
    for name, content in answer.files.items():
        path = call.writes[name]
        part = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            write_file(part, content)
            moved(part, path)
        except OSError as error:
            said.append(f"message: {path.name} could not be kept in {path.parent}: {error.strerror}")
    return replace(answer, files={}, messages=(*answer.messages, *said)) if answer.files else answer


def _groups(numbers: Sequence[int], took: Sequence[float], count: int) -> list[list[int]]:
    """Return the later, the smaller, so that `count` workers end together also where the last calls take longest."""
    most = min(_GROUP, int(_GROUP_S / max(sum(took) / len(took), 1e-4))) if took else 1
    groups: list[list[int]] = []
    at = 0
    while at < len(numbers):
        size = max(1, min(most, (len(numbers) - at) // (2 * count)))
        groups.append(list(numbers[at : at + size]))
        at += size
    return groups


def _run(
    tasks: Sequence[Task], groups: Sequence[list[int]], answer: _Answering
) -> Generator[tuple[int, Answer], None, None]:
    """Where a process dies, the calls that it had are run again, each alone: that shows which of them is to blame."""
    again: list[int] = []
    lost: list[int] = []
    if not groups:
        return
    with closing(answer([[tasks[number] for number in group] for group in groups])) as results:
        for place, answers in results:
            if isinstance(answers, Lost):
                lost += groups[place]
            elif isinstance(answers, Died) and len(groups[place]) > 1:
                again += groups[place]
            elif isinstance(answers, Died):
                yield groups[place][0], Answer(error=(answers.reason,), has_died=True)
            else:
                yield from zip(groups[place], answers, strict=True)
    if again:
        yield from _run(tasks, [[number] for number in again], answer)
    for number in lost:  # nothing else is under way, so that no other can be to blame
        with closing(answer([[tasks[number]]])) as results:
            ((_, answers),) = results
        if isinstance(answers, Died):
            alone = ", also when it ran alone." if isinstance(answers, Lost) else ""
            yield number, Answer(error=(f"{answers.reason}{alone}",), has_died=True)
        else:
            yield number, answers[0]


def _by_workers(workers: Workers) -> _Answering:
    if isinstance(workers, Executor):
        return partial(by_executor, executor=workers, left_out=LeftOut(workers))

    def here(groups: Sequence[Sequence[Task]]) -> Generator[tuple[int, list[Answer] | Died], None, None]:
        return run_jobs(answer_group, [CallGroup(tuple(group)) for group in groups], workers)

    return here
