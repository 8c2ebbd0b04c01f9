"""Check a model (`collect check-model`): ask it questions of known difficulty, and judge what its token count is worth.

The questions go through the ordinary client. The check is kept in a separate journal, written at once and complete, so
that it may run next to a collector on the same database.

The questions are data (calibration.csv; the answers were computed). Their order is seeded. A parameter is tried with an
answer that is never repeated by chance (twelve random digits): the same one twice means that chance was switched off.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from slant.collector.ask.call import run_anywhere
from slant.collector.ask.client import Client
from slant.collector.ask.redaction import Redaction, without_home
from slant.collector.ask.retries import judge
from slant.collector.check_facts import CheckFacts
from slant.collector.errors import ProviderError, UsageError
from slant.collector.keep.journal import encode, journal_folder, journal_for, utc_now, write_whole
from slant.collector.keep.journal_loader import load_journals
from slant.collector.model_checks.findings import Answered, Verdict, decide_verdict, facts, pile_reason
from slant.collector.model_checks.response_facts import ResponseFacts, facts_of_response, summed
from slant.collector.plan.run_plan import refuse_to_move, usable_address, why_not
from slant.collector.providers import (
    Provider,
    anthropic,
    chat_completions,
    deepseek,
    gemini,
    ollama,
    openai,
    openai_responses,
    openrouter,
    provider_named,
    together,
)
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.lifecycles import asked_lifecycle, lifecycle_of
from slant.collector.providers.logprobs import merged
from slant.collector.providers.services import spoken_by
from slant.collector.records import Prompt, Reply, Trial
from slant.collector.study.records import StudyModel
from slant.collector.system.shipped_files import csv_rows, current_code_version

_FILE = Path(__file__).resolve().parent / "calibration.csv"
_RANDOM = "Write down a random number of twelve digits."
_ENDING = " Answer with the number only."
_HARD = 2  # this many of the hardest questions are asked again with little and with much effort

Settings = Mapping[str, Any]
_OPENAI: Mapping[str, Settings] = {
    "temperature": {"temperature": 0},
    "seed": {"seed": 7},
    "effort_low": {"reasoning_effort": "low"},
    "effort_high": {"reasoning_effort": "high"},
}
_PROBES: tuple[tuple[Any, Mapping[str, Settings]], ...] = (
    (openai, _OPENAI),
    (chat_completions, _OPENAI),
    (deepseek, _OPENAI),
    (openrouter, _OPENAI),
    (together, _OPENAI),
    (
        openai_responses,
        {
            "temperature": {"temperature": 0},
            "effort_low": {"reasoning": {"effort": "low"}},
            "effort_high": {"reasoning": {"effort": "high"}},
        },
    ),
    (
        anthropic,
        {
            "temperature": {"temperature": 0},
            "effort_low": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 16_000},
            "effort_high": {"thinking": {"type": "enabled", "budget_tokens": 12_000}, "max_tokens": 16_000},
        },
    ),
    (
        gemini,
        {
            "temperature": {"generationConfig": {"temperature": 0}},
            "seed": {"generationConfig": {"seed": 7}},
            "effort_low": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}},
            "effort_high": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192}}},
        },
    ),
    (
        ollama,
        {
            "temperature": {"options": {"temperature": 0}},
            "seed": {"options": {"seed": 7}},
            "effort_low": {"think": "low"},
            "effort_high": {"think": "high"},
        },
    ),
)


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """Hold one request of a check. `purpose` is calibration, plain (no parameter), or the name of a probe."""

    purpose: str
    text: str
    difficulty: int | None = None
    expected: str | None = None
    settings: Settings = field(default_factory=dict)


def check_questions(dialect: Any, seed: int) -> list[CheckQuestion]:
    """Return the requests of one check: the easiest question first (it reveals a wrong key), the others in seeded
    order."""
    first, *rest = calibration()
    rest += list(_pairs(probes(dialect), rest[-_HARD:]))
    random.Random(seed).shuffle(rest)
    return [first, *rest]


def calibration() -> list[CheckQuestion]:
    """Return the calibration questions, the easiest first."""
    return [
        CheckQuestion("calibration", row["question"] + _ENDING, int(row["difficulty"]), row["answer"])
        for row in csv_rows(_FILE)
    ]


def probes(dialect: Any) -> Mapping[str, Settings]:
    """Return the parameters to try, by name; a dialect of another package may bring its own as the constant PROBES."""
    known = next((settings for probed, settings in _PROBES if probed is spoken_by(dialect)), None)
    return known if known is not None else getattr(dialect, "PROBES", {})


def _pairs(tried: Mapping[str, Settings], hardest: list[CheckQuestion]) -> Iterator[CheckQuestion]:
    for _ in range(2 if {"temperature", "seed"} & tried.keys() else 0):
        yield CheckQuestion("plain", _RANDOM + _ENDING)
    for name, settings in tried.items():
        if name.startswith("effort"):
            yield from (CheckQuestion(name, q.text, q.difficulty, q.expected, settings) for q in hardest)
        else:
            yield from (CheckQuestion(name, _RANDOM + _ENDING, settings=settings) for _ in range(2))


AT_ONCE = 4
TRIES = 4
OnAnswer = Callable[[int, int], None]


@dataclass(frozen=True)
class Check:
    """Hold what a check found and its verdict. `reasons` explain a verdict other than ok, the gravest first;
    `responses` says what the answers report about themselves, what is read differently than documented, and when the
    model ends, as (what, found)."""

    provider: str
    requested_model: str
    facts: CheckFacts
    verdict: Verdict
    reasons: tuple[str, ...]
    responses: tuple[tuple[str, str], ...] = ()


def check_model(
    model: StudyModel,
    db: str | Path,
    *,
    base_url: str | None = None,
    seed: int = 1,
    time_limit_s: float = 600.0,
    concurrency: int = AT_ONCE,
    yes: bool = False,
    on_answer: OnAnswer = lambda done, all_of_them: None,
) -> Check:
    """Check `model` with its settings, keep the result in `db` and return it. It costs about thirty requests, of which
    `concurrency` are in flight at once.

    Raise ProviderError if the model can't be asked, or refuses the first question (key, quota, name); UsageError if it
    costs money without consent (`yes`), or is simulated.
    """
    provider = checked_provider(model, base_url)
    questions = check_questions(provider.dialect, seed)
    if needs_consent(provider) and not yes:
        paid = "paid requests" if provider.costs_money else f"requests with the key in {provider.key_variable}"
        raise UsageError(
            f"This would send {len(questions)} {paid} to {provider.address() or base_url}.",
            "To agree: --yes (from Python: yes=True).",
        )
    asker = _Asker(model, provider, provider.address(base_url) or "", time_limit_s, concurrency, on_answer)
    answers = run_anywhere(asker.ask_all(questions))
    check_facts = facts([answered for answered, _ in answers])
    verdict, reasons = decide_verdict(check_facts, model.requested_model)
    if reason := pile_reason([answered for answered, _ in answers], check_facts.counted):
        verdict, reasons = "usable with care" if verdict == "ok" else verdict, [*reasons, reason]
    name = model.requested_model  # its end as its provider says it now, else as the table has it
    known = asked_lifecycle(provider, name) or lifecycle_of(provider.name, name)
    end = "none announced, as far as slant knows" if known is None else known.sentence(f"{provider.name}/{name}")
    responses = (*summed(asker.responses), ("end of the model", end))
    check = Check(provider.name, model.requested_model, check_facts, verdict, tuple(reasons), responses)
    _keep(Path(db), model, check, [record for _, record in answers])
    return check


def checked_provider(model: StudyModel, base_url: str | None) -> Provider:
    """Return the provider of the model; raise an error if it can't be checked."""
    name = f"{model.provider}/{model.requested_model}"
    if model.provider == "simulated":
        raise UsageError(f"Can't check {name}: its counts are drawn from a published table, not counted.")
    provider = provider_named(model.provider)
    refuse_to_move(provider, base_url)
    if reason := why_not(model, base_url):
        raise ProviderError(f"Can't check {name}.", f"{reason}.")
    usable_address(provider, base_url)
    return provider


