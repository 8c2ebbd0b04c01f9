"""Ask language models the trials of behavioural experiments and keep every answer. See `collect --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slant.collector.api import collect as collect
    from slant.collector.ask.call import Watcher as Watcher
    from slant.collector.errors import SlantError as SlantError
    from slant.collector.importing.imports import import_trials as import_trials
    from slant.collector.keep.database import showing as showing
    from slant.collector.keep.export import export_trials as export_trials
    from slant.collector.keep.lake import LakeReport as LakeReport
    from slant.collector.keep.lake import export_lake as export_lake
    from slant.collector.keep.merging import MergeReport as MergeReport
    from slant.collector.keep.merging import merge as merge
    from slant.collector.records import Registration as Registration
    from slant.collector.registration.canonical import read_registration as read_registration
    from slant.collector.registration.document import preregister as preregister
    from slant.collector.registration.document import write_registration as write_registration
    from slant.collector.run_report import BatchReport as BatchReport
    from slant.collector.run_report import DryRun as DryRun
    from slant.collector.run_report import RunReport as RunReport
    from slant.collector.studies.catalogue import load_study as load_study

_NAMES = {
    "api": ("collect",),
    "ask.watcher": ("Watcher",),
    "errors": ("SlantError",),
    "importing.imports": ("import_trials",),
    "keep.database": ("showing",),
    "keep.export": ("export_trials",),
    "keep.lake": ("export_lake", "LakeReport"),
    "keep.merging": ("merge", "MergeReport"),
    "records": ("Registration",),
    "registration.canonical": ("read_registration",),
    "registration.registering": ("preregister", "write_registration"),
    "run_report": ("BatchReport", "DryRun", "RunReport"),
    "studies.catalogue": ("load_study",),
}
_MODULE_OF = {name: f"slant.collector.{module}" for module, names in _NAMES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:  # loaded when asked for: `collect --help` must not wait for DuckDB and aiohttp
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'slant.collector' has no attribute {name!r}")
    from importlib import import_module

    from slant.collector.system.child_processes import garbage_left
    from slant.collector.system.operating_system import check_supported

    check_supported()
    with garbage_left():
        return getattr(import_module(_MODULE_OF[name]), name)
