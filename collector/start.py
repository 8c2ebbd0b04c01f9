"""Start the command `collect`."""

from __future__ import annotations

from slant.collector.system.child_processes import collect_garbage_rarely, ensure_own_libpython
from slant.collector.system.late_imports import import_late
from slant.collector.system.quiet_start import be_quiet_when_interrupted


def collect() -> None:
    ensure_own_libpython()
    be_quiet_when_interrupted()
    collect_garbage_rarely()
    import_late("polars")  # takes .1 s; planning needs none of it
    from slant.collector.cli import collect as command

    command(prog_name="collect")