def needs_consent(provider: Provider) -> bool:
    """Return whether somebody must agree first: requests are paid for, or carry a key that a provider file names."""
    return provider.costs_money or (provider.is_own and provider.key_variable is not None)


class _Asker:
    """Ask one check's questions, a few at once."""

    def __init__(
        self,
        model: StudyModel,
        provider: Provider,
        base_url: str,
        time_limit_s: float,
        concurrency: int,
        on_answer: OnAnswer,
    ) -> None:
        self._model, self._provider, self._base_url = model, provider, base_url
        self._speakers = speakers(provider.name, base_url, model.requested_model)
        self._time_limit_s, self._told = time_limit_s, on_answer
        self._key = provider.key()
        self._redacted = Redaction([self._key] if self._key else [])
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self.responses: list[ResponseFacts] = []
        self._done = 0

    async def ask_all(self, questions: list[CheckQuestion]) -> list[tuple[Answered, dict[str, Any]]]:
        async with Client(self._concurrency, self._time_limit_s) as client:
            self._told(0, len(questions))  # a slow model's first answer may take minutes
            first = await self._ask(client, questions[0], len(questions))
            if sentence := first[0].rejected or first[0].failed:
                raise ProviderError(f"{self._provider.name}/{self._model.requested_model} can't be checked.", sentence)
            return [
                first,
                *await asyncio.gather(*(self._ask(client, question, len(questions)) for question in questions[1:])),
            ]

    async def _ask(self, client: Client, question: CheckQuestion, all_of_them: int) -> tuple[Answered, dict[str, Any]]:
        async with self._slots:
            model = replace(self._model, settings=merged(self._model.settings, question.settings))
            prompt = Prompt(({"role": "user", "content": question.text},))
            request = self._provider.dialect.request(self._base_url, self._key, model, prompt, _trial(model))
            for try_no in range(1, TRIES + 1):
                exchange = await client.exchange(request, utc_now())
                what = judge(exchange, try_no, self._speakers)
                if what.action != "again" or try_no == TRIES:
                    break
                await asyncio.sleep(what.wait_s)
        self._done += 1
        self._told(self._done, all_of_them)
        reason = self._redacted(what.reason)
        problem = {"read": {}, "stop": {"rejected": reason}, "decline": {"rejected": reason}}.get(
            what.action, {"failed": reason}
        )
        reply = Reply()
        if what.action == "read":
            body = exchange.json() or {}
            reply = self._provider.reply(body, exchange.headers)
            self._note(body, reply)
            reply = replace(reply, served_model=without_home(self._redacted(reply.served_model or "")) or None)
        return _answered(question, reply, problem), self._kept(question, request.body, exchange, reply)

    def _note(self, body: Mapping[str, Any], reply: Reply) -> None:
        found = facts_of_response(body, reply)
        clean = {name: without_home(self._redacted(value)) for name, value in found.facts.items()}
        deviations = tuple(without_home(self._redacted(deviation)) for deviation in found.deviations)
        self.responses.append(ResponseFacts(clean, deviations))

    def _kept(self, question: CheckQuestion, body: Any, exchange: Exchange, reply: Reply) -> dict[str, Any]:
        """Return a question's record for the journal: everything, so that the responses can be read differently without
        a second check."""
        record = {
            "purpose": question.purpose,
            "difficulty": question.difficulty,
            "expected": question.expected,
            "answer": reply.answer,
            "reasoning_tokens": reply.reasoning_tokens,
            "output_tokens": reply.output_tokens,
            "served_model": reply.served_model,
            "fingerprint": reply.fingerprint,
            "http_status": exchange.status,
            "error": exchange.error,
            "sent_at": exchange.sent_at,
            "done_at": exchange.done_at,
            "request": body,
            "response": exchange.body,
        }
        texts = {name: text for name, text in record.items() if isinstance(text, str)}
        changed = self._redacted.changed(texts, f"{exchange.body} {exchange.error}") if self._redacted else {}
        return record | {name: without_home(text) for name, text in (texts | changed).items()}


