"""Report once a run what is odd about a model: settings that it does not take (its provider refuses them, or ignores
them, so that the answer reports another value), reasoning that a server cuts at its own budget and then ends with
`stop`, and endings of answers that are unknown to slant or missing.

No finish reason shows a cut at a budget, and counts at that limit are lower bounds (a censored dependent variable). If
the budget is among a model's settings, it is known. Otherwise it shows as a pile of equal counts at the largest one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.providers.exchange import at
from slant.collector.providers.temperature import sent_temperature
from slant.collector.records import Reading, Reply
from slant.collector.screen_tables import in_one_line
from slant.collector.study.records import StudyModel
from slant.collector.terminal import count_text

# llama.cpp, DashScope, SGLang, vLLM, OpenRouter, LM Studio, Anthropic, Gemini
_BUDGETS = (
    ("thinking_budget",), ("reasoning_budget",), ("thinking_budget_tokens",), ("thinking_token_budget",),
    ("chat_template_kwargs", "thinking_budget"), ("custom_params", "thinking_budget"), ("reasoning", "max_tokens"),
    ("thinking", "budget_tokens"), ("generationConfig", "thinkingConfig", "thinkingBudget"),
)  # fmt: skip
FEWEST_IN_PILE = 5
NEAR = 0.99  # of the budget: a server stops within the sentence, or adds its own closing words
_TIMES_THE_NEXT = 3  # a pile is this many times as high as the count below it


def reasoning_budget(settings: Mapping[str, Any]) -> int | None:
    """Return the most tokens of reasoning that a model's settings allow, in any server's words; None without a
    limit.
    """
    return limit_at(_BUDGETS, settings)


def limit_at(paths: Iterable[tuple[str, ...]], settings: Mapping[str, Any]) -> int | None:
    """Return the first whole number above 0 that stands at one of these paths."""
    for path in paths:
        value = at(settings, *path)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def pile(counts: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the largest count and how often it came, if answers pile up there; `counts`: how often each count came.
    Return None if they don't, as if the largest count is one of many or nearly all counts are alike.
    """
    largest_first = sorted(counts, reverse=True)
    if len(largest_first) < FEWEST_IN_PILE or largest_first[0] == 0:
        return None
    largest, following = largest_first[:2]
    is_pile = counts[largest] >= max(FEWEST_IN_PILE, _TIMES_THE_NEXT * counts[following])
    return (largest, counts[largest]) if is_pile else None


@dataclass
class ReasoningLimit:
    """Count the reasoning of one model in one run. Counts of the complete output are used if there are no others: the
    answers to a forced choice are short."""

    counts: Counter[int] = field(default_factory=Counter)

    def count(self, reply: Reply) -> None:
        """Take note of one reply that ended as an answer does."""
        tokens = reply.output_tokens if reply.reasoning_tokens is None else reply.reasoning_tokens
        if tokens is not None and reply.outcome in (None, "refused"):
            self.counts[tokens] += 1

    def notes(self, model: str, settings: Mapping[str, Any]) -> list[str]:
        """Return the sentences about it for the end of a run."""
        total, budget = self.counts.total(), reasoning_budget(settings)
        if budget is not None:
            n = sum(times for tokens, times in self.counts.items() if tokens >= NEAR * budget)
            finding = f"reached the reasoning budget of {budget:,} tokens that its settings set"
            return [self._note(model, n, total, finding)] if n else []
        if (found := pile(self.counts)) is None:
            return []
        return [self._note(model, found[1], total, f"have the largest count there is, {found[0]:,} tokens")]

    @staticmethod
    def _note(model: str, n: int, total: int, finding: str) -> str:
        return (
            f"{n:,} of {count_text(total, 'answer')} of {model} {finding}. If the server cuts reasoning there, these "
            "counts are lower bounds (censored): analyze check counts them by condition."
        )


_CLOSE = 1e-6
_OF_PARAMETERS = re.compile(r"HTTP (?:400|422|502|200 with an error in it)\b")


def explained(reason: str, model: StudyModel) -> str:
    """Explain why a provider takes no request for this model and, if a setting is the reason, what to do about it."""
    if not _OF_PARAMETERS.match(reason):
        return reason
    if (sent := sent_temperature(model)) is not None and _names("temperature", reason):
        return (
            f"{reason.rstrip('.')}. {model.model} was sent the temperature {sent:g}, which its provider does not "
            "accept. To continue without it, name the others:"
            " --model PROVIDER/NAME; in a study of your own give it in "
            f'left_out = {{ "{model.model}" = "why" }}, which every run of the study then reports.'
        )
    named = [(name, value) for name, value in _leaves(model.settings) if _names(name, reason)]
    if not named:
        return reason
    what = " and ".join(f"{name} = {_short(value)}" for name, value in named)
    return (
        f"{reason.rstrip('.')}. {model.model} was sent {what}, which its provider does not accept with this model. "
        "Change it, or remove it from this model's settings in the study file."
    )


