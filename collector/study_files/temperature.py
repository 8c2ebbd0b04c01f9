"""A study's temperature in each provider's own words."""

from __future__ import annotations

from dataclasses import replace

from slant.collector.study_files.records import StudyModel

_INSIDE = {"gemini": "generationConfig", "ollama": "options"}


def with_temperature(model: StudyModel, temperature: float | None) -> StudyModel:
    """The model with this temperature among its settings; as it is where the study sets none, or plays the model."""
    if temperature is None or model.provider == "simulated":
        return model
    if (inside := _INSIDE.get(model.provider)) is None:
        return replace(model, settings={**model.settings, "temperature": temperature})
    deeper = {**model.settings.get(inside, {}), "temperature": temperature}
    return replace(model, settings={**model.settings, inside: deeper})


def temperature_of(model: StudyModel) -> float | None:
    """The temperature that the model is sent; None where it is left to its provider."""
    inside = _INSIDE.get(model.provider)
    settings = model.settings.get(inside, {}) if inside else model.settings
    found: float | None = settings.get("temperature")
    return found


def explained(reason: str, model: StudyModel) -> str:
    """Why a provider takes no request for this model, and where that is its temperature, what to do about it."""
    sent = temperature_of(model)
    if sent is None or "temperature" not in reason.lower():
        return reason
    return (
        f"{reason.rstrip('.')}. {model.model} was sent the temperature {sent:g}, which its provider does not take. "
        "To go on without it, name the others: --model PROVIDER/NAME; in a study of your own give it in "
        f'left_out = {{ "{model.model}" = "why" }}, which is said wherever the study is run.'
    )
