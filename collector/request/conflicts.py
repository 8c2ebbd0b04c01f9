"""Refuse settings of a request that exclude each other, before anything is read."""

from __future__ import annotations

from slant.collector.errors import UsageError
from slant.collector.request.record import Request


def refuse_conflicts(request: Request) -> None:
    """Raise UsageError for two settings that can't be used together, or for one that needs another."""
    if not request.batch and (request.wait or request.batch_size):
        raise UsageError("--wait and --batch-size are about batch jobs. To use them: --batch")
    if request.stopping is not None:
        for name, reason in _NOT_UNTIL_WIDTH.items():
            if getattr(request, name):
                raise UsageError(f"--until-width and --{name} can't be used together: {reason}")
    if request.again is not None:
        _refuse_with_again(request)
    if request.batch and request.simulated:
        raise UsageError("Simulated models have no batch jobs: leave out --batch, or --simulated.")
    if request.batch and request.processes != 1:
        raise UsageError("Batch jobs are made by one process: leave out --processes.")


_NOT_UNTIL_WIDTH = {
    "batch": "a look waits for all answers of a repetition, and a batch may take a day for each of them.",
    "pilot": "its first look is what a pilot is for. Leave out --pilot.",
    "shard": "the width is that of all answers together, and a shard has a part of them. Leave out --shard.",
    "again": "what is asked again is on an occasion of its own, and no width is measured there. Leave out one of them.",
}


def _refuse_with_again(request: Request) -> None:
    if request.batch:
        raise UsageError(
            "Trials are asked again live, not by batch: a job may take a day, and the day is what is compared.",
            "Leave out --batch (from Python: batch=True).",
        )
    if request.shard is not None:
        raise UsageError(
            "A shard can't be asked again: the sample is one of all answers, balanced over tests and conditions.",
            "Bring the shards together (collect merge), then leave out --shard.",
        )
    if request.pilot is not None:
        raise UsageError("--again is a balanced sample already: leave out --pilot.")
    if request.processes != 1:
        raise UsageError("Trials are asked again by one process: leave out --processes.")
