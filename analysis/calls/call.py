"""Define calls of our functions in R: each a function, its rows and arguments, and what its result is about.

`computed()` answers them in R worker processes, or on any `concurrent.futures.Executor`; results.py keeps what they
gave. A call needs nothing but this package and R on the machine that it reaches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.bridge.worker import Died, run_jobs
from slant.analysis.calls.executors import LeftOut, Lost, Workers, by_executor, worker_count
from slant.analysis.calls.task import Answer as Answer
from slant.analysis.calls.task import CallGroup, Task, answer_group
from slant.collector.keep.database import let_go
from slant.collector.stable_ids import stable_id
from slant.collector.system.files import contents, replace_on_disk

SAY = "say"
"""Name the argument with a file in which R reports what it is doing; the file is on this machine."""
_GROUP_S = 0.5  # calls that take less go to a worker together, to save crossings
_GROUP = 32
_Answering = Callable[[Sequence[Sequence[Task]]], Generator[tuple[int, list[Answer] | Died], None, None]]


@dataclass(frozen=True)
class Call:
    """Define one call of a slant function in R.

    function, rows, arguments: what R is given; rows are its first argument, the others go by name (None: left out).
    about: what the result is about (study, model, test …). In the database a new result replaces the earlier one that
    is about the same. tables: the database table for each data frame that R returns, by its name; "" is the frame of a
    function that returns only one, "about" a row of `about` and `columns`. columns: further columns of the first of
    these tables, which change no number (such as a label). fill: values of columns that R's frames lack in any of the
    tables. shaped: gives the frames as they are to be kept, if that is not as R returned them. failed: the table that
    also has a row for a failed call. warnings: what is doubtful about the rows, besides R's own warnings. packages: the
    R packages that it needs. cores: "all" if it uses them all by itself (its argument `cores`). keeps: arguments that
    name a file next to the database, with the ending of that file's name. says: the name under which it reports, in a
    file (its argument `say`), what it is doing. asides: arguments that change no number. writes, reads: arguments that
    name a file which it writes or reads; they come and go with the call, wherever it runs. nested: the argument, a
    list, that holds the arguments of `cores`, `keeps`, `says`, `asides`, `writes` and `reads`, if the function does not
    take them itself.
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
        """Return the same hash for the same rows in the same order, with the same warnings, on every machine."""
        return self.hash_of_data or hash_of_rows(self.rows, self.warnings)

    @cached_property
    def place(self) -> str:
        """Return the subject of the call as JSON text."""
        return json.dumps(dict(self.about), ensure_ascii=False, sort_keys=True, default=str)

    @cached_property
    def id(self) -> str:
        """Return a hash of all that decides its numbers, except the versions of R and its packages, which only R
        knows."""
        arguments = {
            name: hash_of_rows(value) if isinstance(value, pl.DataFrame) else value
            for name, value in self.arguments.items()
        }
        return stable_id("call", self.function, self.place, self.data_hash, arguments, r_code_hash())


def computed(calls: Sequence[Call], workers: Workers = None) -> Generator[tuple[int, Answer], None, None]:
    """Yield (number of the call, its answer) as calls end: short ones in parallel and in groups. Those that use all
    cores come last, one after another here, in parallel on the workers of an executor.

    `workers` R processes (default: the cores), or the caller's executor: it is only given work and never shut down;
    wherever its workers are, they need R and this package. Raise RError if a package is missing, no worker can start, a
    worker has other versions, or the executor breaks. Leaving early ends what was begun.
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
    """Yield groups of calls by their numbers; each stage begins when the one before has ended. `took`: the seconds of
    those that have ended.
    """
    together = [number for number, call in enumerate(calls) if call.cores == "one"]
    singles = [[number] for number, call in enumerate(calls) if call.cores == "all"]
    count = worker_count(workers)
    first, rest = together[: 2 * count], together[2 * count :]
    if first:
        yield [[number] for number in first]
    groups = _groups(rest, took, count)
    if isinstance(workers, Executor):  # on other machines, a call that uses all cores of one delays no other
        yield [*singles, *groups]
    else:
        yield groups
        yield from ([single] for single in singles)


def answer_of(call: Call, workers: Workers = None) -> Answer:
    """Return the answer of one call without keeping it; RError if R can't, or its process died."""
    with closing(computed([call], workers)) as answers:
        ((_, answer),) = answers
    answer.raise_error()
    return answer


def answered(call: Call, workers: Workers = None) -> Any:
    """Return the value of `answer_of`."""
    return answer_of(call, workers).value


def _task(call: Call, workers: Workers) -> Task:
    """Return the task with paths of this machine if R runs here; else with the names and contents of files."""
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
    """Put files that came back into place, each complete or not at all."""
    not_kept = []
    for name, content in answer.files.items():
        path = call.writes[name]
        try:
            replace_on_disk(path, content)
        except OSError as error:
            not_kept.append(f"message: {path.name} could not be stored in {path.parent}: {error.strerror}")
    return replace(answer, files={}, messages=(*answer.messages, *not_kept)) if answer.files else answer


def _groups(numbers: Sequence[int], took: Sequence[float], count: int) -> list[list[int]]:
    """Return groups that get smaller, so that `count` workers end together even if the last calls take longest."""
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
    """Run groups. If a process dies, its calls are run again, each alone: that shows which is to blame."""
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
    for number in lost:  # nothing else is running, so that no other call can be to blame
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


def hash_of_rows(rows: pl.DataFrame | None, warnings: Sequence[str] = ()) -> str:
    """Hash the rows in their order, and what is doubtful about them."""
    text = "\n".join([*([] if rows is None else [rows.write_csv()]), *warnings])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
