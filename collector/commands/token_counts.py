"""Check what a model's token count is worth, count again, and read stored responses again (`collect check-model`,
`collect recount`, `collect reread`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slant.collector.commands import options
from slant.collector.errors import UsageError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import count_text, print_rows, say

if TYPE_CHECKING:
    from slant.collector.model_checks.check import Check


_EXAMPLES = f"""\b
Examples:
  collect check-model {EXAMPLE_MODEL}
  collect check-model qwen3-8b --study rmiat --base-url http://localhost:8080/v1
  collect check-model local/qwen3-8b --base-url http://localhost:8080/v1

The database stores the verdict: runs and tables of a model that is unchecked or failed say so (view model_checks).
Repeat the check when the provider changes something. About thirty short requests.
"""
_VERDICTS = {
    "ok": "its token count can be a dependent variable.",
    "usable with care": "usable with care as a dependent variable.",
    "not usable": "not usable as a dependent variable.",
}


@click.command("check-model", epilog=_EXAMPLES)
@click.argument("model")
@click.option("--study", help=f"Use the model's settings (thinking budget, effort …) from a study. {options.STUDY}")
@options.base_url_option
@options.provider_file_option
@options.seed_option(default=1)
@options.time_limit_option
@options.setting_option(
    "concurrency", default=4, help="Requests in flight. Use 1 for a server that answers one at a time."
)
@options.yes_option
@options.db_option
@options.output_options
def check_model_command(
    model: str,
    study: str | None,
    base_url: str | None,
    seed: int,
    time_limit: float,
    concurrency: int,
    yes: bool,
    db: Path,
    output_format: str,
) -> None:
    """Ask MODEL about thirty questions of known difficulty, to learn what its reasoning count is worth.

    Is there a count, does it grow with difficulty, does it come in steps, do reasoning and answer add up to the output?
    What do the answers report about themselves (finish reason, effort, service tier), which fields does slant read
    differently than the provider documents them, and when will the model be gone?
    MODEL is PROVIDER/NAME, or the name of a model of --study.
    """
    from slant.collector.model_checks.check import check_model, check_questions, checked_provider, needs_consent

    chosen = _model(model, study)
    provider = checked_provider(chosen, base_url)
    if needs_consent(provider) and not yes and sys.stdin.isatty():
        count = len(check_questions(provider.dialect, seed))
        key = f", with the key in {provider.key_variable}, to {provider.address()}" if provider.is_own else ""
        paid = "paid requests" if provider.costs_money else "requests"
        yes = click.confirm(f"Send {count} {paid} to {provider.name}/{chosen.requested_model}{key}?", err=True)
        if not yes:
            sys.exit(1)
    result = check_model(
        chosen,
        db,
        base_url=base_url,
        seed=seed,
        time_limit_s=time_limit,
        concurrency=concurrency,
        yes=yes,
        on_answer=counter("answers"),
    )
    print_rows(_rows(result), output_format)
    say(f"{result.provider}/{result.requested_model}: {_VERDICTS[result.verdict]}")
    for reason in result.reasons:
        say(f"  {reason}")


def _model(name: str, study: str | None) -> Any:
    from slant.collector.studies.catalogue import StudyModel, load_study

    if study is not None:
        return load_study(study).model(name)
    provider, slash, requested = name.partition("/")
    if not provider or not slash or not requested:
        raise UsageError(
            f'A model is written PROVIDER/NAME, as in {EXAMPLE_MODEL}, but this is "{name}".',
            "The name of a model of a study needs the study: --study rmiat",
        )
    return StudyModel(name, name, provider, requested, "")


def _rows(check: Check) -> list[dict[str, str]]:
    facts = check.facts
    shown: list[tuple[str, Any]] = [
        ("model that answered", ", ".join(facts.served_models) or "does not say"),
        ("questions answered", f"{facts.n_answered} of {facts.n_asked}, {facts.n_right} of them right"),
        ("count", f"{facts.counted} tokens, in {facts.n_counted} answers" if facts.counted else "none"),
        ("moves with difficulty", _number(facts.difficulty_correlation, "rank correlation {:.2f}")),
        ("step", _number(facts.step, "{:d}")),
        ("share of zeros", _number(facts.zero_share, "{:.0%}")),
        ("output = reasoning + answer", _number(facts.sum_share, "in {:.0%} of the answers")),
        ("reasoning can be read", _number(facts.readable_share, "in {:.0%} of the answers")),
        ("temperature", facts.temperature),
        ("effort", facts.effort),
        ("seed", facts.seed),
        *check.responses,
        ("verdict", check.verdict),
    ]
    return [{"what": what, "found": value} for what, value in shown]


def _number(value: float | None, how: str) -> str:
    return "not known" if value is None else how.format(value)


def counter(what: str) -> Callable[[int, int], None]:
    """Count what is done: on a terminal each item, elsewhere a line every ten seconds."""
    from slant.collector.progress import bar

    shown_at = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown_at
        if sys.stderr.isatty():
            click.echo(f"\r{done:,} of {total:,} {what}", nl=done == total, err=True)
        elif done < total and (done == 0 or time.monotonic() - shown_at >= bar.LINE_EVERY_S):
            shown_at = time.monotonic()
            say(f"{done:,} of {total:,} {what}")

    return show


_RECOUNT_EXAMPLES = """\b
Examples:
  collect recount --base-url http://localhost:8080/v1
  collect recount --model local/gpt-oss-20b --tokenizer tiktoken:o200k_base
  analyze tables tokens_by_condition --measure recounted

