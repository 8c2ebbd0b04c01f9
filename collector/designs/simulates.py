"""Define how a design makes up answers, for simulated models and for what a plan will cost."""

from __future__ import annotations

from collections.abc import Mapping

from slant.collector.errors import UsageError
from slant.collector.records import Reply, Trial
from slant.collector.study.records import StudyFile, StudyModel


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