def ignored(model: StudyModel, reply: Reply) -> str | None:
    """Return a sentence if a model ignored its temperature or its effort, as the answer reports another one than was
    sent; else None.

    A provider that reports nothing can't be checked this way: `collect check-model` compares its answers instead.
    """
    reported = reply.effective_temperature
    if reported is not None and (sent := sent_temperature(model)) is not None and abs(reported - sent) > _CLOSE:
        return _ignored(model, "temperature", f"{sent:g}", f"{reported:g}")
    if not reply.effective_effort:
        return None
    effort = next((value for name, value in _leaves(model.settings) if name in ("effort", "reasoning_effort")), None)
    if isinstance(effort, str) and reply.effective_effort.lower() != effort.lower():
        return _ignored(model, "reasoning effort", effort, reply.effective_effort)
    return None


def _ignored(model: StudyModel, what: str, sent: str, reported: str) -> str:
    return (
        f"WARNING: {model.model} was sent the {what} {sent}, and its answers report {reported}: it was ignored. "
        "Change it in the study file, or report what was used (columns effective_temperature and effective_effort)."
    )


def _names(name: str, reason: str) -> bool:
    """Return whether a sentence names a setting, in snake_case or camelCase. A name that may be a usual word (stop,
    type) must stand out: in quotation marks, before a colon, or after a word such as "parameter"."""
    words = [re.escape(part) for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", name) if part]
    whole = rf"(?<![A-Za-z]){'_?'.join(words)}(?![A-Za-z])"
    if len(words) == 1 and name != "temperature":
        whole = (
            rf"[`'\".]{whole}|{whole}(?:[`'\"]|:)|(?:parameters?|arguments?|settings?|fields?|options?|model):? {whole}"
        )
    return re.search(whole, reason, re.IGNORECASE) is not None


def _leaves(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each setting, including those inside others and the groups themselves."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        yield name, value


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


_LONGEST_WORD = 60


Unread = Mapping[tuple[int, int], int]
"""Count answered trials by the numbers of their questions and of those that were not read."""


def unread_notes(name: str, unread: Unread) -> list[str]:
    """Return the sentence on questions that were not read in answers to several; none if all were."""
    n_trials = sum(n for (_, n_unread), n in unread.items() if n_unread)
    if not n_trials:
        return []
    if len(unread) == 1:
        ((n_questions, n_unread),) = unread
        return [f"{name}: {n_unread} of {n_questions} questions of each trial were not read."]
    n_unread = sum(each * n for (_, each), n in unread.items())
    n_questions = sum(each * n for (each, _), n in unread.items())
    return [
        f"{name}: {n_unread:,} of {count_text(n_questions, 'question')} were not read, in {n_trials:,} of "
        f"{count_text(sum(unread.values()), 'answered trial')}."
    ]


@dataclass
class Endings:
    """Count the endings of one model in one run. `unknown`: how many answers ended with each unknown word; `missing`:
    how many texts without a finish reason were taken for answers; `unread`: how many answered trials there are by the
    numbers of their questions and of those that were not read."""

    unknown: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    unread: Counter[tuple[int, int]] = field(default_factory=Counter)

    def count(self, reply: Reply) -> None:
        """Take note of one reply."""
        if reply.ending == "unknown":
            self.unknown[in_one_line((reply.finish_reason or "")[:_LONGEST_WORD])] += 1
        elif reply.ending == "missing" and reply.outcome is None and reply.spoken:
            self.missing += 1

    def count_questions(self, reading: Reading) -> None:
        """Take note of the questions of one answered trial, if it has several."""
        outcomes = reading.factors.get("outcomes", ())
        if reading.outcome == "answered" and len(outcomes) > 1:
            self.unread[len(outcomes), sum(outcome != "answered" for outcome in outcomes)] += 1

    def notes(self, provider: str, model: str) -> list[str]:
        """Return the sentences about them for the end of a run."""
        notes = [
            f"{provider} ended {count_text(n, 'answer')} with {word}, which slant does not know; "
            f"{'it is' if n == 1 else 'they are'} not counted as {'an answer' if n == 1 else 'answers'}."
            for word, n in sorted(self.unknown.items())
        ]
        if self.missing:
            counted = "it counts as one" if self.missing == 1 else "they count as answers"
            notes.append(
                f"{provider} gave no reason why {count_text(self.missing, 'answer')} ended; {counted} all the same."
            )
        return [*notes, *unread_notes(model, self.unread)]

    def as_message(self) -> dict[str, Any]:
        """Return the counts as JSON-able values for another process; `add` takes them."""
        unread = [[*key, n] for key, n in self.unread.items()]
        return {"unknown": dict(self.unknown), "missing": self.missing, "unread": unread}

    def add(self, message: Mapping[str, Any]) -> None:
        """Add what another process has counted."""
        self.unknown.update(message["unknown"])
        self.missing += message["missing"]
        self.unread.update({(n_questions, n_unread): n for n_questions, n_unread, n in message["unread"]})


_FEWEST = 5
_MOSTLY = 0.9
NOTHING_READ = "are malformed: nothing can be read in them"


def malformed_notes(model: str, outcomes: Mapping[str, int]) -> list[str]:
    """Return a sentence if nearly all answers of a model are malformed: then the study or the server is wrong, not
    chance.
    """
    answers = sum(n for outcome, n in outcomes.items() if outcome != "failed")
    n = outcomes.get("malformed", 0)
    if n < _FEWEST or n < _MOSTLY * answers:
        return []
    return [
        f"WARNING: {n:,} of {answers:,} answers of {model} {NOTHING_READ}. Look at some before you go on: collect view"
    ]
