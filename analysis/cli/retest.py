"""Compare later occasions with the first (`analyze retest`)."""

from __future__ import annotations

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.example_models import EXAMPLE_MODEL

EXAMPLES = f"""\b
Examples:
  collect --study rmiat --model {EXAMPLE_MODEL} --again 200
  analyze retest --study rmiat
  analyze retest --study rmiat --by test --format csv > retest.csv
  analyze retest --study rmiat --figure retest.svg
"""
_SHOWN = (
    "source", "study_version", "variant", "model", "occasion", "test", "measure", "n_answers", "share_equal", "kappa",
    "n", "icc", "icc_low", "icc_high", "icc_residual", "shift", "shift_low", "shift_high", "p_value",
)  # fmt: skip


_BY = option("--by", of=("model", "test"), default="model", help="Pool all tests of a model, or report each test.")


@result_command("retest", epilog=EXAMPLES, options=[_BY], figure="all tests together", refit=True)
def retest_command(asked: Asked, by: str) -> Answer:
    """Compare trials that were asked again (`collect --again`) with their first answers: is it the same tomorrow?

    For each later occasion there are the share of equal answers and Cohen's kappa, the intraclass correlation of the
    measure (of all trials, and of how those of one test and condition differ: icc_residual), and its shift with a
    paired t
    test. When each occasion was, and which model answered, is in the table retest_occasions.
    """
    import polars as pl

    from slant.analysis.questions.retests import retest
    from slant.analysis.rows.cells import GRAIN

    result = asked.compute(retest)
    together = result.table.filter(pl.col("test").is_null())
    rows = together if by == "model" else result.table.filter(pl.col("test").is_not_null())
    same = [name for name in (*GRAIN, "measure", "test") if rows[name].n_unique() == 1]
    return Answer(rows, [name for name in _SHOWN if name not in same], figure=("plot_retest", together))
