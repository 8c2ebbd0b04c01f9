"""Judge requests that a provider declines for an unknown reason: errors 400, 403, 413 or 422 in no row of errors.csv.

Either the prompt is the reason, and then the trial ends and the others are asked, or everything asked of this model is,
and then going on is in vain. Once the model has answered (in this run, or in the database, with the same settings) the
prompt is taken to be the reason; before that, and after several such trials in a row, the model. A trial that was
declined in two different calls is `rejected` for good: the provider declined it, and its reason is not documented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from slant.collector.ask.retries import NextStep, judge
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Conversation
from slant.collector.request.record import Request
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import json_or
from slant.collector.system.shipped_files import sql_query

MAX_IN_A_ROW = Request.stop_after_declined


@dataclass
class DeclinedTrials:
    """Hold one model's declined trials in a run. `earlier` are those of earlier calls; for each it is known
    whether other trials were answered after it, so that the fault was its own."""

    max_in_a_row: int = MAX_IN_A_ROW
    has_answered: bool = False
    earlier: Mapping[str, bool] = field(default_factory=dict)
    in_a_row: set[str] = field(default_factory=set)

    def answered(self) -> None:
        """Note that the model has given an answer."""
        self.has_answered = True
        self.in_a_row.clear()

    def is_open(self, verdict: NextStep) -> bool:
        """Return whether requests in flight may still show why a request was refused."""
        return verdict.action == "decline" and not self.has_answered and verdict.status != 413

    def judged(self, trial_id: str, verdict: NextStep) -> NextStep:
        """Return the next step after an exchange, in the light of the other trials."""
        if verdict.action != "decline":
            return verdict
        if self.is_open(verdict):
            return replace(verdict, action="stop")
        if not self.earlier.get(trial_id, False):
            self.in_a_row.add(trial_id)
        return replace(verdict, action="rejected") if trial_id in self.earlier else verdict

    def judged_in_batch(self, trial_id: str, verdict: NextStep) -> NextStep:
        """Return the same for a request in a batch job, whose requests had all been sent before one was declined."""
        if verdict.action == "decline" and self.has_answered and trial_id in self.earlier:
            return replace(verdict, action="rejected")
        return verdict

    def last(self, pending: Iterable[Conversation]) -> Iterator[Conversation]:
        """Yield the pending trials, with those declined before at the end: if they are declined again, the others have
        their answers by then."""
        held = []
        for conversation in pending:
            if self.earlier and any(trial.trial_id in self.earlier for trial in conversation.trials):
                held.append(conversation)
            else:
                yield conversation
        yield from held


def declined_trials(
    db: Path, study: str, model: StudyModel, before: str, max_in_a_row: int = MAX_IN_A_ROW
) -> DeclinedTrials:
    """Return the declined trials of a model in the database; `before`: when this call began (ISO 8601, UTC)."""
    of_model = {"provider": model.provider, "requested_model": model.requested_model}
    try:
        with reading(db) as connection:
            answers = connection.execute(sql_query("last_answers_of_model"), of_model).fetchall()
            of_study = {**of_model, "study": study, "before": before}
            rows = connection.execute(sql_query("declined_requests"), of_study).fetchall()
    except (DatabaseError, duckdb.Error):  # there is none yet
        return DeclinedTrials(max_in_a_row)
    # with these settings: a provider may accept with some what it declines with others
    own = dict(model.settings)
    last_answer = max((at for sent, at in answers if at and json_or(sent or "{}") == own), default=None)
    earlier: dict[str, bool] = {}
    whose = speakers(model.provider, model=model.requested_model)
    for trial_id, status, response, at in rows:
        if judge(Exchange(status=status, body=response), 1, whose).action == "decline":
            earlier[trial_id] = earlier.get(trial_id, False) or (last_answer is not None and last_answer > at)
    return DeclinedTrials(max_in_a_row, last_answer is not None, earlier)
