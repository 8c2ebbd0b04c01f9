"""Judge the answers of a check: whether the count exists, moves, comes in steps, and which parameters act.

These lead to a verdict:
  ok                 the count can be a dependent variable
  usable with care   it can, but the reasons belong in the paper
  not usable         the count is absent, stays the same whatever is asked, or is mostly zero
It uses no network, no clock and no database.

Warn of models whose token count was never checked or failed its check: before a run, and under its tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, fmean
from typing import TYPE_CHECKING, Literal

from slant.collector.ask.run_warnings import pile, unread_notes
from slant.collector.batch.submit import mixed_notes
from slant.collector.check_facts import CheckFacts
from slant.collector.errors import DatabaseError, OlderDatabaseError
from slant.collector.keep.database import fetched, reading
from slant.collector.providers.lifecycles import lifecycle_of
from slant.collector.screen_tables import in_one_line
from slant.collector.studies.catalogue import list_studies, load_study
from slant.collector.system.shipped_files import sql_query

if TYPE_CHECKING:
    from slant.collector.plan.run_plan import ModelPlan, RunPlan

Verdicts = dict[tuple[str, str, str], tuple[str, str]]


def run_notes(run_plan: RunPlan, *, wants_logprobs: bool) -> list[str]:
    """Return the notes on a run's models before it starts. Never raises: a note must not stop a run."""
    real = [model_plan for model_plan in run_plan.model_plans if model_plan.provider.name != "simulated"]
    verdicts = _verdicts(run_plan.db) if run_plan.study.design.analyses.counts_tokens else None
    notes = [_note(run_plan, model_plan, verdicts) for model_plan in real] if verdicts is not None else []
    if wants_logprobs:
        notes += [
            f"{model_plan.name}: {model_plan.provider.name} gives no log-probabilities; it is asked without."
            for model_plan in run_plan.model_plans
            if model_plan.provider.logprobs is None
        ]
    if any(model_plan.model.structured_output for model_plan in run_plan.model_plans):
        notes.append(
            "Providers enforce the shape of the answers: malformed ones can't come, so compliance is another thing "
            "here than where JSON is asked for in words."
        )
    notes += [note for model_plan in real if model_plan.pending and (note := _end_note(model_plan))]
    return [note for note in (run_plan.study.note or None, *notes) if note]


def _end_note(model_plan: ModelPlan) -> str | None:
    """Say that a model is gone, or when it will be, before anything is paid for it."""
    known = lifecycle_of(model_plan.provider.name, model_plan.model.requested_model)
    return None if known is None else known.sentence(model_plan.address)


def table_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return the notes below tables of collected answers on their models; nothing in a database without checks."""
    query = (
        "SELECT DISTINCT study, model, provider, requested_model, check_verdict, reasons FROM model_checks ORDER BY ALL"
    )
    try:
        with reading(db) as connection:
            rows = connection.execute(query).fetchall()
            # the file of a custom game, which says its design, may not be here
            games = connection.execute("SELECT DISTINCT study FROM attempts WHERE game IS NOT NULL").fetchall()
    except OlderDatabaseError:
        return []
    return [
        f"{model} {_verdict_sentence(verdict, reasons or '', f'{provider}/{requested}')}"
        for of_study, model, provider, requested, verdict, reasons in rows
        if verdict in ("unchecked", "not usable")
        and study in (None, of_study)
        and (of_study,) not in games
        and _analyses_tokens(of_study)
    ] + [*mixed_notes(db, study), *_unread_notes(db, study)]


def _unread_notes(db: str | Path, study: str | None) -> list[str]:
    """Return a sentence for each model that left questions of answered trials unread."""
    rows = fetched(db, sql_query("questions_of_trials"), {"study": study})
    counts: dict[tuple[str, str], dict[tuple[int, int], int]] = {}
    for of_study, name, n_questions, n_unread, n in rows:
        counts.setdefault((of_study, name), {})[n_questions, n_unread] = n
    return [note for (_, name), unread in counts.items() for note in unread_notes(name, unread)]


def _analyses_tokens(study: str) -> bool:
    """Return False for a known study that is not about tokens: what a count is worth does not matter there."""
    return study not in list_studies() or load_study(study).design.analyses.counts_tokens


def _note(run_plan: RunPlan, model_plan: ModelPlan, verdicts: Verdicts) -> str | None:
    model = model_plan.model
    verdict, reasons = verdicts.get(
        (model_plan.provider.name, model.requested_model, model.settings_text), ("unchecked", "")
    )
    if verdict not in ("unchecked", "not usable"):
        return None
    study = f" --study {run_plan.study.name}" if model.settings else ""
    is_own = model_plan.provider.key_variable is None and model_plan.base_url
    server = f" --base-url {model_plan.base_url}" if is_own and model_plan.provider.name != "simulated" else ""
    return f"{model.model} {_verdict_sentence(verdict, reasons, f'{model_plan.address}{study}{server}')}"


def _verdict_sentence(verdict: str, reasons: str, name: str) -> str:
    if verdict == "unchecked":
        return f"is unchecked: nobody knows yet what its token count is worth. To find out: collect check-model {name}"
    return f"failed its check: its token count is not usable as a dependent variable ({reasons})."


def _verdicts(db: Path) -> Verdicts | None:
    """Return the latest verdict by provider, name and settings; None if the database can't be read now."""
    query = "SELECT provider, requested_model, settings, verdict, coalesce(reasons, '') FROM checks ORDER BY checked_at"
    if not db.exists():
        return {}
    try:
        rows = fetched(db, query, patience_s=1.0)
    except OlderDatabaseError:
        return {}
    except DatabaseError:
        return None
    return {(provider, name, settings): (verdict, reasons) for provider, name, settings, verdict, reasons in rows}


