"""Write a study's trials for people (`collect timeline`)."""

from __future__ import annotations

import json
from pathlib import Path

import click

from slant.collector.commands.options import WholeNumber, db_option, seed_option, setting_option
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import load_study
from slant.collector.system.files import made_folder, real_file
from slant.collector.system.scratch import write_whole_file
from slant.collector.terminal import count_text, say

_EXAMPLES = """\b
Examples:
  collect timeline ./drinks/study.toml --out people
  collect timeline rmiat --trials 60 --consent "$(cat consent.txt)" --out people
"""


@click.command("timeline", epilog=_EXAMPLES)
@click.argument("study")
@click.option("--trials", "n_trials", type=WholeNumber(1), help="Trials per person, drawn evenly. Default: all.")
@click.option("--consent", metavar="TEXT", help="The text that people agree to before the first trial.")
@setting_option("variant")
@seed_option()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="FOLDER")
@db_option
def timeline_command(
    study: str, n_trials: int | None, consent: str | None, variant: str, seed: int | None, out: Path, db: Path
) -> None:
    """Write the trials or games of a study as a jsPsych timeline for people, with a page that runs it.

    STUDY is a name, a study file or its folder. The folder gets timeline.json, the trials as data, and index.html,
    which runs them in a browser with all that it needs in it (jsPsych, MIT licence) and saves a file of answers:
    `collect import --layout people` takes it as it is. Recruiting, consent and hosting stay yours.
    """
    from slant.collector.timeline.timeline import games_of, timeline_of, timeline_page

    loaded = load_study(study, variant, db)
    are_games = loaded.design.asks.asks_anyone and loaded.design.asks.has_turns(loaded)
    games = games_of(loaded, seed) if are_games else []
    if games and n_trials:
        raise UsageError("A game is always played to its end: --trials is only for studies with independent trials.")
    trials = [] if are_games else timeline_of(loaded, seed)
    written = {
        "timeline.json": json.dumps(games or trials, ensure_ascii=False, indent=1) + "\n",
        "index.html": timeline_page(loaded, trials, consent, n_trials, games),
    }
    try:
        made_folder(real_file(out))
        for name, text in written.items():
            write_whole_file(out / name, text.encode("utf-8"))
    except OSError as error:
        raise UsageError(f'Can\'t write to "{out}": {error.strerror}.', "Name another folder: --out FOLDER") from None
    each = f", of which each person gets {min(n_trials, len(trials)):,}" if n_trials else ""
    what = f"{count_text(len(games), 'game')}, of which each person plays one" if games else None
    say(f"{what or count_text(len(trials), 'trial') + each}: {out / 'index.html'} runs them in a browser.")
    if not consent:
        say("The page has a placeholder for the consent: set yours by --consent TEXT.")
    say(f"Next: collect import --study {study} --layout people --consent TEXT --origin TEXT {loaded.name}.json")
