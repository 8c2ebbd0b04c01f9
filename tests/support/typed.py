"""Type an answer to the first question that a command asks on a real terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from pathlib import Path


def typed(words: list[str], answer: str, folder: Path) -> tuple[int, str]:
    """Return the exit code of a command to whose question `answer` was typed, and what the terminal showed."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, answered, until = "", False, time.monotonic() + 60
    while time.monotonic() < until:
        try:
            shown += os.read(mine, 4096).decode("utf-8", "replace")
        except OSError:  # the other side is closed: the command has ended
            break
        if "[y/N]" in shown and not answered:
            answered = bool(os.write(mine, f"{answer}\n".encode()))
    os.close(mine)
    return process.wait(10), shown
