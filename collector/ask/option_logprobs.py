"""Measure how likely each of the two options was: a graded measure in addition to the forced choice.

It is read from the generated tokens and the likeliest tokens at each position. The measure is the probability of the
option's text *given all that was generated before the answer* (reasoning, an opening quote or bracket).

exact        every token of both options' texts is known (but for 1 %): their probabilities are multiplied
first_token  one option's later tokens are not known (they were never generated): both options are then measured by the
tokens at which they diverge, so that they are comparable. This is an upper bound of the exact probabilities
An option that is not among the likeliest tokens is None: unknown, and not zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slant.collector.records import LogprobKind, TokenLogprob

_NEGLIGIBLE = 0.01  # a share; among twenty tokens there is nearly always a stray one that begins an option
_OPENING = " \t\r\n\"'`*[({<“‘«_"


@dataclass(frozen=True, slots=True)
class OptionLogprobs:
    """Hold natural logarithms of probabilities, and how far they can be trusted; None if they can't be read."""

    option_a_logprob: float | None = None
    option_b_logprob: float | None = None
    logprob_kind: LogprobKind | None = None


@dataclass(frozen=True, slots=True)
class _SeenTokens:
    """Hold one option where the two diverge: its complete text, and its possible next tokens there."""

    whole: float | None
    first: float | None
    share_unknown: float

    @property
    def is_exact(self) -> bool:
        """Return True for an unseen option, too: an unknown value can't be wrong."""
        return self.first is None or (self.whole is not None and self.share_unknown < _NEGLIGIBLE)


def read_option_logprobs(
    tokens: Sequence[TokenLogprob], answer: str | None, option_a: str | None, option_b: str | None, place: int = 0
) -> OptionLogprobs:
    """Return the log-probabilities of both options in the answer that `tokens` end with; all None if it isn't found.

    `place`: at which character of the answer the option begins (the letter inside of {"answer": "A"}); what comes
    before it there is taken as given. If one option begins with the other, their beginnings can't distinguish them:
    both are None.
    """
    tokens, start = _from_place(tokens, answer or "", place) if tokens else (tokens, None)
    if start is None or not option_a or not option_b:
        return OptionLogprobs()
    if option_a.startswith(option_b) or option_b.startswith(option_a):
        return OptionLogprobs()
    at, shared, path = _parting(tokens, start, option_a, option_b)
    if at is None:
        return OptionLogprobs()
    seen = [_seen_tokens(tokens, at, option[shared:], is_opening=shared == 0) for option in (option_a, option_b)]
    if all(option.first is None for option in seen):
        return OptionLogprobs()
    is_exact = all(option.is_exact for option in seen)
    after = [option.whole if is_exact else option.first for option in seen]
    a, b = (None if logprob is None else min(0.0, path + logprob) for logprob in after)
    return OptionLogprobs(a, b, "exact" if is_exact else "first_token")


def _from_place(tokens: Sequence[TokenLogprob], answer: str, place: int) -> tuple[Sequence[TokenLogprob], int | None]:
    """Return the tokens, and the index of the one in which the option begins; None if the answer isn't found.

    Some servers list the tokens of the reasoning before the answer, and a stop token after it. If the option's token
    has more than an opening quote before the option (`":"A`), that is cut off, from the likeliest tokens, too.
    """
    text = "".join(token.token for token in tokens)
    start = text.rfind(answer.strip()) if answer.strip() else -1
    if start < 0:
        return tokens, None
    start += max(0, place - (len(answer) - len(answer.lstrip())))
    passed = 0
    for index, token in enumerate(tokens):
        if passed <= start < passed + len(token.token):
            before = token.token[: start - passed]
            if not before.strip(_OPENING):
                return tokens, index
            return (*tokens[:index], _without(token, before), *tokens[index + 1 :]), index if place else None
        passed += len(token.token)
    return tokens, None


def _without(token: TokenLogprob, before: str) -> TokenLogprob:
    likeliest = tuple((text.removeprefix(before), value) for text, value in token.likeliest if text.startswith(before))
    return TokenLogprob(token.token.removeprefix(before), token.logprob, likeliest)


def _parting(tokens: Sequence[TokenLogprob], start: int, option_a: str, option_b: str) -> tuple[int | None, int, float]:
    """Return (position of the token at which the options diverge, characters they share before it, logprob up to
    it)."""
    shared, path = 0, 0.0
    for index in range(start, len(tokens)):
        text = tokens[index].token if shared else tokens[index].token.lstrip(_OPENING)
        if not text and not shared:
            continue  # only an opening quote or bracket: what follows is measured given that
        rest_a, rest_b = option_a[shared:], option_b[shared:]
        if not (rest_a.startswith(text) and rest_b.startswith(text)):
            return index, shared, path
        shared += len(text)
        path += tokens[index].logprob
    return None, 0, 0.0


def _seen_tokens(tokens: Sequence[TokenLogprob], at: int, ending: str, *, is_opening: bool) -> _SeenTokens:
    """Return the known tokens at position `at` for an option whose text continues with `rest`."""
    likeliest = dict(tokens[at].likeliest) | {tokens[at].token: tokens[at].logprob}
    complete: list[float] = []
    first: list[float] = []
    unknown: list[float] = []
    for token, logprob in likeliest.items():
        text = token.lstrip(_OPENING) if is_opening else token
        if _completes(text, ending):
            complete.append(logprob)
        elif text and ending.startswith(text):
            later = _path_to_end(tokens[at:], text, ending) if token == tokens[at].token else None
            (unknown if later is None else complete).append(logprob if later is None else later)
        else:
            continue
        first.append(logprob)
    total, lost = _sum(first), _sum(unknown)
    share = 0.0 if total is None or lost is None else math.exp(lost - total)
    return _SeenTokens(_sum(complete), total, share)


def _completes(text: str, ending: str) -> bool:
    return text.startswith(ending) and not text[len(ending) : len(ending) + 1].isalnum()


def _path_to_end(generated: Sequence[TokenLogprob], first: str, ending: str) -> float | None:
    """Return the sum along the generated tokens, whose first token reads `first`, until they complete `rest`."""
    total, remaining = generated[0].logprob, ending[len(first) :]
    for step in generated[1:]:
        total += step.logprob
        if _completes(step.token, remaining):
            return total
        if not step.token or not remaining.startswith(step.token):
            return None
        remaining = remaining[len(step.token) :]
    return None


def _sum(logprobs: Iterable[float]) -> float | None:
    """Return the logarithm of the summed probabilities; None if there are none."""
    known = [value for value in logprobs if value > -math.inf]
    if not known:
        return None
    top = max(known)
    return top + math.log(math.fsum(math.exp(value - top) for value in known))
