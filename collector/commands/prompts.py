"""Show a study before it is asked: its prompts (`collect prompts`), and its trials for people (`collect timeline`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from slant.collector.commands.options import FILE, WholeNumber, db_option, seed_option, setting_option
from slant.collector.errors import UsageError, as_typed
from slant.collector.plan.conversations import PlannedPrompt, one_model_a_frame, planned_prompts
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.files import made_folder, real_file
from slant.collector.system.scratch import whole_file, write_whole_file
from slant.collector.terminal import count_text, print_data, say

_FORMATS = ("text", "csv", "html")

_EXAMPLES = """\b
Examples:
  collect prompts rmiat
  collect prompts ./drinks/study.toml --all --format csv > prompts.csv
  collect prompts ./drinks/study.toml --all --out prompts.html
"""


@click.command("prompts", epilog=_EXAMPLES)
@click.argument("study")
@click.option("--all", "is_all", is_flag=True, help="Every prompt of the plan, in the order of sending.")
@click.option("--model", "models", multiple=True, help="Only the prompts of this model of the study. Repeatable.")
@setting_option("variant")
@seed_option()
@click.option(
    "--format", "output_format", type=click.Choice(_FORMATS), help="Default: text, or by the ending of --out."
)
@click.option("--out", type=FILE, metavar="FILE", help="Write them to this file (.txt, .csv or .html).")
@db_option
def prompts_command(
    study: str,
    is_all: bool,
    models: tuple[str, ...],
    variant: str,
    seed: int | None,
    output_format: str | None,
    out: Path | None,
    db: Path,
) -> None:
    """Print a study's prompts as they are sent; nothing is asked.

    STUDY is a name, a study file or its folder. Without --all one prompt of each test and condition is printed.
    Without --model: those of one model of each frame. Of a chain, each later turn follows, with {answer.QUESTION}
    where an answer will stand; of a game only the opening is printed.
    """
    kind = _format(output_format, out)
    loaded = load_study(study, variant, db)
    chosen = one_model_a_frame(loaded, models)
    found = planned_prompts(loaded, chosen, seed, one_a_cell=not is_all)
    if out is None:
        n = 0
        for part, counted in _written(loaded, found, kind):
            print_data(part, nl=False)
            n += counted
    else:
        n = _write(out, _written(loaded, found, kind))
    which = "all" if is_all else "one of each test and condition; --all prints all"
    frames = ", ".join(f"{model.frame} (as for {model.model})" for model in chosen if model.frame)
    say(f"{n:,} prompts: {which}.{f' Frames: {frames}.' if frames else ''}{_goes_on(loaded)}")


def _format(output_format: str | None, out: Path | None) -> str:
    if out is None:
        return output_format or "text"
    endings = {".txt": "text", ".csv": "csv", ".html": "html"}
    of_name = endings.get(out.suffix.lower())
    if of_name is None or output_format not in (None, of_name):
        raise UsageError(f'Can\'t write prompts to "{out}".', "Its name ends in .txt, .csv or .html, as the format is.")
    return of_name


def _goes_on(study: Study) -> str:
    if study.design.asks.plays_games:
        return " Each conversation continues after the answer."
    has_turns = study.design.asks.has_turns(study)
    return " Where a later turn shows an earlier answer, its placeholder stands." if has_turns else ""


def _written(study: Study, prompts: Iterator[PlannedPrompt], kind: str) -> Iterator[tuple[str, int]]:
    """Yield parts of the text, each with the number of prompts in it."""
    if kind == "html":
        yield _page(study, list(prompts))
        return
    for number, prompt in enumerate(prompts):
        yield _csv_row(prompt, is_first=number == 0) if kind == "csv" else _block(prompt), 1


def _block(prompt: PlannedPrompt) -> str:
    wording = "" if prompt.wording is None else f"wording {prompt.wording}"
    turn = f"turn {prompt.turn}{', afresh' if prompt.is_fresh else ''}" if prompt.turn > 1 else ""
    places = [prompt.model, prompt.frame, prompt.test, prompt.condition, prompt.item, wording, turn]
    return f"--- {' | '.join(filter(None, places))}\n{prompt.text}\n\n"


def _csv_row(prompt: PlannedPrompt, *, is_first: bool) -> str:
    import polars as pl

    names = ("model", "frame", "test", "condition", "item", "wording", "repetition", "position", "turn", "is_fresh")
    row = {name: getattr(prompt, name) for name in names} | {"prompt": prompt.text}
    return pl.DataFrame([row]).write_csv(include_header=is_first)


def _page(study: Study, prompts: list[PlannedPrompt]) -> tuple[str, int]:
    from markupsafe import Markup

    from slant.collector.system.shipped_files import page_style
    from slant.collector.templates import template_environment

    template = template_environment("slant.collector.commands", is_html=True).get_template("prompts.html.j2")
    page = template.render(
        title=study.title,
        version=study.version,
        variant=study.variant,
        about=f"{len(prompts):,} prompts.{_goes_on(study)}",
        style=Markup(page_style()),
        prompts=prompts,
    )
    return page, len(prompts)


def _write(out: Path, parts: Iterator[tuple[str, int]]) -> int:
    n = 0
    try:
        with whole_file(out) as (file, _):
            for part, counted in parts:
                file.write(part.encode("utf-8"))
                n += counted
    except OSError as error:
        raise UsageError(f'Can\'t write prompts to "{out}": {error.strerror}.', "Name another: --out FILE") from None
    return n


_TIMELINE_EXAMPLES = """\b
Examples:
  collect timeline ./drinks/study.toml --out people
  collect timeline rmiat --trials 60 --consent "$(cat consent.txt)" --out people
  collect timeline ./drinks/study.toml --serve --out people      answers arrive in people/answers
