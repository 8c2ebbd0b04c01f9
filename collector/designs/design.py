"""Define what the rest of slant asks of a design: how its study file is read, and its parts.

A part says one thing of a design, and what needs it takes the part: what is asked (`asks.py`), how answers are read
(`Reads`), made up (`Simulates`), taken from files (`Imports`) and analysed (`analyses.py`). A design must have the
first two; another that it leaves out has the defaults of its base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slant.collector.designs.analyses import Analyses, AskedField
from slant.collector.designs.asks import Asks
from slant.collector.designs.people import PeopleUnits, RowPlacer, TurnReader
from slant.collector.designs.proposed_study import AnsweredCells, AnswerTable, ProposedStudy
from slant.collector.errors import StudyError, UsageError
from slant.collector.providers import provider_named
from slant.collector.records import Reading, RefusalRule, Reply, Trial
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, StudyModel, TestInfo
from slant.collector.study.toml_table import Table


class Imports:
    """Take rows of files; by default each is an answer to a trial of the plan, and no study is proposed."""

    layouts: tuple[str, ...] = ()
    """List layouts of published files with its answers, by the names that `collect import --layout` takes."""
    proposal_place: int = 9
    """Rank the design for `collect import`, which proposes the smallest number first if files fit several."""

    def published_study(self, template: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Return the files of a study made from others' published lists and prompts, which are in a folder in their
        layout; `template` is the study that a new one of this design starts from. Empty: no layout is known."""
        return {}

    def proposed_study(self, cells: AnsweredCells) -> ProposedStudy:
        """Return a study that these answers fit into, for `collect import` without a study. Raise StudyError if they
        fit none of this design: it says what must hold and what was found, as in "it has two conditions, and the files
        have three"; the sentence is empty if a design proposes none.
        """
        raise StudyError("")

    def proposed_from_table(self, table: AnswerTable) -> ProposedStudy:
        """Return a study for files whose rows have a column for all that was shown or played; StudyError as above."""
        raise StudyError("")

    def sheet(self, study: StudyFile, columns: Sequence[str], coders: Sequence[str]) -> dict[str, Any]:
        """Return the arguments of `import_trials` that a file with these columns needs not be told, if it is a sheet
        that only this design has; `coders` are the values of its column `coder`. Empty: it is none."""
        return {}

    def row_columns(self, data: Any) -> tuple[str, ...]:
        """List columns of an imported file which say together what was shown in a row, instead of its item."""
        return ()

    def row_placer(self, study: StudyFile) -> RowPlacer | None:
        """Return the function that finds a row's place (its item, say) by these columns; None if rows name it
        themselves."""
        return None

    def as_imported(self, planned: Trial, trial: Trial, draft: Mapping[str, Any]) -> Trial:
        """Return a trial of an imported row (`draft`, by the names of importing/layouts/tidy.py) with what else the
        design must know about it; `planned` is that of the plan. Raise StudyError, whose text continues "this row …",
        if the row lacks it.
        """
        return trial

    def imported_turns(self, study: StudyFile, model: StudyModel) -> TurnReader | None:
        """Return the reader that turns a row of a conversation into a trial, if the plan can't know which ones follow
        (a game); None if its place in the plan says it."""
        return None

    def imported_people(self, study: StudyFile, model: StudyModel) -> PeopleUnits | None:
        """Return the reader that turns rows of people into answers, if each person saw different tasks or games; None
        if a row is an answer to a trial of the plan."""
        return None

    def as_imported_reply(self, study: StudyFile, trial: Trial, reply: Reply) -> Reply:
        """Return the reply of an imported row as the design reads it."""
        return reply


def ended_early(reading: Reading, not_asked: Mapping[str, int]) -> Reading:
    """Return the reading of an answer after which this many trials of its conversation, by test, are not asked."""
    left = {test: n for test, n in not_asked.items() if n}
    return replace(reading, factors={**reading.factors, "n_not_asked": sum(left.values()), "not_asked": left})


