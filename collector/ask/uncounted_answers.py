"""Warn of counts that can't be used while there is still time: none where they are to be analysed, of several kinds
for one model, or in contradiction to each other.

Read an exchange as an answer, one that a filter withheld, or a failure; the same live and from storage.

What happens to a game without a trace in an answer is marked in the round in which it shows; the game goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb

from slant.collector.ask.lane_money import unanswered
from slant.collector.ask.retries import NextStep, backoff_s
from slant.collector.errors import DatabaseError, SlantError, as_typed
from slant.collector.keep.database import fetched
from slant.collector.providers import Provider
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Attempt, Outcome, Reply, Trial, Turn
from slant.collector.screen_tables import in_one_line
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import printable

_WITHOUT_ANSWER: dict[str, Outcome] = {"filtered": "filtered", "malformed": "malformed", "rejected": "rejected"}
TOO_LONG = "too_long"
"""Name the finish reason of a turn whose conversation does not fit its model any more, in slant's words."""


def read_exchange(
    provider: Provider, exchange: Exchange, verdict: NextStep, trial: Trial, try_no: int
) -> tuple[Reply, NextStep]:
    """Return the reply, and what to do about it. `verdict` is judge()'s result for that exchange."""
    dialect = provider.dialect
    if verdict.action == "fail" and trial.game is not None:
        # a game can't be shortened, and asking the same again is in vain: it ends here, with an outcome
        return replace(unanswered(dialect, exchange, "truncated", verdict.reason), finish_reason=TOO_LONG), verdict
    if verdict.action != "read":
        outcome = _WITHOUT_ANSWER.get(verdict.action, "failed")
        reply = unanswered(dialect, exchange, outcome, verdict.reason)
        return replace(reply, answer=verdict.answer, filter_category=verdict.category), verdict
    reply = provider.reply(verdict.body, exchange.headers)
    if reply.answer is not None and not reply.answer.isascii():  # half a surrogate pair is read as it will be stored
        reply = replace(reply, answer=reply.answer.encode("utf-8", "replace").decode())
    if reply.ending == "stop":  # the account has a problem, whatever came with it
        return reply, NextStep("stop", reply.detail or "the response failed")
    if reply.outcome == "failed":  # a response that declares itself a failure
        return reply, NextStep("again", reply.detail or "the response failed", wait_s=backoff_s(try_no))
    return reply, verdict


def next_turn_no(history: Sequence[Turn], trial: Trial) -> int:
    """Return 1 for a trial not asked yet; more after reminders."""
    return 1 + sum(1 for _ in takewhile(lambda turn: turn.trial_id == trial.trial_id, reversed(history)))


MAX_SENTENCES = 3  # games per model that get a sentence; reports and tables have the number of all


@dataclass
class Marks:
    """Hold the marked games of one model. `sentences` holds those that have not been shown yet."""

    model_changed: set[str] = field(default_factory=set)
    input_cut: set[str] = field(default_factory=set)
    sentences: list[str] = field(default_factory=list)

    def of(self, trial: Trial, reply: Reply, history: Sequence[Turn]) -> dict[str, Any]:
        """Return the fields to store with this answer; empty for nearly all trials."""
        marks: dict[str, Any] = {}
        game, where = trial.game or trial.trial_id, f"round {trial.round}" if trial.round else "the questions"
        if served := changed_model(reply, history):
            marks["served_model_before"] = served
            self._say(
                self.model_changed,
                game,
                f"The model behind {trial.model} changed in game {trial.repetition}, before {where}: "
                f"{in_one_line(served)} became {in_one_line(reply.served_model)}. The game goes on, and is "
                "marked (served_model_before).",
            )
        if trial.round and (tokens := cut_input(reply, history)):
            marks["input_tokens_before"] = tokens
            self._say(
                self.input_cut,
                game,
                f"The server of {trial.model} read {reply.input_tokens:,} tokens in {where} of game "
                f"{trial.repetition}, after {tokens:,} the turn before, though the conversation had grown: it may have "
                "cut off its beginning. The game goes on, and is marked (input_tokens_before). Give the server more "
                "context (Ollama: options.num_ctx among the model's settings).",
            )
        return marks

    def _say(self, games: set[str], game: str, sentence: str) -> None:
        if game not in games and len(games) < MAX_SENTENCES:
            self.sentences.append(sentence)
        games.add(game)


