"""Combine a study with its design, for everything above both.

What an answer had clearly said before it was cut off at its limit ("No. The evidence is …") is read, too: it stays
truncated, and what it began with is a column (`begun_choice`), because what would have followed might have taken it
back. A study may count it (`count_truncated = true`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from slant.collector.designs.design import Design
from slant.collector.errors import UnknownNameError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.providers.temperature import with_temperature
from slant.collector.records import Reading, Reply, Trial
from slant.collector.sources import PEOPLE
from slant.collector.study.records import StudyFile, StudyModel
from slant.collector.system.patterns import lazy_pattern


@dataclass(frozen=True)
class Study(StudyFile):
    """Hold a study, read and checked: data (TOML and CSV, see `StudyFile`) and the `design` that reads it, which is
    code."""

    design: Design = field(kw_only=True)

    @property
    def people(self) -> StudyModel:
        """Return people as a model: their answers are stored under it."""
        return StudyModel(PEOPLE, "People", PEOPLE, PEOPLE, self.frame)

    def model(self, spec: str) -> StudyModel:
        """Return the model that `spec` names: an id of this study, 'simulated/ID', or any 'provider/name'.

        A model that the study does not name has `spec` as its id and label, the study's default frame, no settings.
        UnknownNameError for a bare name (or a simulated one) that the study does not know.
        """
        provider, slash, name = spec.partition("/")
        if not slash or provider == "simulated":
            return self._named(name if slash else spec, simulated=bool(slash))
        for model in self.models:
            if model.provider == provider and name in (model.model, model.requested_model):
                return model
        if not provider or not name:
            raise self._unknown_model(spec)
        other = StudyModel(spec, spec, provider, name, self.frame, reasoning_back=self.reasoning_back)
        return with_temperature(other, self.temperature)

    def _named(self, name: str, simulated: bool) -> StudyModel:
        for model in self.models:
            if model.model == name:
                return _simulated(model) if simulated else model
            if simulated and name in (f"{model.provider}/{model.model}", f"{model.provider}/{model.requested_model}"):
                return _simulated(model)
        if simulated and (label := self.participants.get(name)):
            return StudyModel(name, label, "simulated", name, self.frame)
        raise self._unknown_model(name)

    def _unknown_model(self, name: str) -> UnknownNameError:
        hint = f"A model that the study does not name is given with its provider, as in {EXAMPLE_MODEL}."
        if "/" in name:
            hint = "Only models of the study can be simulated; without --simulated any PROVIDER/NAME can be asked."
        if name in self.participants:
            hint = f"A participant that is no model is given with its provider: simulated/{name}"
        known = {model.model for model in self.models} | {
            participant for participant in self.participants if participant != name
        }
        return UnknownNameError(f"model in the study {self.name}", name, known, hint)


def _simulated(model: StudyModel) -> StudyModel:
    """Return the same model played by the simulated provider, which uses the study's own ids and takes no
    settings.
    """
    return replace(model, provider="simulated", requested_model=model.model, settings={}, asked_by_default=True)


_FIRST_SENTENCE = lazy_pattern(r"\s*(?:[^\n]{1,200}?[.!](?=\s)|[^\n]{1,200}\n)")


def read_reply(study: Study, trial: Trial, reply: Reply) -> Reading:
    """Return the design's reading of a reply; for one that was cut off, also the choice in its first sentence."""
    reading = study.design.reads.read(study, trial, reply)
    if reading.outcome != "truncated" or trial.game is not None or not reply.answer:
        return reading
    first = _FIRST_SENTENCE.match(reply.answer)
    if first is None:
        return reading
    begun = study.design.reads.read(study, trial, replace(reply, answer=first[0].strip(), outcome=None, detail=None))
    if begun.outcome != "answered" or begun.choice is None:
        return reading
    if study.count_truncated:
        return replace(begun, detail="cut off after its first sentence")
    return replace(reading, factors={**reading.factors, "begun_choice": begun.choice})
