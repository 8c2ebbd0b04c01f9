"""`python -m collector` is `collect`."""

from collector.cli import collect

collect(prog_name="collect")