class Reads(ABC):
    """Read answers; only `read` has no default."""

    answer_schema: Mapping[str, Any] | None = None
    """Give the JSON schema of an answer, for providers that enforce one on request; None if answers are not JSON."""
    refusal_rules: tuple[RefusalRule, ...] = ("outcome",)
    """List what a study of this design may call a refusal (`refusal_rule` in its file), the usual rule first."""

    def schema_of(self, study: StudyFile) -> Mapping[str, Any] | None:
        """Return `answer_schema`, or that of this study's answers."""
        return self.answer_schema

    @abstractmethod
    def read(self, study: StudyFile, trial: Trial, reply: Reply) -> Reading:
        """Return the outcome and the choice; an outcome that the provider itself has set wins."""

    def asked_fields(self, study: StudyFile, trial: Trial) -> tuple[AskedField, ...]:
        """Return the fields for a person, whose text `read` takes for an answer: one of two options if one of them is
        expected, or a text."""
        named = (trial.option_a, trial.option_b) if trial.expected is not None else ()
        return (AskedField("answer", options=tuple((option, option) for option in named if option)),)

    def words_for_models(self, study: StudyFile, trial: Trial) -> str:
        """Return the part of a prompt that says how a model is to answer; a person finds the same in fields."""
        return ""

    def of_people(self, study: StudyFile, trial: Trial) -> Trial:
        """Return a planned trial as people met it: without a role that only models are given."""
        return trial

    def decides_next(self, study: StudyFile, trial: Trial) -> bool:
        """Return whether what is asked after this answer depends on how it was read; by default in all turns but the
        last."""
        return bool((trial.round or 1) < trial.factors.get("n_turns", 1))

    def with_measures(
        self, study: StudyFile, functions: Mapping[str, Callable[[str], float | None] | None], of: str | None
    ) -> Any:
        """Return the study's data with these measures of its answers by functions of a person, of the question `of`."""
        raise UsageError(f'Answers of "{study.name}" can\'t be measured: it is no factorial study.')

    def measured(self, study: StudyFile, shown: Mapping[str, Any], outcome: Any) -> Mapping[str, Any]:
        """Return the factors of an answer that was read, with the measures that the study has now."""
        return shown

    def coded_options(self, study: StudyFile, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the two options of an answer that a model is to code, too, and what was given to one of them; `row` is
        one of the view `codable_answers`, which has the answers of this design."""
        return row["option_a"], row["option_b"], row["asked"]


class Simulates:
    """Make up answers; a design without this part can't be asked as simulated."""

    participants: Mapping[str, str] = {}
    """Label those players of any study of this design that are not models."""

    def simulate(self, study: StudyFile, model: StudyModel, trial: Trial, seed: int) -> Reply:
        """Return a made-up reply; it depends only on the trial, the model and the seed, never on the order of calls."""
        raise UsageError(
            f"Answers to {study.name} can't be simulated: its design has no simulation.",
            "Ask a model: leave out --simulated. A design simulates by its part `simulates`.",
        )

    def knows_lengths(self, study: StudyFile, model: StudyModel) -> bool:
        """Return True if the study says how long this model's answers are, so that simulated ones are as long: by
        default if its numbers to simulate from have this model."""
        numbers = getattr(study.data, "simulation", None)
        return isinstance(numbers, Mapping) and any(key[:1] == (model.model,) for key in numbers)

    def assumed_lengths(self, study: StudyFile, model: StudyModel) -> str:
        """Return the lengths that are assumed because a study with this model lacks them; otherwise empty."""
        return ""


class Design(ABC):
    """Define a kind of experiment. All of it is pure: no clock, no network, no state between calls."""

    name: str
    asks: Asks
    reads: Reads
    simulates: Simulates = Simulates()
    imports: Imports = Imports()
    analyses: Analyses = Analyses()
    starts: tuple[str, ...] = ()
    """List studies to start from, if a design has several (`collect studies new --start`), the usual one first: folders
    in collector/studies/templates/DESIGN/."""
    template: Mapping[str, str] = {}
    """Hold a study to start from, for `collect studies new`: the text of each file by its name, including study.toml,
    with STUDY in place of its name. Designs of slant have theirs in collector/studies/templates/."""

    @abstractmethod
    def parse(self, table: Table, folder: StudyFolder) -> Any:
        """Return the design's own part of a study file (kept as `Study.data`); StudyError if it breaks the rules."""

    @abstractmethod
    def tests(self, data: Any) -> tuple[TestInfo, ...]:
        """Return the tests in the study's order, each with its number of trials in one model and one repetition."""

    def check(self, study: StudyFile) -> None:
        """Raise StudyError if the parts of the study don't fit together."""
        for named, user in used_frames(study).items():
            if named and not self.asks.frames(study.data):
                raise StudyError(f'{user.capitalize()} has the frame "{named}", but a {self.name} study has no frames.')
        for model in study.models if self.asks.needs_reasoning(study) else ():
            if provider_named(model.provider).hides_reasoning:
                raise StudyError(
                    f"{study.path.name} shows a model's reasoning in a later prompt, but {model.model} is asked at "
                    f"{model.provider}, which hides it.",
                    "Take {reasoning.…} out of the text, or ask models whose provider shows it (deepseek, local).",
                )

    def remarks(self, study: StudyFile) -> list[str]:
        """Return sentences on what is allowed but may not be intended, for `collect studies validate`."""
        return []


def used_frames(study: StudyFile) -> dict[str, str]:
    """Return the frames that a study and its models have, each with its user."""
    return {study.frame: "the study"} | {model.frame: f"the model {model.model}" for model in study.models}
