"""Rows of games, which no plan knows: the design itself says which trial each is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.designs import Design
from slant.collector.designs.imported_turns import ImportedTurn, TurnReader
from slant.collector.designs.study import Study
from slant.collector.errors import StudyError
from slant.collector.importing.layouts.values import CellError, factors_in, is_empty, truth, whole_number, word
from slant.collector.records import Trial
from slant.collector.study.records import StudyModel


class GameRows:
    """Hold the games of an import; those of which no row says which one they are are numbered as they come."""

    def __init__(self, study: Study, design: Design) -> None:
        self._study, self._design = study, design
        self._readers: dict[str, TurnReader | None] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] = {}

    def trial_of(self, draft: Mapping[str, Any], model: StudyModel) -> tuple[str, Trial, int | None, bool] | None:
        """Return the conversation, the trial, its turn, and that it is known; None of a design whose plan knows its
        trials.
        """
        if model.model not in self._readers:
            self._readers[model.model] = self._design.imported_turns(self._study, model)
        reader = self._readers[model.model]
        if reader is None:
            return None
        game = word(draft.get("game"))
        round_no = None if is_empty(draft.get("round")) else whole_number(draft["round"], "round", 1)
        row = ImportedTurn(
            test=word(draft.get("test")),
            condition=word(draft.get("condition")),
            item=word(draft.get("item")),
            group=word(draft.get("group")),
            game=game,
            number=self._number(draft, model.model, game),
            round=round_no,
            factors=factors_in(draft.get("factors")) or {},
            is_success=truth(draft.get("is_success"), "is_success"),
        )
        try:
            conversation, trial = reader(row)
        except StudyError as error:
            raise CellError(error.what) from None
        return conversation, trial, round_no or 1, True

    def _number(self, draft: Mapping[str, Any], model: str, game: str) -> int:
        if not is_empty(draft.get("repetition")):
            return whole_number(draft["repetition"], "repetition", 1)
        if (model, game) not in self._numbers:
            self._counts[model] = self._counts.get(model, 0) + 1
            self._numbers[model, game] = self._counts[model]
        return self._numbers[model, game]
