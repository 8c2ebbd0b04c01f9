"""Asks language models the trials of behavioural experiments and keeps every answer. See `collect --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collector.api import Options, RunReport, Watcher, collect
    from collector.batch.api import collect_batch
    from collector.batch.report import BatchOptions, BatchReport
    from collector.export import export_trials
    from collector.importing.imports import import_trials

__all__ = [
    "BatchOptions",
    "BatchReport",
    "Options",
    "RunReport",
    "Watcher",
    "collect",
    "collect_batch",
    "export_trials",
    "import_trials",
]

_HOME = {
    "collect": "collector.api",
    "Options": "collector.api",
    "RunReport": "collector.api",
    "Watcher": "collector.api",
    "collect_batch": "collector.batch.api",
    "BatchOptions": "collector.batch.report",
    "BatchReport": "collector.batch.report",
    "import_trials": "collector.importing.imports",
    "export_trials": "collector.export",
}


def __getattr__(name: str) -> Any:  # loaded when asked for: `collect --help` must not wait for DuckDB and aiohttp
    if name not in _HOME:
        raise AttributeError(f"module 'collector' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
