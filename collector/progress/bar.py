"""Show a person how a run goes on: a bar per model on a terminal, a line now and then elsewhere, all on stderr.
`collect status --watch` repeats the same table on a terminal, or lines elsewhere, until the run ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl
from rich.console import Console, RenderableType
from rich.live import Live
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

from slant.collector.ask.call import Watcher
from slant.collector.ask.rate_limits import spoken
from slant.collector.cost.budget import spent_usd
from slant.collector.cost.estimate import dollars
from slant.collector.keep.database import let_go
from slant.collector.keep.journal import has_collector, utc_now
from slant.collector.keep.journal_loader import waiting_bytes
from slant.collector.progress.current_run import for_people, sentence
from slant.collector.records import WITHOUT_ANSWER
from slant.collector.screen_tables import as_table, printable
from slant.collector.study.records import StudyModel
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.collector.ask.runner import Lane

LINE_EVERY_S = 10.0
SILENCE_EVERY_S = 60.0  # between two lines that say that no answers come


class _Bars(Progress):
    """Read the run when it is drawn, four times a second; a report of every answer would cost ten times as much."""

    def __init__(self, pull: Callable[[], None], *columns: ProgressColumn, **options: Any) -> None:
        self._pull = pull
        super().__init__(*columns, **options)

    def get_renderables(self) -> Iterable[RenderableType]:
        self._pull()
        yield from super().get_renderables()


class ProgressWatcher(Watcher):
    """Show a progress bar if stderr is a terminal; a line every ten seconds if it is a file or a pipe. If no trial
    ends, a line after ten seconds and then each minute says what is waited for, so that waiting does not look like
    hanging."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar: _Bars | None = None
        self._tasks: dict[int, TaskID] = {}
        self._lanes: Sequence[Lane] = ()
        self._last_line = self._begun = self._last_change = time.monotonic()
        self._over = threading.Event()

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self._lanes, self._begun = lanes, time.monotonic()
        self._last_line = self._last_change = self._begun
        if not sys.stderr.isatty():
            self._over = threading.Event()
            threading.Thread(target=self._say_what_is_waited_for, args=[self._over], daemon=True).start()
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
        self._last_change = time.monotonic()
        if self._bar is None and time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            say(self._line())

    def _say_what_is_waited_for(self, over: threading.Event) -> None:
        last_line_s = self._begun
        while not over.wait(1.0):
            now = time.monotonic()
            silent_s = now - max(self._last_line, self._last_change)
            is_due = now - last_line_s >= (SILENCE_EVERY_S if last_line_s > self._last_change else LINE_EVERY_S)
            if silent_s < LINE_EVERY_S - 1 or not is_due:
                continue
            last_line_s = now
            asking = [lane for lane in self._lanes if not lane.stopped_because and lane.done < lane.planned]
            waits = "; ".join(f"{printable(lane.model.model)}: {lane.pace}{_endless(lane)}" for lane in asking)
            say(f"{self._line()}; nothing came for {now - self._last_change:,.0f} s ({waits})")

    def _pull(self) -> None:
        for lane in self._lanes:
            if self._bar is not None and id(lane) in self._tasks:
                self._bar.update(self._tasks[id(lane)], completed=lane.done, counts=self._counts(lane))

    def say(self, text: str) -> None:
        if self._bar is not None:
            self._console.print(Text(printable(text)))
        else:
            say(text)

    def may_wait(self, model: str, wait_s: float, reason: str) -> bool:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        if self._bar is not None:
            self._bar.stop()
        try:
            say(f"{printable(model)}: {printable(reason)}")
            return click.confirm(f"Wait {spoken(wait_s)}, until it goes on?", err=True)
        except click.Abort:
            return False
        finally:
            if self._bar is not None:
                self._bar.start()

    def end(self) -> None:
        self._over.set()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _counts(self, lane: Lane) -> str:
        rate = lane.asked / max(time.monotonic() - self._begun, 0.001)
        parts = [rate_text(rate), str(lane.pace), f"{lane.outcomes['refused']:,} refused"]
        parts += [
            f"{lane.outcomes[kind]:,} {kind}" for kind in WITHOUT_ANSWER if kind != "refused" and lane.outcomes[kind]
        ]
        if lane.outcomes["failed"]:
            parts.append(f"{lane.outcomes['failed']:,} failed")
        if lane.money.price is not None:
            parts.append(dollars(lane.money.spent_usd))
        return ", ".join(parts)

    def _line(self) -> str:
        done = sum(lane.done for lane in self._lanes)
        planned = sum(lane.planned for lane in self._lanes)
        n_asked = sum(lane.asked for lane in self._lanes)
        lost = {kind: sum(lane.outcomes[kind] for lane in self._lanes) for kind in WITHOUT_ANSWER}
        ended = "; ".join(f"{n:,} {kind}" for kind, n in lost.items() if n or kind == "refused")
        failed = sum(lane.outcomes["failed"] for lane in self._lanes)
        rate = n_asked / max(time.monotonic() - self._begun, 0.001)
        asking = [lane for lane in self._lanes if not lane.stopped_because and lane.done < lane.planned]
        paused_s = max((lane.pace.paused_s for lane in asking), default=0.0)  # what is paused has no rate
        left = f"{_time_text((planned - done) / rate + paused_s)} left" if rate > 0 else "time left unknown"
        spent = spent_usd(lane.money for lane in self._lanes)
        cost = "" if spent is None else f"{dollars(spent)}; "
        return f"{done:,} of {planned:,} trials; {rate_text(rate)}; {ended}; {failed:,} failed; {cost}{left}"