SPECIAL_TOKENS = 16  # of an answer besides its text: markers of its beginning and end
EFFORT_ACTS_FROM = 1.25  # much effort by little


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """Hold one question of a check and its result; `rejected` is the provider's sentence if it refused the question."""

    purpose: str
    difficulty: int | None = None
    expected: str | None = None
    answer: str | None = None
    reasoning_tokens: int | None = None
    output_tokens: int | None = None
    is_readable: bool = False
    served_model: str | None = None
    effective_temperature: float | None = None
    rejected: str | None = None
    failed: str | None = None

    @property
    def is_right(self) -> bool:
        digits = "".join(c for c in (self.answer or "") if c.isdigit() or c == "-")
        return self.answer is not None and digits == self.expected


def facts(answers: Sequence[Answered]) -> CheckFacts:
    """Return the facts in the answers to the calibration questions and the probes."""
    calibration = [a for a in answers if a.purpose == "calibration"]
    answered = [a for a in calibration if a.answer is not None]
    counted = next(
        (name for name in ("reasoning", "output") if any(_count(a, name) is not None for a in answered)), None
    )
    known = [(a, n) for a in answered if counted and (n := _count(a, counted)) is not None]
    counts = [n for _, n in known]
    sums = [_is_sum(a) for a in answered if a.reasoning_tokens is not None and a.output_tokens is not None]
    return CheckFacts(
        counted=counted,
        n_asked=len(calibration),
        n_answered=len(answered),
        n_right=sum(a.is_right for a in answered),
        n_counted=len(known),
        difficulty_correlation=rank_correlation(
            [float(a.difficulty or 0) for a, _ in known], [float(n) for n in counts]
        ),
        step=step(counts),
        zero_share=_mean([n == 0 for n in counts]),
        sum_share=_mean(sums),
        readable_share=_mean([a.is_readable for a in answered]),
        temperature=_by_chance(answers, "temperature"),
        effort=_effort(answers, counted),
        seed=_by_chance(answers, "seed"),
        served_models=tuple(sorted({in_one_line(a.served_model) for a in answers if a.served_model})),
    )


def step(counts: Sequence[int]) -> int | None:
    """Return the greatest common divisor of the positive counts; None if fewer than two differ."""
    positive = {count for count in counts if count > 0}
    return math.gcd(*positive) if len(positive) > 1 else None


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's correlation, ties at their mean rank; None if one of the two never changes."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return correlation(_ranks(x), _ranks(y))


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    mean = {value: fmean(ranks) for value, ranks in places.items()}
    return [mean[value] for value in values]


def _is_sum(answer: Answered) -> bool:
    """Return True if the rest of the output is about as long as the answer: at least a token, at most one per
    character.
    """
    left = (answer.output_tokens or 0) - (answer.reasoning_tokens or 0)
    return 0 < left <= len(answer.answer or "") + SPECIAL_TOKENS


def _by_chance(answers: Sequence[Answered], name: str) -> str:
    """Return whether a parameter removes chance: two answers with it are equal, two without it are not."""
    tried = [a for a in answers if a.purpose == name]
    if reason := _not_tried(tried):
        return reason
    reported = {a.effective_temperature for a in tried} - {None, 0.0} if name == "temperature" else set()
    if reported:  # asked for 0
        return f"ignored: the answers report {', '.join(f'{value:g}' for value in sorted(filter(None, reported)))}"
    if len({a.answer for a in tried}) > 1:
        return "no effect seen: two answers differ"
    plain = [a.answer for a in answers if a.purpose == "plain" and a.answer is not None]
    if len(plain) < 2 or len(set(plain)) == 1:
        return "not known: answers are the same without it, too"
    return "acts"


