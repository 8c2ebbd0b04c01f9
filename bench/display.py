"""What the progress display costs: the same number of answers over the same time, and nothing else in the process.

    python -m bench.display ANSWERS PER_SECOND

Draws on a pseudo-terminal of its own. Prints cpu_s, and bare_cpu_s of the same loop without a display.
"""

from __future__ import annotations

import json
import os
import pty
import sys
import threading
import time

import click

from slant.collector import Watcher
from slant.collector.ask.runner import Lane
from slant.collector.progress.bar import ProgressWatcher
from slant.collector.providers import provider_named
from slant.collector.studies.catalogue import load_study

STEP_S = 0.01


def cpu_s(watcher: Watcher, answers: int, per_second: int) -> float:
    model = load_study("rmiat").model("local/m")
    lane = Lane(model, provider_named("local"), "", None, iter(()), answers, 0)
    began = time.process_time()
    watcher.begin([lane], lambda: None)
    for _ in range(round(answers / per_second / STEP_S)):
        for _ in range(round(per_second * STEP_S)):
            lane.outcomes["answered"] += 1
            watcher.change(lane, "answered")
        time.sleep(STEP_S)
    watcher.end()
    return time.process_time() - began


def on_a_terminal() -> int:
    """Make a pseudo-terminal this process's stderr; returns the other end, which is read by a child and thrown away."""
    reader, terminal = pty.openpty()
    os.dup2(terminal, 2)
    os.environ["TERM"] = "xterm-256color"
    threading.Thread(target=_drain, args=(reader,), daemon=True).start()
    return reader


def _drain(reader: int) -> None:
    while os.read(reader, 65536):
        pass


if __name__ == "__main__":
    on_a_terminal()
    numbers = int(sys.argv[1]), int(sys.argv[2])
    found = {"bare_cpu_s": cpu_s(Watcher(), *numbers), "cpu_s": cpu_s(ProgressWatcher(), *numbers)}
    click.echo(json.dumps(found))
