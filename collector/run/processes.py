"""Share a run out among several processes on this machine: one shard each, one journal each, one progress display.

They write their journals into the folder of the same database, under one lock, which stays held while any of them
lives. This process asks no model: it loads the journals, shows their progress, and passes a stop on. If one of them is
killed the others go on; what it had acknowledged is in its journal, and the same command asks the rest.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slant.collector.ask.call import SIGNALS, Call, Watcher
from slant.collector.ask.journal_writer import LiveLoader
from slant.collector.ask.lane_money import Ledger
from slant.collector.ask.pace import Pace
from slant.collector.ask.run_warnings import Endings, ReasoningLimit
from slant.collector.ask.runner import Lane
from slant.collector.cost.budget import open_ledger
from slant.collector.errors import Interrupted, SlantError, UsageError
from slant.collector.keep.database import fetched
from slant.collector.keep.journal import FolderLock, journal_folder, mend_tails
from slant.collector.keep.journal_files import compress_finished, journal_paths, journal_run
from slant.collector.plan.run_plan import RunPlan, parts_to_ask, up_to_date
from slant.collector.request.record import Request
from slant.collector.run.one_process import LAST_LOAD_S, checked_run_plan, lane_at_rest, lane_row
from slant.collector.run.shard_process import Part
from slant.collector.run_report import RunReport
from slant.collector.system.child_processes import child_environment
from slant.collector.system.files import remove
from slant.collector.system.shipped_files import sql_query

log = logging.getLogger(__name__)
MAX_PROCESSES = 256
_MAIN = "from slant.collector.run.shard_process import main; main()"


def carry_out_in_processes(run_plan: RunPlan, call: Call) -> RunReport:
    """Do what a run plan says with the processes of the request, which share concurrency and budget, too."""
    request, watcher = call.request, call.watcher
    processes = request.processes
    if not 1 <= processes <= MAX_PROCESSES:
        raise UsageError(f"--processes must be from 1 to {MAX_PROCESSES}, not {processes}.")
    run_plan = checked_run_plan(run_plan, request)
    folder = journal_folder(run_plan.db)
    lock = FolderLock(folder)
    try:
        for cut in mend_tails(folder):
            watcher.say(cut)
        earlier = _runs(folder)
        loader = LiveLoader(run_plan.db, watcher.say)
        loader.load(0.2)  # reports at once if the database is not ours or can't be made
        run_plan = up_to_date(run_plan)
        # each further one would start, find nothing left to ask, and keep its share of the budget and of concurrency
        processes = max(1, min(processes, run_plan.pending))
        numbers = parts_to_ask(run_plan, processes) or [1]
        shared = _shared_out(run_plan, request, len(numbers))
        parts = [Part(run_plan, *shared, k, processes, tuple(sys.argv)) for k in numbers]
        crew = _Crew(run_plan, parts, watcher, lock)
        with crew.listening_to_signals():
            crew.work(loader.now_and_then)
            for cut in mend_tails(folder):  # left by a process that was killed
                log.info(cut)
            for left in folder.glob("reserve.*"):
                remove(left)
            is_loaded = loader.load(LAST_LOAD_S)
        if not is_loaded:
            loader.say_what_is_left()
        elif crew.has_lost_one and run_plan.db.exists():  # if no model answered, there is none
            crew.count_stored(_runs(folder) - earlier)
        report = crew.report(is_loaded=is_loaded)
        compress_finished(folder)
    finally:
        lock.release()
    return report


def _runs(folder: Path) -> frozenset[str]:
    return frozenset(map(journal_run, journal_paths(folder)))


def _shared_out(run_plan: RunPlan, request: Request, processes: int) -> tuple[Request, Ledger]:
    """Return the request and the money of one process. None of them looks up itself what was spent before: one that
    begins late would count what the others have spent meanwhile.
    """
    concurrency = max(1, -(-request.concurrency // processes))
    ledger = open_ledger(run_plan, request.budget)
    if ledger.cap_usd is not None:
        free_usd = max(0.0, ledger.cap_usd - ledger.booked_usd)
        ledger = replace(ledger, cap_usd=ledger.booked_usd + free_usd / processes, shared_by=processes)
    return replace(request, concurrency=concurrency, budget=ledger.cap_usd), ledger


class _ReportedPace(Pace):
    """Say what holds the processes back now, as the slowest of them reports."""

    reported: str = ""

    def __str__(self) -> str:
        return self.reported


@dataclass
class _Child:
    number: int
    process: subprocess.Popen[bytes]
    lanes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    end: Mapping[str, Any] | None = None
    error: Sequence[str] | None = None

    def stop(self) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended
            self.process.stdin.write(b"stop\n")
            self.process.stdin.flush()


class _Crew:
    """Hold the processes of one run."""

    def __init__(self, run_plan: RunPlan, parts: Sequence[Part], watcher: Watcher, lock: FolderLock) -> None:
        self._run_plan, self._watcher, self._n = run_plan, watcher, parts[0].of
        self._lanes = {
            model_plan.name: lane_at_rest(run_plan, model_plan, _ReportedPace()) for model_plan in run_plan.model_plans
        }
        self._heard: queue.SimpleQueue[tuple[_Child, Mapping[str, Any] | None]] = queue.SimpleQueue()
        self._n_stops = 0
        self._children = [self._start(part, lock) for part in parts]

    def _start(self, part: Part, lock: FolderLock) -> _Child:
        process = subprocess.Popen(
            [sys.executable, "-c", _MAIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | child_environment(),
            pass_fds=[lock.fileno()],  # so that the folder stays locked while it lives
            start_new_session=True,  # Ctrl-C is for this process, which passes it on
        )
        child = _Child(part.number, process)
        assert process.stdin is not None
        with suppress(OSError):  # what went wrong there is on stderr, and is seen at its end
            part.write(process.stdin)
        threading.Thread(target=self._listen, args=[child], daemon=True).start()
        return child

    def _listen(self, child: _Child) -> None:
        assert child.process.stdout is not None
        for line in child.process.stdout:
            with suppress(ValueError):
                self._heard.put((child, json.loads(line)))
        child.process.wait()
        self._heard.put((child, None))

    @contextmanager
    def listening_to_signals(self) -> Iterator[None]:
        """Treat signals as stops, in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {name: signal.signal(name, lambda *_: self.stop()) for name in SIGNALS}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def stop(self) -> None:
        """Stop asking and wait for what is in flight; a second call leaves at once."""
        self._n_stops += 1
        for child in self._children:
            child.stop()

    def work(self, now_and_then: Callable[[], None]) -> None:
        """Work until all have ended, whatever ends them."""
        self._watcher.begin(list(self._lanes.values()), self.stop)
        working, shown = len(self._children), set[str]()
        try:
            while working:
                with suppress(queue.Empty):
                    child, message = self._heard.get(timeout=0.1)
                    if message is None:
                        working -= 1
                        self._ended(child)
                    else:
                        self._take(child, message, shown)
                now_and_then()
        finally:
            for child in self._children:
                if child.process.stdin is not None:
                    with suppress(OSError):
                        child.process.stdin.close()  # a stop for those that are left
                child.process.wait()
            self._watcher.end()

    def _take(self, child: _Child, message: Mapping[str, Any], shown: set[str]) -> None:
        if "say" in message and message["say"] not in shown:  # all of them report that they stop
            shown.add(message["say"])
            self._watcher.say(message["say"])
        child.end = message.get("end", child.end)
        child.error = message.get("error", child.error)
        if "lanes" in message:
            child.lanes = message["lanes"]
            self._add_up()

    def _ended(self, child: _Child) -> None:
        code = child.process.returncode
        if child.error is None and child.end is None:
            how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit status {code}"
            self._watcher.say(
                f"Process {child.number} of {self._n} {how}. Its answers until then are kept, the others go on, "
                "and the same command asks the rest."
            )
        elif child.error is not None and not self._n_stops:
            self._watcher.say(f"Process {child.number} of {self._n}: {' '.join(child.error)}")

    def _add_up(self) -> None:
        for name, lane in self._lanes.items():
            child_lanes = [child.lanes[name] for child in self._children if name in child.lanes]
            outcomes: Counter[str] = Counter()
            for child_lane in child_lanes:
                outcomes.update(child_lane["outcomes"])
            new, lane.outcomes = outcomes - lane.outcomes, outcomes
            lane.not_asked = sum(child_lane["not_asked"] for child_lane in child_lanes)
            lane.money.spent_usd = sum(child_lane["spent_usd"] for child_lane in child_lanes)
            lane.money.n_unknown = sum(child_lane["n_unknown"] for child_lane in child_lanes)
            for said in ("stopped_because", "last_failure", "ignored"):
                setattr(lane, said, next((child_lane[said] for child_lane in child_lanes if child_lane[said]), None))
            lane.endings, lane.reasoning = Endings(), ReasoningLimit()
            for child_lane in child_lanes:
                lane.endings.add(child_lane["endings"])
                lane.reasoning.counts.update(dict(child_lane["reasoning"]))
            assert isinstance(lane.pace, _ReportedPace)
            lane.pace.reported = " + ".join(child_lane["pace"] for child_lane in child_lanes)
            for outcome in new.elements():
                self._watcher.change(lane, outcome)

    @property
    def has_lost_one(self) -> bool:
        """Return whether one of them ended without a report: what it did last is only in its journal."""
        return any(child.end is None and child.error is None for child in self._children)

    def count_stored(self, run_ids: Collection[str]) -> None:
        """Count what all of them did, as it is stored in the database. What failed is no answer, and stays as
        reported.
        """
        rows = fetched(self._run_plan.db, sql_query("answers_of_runs"), {"run_ids": sorted(run_ids)})
        for name, lane in self._lanes.items():
            own = [row[1:] for row in rows if row[0] == name]
            lane.outcomes |= Counter({outcome: n for outcome, n, _ in own if n})
            lane.money.spent_usd = max(lane.money.spent_usd, sum(cost or 0.0 for *_, cost in own))

    def report(self, *, is_loaded: bool) -> RunReport:
        ends = [child.end for child in self._children if child.end is not None]
        errors = [child.error for child in self._children if child.error is not None]
        if self._n_stops > 1 and len(ends) < len(self._children):
            raise Interrupted("Left at once.", "The same command asks again what was in flight.")
        if errors and not ends:
            raise SlantError(*errors[0])
        models = tuple(map(self._row, self._lanes.values()))
        return RunReport(
            run_id=", ".join(end["run_id"] for end in ends),
            db=self._run_plan.db,
            models=models,
            left_out=self._run_plan.left_out,
            is_loaded=is_loaded,
            was_stopped=any(end["was_stopped"] for end in ends),
            disk_was_full=any(end["is_full"] for end in ends),
            notes=tuple(note for lane in self._lanes.values() for note in lane.notes),
        )

    def _row(self, lane: Lane) -> dict[str, Any]:
        name = lane.model.model
        changed = sum(child.lanes[name]["model_changed"] for child in self._children if name in child.lanes)
        is_full = any(child.end is not None and child.end["is_full"] for child in self._children)
        why = "the disk is full" if is_full else "interrupted" if self._n_stops else None
        return lane_row(self._run_plan, lane, why, changed)