"""


@click.command("timeline", epilog=_TIMELINE_EXAMPLES)
@click.argument("study")
@click.option("--trials", "n_trials", type=WholeNumber(1), help="Trials per person, drawn evenly. Default: all.")
@click.option("--consent", metavar="TEXT", help="The text that people agree to before the first trial.")
@setting_option("variant")
@seed_option()
@click.option("--serve", "is_served", is_flag=True, help="Serve the page, and keep what each person sends.")
@click.option(
    "--host", metavar="ADDRESS", help="For --serve: an address that others reach. Default: this machine only."
)
@click.option("--port", type=WholeNumber(0, 65535), default=0, help="For --serve. Default: a free one.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="FOLDER")
@db_option
def timeline_command(
    study: str,
    n_trials: int | None,
    consent: str | None,
    variant: str,
    seed: int | None,
    is_served: bool,
    host: str | None,
    port: int,
    out: Path,
    db: Path,
) -> None:
    """Write the trials or games of a study as a jsPsych timeline for people, with a page that runs it.

    STUDY is a name, a study file or its folder. The folder gets timeline.json, the trials as data, and index.html,
    which runs them in a browser with all that it needs in it (jsPsych, MIT licence) and saves a file of answers:
    `collect import --layout people` takes it as it is. Recruiting, consent and hosting stay yours.

    With --serve the page is served until Ctrl-C, and answers arrive in FOLDER/answers, one file per person. Only those
    who have the printed address get in; with --host, put it behind a server that speaks HTTPS.
    """
    if (host or port) and not is_served:
        raise UsageError("--host and --port are only for a page that is served.", "Add --serve.")
    from slant.collector.timeline.timeline import games_of, timeline_of, timeline_page

    loaded = load_study(study, variant, db)
    are_games = loaded.design.asks.asks_anyone and loaded.design.asks.has_turns(loaded)
    games = games_of(loaded, seed) if are_games else []
    if games and n_trials:
        raise UsageError("A game is always played to its end: --trials is only for studies with independent trials.")
    trials = [] if are_games else timeline_of(loaded, seed)
    written = {
        "timeline.json": json.dumps(games or trials, ensure_ascii=False, indent=1) + "\n",
        "index.html": timeline_page(loaded, trials, consent, n_trials, games, is_served=is_served),
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
    files = f"{loaded.name}.json"
    if is_served:
        _serve(written["index.html"], loaded.name, made_folder(out / "answers"), host, port)
        files = str(out / "answers" / "*.json")
    say(f"Next: collect import --study {as_typed(study)} --layout people --consent TEXT --origin TEXT {files}")


def _serve(page: str, study: str, answers: Path, host: str | None, port: int) -> None:
    """Serve the page until Ctrl-C; what people send goes into `answers`."""
    import asyncio
    import contextlib

    from slant.collector.timeline.receiver import Receiver
    from slant.collector.view.server import HOST, LOCAL, listening_socket, new_token, serve

    token = new_token()
    listener = listening_socket(port, host or HOST)
    receiver = Receiver(
        page, study, answers, token, lambda n: say(f"{n:,} {'person' if n == 1 else 'people'}"), None if host else LOCAL
    )

    def ready() -> None:
        click.echo(f"http://{host or HOST}:{listener.getsockname()[1]}/{token}/")
        say(f"Answers arrive in {answers}. Ctrl-C ends it.")

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(receiver.application(), listener, ready))
