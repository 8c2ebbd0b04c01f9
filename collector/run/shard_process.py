"""Ask one part of a run as one of the processes that share it, and report to the process that started it.

    python -m slant.collector.run.shard_process          (started only by collector/run/processes.py)

Standard input brings what to ask, then a line for each stop; its end means that the starting process is gone, and is
also a stop. Standard output takes a JSON line for each message.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import IO, Any

from slant.collector.ask.call import Call, StopSwitch, Watcher, run_anywhere
from slant.collector.ask.lane_money import Ledger
from slant.collector.ask.runner import Lane
from slant.collector.errors import SlantError
from slant.collector.keep.final_trials import Finals
from slant.collector.plan.run_plan import RunPlan, part_of
from slant.collector.request.record import Request
from slant.collector.run.one_process import ask

TELL_EVERY_S = 0.25


@dataclass(frozen=True)
class Part:
    """Hold what one process asks: the `number`th of `of` parts of a run plan. `command` is what was typed."""

    run_plan: RunPlan
    request: Request
    ledger: Ledger
    number: int
    of: int
    command: tuple[str, ...]

    def write(self, file: IO[bytes]) -> None:
        bare = tuple(replace(model_plan, skip=b"", others=b"") for model_plan in self.run_plan.model_plans)
        run_plan = replace(self.run_plan, model_plans=bare, done=Finals())  # looked up there, under the journal's lock
        data = io.BytesIO()
        _Pickler(data).dump(replace(self, run_plan=run_plan))
        file.write(len(data.getvalue()).to_bytes(8) + data.getvalue())
        file.flush()

    @classmethod
    def read(cls) -> Part:
        """Read a part from standard input alone: stops follow. Exit if the process that writes it ended before."""
        size = int.from_bytes(_bytes_of_input(8))
        data = _bytes_of_input(size)
        if not data or len(data) < size:
            sys.exit(1)  # nobody is left to be told
        part: Part = pickle.loads(data)  # from the process that started this one
        return part


def _bytes_of_input(n: int) -> bytes:
    parts = []
    while n > 0 and (some := os.read(0, n)):
        parts.append(some)
        n -= len(some)
    return b"".join(parts)


class _Pickler(pickle.Pickler):
    """Pickle modules, too: the dialect of a provider is one."""

    def reducer_override(self, value: Any) -> Any:
        return (import_module, (value.__name__,)) if isinstance(value, ModuleType) else NotImplemented


class _Teller(Watcher):
    """Report how far this part is, as JSON lines."""

    def __init__(self, out: IO[str]) -> None:
        self._out, self._lock = out, threading.Lock()
        self._lanes: Sequence[Lane] = ()
        self._over = threading.Event()

    def tell(self, **message: Any) -> None:
        with self._lock:
            try:
                print(json.dumps(message), file=self._out, flush=True)
            except OSError:  # no process listens any more; the journal has everything
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self._lanes = lanes
        threading.Thread(target=self._tell_on, daemon=True).start()

    def say(self, text: str) -> None:
        self.tell(say=text)

    def end(self) -> None:
        self._over.set()
        self._tell_lanes()

    def _tell_on(self) -> None:
        while not self._over.wait(TELL_EVERY_S):
            self._tell_lanes()

    def _tell_lanes(self) -> None:
        lanes = {
            lane.model.model: {
                "outcomes": dict(lane.outcomes),
                "not_asked": lane.not_asked,
                "pace": str(lane.pace),
                "spent_usd": lane.money.spent_usd,
                "n_unknown": lane.money.n_unknown,
                "stopped_because": lane.stopped_because,
                "last_failure": lane.last_failure,
                "model_changed": len(lane.marks.model_changed),
                "endings": lane.endings.as_message(),
                "reasoning": list(lane.reasoning.counts.items()),
                "ignored": lane.ignored,
            }
            for lane in self._lanes
        }
        self.tell(lanes=lanes)


def _listen(switch: StopSwitch) -> None:
    """Take each line as a stop, and the end of the input as another one."""
    while True:
        heard = os.read(0, 100)
        while not switch.is_connected:  # it has not begun to ask
            time.sleep(0.02)
        for _ in range(max(1, heard.count(b"\n"))):
            switch.press()
        if not heard:
            return


def main() -> None:
    part = Part.read()
    sys.argv = list(part.command)
    teller = _Teller(sys.stdout)
    switch = StopSwitch(teller)
    threading.Thread(target=_listen, args=[switch], daemon=True).start()
    try:
        run_plan = part_of(part.run_plan, part.number, part.of)
        report = run_anywhere(ask(run_plan, Call(part.request, teller, switch, part.ledger)), switch.press)
    except SlantError as error:
        teller.tell(error=[error.what, *error.details])
        sys.exit(1)
    teller.tell(end={"run_id": report.run_id, "was_stopped": report.was_stopped, "is_full": report.disk_was_full})
    sys.stdout.flush()


if __name__ == "__main__":
    main()
