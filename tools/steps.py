"""How set-up, demo and tests speak: a line a step with its seconds, and errors that say what to type next."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


class Step:
    """`with Step("setup: making .venv"):` prints that line at once, and how many seconds it took."""

    def __init__(self, text: str) -> None:
        self.text = text
        # A line that is wider than the terminal can't be written over.
        self.counts = sys.stderr.isatty() and len(text) + 10 < shutil.get_terminal_size().columns
        self.ended = threading.Event()
        self.begun = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def __enter__(self) -> Step:
        sys.stderr.write(self.text)
        sys.stderr.flush()
        if self.counts:
            threading.Thread(target=self._count, daemon=True).start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.ended.set()
        start = f"\r{self.text}" if self.counts else ""
        sys.stderr.write(f"{start}: {self.seconds:.0f} s{' (failed)' if kind else ''}\n")
        sys.stderr.flush()

    def _count(self) -> None:
        while not self.ended.wait(1):
            sys.stderr.write(f"\r{self.text} … {self.seconds:.0f} s ")
            sys.stderr.flush()


def stop(what: str, *details: str) -> NoReturn:
    """Ends the program with status 1 and a sentence; `details`: what was found, what to type next."""
    sys.stderr.write("\n  ".join([f"Error: {what}", *details]) + "\n")
    raise SystemExit(1)


def run(
    command: Sequence[object],
    log: Path,
    limit_s: float | None = None,
    environment: dict[str, str] | None = None,
    folder: Path | None = None,
) -> int:
    """The exit status of a command that asks nothing; what it prints goes to the end of `log`. 124: it took too long.

    It is ended together with what it started, also where this program is interrupted. `environment`: more variables.
    `folder`: where it runs (default: here).
    """
    with log.open("ab") as file:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=folder,
            start_new_session=True,
        )
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return 124
        finally:
            if process.poll() is None:
                end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all that it started: first in order, after three seconds by force."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(3)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            pass
        return


def last_lines(log: Path, n: int = 20) -> list[str]:
    """The end of what was printed, for an error message."""
    return log.read_text("utf-8", "replace").splitlines()[-n:]


def say(text: str) -> None:
    """A line of set-up's, to stderr."""
    sys.stderr.write(f"setup: {text}\n")
    sys.stderr.flush()
