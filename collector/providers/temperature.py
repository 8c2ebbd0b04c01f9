"""Find a provider's temperature: among its other settings, or in a separate table, as its dialect says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slant.collector.errors import SlantError
from slant.collector.providers import provider_named
from slant.collector.study.records import StudyModel


def sent_temperature(model: StudyModel) -> float | None:
    """Return the temperature that a model receives; None if it is left to its provider."""
    inside = _table(model.provider)
    value: float | None = (model.settings.get(inside, {}) if inside else model.settings).get("temperature")
    return value


def with_temperature(model: StudyModel, temperature: float | None) -> StudyModel:
    """Return the model with a study's temperature among its settings, in its provider's own words; unchanged if the
    study sets none, or plays the model.
    """
    if temperature is None or model.provider == "simulated":
        return model
    sent: dict[str, Any] = {"temperature": temperature}
    if inside := _table(model.provider):
        sent = {inside: {**model.settings.get(inside, {}), **sent}}
    return replace(model, settings={**model.settings, **sent})


def _table(provider: str) -> str | None:
    """Return the table of settings that holds the temperature; None if it is among the other settings, as for a
    provider that is not known here.
    """
    try:
        inside: str | None = getattr(provider_named(provider).dialect, "TEMPERATURE_INSIDE", None)
    except SlantError:
        return None
    return inside
