"""Hold what one call of `collect` shares from its first plan to its last answer: its limits, who watches it, and how it
is stopped in order.

The first Ctrl-C (SIGTERM, SIGHUP) stops asking and waits for the paid requests in flight; the second leaves at once.
This is the same in a terminal, in a notebook, and while the last answers are loaded.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from slant.collector.ask.lane_money import Ledger
from slant.collector.ask.retries import LongWaits

if TYPE_CHECKING:
    from slant.collector.ask.journal_writer import JournalWriter
    from slant.collector.ask.runner import Lane, Runner
    from slant.collector.designs.study import Study
    from slant.collector.plan.run_plan import RunPlan
    from slant.collector.request.record import Request
    from slant.collector.run_report import RunReport


class Watcher:
    """Receive what a call of `collect` reports, and what it asks. This watcher ignores reports except for warnings, and
    agrees to what the call agrees to. The command line shows a progress bar, and asks a person.
    """

    def loaded(self, study: Study) -> None:
        """Take the study that is about to be planned."""

    def note(self, text: str) -> None:
        """Take a sentence about what is planned."""

    def say(self, text: str) -> None:
        """Take a sentence about how it goes."""

    def warn(self, text: str) -> None:
        """Take a sentence to show before sending: here as a Python warning."""
        warnings.warn(text, UserWarning, stacklevel=_frames_of_slant() + 1)

    def agrees(self, run_plan: RunPlan, request: Request) -> bool:
        """Return whether requests that cost money may be sent."""
        return request.yes

    def after_pilot(
        self, pilot: RunPlan, report: RunReport, rest: Callable[[], RunPlan], request: Request
    ) -> RunPlan | None:
        """Return the plan of the rest if it is to be asked, too. Here only a pilot is asked."""
        return None

    def may_wait(self, model: str, wait_s: float, reason: str) -> bool:
        """Return whether a model may be waited for longer than `--longest-wait`. Nobody can be asked here."""
        return False

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None: ...

    def change(self, lane: Lane, outcome: str) -> None: ...

    def end(self) -> None: ...


def _frames_of_slant() -> int:
    """Return the number of frames between `Watcher.warn` and the code that called slant."""
    frame, n = sys._getframe(1), 0
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("slant."):
        frame, n = frame.f_back, n + 1
    return n


T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # SIGHUP: the laptop is closed, the ssh session ends


class StopSwitch:
    """Decide what a stop does to the current run. `press` may be called from any thread."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] = lambda: None

    @property
    def is_connected(self) -> bool:
        return self._loop is not None

    def press(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop)

    @contextmanager
    def connected(self, runner: Runner, writer: JournalWriter) -> Iterator[None]:
        """Let stops reach this run while this is open; in the main thread signals are stops."""
        task = asyncio.current_task()
        assert task is not None
        self._loop = loop = asyncio.get_running_loop()
        self._stop = lambda: self._pressed(runner, writer, task)
        is_main = threading.current_thread() is threading.main_thread()
        for name in SIGNALS if is_main else ():
            loop.add_signal_handler(name, self._stop)
        try:
            yield
        finally:
            for name in SIGNALS if is_main else ():
                loop.remove_signal_handler(name)
            self._loop = None

    def _pressed(self, runner: Runner, writer: JournalWriter, task: asyncio.Task[Any]) -> None:
        was_stopping = runner.stopping.is_set()
        runner.stop()
        if writer.is_closed:  # nothing is in flight any more: only the load into the database is left
            writer.give_up.set()
        elif was_stopping:
            task.cancel()
            self._watcher.say("Leaving at once.")
        else:
            self._watcher.say(
                "Stopping: nothing new is asked; waiting for the answers in flight. Ctrl-C again leaves at once.\n"
                "To go on later, type the same command."
            )


def run_anywhere(work: Coroutine[Any, Any, T], stop: Callable[[], None] | None = None) -> T:
    """Run a coroutine, in a separate thread if an event loop is running already (a notebook).

    There, interrupting the cell calls `stop`, as Ctrl-C does in a terminal; without `stop` the cell just ends.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        try:
            thread.join(0.2)
        except KeyboardInterrupt:
            if stop is None:
                raise
            stop()
    if failed:
        raise failed[0]
    return results[0]


@dataclass(frozen=True)
class Call:
    """Hold a request, who watches it, and what stops it, for all runs of one call: a pilot and the rest, the stages
    between looks at intervals, the parts of several processes. A limit of the entire call belongs here.

    `agreed_s` has the waits that a person agreed to, in seconds by model. `ledger` is the money of one of several
    processes; None: what the database says is spent, and the request's budget.
    """

    request: Request
    watcher: Watcher
    switch: StopSwitch
    ledger: Ledger | None = None
    agreed_s: dict[str, float] = field(default_factory=dict)

    @classmethod
    def begun(cls, request: Request, watcher: Watcher | None = None) -> Call:
        watcher = watcher or Watcher()
        return cls(request, watcher, StopSwitch(watcher))

    @property
    def long_waits(self) -> LongWaits:
        """Return the rule for long waits of one event loop; an agreement to wait holds for the entire call."""
        return LongWaits(self.request.longest_wait, self.watcher.may_wait, self.agreed_s)

    def agreeing(self, run_plan: RunPlan) -> Call:
        """Return the call with the watcher's consent to the paid requests of this plan, or without it."""
        return replace(self, request=replace(self.request, yes=self.watcher.agrees(run_plan, self.request)))
