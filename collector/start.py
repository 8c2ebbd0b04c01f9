"""Start the command `collect`."""

from __future__ import annotations

from slant.collector.system.quiet_start import be_quiet_when_interrupted


def collect() -> None:
    be_quiet_when_interrupted()
    from slant.collector.cli import collect as command

    command(prog_name="collect")
