"""Print what a study sends, before anything is asked (`collect prompts`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from slant.collector.commands.options import FILE, db_option, seed_option, setting_option
from slant.collector.errors import UsageError
from slant.collector.plan.conversations import PlannedPrompt, one_model_a_frame, planned_prompts
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.scratch import whole_file
from slant.collector.terminal import print_data, say

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
    Without --model: those of one model of each frame. If a conversation goes on from the model's answer (a
    game), only its opening is printed.
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
    return " Each conversation continues after the answer." if study.design.asks.has_turns(study) else ""


def _written(study: Study, prompts: Iterator[PlannedPrompt], kind: str) -> Iterator[tuple[str, int]]:
    """Yield parts of the text, each with the number of prompts in it."""
    if kind == "html":
        yield _page(study, list(prompts))
        return
    for number, prompt in enumerate(prompts):
        yield _csv_row(prompt, is_first=number == 0) if kind == "csv" else _block(prompt), 1


def _block(prompt: PlannedPrompt) -> str:
    wording = "" if prompt.wording is None else f"wording {prompt.wording}"
    places = [prompt.model, prompt.frame, prompt.test, prompt.condition, prompt.item, wording]
    return f"--- {' | '.join(filter(None, places))}\n{prompt.text}\n\n"


def _csv_row(prompt: PlannedPrompt, *, is_first: bool) -> str:
    import polars as pl

    names = ("model", "frame", "test", "condition", "item", "wording", "repetition", "position")
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
