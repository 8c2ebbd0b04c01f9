"""What a person sees while a run goes on: a bar a model on a terminal, a line now and then elsewhere. All on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from slant.collector.ask.runner import Lane
from slant.collector.ask.watcher import Watcher
from slant.collector.cost.budget import spent_usd
from slant.collector.cost.estimate import dollars
from slant.collector.terminal import printable, say

LINE_EVERY_S = 10.0


class _Bars(Progress):
    """Looks at the run when it is drawn, four times a second; to be told of every answer costs ten times as much."""

    def __init__(self, pull: Callable[[], None], *columns: ProgressColumn, **options: Any) -> None:
        self._pull = pull
        super().__init__(*columns, **options)

    def get_renderables(self) -> Iterable[RenderableType]:
        self._pull()
        yield from super().get_renderables()


class ProgressWatcher(Watcher):
    """A progress bar where stderr is a terminal; a line every ten seconds where it is a file or a pipe."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar: _Bars | None = None
        self._tasks: dict[int, TaskID] = {}
        self._lanes: Sequence[Lane] = ()
        self._last_line = self._begun = time.monotonic()

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self._lanes, self._begun = lanes, time.monotonic()
        if not sys.stderr.isatty():
            return
        self._bar = _Bars(
            self._pull,
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeRemainingColumn(),
            console=self._console,
            refresh_per_second=4,
            transient=True,
        )
        for lane in lanes:
            name = printable(lane.model.model)
            self._tasks[id(lane)] = self._bar.add_task(name, total=lane.planned, completed=lane.already_done, counts="")
        self._bar.start()

    def change(self, lane: Lane, outcome: str) -> None:
        if self._bar is None and time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            say(self._line())

    def _pull(self) -> None:
        for lane in self._lanes:
            if self._bar is not None and id(lane) in self._tasks:
                self._bar.update(self._tasks[id(lane)], completed=lane.done, counts=self._counts(lane))

    def say(self, text: str) -> None:
        if self._bar is not None:
            self._console.print(Text(printable(text)))
        else:
            say(text)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _counts(self, lane: Lane) -> str:
        rate = lane.asked / max(time.monotonic() - self._begun, 0.001)
        parts = [f"{rate:,.0f}/s", str(lane.pace), f"{lane.outcomes['refused']:,} refused"]
        if other := sum(lane.outcomes[o] for o in ("filtered", "truncated", "malformed")):
            parts.append(f"{other:,} unreadable")
        if lane.outcomes["failed"]:
            parts.append(f"{lane.outcomes['failed']:,} failed")
        if lane.money.price is not None:
            parts.append(dollars(lane.money.spent_usd))
        return ", ".join(parts)

    def _line(self) -> str:
        done = sum(lane.done for lane in self._lanes)
        planned = sum(lane.planned for lane in self._lanes)
        n_asked = sum(lane.asked for lane in self._lanes)
        refused = sum(lane.outcomes["refused"] for lane in self._lanes)
        failed = sum(lane.outcomes["failed"] for lane in self._lanes)
        rate = n_asked / max(time.monotonic() - self._begun, 0.001)
        left = f"{(planned - done) / rate:,.0f} s left" if rate > 0 else "time left unknown"
        spent = spent_usd(lane.money for lane in self._lanes)
        cost = "" if spent is None else f"{dollars(spent)}; "
        return f"{done:,} of {planned:,} trials; {rate:,.0f}/s; {refused:,} refused; {failed:,} failed; {cost}{left}"
