"""Refuse settings of a request that exclude each other, before anything is read."""

from __future__ import annotations

from slant.collector.errors import UsageError
from slant.collector.request.record import Request


def refuse_conflicts(request: Request) -> None:
    """Raise UsageError for two settings that can't be used together, or for one that needs another."""
    if not request.batch and (request.wait or request.batch_size):
        raise UsageError("--wait and --batch-size need --batch.")
    if request.stopping is not None:
        for name, reason in _NOT_UNTIL_WIDTH.items():
            if getattr(request, name):
                raise UsageError(f"--until-width and --{name} can't be used together: {reason}")
    if request.again is not None:
        _refuse_with_again(request)
    if request.batch and request.simulated:
        raise UsageError("Simulated models have no batch jobs: remove --batch or --simulated.")
    if request.batch and request.processes != 1:
        raise UsageError("Batch jobs use one process: remove --processes.")


_NOT_UNTIL_WIDTH = {
    "batch": "a look waits for all answers of a repetition, and a batch may take a day for each of them.",
    "pilot": "its first look serves as a pilot. Remove --pilot.",
    "shard": "the width is that of all answers, and a shard has only some of them. Remove --shard.",
    "again": "repeated trials are on a separate occasion, where no width is measured. Remove one of them.",
}


def _refuse_with_again(request: Request) -> None:
    if request.batch:
        raise UsageError(
            "Trials can't be repeated by batch: a job may take a day, and the comparison is between days.",
            "Remove --batch (from Python: batch=True).",
        )
    if request.shard is not None:
        raise UsageError(
            "A shard can't be repeated: the sample is drawn from all answers, balanced over tests and conditions.",
            "Merge the shards (collect merge), then remove --shard.",
        )
    if request.pilot is not None:
        raise UsageError("--again is already a balanced sample: remove --pilot.")
    if request.processes != 1:
        raise UsageError("Trials are repeated by one process: remove --processes.")