def _answered(question: CheckQuestion, reply: Reply, problem: dict[str, str]) -> Answered:
    is_whole = not problem and reply.outcome is None
    return Answered(
        purpose=question.purpose,
        difficulty=question.difficulty,
        expected=question.expected,
        answer=(reply.answer or "").strip() or None if is_whole else None,
        reasoning_tokens=reply.reasoning_tokens,
        output_tokens=reply.output_tokens,
        is_readable=bool(reply.reasoning_text) and reply.reasoning_kind != "summary",
        served_model=reply.served_model,
        effective_temperature=reply.effective_temperature,
        rejected=problem.get("rejected"),
        failed=problem.get("failed") or (None if is_whole else reply.outcome),
    )


def _trial(model: StudyModel) -> Trial:
    """Return a trial for the dialects, which expect one; a question of a check belongs to no study."""
    return Trial(
        trial_id="check",
        study="check",
        study_version="",
        variant="",
        model=model.model,
        test="",
        condition="",
        item="",
        group="",
        wording=1,
        option_a=None,
        option_b=None,
        expected=None,
        repetition=1,
        position=1,
    )


def _keep(db: Path, model: StudyModel, check: Check, answers: list[dict[str, Any]]) -> None:
    record = {
        "kind": "check",
        **asdict(check.facts),
        "provider": check.provider,
        "requested_model": check.requested_model,
        "settings": model.settings_text,
        "verdict": check.verdict,
        "reasons": "; ".join(check.reasons) or None,
        "served_models": ", ".join(check.facts.served_models) or None,
        "answers": json.dumps(answers, ensure_ascii=False),
        "code_version": current_code_version(),
        "checked_at": utc_now(),
    }
    write_whole(journal_folder(db), f"{journal_for('check')}.jsonl", encode(record))
    load_journals(db)
