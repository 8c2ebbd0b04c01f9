"""Keep batch jobs on disk, so that a kill at any moment submits nothing twice and loses no paid answer.

NAME.duckdb.journal/batches/
├── JOB.json            what is known about the job; replaced atomically (written next to it, fsynced, renamed)
├── JOB.requests.jsonl  what is submitted, to the byte; its hash is in JOB.json
└── JOB.map.jsonl       line n: the trial behind the custom id JOB-n

    planned ──> sending ──> sent ──> fetching ──> closed
`planned`: nothing was sent that could have made a job. `sending`: the submit call may have happened; only the provider
knows. `sent`: the provider's id is known. `fetching`: some answers may be in the journal already. Once a job is closed
only JOB.json stays. A job's files without a JOB.json were never submitted, and are removed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from slant.collector.errors import JournalError
from slant.collector.keep.journal import journal_folder, utc_now
from slant.collector.records import Trial
from slant.collector.study.records import StudyModel
from slant.collector.system import files
from slant.collector.system.json_text import encoded
from slant.collector.system.operating_system import flush_onto_disk

_MAX_DIGITS = 12  # in a custom id's number
State = Literal["planned", "sending", "sent", "fetching", "closed"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Hold one batch job. Times are ISO 8601 in UTC. `key_check` shows whether a key is the one that the job was made
    with (a hash salted with the job's id; it does not reveal the key). `reserved_usd` is its expected maximum cost, in
    US dollars; None if no price is known."""

    job_id: str
    state: State
    run_id: str
    study: str
    study_version: str
    variant: str
    provider: str
    base_url: str
    endpoint: str
    model: Mapping[str, Any]
    n_requests: int
    n_bytes: int
    sha256: str
    key_check: str
    created_at: str
    file_id: str | None = None
    sending_at: str | None = None
    submitted_at: str | None = None
    batch_id: str | None = None
    seen: str | None = None
    seen_at: str | None = None
    closed_at: str | None = None
    result: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    reserved_usd: float | None = None

    @property
    def is_open(self) -> bool:
        return self.state != "closed"

    @property
    def age_s(self) -> float:
        """Return seconds since its submission began; a clock that went back counts as no time."""
        began = datetime.fromisoformat(self.sending_at or self.created_at).replace(tzinfo=UTC)
        return max(0.0, (datetime.now(UTC) - began).total_seconds())

    @property
    def study_model(self) -> StudyModel:
        return StudyModel(**self.model)


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Hold one request of a job: what the custom id refers to."""

    custom_id: str
    conversation_id: str
    prompt_hash: str
    trial: Trial

    def line(self) -> bytes:
        return _line(self)


def _line(record: Job | JobRequest) -> bytes:
    return encoded({name: value for name, value in asdict(record).items() if value is not None}) + b"\n"


def new_job_id() -> str:
    return f"slant-{secrets.token_hex(8)}"


def key_check(job_id: str, key: str | None) -> str:
    return hashlib.blake2b((key or "").encode(), key=job_id.encode(), digest_size=4).hexdigest()


class JobFolder:
    """Hold the jobs next to one database. Writing needs the journal's lock; reading does not."""

    def __init__(self, db: Path) -> None:
        self.folder = journal_folder(db) / "batches"

    def jobs(self) -> list[Job]:
        """Return the jobs, oldest first. Raise JournalError if a file can't be read: guessing could submit
        twice."""
        self._check_folder()
        jobs = [self._read(path) for path in sorted(self.folder.glob("*.json"))]
        return sorted(jobs, key=lambda job: (job.created_at, job.job_id))

    def _check_folder(self) -> None:
        try:
            files.check_folder(self.folder)
        except OSError as error:
            raise JournalError(f'Can\'t use the folder of batch jobs "{self.folder}": {error.strerror}.') from error

    def open_jobs(self, study: str | None = None) -> list[Job]:
        return [job for job in self.jobs() if job.is_open and study in (None, job.study)]

    def create(self, job: Job, lines: Iterable[tuple[JobRequest, bytes]]) -> Job:
        """Write what will be submitted and for which trials, then the intent. Return the job with size and hash."""
        self._check_folder()
        files.made_folder(self.folder)
        digest, n_requests, n_bytes = hashlib.sha256(), 0, 0
        with files.opened(self.requests(job), "wb") as requests, files.opened(self._map(job), "wb") as names:
            for request, line in lines:
                requests.write(line)
                names.write(request.line())
                digest.update(line)
                n_requests, n_bytes = n_requests + 1, n_bytes + len(line)
            for file in (requests, names):
                flush_onto_disk(file)
        return self.write(replace(job, n_requests=n_requests, n_bytes=n_bytes, sha256=digest.hexdigest()))

    def write(self, job: Job) -> Job:
        """Write the job's state, so that it survives a power cut once this returns."""
        files.replace_on_disk(self.folder / f"{job.job_id}.json", _line(job))
        return job

    def close(self, job: Job, result: str, counts: Mapping[str, int] | None = None) -> Job:
        """End a job: its trials without an answer are pending again."""
        closed = self.write(replace(job, state="closed", closed_at=utc_now(), result=result, counts=counts or {}))
        self.sweep()
        return closed

    def sweep(self) -> None:
        """Remove what no open job needs. Call this only while holding the journal's lock."""
        needed = {job.job_id for job in self.jobs() if job.is_open}
        for path in self.folder.glob("slant-*"):
            is_state = path.name.endswith(".json")
            if not is_state and path.name.partition(".")[0] not in needed:
                files.remove(path)

    def requests(self, job: Job) -> Path:
        return self.folder / f"{job.job_id}.requests.jsonl"

    def trial_ids(self, study: str, *, with_more: bool = False) -> Iterator[str]:
        """Yield the trials in open jobs of `study`; if `with_more`, those that are a turn of a conversation."""
        for job in self.open_jobs(study):
            trials = (request.trial for request in self.asked(job))
            yield from (trial.trial_id for trial in trials if trial.game is not None or not with_more)

    def asked(self, job: Job) -> Iterator[JobRequest]:
        with files.opened(self._map(job)) as file:
            for line in file:
                yield _asked(line)

    def _map(self, job: Job) -> Path:
        return self.folder / f"{job.job_id}.map.jsonl"

    def _read(self, path: Path) -> Job:
        known = {f.name for f in fields(Job)}
        try:
            values = json.loads(files.contents(path))
            return Job(**{name: value for name, value in values.items() if name in known})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise JournalError(
                f'Can\'t read the batch job "{path}": {error}.',
                "Nothing was submitted: that job may be running. If you are sure that it is not, move the file away.",
            ) from error

    def map_of(self, job: Job) -> JobMap:
        return JobMap(self._map(job), self.requests(job), job.job_id)


