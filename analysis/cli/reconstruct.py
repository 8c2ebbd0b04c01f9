"""`analyze reconstruct`: answers with the paper's printed counts, where its raw data are not public."""

from __future__ import annotations

import click

from slant.analysis.paper.reconstruction import reconstruction
from slant.collector.studies.catalogue import load_study
from slant.collector.terminal import format_option, print_rows, say

_EXAMPLES = """\b
Example:
  analyze reconstruct --study interference --format csv > paper.csv
  collect import --study interference --layout tidy --db paper.duckdb paper.csv
  analyze compare --study interference --db paper.duckdb
"""


@click.command(epilog=_EXAMPLES)
@click.option("--study", required=True, help="A study that ships a reconstruction: its name, or the path of its file.")
@format_option
def reconstruct(study: str, output_format: str) -> None:
    """Answers whose counts are the printed ones, for a paper whose raw data are not public.

    Where the counts decide a number, it comes out exactly; a posterior depends on which words failed, too, and that is
    not printed. No model gave these answers, and every row says so. They are in the layout that `collect import` takes.
    """
    its = load_study(study)
    print_rows(reconstruction(its), output_format)
    say(f'Made up from what "{its.name}" prints, not answers of any model. Keep them in a database of their own.')
