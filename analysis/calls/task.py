"""Define what an R process gets of a call, and what it answers. Nothing here is kept, and the database is not read: it
runs wherever R does.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.calls.in_worker import Parcel
from slant.collector.errors import RError
from slant.collector.system.files import contents, write_file
from slant.collector.system.operating_system import machine_name
from slant.collector.system.scratch import temporary_folder


@dataclass(frozen=True)
class Answer:
    """Hold what R gave: `value` as the bridge converts it, warnings and messages as "kind: text", versions, seconds.

    error: why there is no value, the sentence first; `has_died` if the process did. files: by argument, the contents of
    those that R wrote on another machine. machine, r_code: which machine answered, and with which of slant's R code
    (its hash).
    """

    value: Any = None
    messages: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: tuple[str, ...] = ()
    has_died: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)
    machine: str = ""
    r_code: str = ""

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """Return its data frames by name, with `tables`."""
        if isinstance(self.value, pl.DataFrame):
            return {"": self.value}
        named = dict(self.value or {})
        named |= named.pop("tables", None) or {}
        return {name: value for name, value in named.items() if isinstance(value, pl.DataFrame)}

    def raise_error(self) -> None:
        """Raise RError with R's message without a value."""
        if self.error:
            raise RError(*self.error)


@dataclass(frozen=True)
class Task:
    """Hold what R needs of a call: the function, its rows and arguments.

    more: arguments that change no number and depend on where R runs (files, cores), in the argument `nested`, if that
    is named. writes: arguments that name a file to write, with that file's name; its contents come back. reads:
    arguments that name a file to read, with its contents.
    """

    function: str
    rows: pl.DataFrame | None
    arguments: Mapping[str, Any]
    packages: tuple[str, ...] = ()
    nested: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    writes: Mapping[str, str] = field(default_factory=dict)
    reads: Mapping[str, bytes] = field(default_factory=dict)
    takes_all_cores: bool = False

    def given(self) -> dict[str, Any]:
        """Return the arguments as R is given them."""
        if self.nested:
            return {**self.arguments, self.nested: {**self.arguments.get(self.nested, {}), **self.more}}
        return {**self.arguments, **self.more}


@dataclass(frozen=True)
class CallGroup:
    """Hold calls for one R process, in order."""

    tasks: tuple[Task, ...]

    @property
    def packages(self) -> tuple[str, ...]:
        """Name what workers are forked with. A call that uses all cores has one worker, which loads what it needs
        itself: a forked one would come with brms, some 300 MB, in its parent."""
        return packages_of([task for task in self.tasks if not task.takes_all_cores])


def packages_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(package for task in tasks for package in task.packages))


def answer_group(group: CallGroup) -> list[Answer]:
    """Answer in an R process. RError if a package or a function is missing; an error of R is an answer, too."""
    from slant.analysis.bridge import r

    r.start()
    return [_answer(r, task) for task in group.tasks]


def answer_parcel(parcel: Parcel) -> bytes:
    """Answer in an R process of another executor's worker: the same, for what the caller pickled."""
    from slant.analysis.bridge import r

    r.start()
    tasks: tuple[Task, ...] = pickle.loads(parcel.content)
    answers = [_answer_in_folder(r, task, parcel.cores) for task in tasks]
    signed = [replace(answer, machine=machine_name(), r_code=r_code_hash()) for answer in answers]
    return pickle.dumps(signed, pickle.HIGHEST_PROTOCOL)


def _answer_in_folder(r: Any, task: Task, cores: int) -> Answer:
    """Answer, with files read and written in a temporary folder of this machine."""
    more = {**task.more, **({"cores": cores} if task.takes_all_cores else {})}
    if not task.reads and not task.writes:
        return _answer(r, replace(task, more=more))
    with temporary_folder("work") as folder:
        for argument, content in task.reads.items():
            more[argument] = str(folder / f"{argument}.given")
            write_file(folder / f"{argument}.given", content)
        written = {argument: folder / file for argument, file in task.writes.items()}
        more |= {argument: str(path) for argument, path in written.items()}
        answer = _answer(r, replace(task, more=more))
        files = {argument: contents(path, None) for argument, path in written.items() if path.is_file()}
        return replace(answer, files=files)


def _answer(r: Any, task: Task) -> Answer:
    r.require(task.packages)
    begun = time.monotonic()
    given = {name: value for name, value in task.given().items() if value is not None}
    try:
        value, conditions = r.call(task.function, *([] if task.rows is None else [task.rows]), **given)
    except RError as error:
        return Answer(error=(error.what, *error.details), seconds=time.monotonic() - begun)
    seconds = time.monotonic() - begun
    own = value if isinstance(value, Mapping) else {}
    heard = [frame for frame in (own.get("messages"), conditions) if frame is not None]
    said = [pair for frame in heard for pair in frame.select("kind", "text").iter_rows()]  # groups have their key, too
    messages = tuple(f"{kind}: {' '.join(text.split())}" for kind, text in said)
    versions = own.get("versions")
    if versions is None:
        versions, _ = r.call("versions_of", list(task.packages))
    return Answer(value, messages, dict(versions.iter_rows()), seconds)
