"""`collect --until-width`: what is said of the rule before anybody is asked, and how it ended."""

from __future__ import annotations

from typing import Any

from slant.collector.commands.confirmation import show_first_prompt
from slant.collector.cost.quote import quote_rows, quotes, sentences, short_rows
from slant.collector.plan.run_plan import RunPlan
from slant.collector.run.until_width import Precision, begin_precision
from slant.collector.stopping.looks import look_sentence
from slant.collector.terminal import print_rows, say


def show_stopping(run_plan: RunPlan, concurrency: int, output_format: str, *, is_dry_run: bool) -> RunPlan | None:
    """Say the rule, and what is the least and the most that will be asked; the most, as a run plan. None where nothing
    is left to do: all models have ended, or it is a dry run."""
    precision = begin_precision(run_plan, loads=not is_dry_run)
    say(precision.rule.sentences(precision.outcome))
    for sentence in precision.other_rules() if is_dry_run else ():  # a run says it itself
        say(sentence)
    for made in precision.looks.values():
        if made and precision.next_look(made[-1].model) is None:
            say(look_sentence(made[-1], precision.rule))
    going = precision.going()
    if is_dry_run:
        _show_quotes(precision, going, concurrency, output_format)
        return None
    if run_plan.model_plans and not going.model_plans:
        say(f"Nothing to ask: {'all models have' if run_plan.model_plans[1:] else 'the model has'} ended by this rule.")
        return None
    for least in precision.until_next_look():
        names = ", ".join(model_plan.model.model for model_plan in least.model_plans)
        say(f"{names}: {least.pending:,} trials until the next look, after {least.repetitions} repetitions.")
    return going


def _show_quotes(precision: Precision, going: RunPlan, concurrency: int, output_format: str) -> None:
    """What would be asked before anything can end, and all that may be asked; then the first prompt."""
    rows: list[dict[str, Any]] = []
    for_person = output_format == "table"
    for name, run_plans in (("least", precision.until_next_look()), ("most", [going])):
        for run_plan in run_plans:
            quoted = quotes(run_plan, concurrency)
            of_offer = short_rows(quoted) if for_person else quote_rows(quoted)
            rows += [{"asked": name, "repetitions": run_plan.repetitions} | row for row in of_offer]
    print_rows(rows, output_format)
    for sentence in sentences(quotes(going, concurrency)):
        say(f"At most: {sentence}")
    show_first_prompt(going)
