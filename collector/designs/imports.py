"""Define how a design takes what others have collected: files, answers of people, published lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.people import PeopleUnits, RowPlacer, TurnReader
from slant.collector.designs.proposed_study import AnsweredCells, AnswerTable, ProposedStudy
from slant.collector.errors import StudyError
from slant.collector.records import Reply, Trial
from slant.collector.study.records import StudyFile, StudyModel


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
