"""`python -m slant.collector` is `collect`."""

from slant.collector.cli import collect

collect(prog_name="collect")
