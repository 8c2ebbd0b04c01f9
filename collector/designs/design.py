"""Define what the rest of slant asks of a design: how its study file is read, and its parts.

A part says one thing of a design, and what needs it takes the part: what is asked (`asks.py`), how answers are read
(`reads.py`), made up (`simulates.py`), taken from files (`imports.py`) and analysed (`analyses.py`). A design must have
the first two; another that it leaves out has the defaults of its base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from slant.collector.designs.analyses import Analyses
from slant.collector.designs.asks import Asks
from slant.collector.designs.imports import Imports
from slant.collector.designs.reads import Reads
from slant.collector.designs.simulates import Simulates
from slant.collector.errors import StudyError
from slant.collector.providers import provider_named
from slant.collector.study.folder import StudyFolder
from slant.collector.study.records import StudyFile, TestInfo
from slant.collector.study.toml_table import Table


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
