"""`collect check` and `collect recount`: what a model's token count is worth, and a second count of our own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slant.collector.terminal import db_option, format_option, print_rows, say

if TYPE_CHECKING:
    from slant.collector.checks.check import Check

_EXAMPLES = """\b
Examples:
  collect check openai/o3-mini
  collect check claude-3.7-sonnet --study rmiat --yes
  collect check local/qwen3-8b --base-url http://localhost:8080/v1

The verdict is kept in the database: a run of an unchecked model, or of one that failed, says so, and so do its tables
(view model_checks). Check again when the provider changes something. About thirty short requests.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("model")
@click.option("--study", help="Take this study's settings for the model (thinking budget, effort …).")
@click.option("--base-url", help="The address of a server of your own, for local/NAME.")
@click.option("--seed", type=int, default=1, show_default=True, help="Decides the order of the questions.")
@click.option("--time-limit", type=float, default=600.0, show_default=True, help="Seconds for one answer.")
@click.option("--yes", is_flag=True, help="Agree to requests that cost money.")
@db_option
@format_option
def check(
    model: str, study: str | None, base_url: str | None, seed: int, time_limit: float, yes: bool, db: Path,
    output_format: str,
) -> None:  # fmt: skip
    """Ask MODEL questions of known difficulty: does its reasoning count exist, move, come in steps, add up?

    MODEL is PROVIDER/NAME, or the name of a model of --study.
    """
    from slant.collector.checks.check import check_model, checked_provider
    from slant.collector.checks.questions import questions

    chosen = _model(model, study)
    provider = checked_provider(chosen, base_url)
    if provider.costs_money and not yes and sys.stdin.isatty():
        count = len(questions(provider.dialect, seed))
        yes = click.confirm(f"Send {count} paid requests to {provider.name}/{chosen.requested_model}?", err=True)
        if not yes:
            sys.exit(1)
    found = check_model(
        chosen, db, base_url=base_url, seed=seed, time_limit_s=time_limit, yes=yes, on_answer=_tell_progress
    )
    print_rows(_rows(found), output_format)
    _tell_verdict(found)


def _model(name: str, study: str | None) -> Any:
    from slant.collector.errors import UsageError
    from slant.collector.studies.catalogue import StudyModel, load_study

    if study is not None:
        return load_study(study).model(name)
    provider, slash, requested = name.partition("/")
    if not provider or not slash or not requested:
        raise UsageError(f'A model is written PROVIDER/NAME, as in openai/o3-mini, but this is "{name}".',
                         "The name of a model of a study needs the study: --study rmiat")  # fmt: skip
    return StudyModel(name, name, provider, requested, "")


def _rows(found: Check) -> list[dict[str, str]]:
    its = found.facts
    shown: list[tuple[str, Any]] = [
        ("model that answered", ", ".join(its.served_models) or "does not say"),
        ("questions answered", f"{its.n_answered} of {its.n_asked}, {its.n_right} of them right"),
        ("count", f"{its.counted} tokens, in {its.n_counted} answers" if its.counted else "none"),
        ("moves with difficulty", _number(its.difficulty_correlation, "rank correlation {:.2f}")),
        ("step", _number(its.step, "{:d}")),
        ("share of zeros", _number(its.zero_share, "{:.0%}")),
        ("output = reasoning + answer", _number(its.sum_share, "in {:.0%} of the answers")),
        ("reasoning can be read", _number(its.readable_share, "in {:.0%} of the answers")),
        ("temperature", its.temperature),
        ("effort", its.effort),
        ("seed", its.seed),
        ("verdict", found.verdict),
    ]
    return [{"what": what, "found": value} for what, value in shown]


def _number(value: float | None, how: str) -> str:
    return "can't be told" if value is None else how.format(value)


def _tell_progress(done: int, all_of_them: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {all_of_them} answers", nl=done == all_of_them, err=True)


def _tell_verdict(found: Check) -> None:
    name = f"{found.provider}/{found.requested_model}"
    verdicts = {
        "ok": "its token count can be a dependent variable.",
        "usable with care": "usable with care as a dependent variable.",
        "not usable": "not usable as a dependent variable.",
    }
    say(f"{name}: {verdicts[found.verdict]}")
    for reason in found.reasons:
        say(f"  {reason}")


_RECOUNT_EXAMPLES = """\b
Examples:
  collect recount --base-url http://localhost:8080/v1
  collect recount --model deepseek/deepseek-reasoner --tokenizer tiktoken:o200k_base
  analyze tables tokens_by_condition --measure recounted

The server's own tokenizer (llama.cpp, llama-cpp-python, vLLM) is exact; the server must run the model that answered.
tiktoken is another's vocabulary, needs `pip install tiktoken`, and fetches the vocabulary at first use (this
was not tested with its download). Only new counts are made; answers are never changed.
"""


@click.command(epilog=_RECOUNT_EXAMPLES)
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Only this model; may be given again.")
@click.option("--tokenizer", default="server", show_default=True, help="server, or tiktoken:NAME.")
@click.option("--base-url", help="The address of the server that ran the model.")
@db_option
@format_option
def recount(models: tuple[str, ...], tokenizer: str, base_url: str | None, db: Path, output_format: str) -> None:
    """Count readable reasoning again and keep the count beside the provider's own."""
    from dataclasses import asdict

    from slant.collector.checks.recount import recount as count_again

    rows = count_again(db, models, tokenizer=tokenizer, base_url=base_url, on_progress=_tell_texts)
    if not rows:
        say("Nothing to count: no answer has readable reasoning that was not counted yet.")
        return
    print_rows([asdict(row) for row in rows], output_format)
    for row in rows:
        if row.reason:
            say(f"{row.provider}/{row.requested_model}: {row.reason}.")
    if any(row.reason for row in rows):
        sys.exit(1)


def _tell_texts(done: int, all_of_them: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{done:,} of {all_of_them:,} texts", nl=done == all_of_them, err=True)
