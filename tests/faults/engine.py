"""One fault done to one real process at a moment drawn by a seed, and what must hold afterwards.

- It ends, and says in a sentence what can't happen; no traceback.
- No file that stood there whole is half of one now.
- The same command again (after `collect load`, where the database was damaged) leaves what an undisturbed run leaves:
  nothing that was acknowledged is lost, nothing is there twice.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from aiohttp import web
from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.errors import SlantError
from tests.faults.faults import ANY, BEFORE, FAULTS, Fault, Surroundings
from tests.faults.processes import ANALYZE, PROCESSES, Process, Rows, acknowledged
from tests.support.local_server import LocalServer, answers, completion

LONGEST_S = 120.0


@dataclass(frozen=True)
class Case:
    """One line of the table: which fault is done to which process, when; the seed draws the rest."""

    process: Process
    fault: Fault
    moment: str
    seed: int

    def __str__(self) -> str:
        return f"{self.process.name}, {self.fault.name}, {self.moment}, seed {self.seed}"


@dataclass(frozen=True)
class Undisturbed:
    """The folder before, how long the process takes, by how much the folder grows, and what is there in the end."""

    before: Path
    seconds: float
    growth: int
    result: Rows


def cases(number: int, seed: int) -> Iterator[Case]:
    """Yield cases: first each kind once, then each in turn, those of more weight more often."""
    by_name = {process.name: process for process in PROCESSES}
    kinds = [
        (by_name[name], fault, moment)
        for fault in FAULTS
        if not fault.lacks
        for name in fault.processes
        for moment in fault.moments
        for _ in range(fault.weight)
    ]
    draw = random.Random(seed)
    once = [kind for n, kind in enumerate(kinds) if kind not in kinds[:n]]
    order = draw.sample(once, len(once))
    for n in range(number):
        if not order:
            order = draw.sample(kinds, len(kinds))
        yield Case(*order.pop(), seed=seed * 100_000 + n)


async def _leisurely(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(random.uniform(0.005, 0.03))
    is_game = any("Post: " in message["content"] for message in body["messages"])
    return web.json_response(completion("Answer: Ato")) if is_game else await answers(request, body)


class Engine:
    """Makes each process's folder once, and does faults to copies of it. A context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = LocalServer(_leisurely)
        self._known: dict[str, Undisturbed] = {}

    def __enter__(self) -> Engine:
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.__exit__(*error)

    def words(self, process: Process, folder: Path) -> list[str]:
        return process.words.format(here=folder, server=self.server.base_url).split()

    def typed(self, process: Process, folder: Path) -> list[str]:
        return [sys.executable, "-m", process.module, *self.words(process, folder)]

    def undisturbed(self, process: Process) -> Undisturbed:
        if process.name not in self._known:
            before, after = (self.folder / f"{process.name}.{which}" for which in ("before", "after"))
            before.mkdir()
            process.prepare(before)
            shutil.copytree(before, after)
            begun, size = time.monotonic(), _size(after)
            done = subprocess.run(self.typed(process, after), cwd=after, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            taken = time.monotonic() - begun
            self._known[process.name] = Undisturbed(before, taken, _size(after) - size, self._result(process, after))
            shutil.rmtree(after)
        return self._known[process.name]

    def suffer(self, case: Case) -> list[str]:
        """What does not hold after it; empty where all does."""
        usual, draw = self.undisturbed(case.process), random.Random(case.seed)
        folder = self.folder / "struck"
        shutil.copytree(usual.before, folder)
        here = Surroundings(folder)
        try:
            wrong, kept = self._struck(case, usual, here, draw)
            return wrong + self._again(case, usual, folder, kept)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _struck(
        self, case: Case, usual: Undisturbed, here: Surroundings, draw: random.Random
    ) -> tuple[list[str], set[str]]:
        whole = {name: (here.folder / name).read_bytes() for name in case.process.whole}
        with case.fault.around(here, draw, usual.growth):
            typed = [*here.prefix, *self.typed(case.process, here.folder)]
            if case.moment == BEFORE:
                self._strike_before(case, here, draw)
            variables = {**os.environ, **here.environment}
            process = subprocess.Popen(
                typed, cwd=here.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, env={name: text for name, text in variables.items() if text is not None},
            )  # fmt: skip
            if case.moment != BEFORE:
                _wait(process, case, here.folder, usual, draw)
                case.fault.strike(process, here.folder, draw, typed)
            try:
                _, said = process.communicate(timeout=LONGEST_S)
            except subprocess.TimeoutExpired:
                process.kill()
                said = process.communicate()[1]
                return [f"it did not end in {LONGEST_S:g} s: {said[-300:]}"], set()
            kept = set() if case.fault.damages else acknowledged(here.folder)
        return [*_said(case, process.returncode, said), *_halves(case, here.folder, whole, usual)], kept

    def _strike_before(self, case: Case, here: Surroundings, draw: random.Random) -> None:
        """Damage between two runs: there must have been one."""
        if case.fault.damages and case.process.asks:
            self._type(case.process, here.folder)
        case.fault.strike(None, here.folder, draw, [])  # type: ignore[arg-type]

    def _again(self, case: Case, usual: Undisturbed, folder: Path, kept: set[str]) -> list[str]:
        """The same command, undisturbed; then what is there."""
        if case.process.makes and (folder / case.process.makes).is_dir():
            return []  # which is whole (_halves), and is not made a second time
        said = ""
        if case.fault.damages:
            self._call(collect, ["load", "--db", str(folder / "a.duckdb")])
        for _ in range(2 if case.fault.damages else 1):
            code, said = self._type(case.process, folder)
            if code == 0:
                break
        else:
            return [f"the same command again ends with {code}: {said[-600:]}"]
        try:
            result = self._result(case.process, folder)
        except SlantError as error:
            if not case.fault.damages or "--rebuild" not in str(error):
                return [f"afterwards: {error}"]
            self._call(collect, ["load", "--rebuild", "--db", str(folder / "a.duckdb")])
            result = self._result(case.process, folder)
        wrong = []
        if result != usual.result:
            lost, added = set(usual.result) - set(result), set(result) - set(usual.result)
            wrong.append(
                f"{len(lost)} rows of an undisturbed run are missing, {len(added)} are others: {list(added)[:2]}"
            )
        if gone := kept - {row[0] for row in result} if case.process.asks else set():
            wrong.append(f"{len(gone)} acknowledged answers are gone")
        return wrong

    def _type(self, process: Process, folder: Path) -> tuple[int, str]:
        return self._call(analyze if process.module == ANALYZE else collect, self.words(process, folder))

    def _call(self, program: Any, words: list[str]) -> tuple[int, str]:
        done = CliRunner().invoke(program, words)
        is_crash = done.exception is not None and not isinstance(done.exception, SystemExit)
        return done.exit_code, done.stderr + (repr(done.exception) if is_crash else "")

    def _result(self, process: Process, folder: Path) -> Rows:
        return process.result(folder)


def _wait(process: Any, case: Case, folder: Path, usual: Undisturbed, draw: random.Random) -> None:
    """Until the moment; or until it has ended."""
    if case.moment == ANY:
        time.sleep(draw.uniform(0, usual.seconds))
        return
    before, until = _state(folder), time.monotonic() + LONGEST_S
    while process.poll() is None and _state(folder) == before and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(min(draw.expovariate(5), 1.0))


def _said(case: Case, code: int, said: str) -> list[str]:
    wrong = []
    if "Traceback" in said:
        wrong.append(f"a traceback: {said[-1200:]}")
    if code < 0 and not case.fault.ends:
        wrong.append(f"it died of signal {-code}: {said[-300:]}")
    if code not in (0, 1, 2, 3, 130, 141, 143, 129) and code > 0:
        wrong.append(f"exit code {code}: {said[-300:]}")
    if code > 0 and not case.fault.ends and "stdout" not in case.fault.name and len(said.strip()) < 10:
        wrong.append(f"exit code {code} without a sentence")
    return wrong


def _halves(case: Case, folder: Path, whole: dict[str, bytes], usual: Undisturbed) -> list[str]:
    """Files that were whole, and are neither what they were nor what an undisturbed run makes of them."""
    wrong = [f"{name} is gone" for name in whole if not (folder / name).exists()]
    made = folder / case.process.makes
    if case.process.makes and made.exists() and (made.is_dir() or made.read_bytes() != whole.get(case.process.makes)):
        try:
            is_whole = case.process.result(folder) == usual.result
        except (BadZipFile, FileNotFoundError):
            is_whole = False
        if not is_whole:
            wrong.append(f"{made.name} is half written: {_size(made) if made.is_dir() else made.stat().st_size} bytes")
    return wrong


def _state(folder: Path) -> list[tuple[str, int, int]]:
    state = []
    for base, _, files in os.walk(folder):
        for name in files:
            try:
                about = os.stat(os.path.join(base, name))
            except OSError:
                continue
            state.append((name, about.st_size, about.st_mtime_ns))
    return sorted(state)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