The server's own tokenizer (llama.cpp, llama-cpp-python, vLLM) is exact; the server must run the model that answered.
tiktoken has OpenAI's vocabularies: it needs `pip install tiktoken`, and downloads a vocabulary at first use (the
download was not tested). What was counted before is not counted again, and answers are never changed.
"""


@click.command("recount", epilog=_RECOUNT_EXAMPLES)
@click.option("--model", "models", multiple=True, metavar="MODEL", help="Only answers of this model. Repeatable.")
@click.option("--tokenizer", default="server", show_default=True, help="server, or tiktoken:NAME.")
@options.base_url_option
@options.provider_file_option
@options.db_option
@options.output_options
def recount_command(
    models: tuple[str, ...], tokenizer: str, base_url: str | None, db: Path, output_format: str
) -> None:
    """Count readable reasoning again and keep the count next to the provider's own."""
    from dataclasses import asdict

    from slant.collector.model_checks.recount import recount_reasoning, summary_notes

    rows = recount_reasoning(db, models, tokenizer=tokenizer, base_url=base_url, on_progress=counter("texts"))
    for note in summary_notes(db, models):
        say(note)
    if not rows:
        say("Nothing to count: every answer with readable reasoning already has a count.")
        return
    print_rows([asdict(row) for row in rows], output_format)
    for row in rows:
        if row.reason:
            say(f"{row.provider}/{row.requested_model}: {row.reason}.")
    if any(row.reason for row in rows):
        sys.exit(1)


_EXAMPLES_OF_REREAD = """\b
Examples:
  collect reread --db slant.duckdb
  collect reread --db slant.duckdb --study ./drinks/study.toml      after an edit of how answers are read
  collect reread --db slant.duckdb --study notes --measure warmth=warmth.py

slant stores every response complete, so that a new version can correct what an older one could not know: a finish
reason, an error of a filter, a count. This queries no model and loses nothing: the journal keeps the first reading.
If a response turns out not to be an answer, its trial is pending again, and the next `collect` asks it. Games stay as
they were read.
"""


@click.command("reread", epilog=_EXAMPLES_OF_REREAD)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME=FILE",
    help="Measure answers of --study by the function NAME of your Python file or R script. Repeatable.",
)
@click.option("--of", metavar="QUESTION", help="With --measure: the question. Default: the only one with a text.")
@options.study_option("Read its answers as its file says now; with --measure: measure them.")
@options.provider_file_option
@options.db_option
@options.output_options
def reread_command(db: Path, output_format: str, measures: tuple[str, ...], of: str | None, study: str | None) -> None:
    """Read all kept responses once more, as this version of slant understands them; no model is asked.

    With --study FILE, its answers are read as the edited file says now: another kind of question, another form, other
    labels of a scale. Prompts must be as they were.

    A measure is a question of its own in tables and fits. Its function gets an answer as a text, and gives a number.
    """
    from slant.collector.ask.reading_again import measure_answers, read_again, read_by
    from slant.collector.reading.text_measures import typed_function
    from slant.collector.studies.catalogue import load_study

    named = [measure.partition("=") for measure in measures]
    if (measures and not study) or (of and not measures) or not all(name and file for name, _, file in named):
        raise UsageError("--measure takes NAME=FILE, with --study.", "As in: --study notes --measure warmth=warmth.py")
    if study and measures:
        functions = {name: typed_function(Path(file), name) for name, _, file in named}
        n = measure_answers(db, load_study(study, db=db), functions, of)
        say(f"{count_text(n, 'answer')} measured: {', '.join(functions)}. To see them: analyze tables --study {study}")
        return
    if study:
        report = read_by(db, load_study(study, db=db), on_progress=counter("answers"))
    else:
        report = read_again(db, on_progress=counter("responses"))
    rows = [{"before": old, "now": new, "attempts": n} for (old, new), n in sorted(report.outcomes.items()) if n]
    if rows:
        print_rows(rows, output_format)
    what = "answer" if study else "response"
    summary = f"{count_text(report.read, what)} read again, {report.changed:,} differently than before."
    say(summary if rows or report.changed else f"{summary} Nothing has changed.")
    if report.not_read:
        why = (
            "the study no longer plans them" if study else "their provider, or the text of their study, is unknown here"
        )
        say(f"{report.not_read:,} are unchanged: {why}.")
    if any(new == "failed" for _, new in report.outcomes):
        say("The next collect repeats trials that now have no answer.")