_LENGTHS = {"max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "options"}
_OWN_SERVERS = ("local", "ollama")


def endless(model: StudyModel) -> str:
    """Return a sentence about a silent model whose answers have no limit: small models may write for
    ever.
    """
    if model.provider not in _OWN_SERVERS or _LENGTHS & set(model.settings):
        return ""
    return "; no max_tokens is set for it, so an answer may be without end"


def _endless(lane: Lane) -> str:
    return "" if lane.pace.paused_s >= 1 else endless(lane.model)  # the provider is waited for, not an answer


def rate_text(per_s: float) -> str:
    """Return answers per second, or per minute if they are few, as from slow models on this machine."""
    return f"{per_s:,.0f}/s" if per_s >= 1 or per_s == 0 else f"{60 * per_s:,.2g}/min"


def _time_text(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 7200 else f"{seconds / 3600:,.1f} h"


LAST_ANSWERS_S = 10.0  # the run's last rows reach the database after it has let go of its lock


def watch_status(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    """Show what `look` finds at intervals while another process collects into `db`; on a non-terminal also at the
    end."""
    if not has_collector(db):
        say(f"Nobody is collecting into {db}.")
        return
    if sys.stdout.isatty():
        _live(db, every_s, look)
    else:
        _lines(db, every_s, look)
    say("The run has ended.")


def _live(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    def drawn() -> Any:
        return as_table(*for_people(look()))

    with Live(drawn(), console=Console(), auto_refresh=False, transient=True) as live:
        while _goes_on(db, every_s):
            live.update(drawn(), refresh=True)


def _lines(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    goes_on = True
    while True:
        for row in look().iter_rows(named=True):
            click.echo(printable(f"{utc_now()[11:19]} {sentence(row)}"))
        sys.stdout.flush()
        if not goes_on:
            return
        goes_on = _goes_on(db, every_s)


def _goes_on(db: Path, every_s: float) -> bool:
    """Sleep; return False if the run ended meanwhile, and its last answers are in the database (or very late)."""
    let_go(db)  # the collector writes meanwhile
    until = time.monotonic() + every_s
    while has_collector(db):
        if time.monotonic() >= until:
            return True
        time.sleep(min(0.2, every_s))
    until = time.monotonic() + LAST_ANSWERS_S
    while waiting_bytes(db) and time.monotonic() < until:
        let_go(db)
        time.sleep(0.1)
    return False
