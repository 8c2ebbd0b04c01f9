"""Show the progress of a long computation in R on stderr: one line that changes, or a line now and then where it is no
terminal.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from slant.analysis.stages import Stages
from slant.collector.system.files import contents, remove
from slant.collector.terminal import printable, say

_SHOWN_AFTER_S = 2.0
_LINE_EVERY_S = 30.0  # where stderr is a file or a pipe
_MB = 1_000_000


class FitProgress:
    """Show a line on stderr that counts fits, once the work has taken two seconds; in a file or a pipe, one every half
    minute of the command.

    `watch(path, name)` names a file in which the long fit of this name writes what it is doing; the line shows it, and
    ends with it. `note()` says at once, on any stderr, what must be known before a long wait.
    """

    def __init__(self, work: str = "Fitting in R", last_line_s: float | None = None) -> None:
        self._start_s = time.monotonic()
        self.last_line_s = self._start_s if last_line_s is None else last_line_s
        self._work = self._text = work
        self._first: tuple[float, int] | None = None
        self._status_files: dict[Path, str] = {}
        self._ended = threading.Event()
        shown = self._show if sys.stderr.isatty() else self._say_now_and_then
        self._thread = threading.Thread(target=shown, daemon=True)

    def __enter__(self) -> FitProgress:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        for file in self._status_files:
            remove(file)

    def __call__(self, done: int, number: int) -> None:
        """Count, with the time that is left, at the pace of this command."""
        now_s = time.monotonic()
        self._first = self._first or (now_s, done)
        elapsed_s, n_made = now_s - self._first[0], done - self._first[1]
        time_left = f", about {duration(elapsed_s / n_made * (number - done))} left" if n_made and number > done else ""
        self._text = f"{self._work}: {done} of {number}{time_left}"

    def watch(self, file: Path, name: str = "") -> None:
        self._status_files[file] = name

    def note(self, text: str) -> None:
        say(text)

    def _show(self) -> None:
        if self._ended.wait(_SHOWN_AFTER_S):
            return
        from rich.console import Console

        with Console(stderr=True).status(self._text, refresh_per_second=4) as status:
            while not self._ended.wait(0.5):
                status.update(f"{printable(self._current_work())} ({time.monotonic() - self._start_s:.0f} s)")

    def _say_now_and_then(self) -> None:
        while not self._ended.wait(0.5):
            if time.monotonic() - self.last_line_s >= _LINE_EVERY_S:
                self.last_line_s = time.monotonic()
                say(f"{self._current_work()} ({time.monotonic() - self._start_s:.0f} s)")

    def _current_work(self) -> str:
        """Return the last status that a fit wrote; fits that take the whole machine are made one after another."""
        try:
            files = [file for file in self._status_files if file.exists()]
            last = max(files, key=lambda file: file.stat().st_mtime_ns, default=None)
            status = contents(last).decode("utf-8").strip() if last else ""
            return ": ".join(filter(None, (self._status_files[last], status))) if last and status else self._text
        except (OSError, UnicodeDecodeError):
            return self._text


def duration(seconds: float) -> str:
    """Round a duration for people: 40 s, 12 min, 3.5 h."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class TerminalStages(Stages):
    """Show the stages of a long command, one line each, with counts if possible."""

    def __init__(self) -> None:
        self._last_line_s = time.monotonic()  # of all stages: many take less than the time between two lines

    @contextmanager
    def stage(self, name: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
        with FitProgress(f"{name} ({unit})" if unit else name, self._last_line_s) as progress:
            if unit == "MB":
                yield lambda done, of_all: progress(done // _MB, of_all // _MB)
            else:
                yield progress
        self._last_line_s = progress.last_line_s
