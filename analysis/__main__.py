"""`python -m slant.analysis` is `analyze`."""

from slant.analysis.cli import analyze

analyze(prog_name="analyze")
