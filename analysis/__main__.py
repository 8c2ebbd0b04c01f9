"""`python -m analysis` is `analyze`."""

from analysis.cli import analyze

analyze(prog_name="analyze")