def changed_model(reply: Reply, history: Sequence[Turn]) -> str | None:
    """Return the model that answered before, if it is a different one now."""
    served = next((turn.reply.served_model for turn in reversed(history) if turn.reply.served_model), None)
    return served if reply.served_model not in (None, served) else None


def cut_input(reply: Reply, history: Sequence[Turn]) -> int | None:
    """Return the tokens of the turn before, if this one reported fewer: what is sent only grows. Return None if
    reasoning went back, of which a provider may leave out what is old."""
    before = history[-1].reply if history else None
    if before is None or before.blocks or before.input_tokens is None or reply.input_tokens is None:
        return None
    return before.input_tokens if reply.input_tokens < before.input_tokens else None


_KINDS = {
    "usage": "the provider's count of the reasoning",
    "output": "all output tokens",
    "template": "tokens up to a closing mark",
    "retokenized": "counted again",
}
LOOKED_AT = 50


@dataclass(slots=True)
class Uncounted:
    """Count how many of the first answers of one model came without a count."""

    answers: int = 0
    readable: int = 0
    has_counts: bool = False

    def says_so(self, attempt: Attempt) -> bool:
        """Take note of one answer; True once, when `LOOKED_AT` answers have come and none has a count."""
        if self.has_counts or self.answers >= LOOKED_AT or attempt.outcome == "failed":
            return False
        self.has_counts = attempt.tokens is not None
        self.answers += 1
        self.readable += bool(attempt.reasoning_text) and attempt.reasoning_kind != "summary"
        return self.answers == LOOKED_AT and not self.has_counts


def uncounted(model: str, answers: int, readable: int, db: str | Path) -> str:
    """Return the sentence for a model ("provider/name") none of whose answers has a count; `readable` is how many have
    reasoning that can be counted here.
    """
    subject = "the one answer came without" if answers == 1 else f"none of {answers:,} answers came with"
    what = "have its server report usage"
    if readable:
        what += f", or collect recount --model {model} --db {as_typed(db)} and --measure recounted"
    return f"{model}: {subject} a token count. Nothing to analyse: {what}."


def uncounted_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model of a study about tokens that has answers and no count."""
    try:
        rows = fetched(db, sql_query("uncounted_models"))
    except (DatabaseError, duckdb.Error):
        return []
    return [
        uncounted(f"{provider}/{name}", int(answers), int(readable), db)
        for of_study, provider, name, answers, readable in rows
        if study in (None, of_study) and _analyses_tokens(of_study, db)
    ]


def _analyses_tokens(study: str, db: str | Path) -> bool:
    try:
        return load_study(study, db=db).design.analyses.counts_tokens
    except SlantError:
        return False


def doubtful_count_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model of a study whose answers have such counts; none if the database can't be read
    now.
    """
    try:
        rows = fetched(db, sql_query("doubtful_counts"))
    except (DatabaseError, duckdb.Error):
        return []
    return [note for of_study, *row in rows if study in (None, of_study) for note in _doubts(*row)]


def _doubts(
    model: str, kinds: dict[str, int] | None, n_answers: int, n_conflicts: int, conflict: str | None
) -> Iterator[str]:
    kinds = kinds or {}
    if len(kinds) > 1:
        listed = ", ".join(f"{n:,} of {kind} ({_KINDS.get(kind, kind)})" for kind, n in kinds.items())
        yield (
            f"{model}: its token counts are of {len(kinds)} kinds, which can't be compared: {listed}. "
            "To analyse one of them: --measure output, or measure in the study."
        )
    if n_conflicts:
        yield (
            f"{model}: in {n_conflicts:,} of {n_answers:,} answers the provider's counts contradict each other "
            f"(column count_conflict). One of them: {printable((conflict or '')[:200])}."
        )
