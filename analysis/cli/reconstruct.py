"""Make answers with the paper's printed counts, if its raw data are not public (`analyze reconstruct`)."""

from __future__ import annotations

import click

from slant.analysis.paper.reconstruction import reconstruct_answers
from slant.collector.commands.options import output_options, study_option
from slant.collector.studies.catalogue import load_study
from slant.collector.terminal import print_rows, say

_EXAMPLES = """\b
Example:
  analyze reconstruct --study interference --format csv > paper.csv
  collect import --study interference --layout tidy --db paper.duckdb paper.csv
  analyze compare --study interference --db paper.duckdb
"""


@click.command("reconstruct", epilog=_EXAMPLES)
@study_option("It must come with a reconstruction.", required=True)
@output_options
def reconstruct_command(study: str, output_format: str) -> None:
    """Make answers with the printed counts, for a paper whose raw data are not public.

    A number that the counts decide comes out exactly; a posterior also depends on which words failed, which is not
    printed. No model gave these answers, and every row says so. `collect import` reads them (layout tidy).
    """
    loaded = load_study(study)
    print_rows(reconstruct_answers(loaded), output_format)
    say(f'Made up from what "{loaded.name}" prints, not answers of any model. Keep them in a separate database.')
