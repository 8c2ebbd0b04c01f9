"""How the input of a game grows: each round sends all rounds before it again, so it grows with the square of the
rounds. A provider's cache of what was sent before makes most of it cheaper; it can't be counted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.cost.estimate import Span
from slant.collector.designs import design_named
from slant.collector.providers.prices import PER_TOKENS, Price
from slant.collector.records import Conversation, Turn
from slant.collector.study.records import Study, StudyModel

CHARACTERS_OF_TOKEN = 4  # English, or nearly


@dataclass(frozen=True, slots=True)
class Growth:
    """Characters sent in one game that was played through with simulated answers: by turn, and how many of them were
    new. `output_tokens` are those of all its answers."""

    sent: tuple[int, ...]
    new: tuple[int, ...]
    output_tokens: int

    @property
    def characters(self) -> float:
        """The mean of a turn."""
        return sum(self.sent) / len(self.sent)

    def sentence(self, model: str, pending: int, price: Price | None, output: Span | None) -> str:
        """What a person should know before paying for it."""
        first, last, total = (round(n / CHARACTERS_OF_TOKEN) for n in (self.sent[0], self.sent[-1], sum(self.sent)))
        sentence = (
            f"{model}: input grows with the square of the rounds: about {first:,} tokens in the first turn of a game, "
            f"{last:,} in the last, {total:,} in all {len(self.sent)} of them, of which only "
            f"{round(sum(self.new) / CHARACTERS_OF_TOKEN):,} are new"
        )
        if price is None or price.cached_input is None or output is None or not pending:
            return f"{sentence}."
        games = pending / len(self.sent) / CHARACTERS_OF_TOKEN / PER_TOKENS
        new, again = sum(self.new), sum(self.sent) - sum(self.new)
        dear = price.cache_write or price.input
        cost = games * (new * dear + again * price.cached_input) + output.about * price.output / PER_TOKENS
        return f"{sentence}. Where its provider's prompt cache holds all of the rest: about ${cost:,.2f}."


def _characters(message: Mapping[str, Any]) -> int:
    """Of a message, and of what calls of tools returned; calls themselves are short."""
    results = (str(result["content"]) for result in message.get("results") or ())
    return len(str(message["content"])) + sum(map(len, results))


def growth_of(study: Study, model: StudyModel, conversation: Conversation, seed: int) -> Growth:
    """Plays one conversation with simulated answers, and counts."""
    design = design_named(study.design)
    history: list[Turn] = []
    sent, new, output = [], [], 0
    while step := design.next(study, model, conversation, history):
        trial, prompt = step
        lengths = [_characters(message) for message in prompt.messages]
        sent.append(sum(lengths))
        new.append(sum(lengths[prompt.n_earlier :]))
        reply = design.simulate(study, model, trial, seed)
        output += reply.output_tokens or 0
        history.append(Turn(prompt, reply, design.read(study, trial, reply), trial.trial_id))
    return Growth(tuple(sent), tuple(new), output)
