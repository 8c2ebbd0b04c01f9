"""Recognise explicit refusals, as models write them when they are asked for one label."""

from __future__ import annotations

import re

from slant.collector.system.patterns import lazy_pattern

REFUSAL = lazy_pattern(
    r"\b(?:can't|cannot|can not|won't|will not|unable to|not able to|not going to|not comfortable|decline to|refuse to"
    r"|should not|shouldn't|not appropriate|inappropriate|don't feel comfortable|don't think it's|don't think it is)\b"
    r"|^\s*(?:i'm |i am |i'm very |i'm so )?sorry\b|^\s*(?:i apologi[sz]e|my apologies|apologies)\b",
    re.IGNORECASE,
)
ABROAD = (
    r"\b(?:lo siento|no puedo|prefiero no|je suis désolée?|désolée?,|je ne peux pas|je ne suis pas en mesure"
    r"|es tut mir leid|ich kann (?:das|diese|dir|ihnen|dabei|leider|hier)?\b.{0,40}\bnicht|mi dispiace|non posso"
    r"|desculpe|sinto muito|não posso|het spijt me|ik kan (?:dit|deze|hier|je|u)\b.{0,40}\bniet|przykro mi|nie mogę"
    r"|извините|не могу)|抱歉|对不起|對不起|无法|無法|不能|申し訳|できません|죄송|할 수 없"
)
EVASION = lazy_pattern(
    rf"{ABROAD}"
    r"|\b(?:(?:rather|prefer) not|neither option|no (?:opinion|preference)|as an? (?:ai|language model|assistant))\b",
    re.IGNORECASE,
)
"""Match refusals in other languages, and less plain ones: for answers in which nothing else is clear."""


_ABROAD = lazy_pattern(ABROAD, re.IGNORECASE)


def refuses_abroad(text: str) -> bool:
    """Return whether an answer refuses plainly in another language than English."""
    return bool(_ABROAD.search(text))


def is_refusal(text: str) -> bool:
    """Return whether an answer in which nothing else is clear refuses, plainly or not."""
    return bool(REFUSAL.search(text) or EVASION.search(text))


def refusing_words(text: str, longest: int = 80) -> str:
    """Return the words by which `is_refusal` recognises a refusal, and what follows them, in one line."""
    match = REFUSAL.search(text) or EVASION.search(text)
    return " ".join(text[match.start() : match.start() + longest].split()) if match else ""


def refusal_detail(text: str) -> str:
    """Return `Reading.detail` for a refusal: that it is one, and by which words."""
    return f"refused_in_words: {refusing_words(text)}"
