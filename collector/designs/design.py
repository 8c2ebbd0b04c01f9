"""Define what the rest of slant asks of a design, with defaults.

A design whose conversations are single questions gives `parse`, `tests`, `questions`, `text`, `read` and `simulate`.
One with a custom order gives `plan` in place of `questions`, one with games `next` in place of `text`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slant.collector.designs.analyses import Analyses
from slant.collector.designs.declared import AskedField
from slant.collector.designs.people import PeopleUnits, RowPlacer, TurnReader
from slant.collector.designs.plan import (
    Plan,
    PromptIndex,
    ShuffledQuestions,
    index_prompts,
    quoted_answer,
)
from slant.collector.designs.proposed_study import AnsweredCells, AnswerTable, ProposedStudy
from slant.collector.errors import StudyError, UsageError
from slant.collector.records import Conversation, Prompt, Reading, RefusalRule, Reply, Trial, Turn
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel, TestInfo
from slant.collector.study.toml_table import Table


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


class Design(ABC):
    """Define a kind of experiment. All of it is pure: no clock, no network, no state between calls."""

    name: str
    analyses: Analyses = Analyses()
    conversation: str = ""
    """Name a conversation of many turns whose later ones depend on the earlier ones ("game"); empty if each question is
    independent."""
    answer_schema: Mapping[str, Any] | None = None
    """Give the JSON schema of an answer, for providers that enforce one on request; None if answers are not JSON."""
    whole_keys: tuple[str, ...] = ()
    """List tables of a study file that a variant replaces completely, not key by key."""
    refusal_rules: tuple[RefusalRule, ...] = ("outcome",)
    """List what a study of this design may call a refusal (`refusal_rule` in its file), the usual rule first."""
    participants: Mapping[str, str] = {}
    """Label those players of any study of this design that are not models."""
    asks: bool = True
    """False for a design that takes foreign rows and asks no model."""
    plays_games: bool = False
    """True if a plan can't know which trials of a conversation follow: each depends on the answers before."""
    dealt_words: str = "words dealt to groups at random"
    """Say what the variant `null` of this design does, as in "models that were asked with …"."""
    layouts: tuple[str, ...] = ()
    """List layouts of published files with its answers, by the names that `collect import --layout` takes."""
    proposal_place: int = 9
    """Rank the design for `collect import`, which proposes the smallest number first if files fit several."""
    starts: tuple[str, ...] = ()
    """List studies to start from, if a design has several (`collect studies new --start`), the usual one first: folders
    in collector/studies/templates/DESIGN/."""
    template: Mapping[str, str] = {}
    """Hold a study to start from, for `collect studies new`: the text of each file by its name, including study.toml,
    with STUDY in place of its name. Designs of slant have theirs in collector/studies/templates/."""

    @abstractmethod
    def parse(self, table: Table, folder: StudyFolder) -> Any:
        """Return the design's own part of a study file (kept as `Study.data`); StudyError if it breaks the rules."""

    def published_study(self, template: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Return the files of a study made from others' published lists and prompts, which are in a folder in their
        layout; `template` is the study that a new one of this design starts from. UsageError if no layout is known."""
        raise UsageError(f"There is no layout of published lists for the design {self.name}.", "Leave out --lists.")

    def proposed_study(self, cells: AnsweredCells) -> ProposedStudy:
        """Return a study that these answers fit into, for `collect import` without a study. Raise StudyError if they
        fit none of this design: it says what must hold and what was found, as in "it has two conditions, and the files
        have three"; the sentence is empty if a design proposes none.
        """
        raise StudyError("")

    def schema_of(self, study: StudyFile) -> Mapping[str, Any] | None:
        """Return `answer_schema`, or that of this study's answers."""
        return self.answer_schema

    def proposed_from_table(self, table: AnswerTable) -> ProposedStudy:
        """Return a study for files whose rows have a column for all that was shown or played; StudyError as above."""
        raise StudyError("")

    def row_columns(self, data: Any) -> tuple[str, ...]:
        """List columns of an imported file which say together what was shown in a row, instead of its item."""
        return ()

    def row_placer(self, study: StudyFile) -> RowPlacer | None:
        """Return what gives a row's place (its item, say) by these columns; None if rows name it themselves."""
        return None

    @abstractmethod
    def tests(self, data: Any) -> tuple[TestInfo, ...]:
        """Return the tests in the study's order, each with its number of trials in one model and one repetition."""

    @abstractmethod
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        """Return the outcome and the choice; an outcome that the provider itself has set wins."""

    @abstractmethod
    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return a made-up reply; it depends only on the trial, the model and the seed, never on the order of calls."""

    def check(self, study: StudyFile) -> None:
        """Raise StudyError if the parts of the study don't fit together."""
        for named, user in used_frames(study).items():
            if named and not self.frames(study.data):
                raise StudyError(f'{user.capitalize()} has the frame "{named}", but a {self.name} study has no frames.')

    def remarks(self, study: StudyFile) -> list[str]:
        """Return sentences on what is allowed but may not be intended, for `collect studies validate`."""
        return []

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
        """Return all that one model is asked in one repetition, in any order; of very many, a sequence that makes each
        on demand."""
        return ()  # check_asks() ensures that a design has this or plan()

    def text(self, study: StudyFile, model: StudyModel, trial: Trial) -> str:
        """Return the question of a trial, to the byte, as it is sent as one message of a user."""
        return ""  # check_asks() ensures that a design has this or next()

    def plan(self, study: StudyFile, model: StudyModel, seed: int) -> Plan[Any]:
        """Return what one model is asked, in a seeded order. By default the questions of all repetitions are shuffled
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
        """Return what is asked after these turns, and for which trial; None when the conversation is over. By default
        each trial is one turn, whatever was answered before."""
        if len(history) == len(conversation.trials):
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

    def repeated(self, study: StudyFile, planned: Trial, repetition: int) -> Trial:
        """Return the planned trial as another repetition shows it; an imported row sets its number itself."""
        return planned

    def repetition_cycle(self, study: StudyFile) -> int:
        """Return the period of `repeated`, in repetitions; 0 if each repetition has its own."""
        return 1 if type(self).repeated is Design.repeated else 0

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return a trial of an imported row (`draft`, by the names of importing/layouts/tidy.py) with what else the
        design must know about it; `planned` is that of the plan. Raise StudyError, whose text continues "this row …",
        if the row lacks it.
        """
        return trial

    def imported_turns(self, study: StudyFile, model: StudyModel) -> TurnReader | None:
        """Return how a row of a conversation becomes a trial, if the plan can't know which ones follow (a game); None
        if its place in the plan says it."""
        return None

    def asked_fields(self, study: StudyFile, trial: Trial) -> tuple[AskedField, ...]:
        """Return what a person fills in, whose text `read` takes for an answer: one of two options if one of them is
        expected, or a text."""
        named = (trial.option_a, trial.option_b) if trial.expected is not None else ()
        return (AskedField("answer", options=tuple((option, option) for option in named if option)),)

    def of_people(self, study: StudyFile, trial: Trial) -> Trial:
        """Return a planned trial as people met it: without a role that only models are given."""
        return trial

    def imported_people(self, study: StudyFile, model: StudyModel) -> PeopleUnits | None:
        """Return how rows of people become answers, if each person met tasks or games of their own; None if a row is an
        answer to a trial of the plan."""
        return None

    def as_imported_reply(self, study: StudyFile, trial: Trial, reply: Reply) -> Reply:
        """Return the reply of an imported row as the design reads it."""
        return reply

    def coded_options(self, study: StudyFile, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the two options of an answer that a model is to code, too, and what was given to one of them; `row` is
        one of the view `codable_answers`, which has the answers of this design."""
        return row["option_a"], row["option_b"], row["asked"]

    def knows_lengths(self, study: StudyFile, model: StudyModel) -> bool:
        """Return True if the study says how long this model's answers are, so that simulated ones are as long: by
        default if its numbers to simulate from have this model."""
        numbers = getattr(study.data, "simulation", None)
        return isinstance(numbers, Mapping) and any(key[0] == model.model for key in numbers)

    def assumed_lengths(self, study: StudyFile, model: StudyModel) -> str:
        """Return what a study with this model's lengths does not say, and what is assumed then; else empty."""
        return ""

    def trial_for_prompt(self, study: StudyFile, model: StudyModel, messages: Sequence[Any]) -> Trial | None:
        """Return the trial (repetition 1) whose prompt these messages are, for a simulated server; None if there is
        none (a round of a game has no separate question)."""
        return None if self.has_turns(study) else index_prompts(study, model, self._prompts).find(messages)

    def _prompt(self, study: StudyFile, model: StudyModel, trial: Trial) -> Prompt:
        return Prompt(({"role": "user", "content": self.text(study, model, trial)},))

    def _prompts(self, study: StudyFile, model: StudyModel) -> PromptIndex[Any]:
        trials = (conversation.trials[0] for conversation in self.conversations(study, model, study.seed, 1))
        return PromptIndex(((trial, self._prompt(study, model, trial)) for trial in trials), lambda trial: trial)


def used_frames(study: StudyFile) -> dict[str, str]:
    """Return the frames that a study and its models have, each with its user."""
    return {study.frame: "the study"} | {model.frame: f"the model {model.model}" for model in study.models}
