"""`collect` and `analyze` as a person types them, in this process, which has loaded R and DuckDB already."""

from __future__ import annotations

from click.testing import CliRunner, Result

from slant.collector.cli import collect


def run_collect(*words: object, code: int | None = None) -> Result:
    """What the command says, whose exit code must be this one, if one is given."""
    result = CliRunner().invoke(collect, [str(word) for word in words], catch_exceptions=False)
    assert code in (None, result.exit_code), result.output
    return result


def run_analyze(*words: object) -> Result:
    from slant.analysis.cli.main import analyze  # which tests of the collector alone need not load

    return CliRunner().invoke(analyze, [str(word) for word in words], catch_exceptions=False)