def _effort(answers: Sequence[Answered], counted: str | None) -> str:
    tried = {name: [a for a in answers if a.purpose == name] for name in ("effort_low", "effort_high")}
    for group in tried.values():
        if reason := _not_tried(group):
            return reason
    low, high = (_mean([_count(a, counted) for a in group]) for group in tried.values())
    if low is None or high is None:
        return "not known: no count"
    counts = f"{low:.0f} tokens with little, {high:.0f} with much"
    return f"acts: {counts}" if high > low * EFFORT_ACTS_FROM else f"no effect seen: {counts}"


def _not_tried(tried: Sequence[Answered]) -> str | None:
    if not tried:
        return "not tried: the provider has no such parameter"
    if rejected := next((a.rejected for a in tried if a.rejected), None):
        return f"rejected: {rejected}"
    missing = next((a.failed or "no answer" for a in tried if a.answer is None), None)
    return f"not known: {missing}" if missing else None


def _count(answer: Answered, counted: str | None) -> int | None:
    counts: Mapping[str, int | None] = {"reasoning": answer.reasoning_tokens, "output": answer.output_tokens}
    return counts.get(counted or "")


def _mean(counts: Sequence[int | None]) -> float | None:
    known = [count for count in counts if count is not None]
    return fmean(known) if known else None


Verdict = Literal["ok", "usable with care", "not usable"]
MOVES_FROM = 0.4  # rank correlation; chance reaches it once in 25 checks of 20 questions
ZEROS_DOUBTFUL, ZEROS_TOO_MANY = 0.2, 0.5
SUM_HOLDS_FROM = 0.8


def decide_verdict(facts: CheckFacts, requested_model: str) -> tuple[Verdict, list[str]]:
    """Return the verdict and the reasons for it, the gravest first."""
    if grave := list(_unusable(facts)):
        return "not usable", grave
    warnings = list(_warnings(facts, requested_model))
    return ("usable with care", warnings) if warnings else ("ok", [])


def _unusable(facts: CheckFacts) -> Iterator[str]:
    if facts.n_answered * 2 < facts.n_asked:
        yield f"only {facts.n_answered} of {facts.n_asked} questions were answered"
    elif facts.n_counted == 0:
        yield "no token count came with the answers"
    elif facts.difficulty_correlation is None:
        yield "the count is the same for every question"
    elif facts.difficulty_correlation < MOVES_FROM:
        yield f"the count does not move with difficulty (rank correlation {facts.difficulty_correlation:z.2f})"
    if facts.zero_share is not None and facts.zero_share > ZEROS_TOO_MANY:
        yield f"{facts.zero_share:.0%} of the counts are zero"


def _warnings(facts: CheckFacts, requested_model: str) -> Iterator[str]:
    if facts.counted == "output":
        readable = "; its reasoning can be read: collect recount" if facts.readable_share else ""
        yield f"there is no reasoning count: all output tokens are analysed, the answer's among them{readable}"
    if facts.n_counted < facts.n_answered:
        yield f"{facts.n_answered - facts.n_counted} of {facts.n_answered} answers came without a count"
    if facts.step is not None and facts.step > 1:
        yield f"the count comes in steps of {facts.step}: smaller differences can't be seen"
    if facts.zero_share is not None and facts.zero_share > ZEROS_DOUBTFUL:
        yield f"{facts.zero_share:.0%} of the counts are zero"
    if facts.sum_share is not None and facts.sum_share < SUM_HOLDS_FROM:
        yield f"output is not reasoning and answer together in {1 - facts.sum_share:.0%} of the answers"
    if len(facts.served_models) > 1:
        yield f"several models answered: {', '.join(facts.served_models)}"
    elif facts.served_models and not _is_same(facts.served_models[0], requested_model):
        yield f"another model answered: {facts.served_models[0]}"


def pile_reason(answers: Sequence[Answered], counted: str | None) -> str | None:
    """Return a sentence if counts pile up: a server may cut reasoning at its own budget."""
    counts = Counter(n for a in answers if a.purpose == "calibration" and (n := _count(a, counted)) is not None)
    if (found := pile(counts)) is None:
        return None
    return (
        f"{found[1]} of {counts.total()} counts are the largest, {found[0]:,}: reasoning may be cut at a budget there"
    )


def _is_same(served: str, requested: str) -> bool:
    """Return True for an alias and its snapshot (o3-mini and o3-mini-2025-01-31), with or without a vendor
    before it.
    """
    return served.rpartition("/")[2].startswith(requested.rpartition("/")[2])
