"""`collect` and `analyze` as a person types them, in this process, which has loaded R and DuckDB already."""

from __future__ import annotations

from click.testing import CliRunner, Result

from slant.collector.cli import collect


def run_collect(*words: object) -> Result:
    return CliRunner().invoke(collect, [str(word) for word in words], catch_exceptions=False)


def run_analyze(*words: object) -> Result:
    from slant.analysis.cli.main import analyze  # which tests of the collector alone need not load

    return CliRunner().invoke(analyze, [str(word) for word in words], catch_exceptions=False)
