"""Define what a design asks of a model, and in which order.

A design whose conversations are single questions gives `questions` and `text`. One with a custom order gives `plan` in
place of `questions`, one with games `next` in place of `text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slant.collector.designs.plan import Plan, PromptIndex, ShuffledQuestions, index_prompts, quoted_answer
from slant.collector.records import Conversation, Prompt, Trial, Turn
from slant.collector.stable_ids import stable_id
from slant.collector.study.records import StudyFile, StudyModel


@dataclass(frozen=True, slots=True)
class Question:
    """Hold one trial before it has a model, a repetition and a place: what a trial has under these names (see Trial).
    Two questions of a study differ in test, condition, group, item or wording: these distinguish their trials."""

    test: str
    condition: str
    item: str
    group: str
    wording: int
    option_a: str | None = None
    option_b: str | None = None
    expected: str | None = None
    factors: Mapping[str, Any] = field(default_factory=dict)


def is_ended(history: Sequence[Turn]) -> bool:
    """Return whether the last answer ended its conversation early."""
    return bool(history and history[-1].reading.factors.get("n_not_asked"))


class Asks:
    """Plan and word what is asked: `questions` or `plan`, and `text` or `next`; the rest has defaults."""

    asks_anyone: bool = True
    """False for a design that takes foreign rows and asks no model."""
    whole_keys: tuple[str, ...] = ()
    """List tables of a study file that a variant replaces completely, not key by key."""
    conversation: str = ""
    """Name a conversation of many turns whose later ones depend on the earlier ones ("game"); empty if each question is
    independent."""
    plays_games: bool = False
    """True if a plan can't know which trials of a conversation follow: each depends on the answers before."""
    dealt_words: str = "words dealt to groups at random"
    """Say what the variant `null` of this design does, as in "models that were asked with …"."""

    def frames(self, data: Any) -> tuple[str, ...]:
        """Return the frames (or formats of answers) that a model may have; no file needs to name a single one."""
        return ()

    def answers(self, data: Any) -> tuple[str, ...]:
        """Return the formats that `--answer` may ask for."""
        return ()

    def has_turns(self, study: StudyFile) -> bool:
        """Return True if the conversations of this study have many turns."""
        return bool(self.conversation)

    def needs_tools(self, study: StudyFile, model: StudyModel) -> bool:
        """Return whether this model answers by a tool."""
        return False

    def needs_reasoning(self, study: StudyFile) -> bool:
        """Return whether a prompt of this study shows the reasoning of an earlier answer."""
        return False

    def dealt(self, data: Any, seed: int) -> Any:
        """Return the data of a study as its variant `null` asks them (`dealt_words`, by the seed); None if a design has
        nothing to deal. A simulated model still answers by each word's own group."""
        return None

    def source_variant(self, study: StudyFile) -> str | None:
        """Return the variant whose answers this one needs before it can be planned; None if it needs none."""
        return None

    def with_rates(self, data: Any, rates: Mapping[str, Mapping[str, float]]) -> Any:
        """Return the data of a study with what models said in its source variant, as numbers by model and item."""
        return data

    def rated_items(self, data: Any) -> set[str]:
        """Return the items that each model must have rated in the source variant."""
        return set()

    def questions(self, study: StudyFile, model: StudyModel) -> Iterable[Question]:
        """Return the questions that one model is asked in one repetition, in any order; of very many, a sequence that
        makes each on demand."""
        return ()  # check_asks() ensures that a design has this or plan()

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        """Return the question of a trial, to the byte, as it is sent as one message of a user."""
        return ""  # check_asks() ensures that a design has this or next()

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Plan[Any]:
        """Return the plan of one model, in a seeded order. By default the questions of all repetitions are shuffled
        together, so that conditions take turns."""
        return ShuffledQuestions(self, study, model, seed)

    def conversations(
        self, study: StudyFile, model: StudyModel, seed: int, repetitions: int, skip: Sequence[int] = b""
    ) -> Iterator[Conversation]:
        """Yield the conversations of the plan, lazily. `skip` has one number for each; those with a number other than 0
        are skipped without being made (empty: none is). All keep their positions.
        """
        plan = self.plan(study, model, seed)
        for number, place in enumerate(plan.places(repetitions)):
            if not skip or not skip[number]:
                yield plan.conversation(place, number)

    def contents(self, study: StudyFile) -> Iterator[str]:
        """Yield a short hash (12 hexadecimal digits) for each kind of trial that shares what its prompts are made of;
        one of them is the `content` of every trial. An edit of the study that leaves it unchanged changes no prompt,
        and the answers stay. `study.asked_as` is in it: two variants never share one. By default it is the text of each
        question.
        """
        for frame in sorted({study.frame, *self.frames(study.data), *(model.frame for model in study.models)}):
            anybody = StudyModel("", "", "", "", frame)
            yield from (
                conversation.trials[0].content or ""
                for conversation in self.conversations(study, anybody, study.seed, 1)
            )

    def content(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        """Return the content of one trial of a design that gives `questions`, one of `contents`."""
        return stable_id(study.asked_as, self.text(study, model, trial), study.temperature)[:12]

    def next(
        self, study: StudyFile, model: StudyModel, conversation: Conversation, history: Sequence[Turn]
    ) -> tuple[Trial, Prompt] | None:
        """Return the next trial after these turns, and its prompt; None when the conversation is over. By default each
        trial is one turn, until an answer ends the conversation (see `ended_early`)."""
        if len(history) == len(conversation.trials) or is_ended(history):
            return None
        return self._step(study, model, conversation.trials[len(history)], history)

    def _step(self, study: StudyFile, model: StudyModel, trial: Trial, history: Sequence[Turn]) -> tuple[Trial, Prompt]:
        """Return a trial with its prompt after these turns."""
        if not history:
            return trial, self._prompt(study, model, trial)
        message = {"role": "user", "content": self.text(study, model, trial)}
        return trial, Prompt((*quoted_answer(history[-1].reply), message), history[-1].prompt)

    def first(self, study: StudyFile, model: StudyModel, conversation: Conversation) -> tuple[Trial, Prompt]:
        """Return a conversation's first prompt and its trial."""
        step = self.next(study, model, conversation, [])
        assert step is not None
        return step

    def later(self, study: StudyFile, model: StudyModel, conversation: Conversation) -> Iterator[tuple[Trial, Prompt]]:
        """Yield the planned turns after the first, each with its own message; where it shows an earlier answer, which
        isn't known yet, the placeholder stands."""
        for trial in () if self.plays_games else conversation.trials[1:]:
            is_first = self.is_fresh(study, trial)
            message = {"role": "user", "content": self.text(study, model, trial)}
            yield trial, self._prompt(study, model, trial) if is_first else Prompt((message,))

    def is_fresh(self, study: StudyFile, trial: Trial) -> bool:
        """Return True if this later turn is sent without what was said before."""
        return False

    def repeated(self, study: StudyFile, planned: Trial, repetition: int) -> Trial:
        """Return the planned trial as another repetition shows it; an imported row sets its number itself."""
        return planned

    def repetition_cycle(self, study: StudyFile) -> int:
        """Return the period of `repeated`, in repetitions; 0 if each repetition has its own."""
        return 1 if type(self).repeated is Asks.repeated else 0

    def trial_for_prompt(self, study: StudyFile, model: StudyModel, messages: Sequence[Any]) -> Trial | None:
        """Return the trial (repetition 1) whose prompt these messages are, for a simulated server; None if there is
        none (a round of a game has no separate question)."""
        return None if self.has_turns(study) else index_prompts(study, model, self._prompts).find(messages)

    def _prompt(self, study: StudyFile, model: StudyModel, trial: Trial) -> Prompt:
        return Prompt(({"role": "user", "content": self.text(study, model, trial)},))

    def _prompts(self, study: StudyFile, model: StudyModel) -> PromptIndex[Any]:
        trials = (conversation.trials[0] for conversation in self.conversations(study, model, study.seed, 1))
        return PromptIndex(((trial, self._prompt(study, model, trial)) for trial in trials), lambda trial: trial)