class JobMap:
    """Find a custom id's trial and request; only the starts of the lines are held."""

    def __init__(self, names: Path, requests: Path, job_id: str) -> None:
        self._job_id = job_id
        self._names, self._name_starts = names, _line_starts(names)
        self._requests, self._request_starts = requests, _line_starts(requests)

    def __len__(self) -> int:
        return len(self._name_starts)

    def find(self, custom_id: str) -> tuple[JobRequest, dict[str, Any]] | None:
        """Return the trial and the line that was submitted for it; None if the id is not of this job."""
        job_id, _, number = custom_id.rpartition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= _MAX_DIGITS
        if job_id != self._job_id or not is_number or int(number) >= len(self):
            return None
        request = _asked(_line_at(self._names, self._name_starts[int(number)]))
        line: dict[str, Any] = json.loads(_line_at(self._requests, self._request_starts[int(number)]))
        return (request, line) if request.custom_id == custom_id == line.get("custom_id") else None


def _asked(line: bytes) -> JobRequest:
    values = json.loads(line)
    return JobRequest(**{**values, "trial": Trial(**values["trial"])})


def _line_starts(path: Path) -> array[int]:
    starts, place = array("Q"), 0
    with files.opened(path) as file:
        for line in file:
            starts.append(place)
            place += len(line)
    return starts


def _line_at(path: Path, start: int) -> bytes:
    with files.opened(path) as file:
        file.seek(start)
        return file.readline()
