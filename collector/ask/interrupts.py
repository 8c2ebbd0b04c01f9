"""Stop a run in order. The first Ctrl-C (SIGTERM, SIGHUP) stops asking and waits for the paid requests in flight; the
second leaves at once. This is the same in a terminal, in a notebook, and while the last answers are loaded."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from slant.collector.ask.journal_writer import JournalWriter
    from slant.collector.ask.runner import Runner
    from slant.collector.ask.watcher import Watcher

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
    if not _is_loop_running():
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


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
