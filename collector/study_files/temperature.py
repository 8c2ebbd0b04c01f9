"""A study's temperature in each provider's own words."""

from __future__ import annotations

from dataclasses import replace

from collector.study_files.records import StudyModel

_INSIDE = {"gemini": "generationConfig", "ollama": "options"}


def with_temperature(model: StudyModel, temperature: float | None) -> StudyModel:
    """The model with this temperature among its settings; as it is where the study sets none, or plays the model."""
    if temperature is None or model.provider == "simulated":
        return model
    if (inside := _INSIDE.get(model.provider)) is None:
        return replace(model, settings={**model.settings, "temperature": temperature})
    deeper = {**model.settings.get(inside, {}), "temperature": temperature}
    return replace(model, settings={**model.settings, inside: deeper})
