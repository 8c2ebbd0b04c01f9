"""Read stored responses as the current slant understands them, without asking any model (`collect reread`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import db_option, output_options, provider_file_option
from slant.collector.terminal import count_text, print_rows, say

_EXAMPLES = """\b
Examples:
  collect reread --db slant.duckdb
  collect reread --db slant.duckdb --format csv

slant stores every response complete, so that a new version can correct what an older one could not know: a finish
reason, an error of a filter, a count. This queries no model and loses nothing: the journal keeps the first reading.
If a response turns out not to be an answer, its trial is pending again, and the next `collect` asks it. Games stay as
they were read.
"""


@click.command("reread", epilog=_EXAMPLES)
@provider_file_option
@db_option
@output_options
def reread_command(db: Path, output_format: str) -> None:
    """Read all kept responses once more, as this version of slant understands them; no model is asked."""
    from slant.collector.ask.reading_again import read_again
    from slant.collector.commands.token_counts import counter

    report = read_again(db, on_progress=counter("responses"))
    rows = [{"before": old, "now": new, "attempts": n} for (old, new), n in sorted(report.outcomes.items()) if n]
    if rows:
        print_rows(rows, output_format)
    summary = f"{count_text(report.read, 'response')} read again, {report.changed:,} differently than before."
    say(summary if rows or report.changed else f"{summary} Nothing has changed.")
    if report.not_read:
        say(f"{report.not_read:,} are unchanged: their provider, or the text of their study, is unknown here.")
    if any(new == "failed" for _, new in report.outcomes):
        say("The next collect repeats trials that now have no answer.")
