"""Another occasion: trials that have their answer are asked again, each as a trial of its own (`collect --again`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from slant.collector.records import Conversation, Trial, stable_id


@dataclass(frozen=True)
class Occasion:
    """One model's. `number` counts from 2; `n_again` are the trials that were wanted, `chosen` the ids of the
    conversations of the plan that are asked again; `is_resumed` where it had been broken off."""

    number: int
    n_again: int
    chosen: frozenset[str] = field(repr=False)
    is_resumed: bool = False

    def later_id(self, first_id: str) -> str:
        """The id that a trial, or a conversation, has on this occasion."""
        return stable_id(first_id, "occasion", self.number)

    def asked_again(self, conversation: Conversation) -> Conversation:
        """The conversation as it is asked on this occasion."""
        trials = tuple(map(self._asked_again, conversation.trials))
        return Conversation(self.later_id(conversation.conversation_id), trials)

    def _asked_again(self, trial: Trial) -> Trial:
        return replace(
            trial,
            trial_id=self.later_id(trial.trial_id),
            game=None if trial.game is None else self.later_id(trial.game),
            occasion=self.number,
            first_trial_id=trial.trial_id,
        )
