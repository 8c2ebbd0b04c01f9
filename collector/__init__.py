"""Ask language models the trials of behavioural experiments and keep every answer. See `collect --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slant.collector.system.public_names import on_demand

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

__all__, __getattr__ = on_demand(__name__, __file__)
