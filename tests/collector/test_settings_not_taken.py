"""Settings that a model does not take any more, or ignores: which one it is, and what to change."""

from __future__ import annotations

from typing import Any

import pytest

from slant.collector.ask.settings_not_taken import explained, ignored
from slant.collector.records import Reply
from slant.collector.study.records import StudyModel


def model(provider: str = "anthropic", **settings: Any) -> StudyModel:
    return StudyModel("m", "m", provider, "m", settings=settings)


@pytest.mark.parametrize(
    ("settings", "said", "named"),
    [
        ({"top_p": 0.5}, "`top_p` is deprecated for this model.", "top_p = 0.5"),
        (
            {"reasoning_effort": "low"},
            "Model grok does not support parameter reasoningEffort.",
            "reasoning_effort = low",
        ),
        ({"stop": "x"}, "Argument not supported on this model: stop", "stop = x"),
        ({"generationConfig": {"topK": 3}}, "Invalid value at 'generation_config.top_k'", "topK = 3"),
        ({"thinking": {"type": "enabled"}}, "'thinking' is not supported for this model", "thinking = {'type'"),
        ({"temperature": 0.5}, "`temperature` is deprecated for this model.", "the temperature 0.5"),
    ],
)
def test_a_refused_setting_is_named_with_what_was_sent(settings: dict[str, Any], said: str, named: str) -> None:
    sentence = explained(f"HTTP 400: {said}", model(**settings))
    assert f"m was sent {named}" in sentence
    assert "study" in sentence


@pytest.mark.parametrize("said", ["HTTP 400: Please stop, wrong type", "HTTP 402: can afford fewer max_tokens"])
def test_a_usual_word_or_an_empty_account_is_no_setting(said: str) -> None:
    assert explained(said, model(stop="x", type="y", max_tokens=9)) == said


def test_a_setting_that_the_answer_reports_otherwise_is_ignored() -> None:
    said = ignored(model("openai", temperature=0.0), Reply("Calm", effective_temperature=1.0))
    assert said is not None
    assert "was sent the temperature 0, and its answers report 1" in said
    effort = ignored(model("openai", reasoning={"effort": "low"}), Reply("Calm", effective_effort="medium"))
    assert effort is not None
    assert "reasoning effort low" in effort


def test_a_setting_that_is_reported_as_sent_or_not_at_all_is_not_called_ignored() -> None:
    sent = model("openai", temperature=1.0, reasoning={"effort": "low"})
    assert ignored(sent, Reply("Calm")) is None
    assert ignored(sent, Reply("Calm", effective_temperature=1, effective_effort="Low")) is None
    assert ignored(model(), Reply("Calm", effective_temperature=1.0, effective_effort="high")) is None
