"""Start the commands `analyze` and `slant`."""

from __future__ import annotations

from slant.collector.system.child_processes import collect_garbage_rarely, ensure_own_libpython
from slant.collector.system.quiet_start import be_quiet_when_interrupted


def analyze() -> None:
    ensure_own_libpython()
    be_quiet_when_interrupted()
    collect_garbage_rarely()
    from slant.analysis.cli.main import analyze as command

    command(prog_name="analyze")


def slant() -> None:
    ensure_own_libpython()
    be_quiet_when_interrupted()
    collect_garbage_rarely()
    from slant.analysis.cli.main import slant as command

    command(prog_name="slant")
