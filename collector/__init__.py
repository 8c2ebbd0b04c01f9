"""Ask language models the trials of behavioural experiments and keep every answer. See `collect --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slant.collector.api import collect
    from slant.collector.ask.watcher import Watcher
    from slant.collector.errors import SlantError
    from slant.collector.importing.imports import import_trials
    from slant.collector.keep.database import showing
    from slant.collector.keep.export import export_trials
    from slant.collector.keep.lake import LakeReport, export_lake
    from slant.collector.keep.merging import MergeReport, merge
    from slant.collector.records import Registration
    from slant.collector.registration.canonical import read_registration
    from slant.collector.registration.registering import preregister, write_registration
    from slant.collector.run_report import BatchReport, DryRun, RunReport
    from slant.collector.studies.catalogue import load_study

__all__ = [
    "BatchReport",
    "DryRun",
    "LakeReport",
    "MergeReport",
    "Registration",
    "RunReport",
    "SlantError",
    "Watcher",
    "collect",
    "export_lake",
    "export_trials",
    "import_trials",
    "load_study",
    "merge",
    "preregister",
    "read_registration",
    "showing",
    "write_registration",
]

_HOME = {
    "collect": "slant.collector.api",
    "RunReport": "slant.collector.run_report",
    "SlantError": "slant.collector.errors",
    "Watcher": "slant.collector.api",
    "BatchReport": "slant.collector.run_report",
    "DryRun": "slant.collector.run_report",
    "import_trials": "slant.collector.importing.imports",
    "export_trials": "slant.collector.keep.export",
    "export_lake": "slant.collector.keep.lake",
    "LakeReport": "slant.collector.keep.lake",
    "merge": "slant.collector.keep.merging",
    "MergeReport": "slant.collector.keep.merging",
    "load_study": "slant.collector.studies.catalogue",
    "Registration": "slant.collector.records",
    "preregister": "slant.collector.registration.registering",
    "read_registration": "slant.collector.registration.canonical",
    "write_registration": "slant.collector.registration.registering",
    "showing": "slant.collector.keep.database",
}


def __getattr__(name: str) -> Any:  # loaded when asked for: `collect --help` must not wait for DuckDB and aiohttp
    if name not in _HOME:
        raise AttributeError(f"module 'slant.collector' has no attribute {name!r}")
    from importlib import import_module

    from slant.collector.system.garbage import garbage_left
    from slant.collector.system.operating_system import check_supported

    check_supported()
    with garbage_left():
        return getattr(import_module(_HOME[name]), name)
