"""Define slant's nouns, which never change once made: what is asked, what came back, and what is kept of it.

A *trial* is one observation. A *conversation* is what one worker owns: a list of trials asked in order; a single
question is a conversation of length one. An *attempt* is one HTTP exchange (or one imported answer), and has one
field for each column of the table `attempts` (sql/migrations).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, get_args

from slant.collector.sources import Source
from slant.collector.stable_ids import stable_id
from slant.collector.system.json_text import texts_sorted

Outcome = Literal["answered", "refused", "filtered", "truncated", "malformed", "rejected", "failed"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
WITHOUT_ANSWER: tuple[Outcome, ...] = tuple(each for each in OUTCOMES if each not in ("answered", "failed"))
"""List how a trial ends without an answer; analyses leave such trials out, and count them."""
RefusalRule = Literal["outcome", "exact_label"]
REFUSAL_RULES: tuple[RefusalRule, ...] = get_args(RefusalRule)
"""List what a study may count as a refusal: the outcome `refused`, or (a paper's rule) anything but exactly a label."""
EndingKind = Literal["answer", "truncated", "filtered", "refused", "malformed", "failed", "stop", "unknown", "missing"]
MAX_REPETITIONS = 10_000
Measure = Literal["reasoning", "output"]
TokenSource = Literal["usage", "output", "template", "retokenized"]
LogprobKind = Literal["exact", "first_token"]
ReasoningKind = Literal["raw", "summary", "encrypted", "none"]
PriceSource = Literal["provider", "list"]


@dataclass(slots=True)  # made for each trial: freezing its fields would take four times as long as setting them
class Trial:
    """Hold one observation before it is asked. `factors` holds what only this design knows, as JSON-able values.

    `content` is a short hash of what decides the prompts of trials like this one (see `Asks.contents`), `position`
    its place in the plan; None if an import doesn't say it. If a trial is asked again on another day (`collect
    --again`), `occasion` counts from 2, and `first_trial_id` is the trial that it repeats.
    """

    trial_id: str
    study: str
    study_version: str
    variant: str
    model: str
    test: str
    condition: str
    item: str
    group: str
    wording: int
    option_a: str | None
    option_b: str | None
    expected: str | None
    repetition: int
    position: int | None
    game: str | None = None
    round: int | None = None
    factors: Mapping[str, Any] = field(default_factory=dict)
    content: str | None = None
    occasion: int | None = None
    first_trial_id: str | None = None

    def copy(self) -> Trial:
        """Return a copy that may be changed: `dataclasses.replace` takes four times as long."""
        return Trial(*_values_of_trial(self))


_values_of_trial = attrgetter(*(each.name for each in fields(Trial)))


@dataclass(frozen=True, slots=True)
class Tool:
    """Describe a tool that a model is offered in a conversation: a function with one argument, one of `options`."""

    name: str
    description: str
    argument: str
    options: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """Return its arguments as JSON schema."""
        values = {"type": "string", "enum": list(self.options)}
        needed = {"properties": {self.argument: values}, "required": [self.argument]}
        return {"type": "object", **needed, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Hold one call of a tool in an answer, with the provider's own name for it (None if it gave none)."""

    call_id: str | None
    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        arguments = json.dumps(dict(self.arguments), ensure_ascii=False, separators=(",", ":"))
        return f"{self.name}({arguments})"


@dataclass(frozen=True)
class Prompt:
    """Hold what is sent in one turn: `new` messages, each `{"role": …, "content": …}`, after those of the prompt
    `before`.

    What a provider wants back of its own answer is the key "blocks" of that message (see Reply). Each prompt holds only
    its own messages: a game of n rounds takes the room of n messages, not of their n²/2 copies. If a `tool` is offered,
    a message of the user may have "results" before its content, each `{"call_id", "name", "content"}`.
    """

    new: tuple[Mapping[str, Any], ...]
    before: Prompt | None = field(default=None, repr=False)
    tool: Tool | None = None

    @property
    def messages(self) -> tuple[Mapping[str, Any], ...]:
        """Return the messages of the whole conversation, oldest first."""
        if self.before is None:
            return self.new
        return tuple(chain.from_iterable(reversed([prompt.new for prompt in self._back()])))

    @property
    def n_earlier(self) -> int:
        """Return the number of messages that were sent in the same conversation before."""
        return sum(len(prompt.new) for prompt in self.before._back()) if self.before else 0

    def _back(self) -> Iterator[Prompt]:
        prompt: Prompt | None = self
        while prompt is not None:  # no recursion: a game may have a thousand rounds
            yield prompt
            prompt = prompt.before

    @property
    def earlier_hash(self) -> str | None:
        return self.before.hash if self.before else None

    @cached_property
    def hash(self) -> str:
        new = [m if type(m) is dict else dict(m) for m in self.new]
        if self.before is None and self.tool is None and (text := texts_sorted(new)) is not None:
            return hashlib.blake2b(b"[" + text + b"]", digest_size=16).hexdigest()  # what stable_id(new) gives
        if self.before:
            return stable_id(self.before.hash, new)
        return stable_id(new) if self.tool is None else stable_id(new, asdict(self.tool))


@dataclass(frozen=True, slots=True)
class Conversation:
    """Hold what one worker owns: its trials in order. For a single question there is one."""

    conversation_id: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """Hold one generated token, the natural logarithm of its probability, and the likeliest tokens at its position."""

    token: str
    logprob: float
    likeliest: tuple[tuple[str, float], ...] = ()


@dataclass(slots=True)  # made for each answer: freezing its fields would take four times as long as setting them
class Reply:
    """Hold a provider's response, read but not judged. Unknown counts are None, never 0.

    `outcome` is set only if the provider itself says so (refused, filtered, truncated, malformed); if it is None the
    design reads the answer. `ending` is what its finish reason means (collector/providers/endings.py), None if the
    dialect does not say. `filter_category` is the provider's word for why it refused or held something back.
    `input_tokens` includes those read from and written to the provider's cache. `cache_write_1h_tokens` are those of
    `cache_write_tokens` that are kept for an hour, if that has a separate price. `reasoning_kind` is what
    `reasoning_text` is: the reasoning itself (raw), a summary of it, an unreadable block (encrypted), or neither
    (none). `count_conflict` says which of the provider's counts contradict each other. `stated_cost_usd` is what the
    provider says that it charged, and `upstream_cost_usd` what another one charges for the same answer (a router with
    the user's own key). `effective_…` and `service_tier` are settings that the answer itself reports. `blocks` is what
    the provider can be given back of its answer in a later turn, including reasoning, in its own words; None if that is
    no more than the answer.
    """

    answer: str | None = None
    reasoning_text: str | None = None
    reasoning_kind: ReasoningKind | None = None
    outcome: Outcome | None = None
    detail: str | None = None
    finish_reason: str | None = None
    ending: EndingKind | None = None
    filter_category: str | None = None
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    count_conflict: str | None = None
    stated_cost_usd: float | None = None
    upstream_cost_usd: float | None = None
    effective_effort: str | None = None
    effective_temperature: float | None = None
    service_tier: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    request_id: str | None = None
    logprobs: tuple[TokenLogprob, ...] = ()
    blocks: Any = None
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def spoken(self) -> str | None:
        """Return the answer for people, with the calls of tools in it."""
        if not self.tool_calls:
            return self.answer
        return "\n".join([*([self.answer] if self.answer else []), *map(str, self.tool_calls)])


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold how a design read a reply: the outcome, and the option that was chosen (as the study spells it).

    `detail` says what an invalid answer is, if the design distinguishes kinds. `spelled`: how the answer names options
    a and b, if not by their names; `place`: at which character of the answer the choice begins. It is not `is_final` if
    the same trial is asked again (a reminder). `factors` is what followed from the answer, and is stored with the
    trial's factors; "n_not_asked" there says by how many trials the conversation ends early.
    """

    outcome: Outcome
    choice: str | None = None
    detail: str | None = None
    spelled: tuple[str, str] | None = None
    place: int = 0
    is_final: bool = True
    factors: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold a conversation's finished exchange and its trial."""

    prompt: Prompt
    reply: Reply
    reading: Reading
    trial_id: str = ""


_OWN = {"is_own": True}
_READ = {"is_read_again": True}
_READ_ONCE = {"is_read_again": False}


@dataclass(slots=True, kw_only=True)  # sixty fields: freezing them would take longer than everything else here
class Attempt:
    """Hold one exchange with its trial, as the journal and the table `attempts` keep it. Times are ISO 8601 in UTC.

    It is never changed once made, like the others; `dataclasses.replace` makes a new one. A field is all that a column
    needs in Python: `columns_of` copies it from a field of that name of the trial, the exchange or the reply, and what
    comes from the reply is read again unless its field says that it is not. `_OWN`: answers of one shared attempt
    differ in it.
    """

    attempt_id: str
    run_id: str
    sequence: int = field(metadata=_OWN)
    conversation_id: str
    trial_id: str = field(metadata=_OWN)
    turn: int
    try_no: int
    is_final: bool = field(metadata=_READ)
    source: Source
    study: str
    study_version: str
    variant: str
    model: str
    provider: str
    requested_model: str
    game: str | None = None
    round: int | None = None
    repetition: int = field(metadata=_OWN)
    position: int | None = field(metadata=_OWN)
    test: str
    condition: str
    item: str
    group: str
    wording: int
    option_a: str | None
    option_b: str | None
    expected: str | None
    factors: str | None = field(default=None, metadata=_READ)
    content: str | None = None
    occasion: int | None = None
    first_trial_id: str | None = None
    outcome: Outcome
    answer: str | None = None
    choice: str | None = field(default=None, metadata=_READ)
    detail: str | None = None
    filter_category: str | None = None
    tokens: int | None = field(default=None, metadata=_OWN | _READ)
    token_source: TokenSource | None = field(default=None, metadata=_OWN | _READ)
    reasoning_tokens: int | None = field(default=None, metadata=_OWN)
    reasoning_tokens_recounted: int | None = field(default=None, metadata=_OWN)
    recount_tokenizer: str | None = None
    output_tokens: int | None = field(default=None, metadata=_OWN)
    input_tokens: int | None = field(default=None, metadata=_OWN)
    reasoning_text: str | None = None
    reasoning_kind: ReasoningKind | None = None
    finish_reason: str | None = None
    served_model: str | None = field(default=None, metadata=_READ_ONCE)
    fingerprint: str | None = field(default=None, metadata=_READ_ONCE)
    request_id: str | None = field(default=None, metadata=_OWN | _READ_ONCE)
    headers: str | None = None
    http_status: int | None = None
    error: str | None = None
    queued_at: str | None = None
    sent_at: str | None = None
    first_byte_at: str | None = None
    done_at: str | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    count_conflict: str | None = None
    cost_usd: float | None = field(default=None, metadata=_OWN)
    price_source: PriceSource | None = None
    effective_effort: str | None = None
    effective_temperature: float | None = None
    service_tier: str | None = None
    option_a_logprob: float | None = None
    option_b_logprob: float | None = None
    logprob_kind: LogprobKind | None = None
    batch_id: str | None = None
    prompt_hash: str | None = None
    request: str | None = None
    response: str | None = field(default=None, metadata=_OWN)
    participant: int | None = field(default=None, metadata=_OWN)
    response_time_ms: float | None = field(default=None, metadata=_OWN)
    is_error: bool | None = field(default=None, metadata=_OWN)
    phase: str | None = field(default=None, metadata=_OWN)
    page_width_px: int | None = field(default=None, metadata=_OWN)
    options_direction: str | None = field(default=None, metadata=_OWN)


_OF_REPLY = Reply.__dataclass_fields__
READ_AGAIN = tuple(f.name for f in fields(Attempt) if f.metadata.get("is_read_again", f.name in _OF_REPLY))
"""List the columns of an attempt that a later reading of its response decides (`collect reread`)."""
OWN = tuple(f.name for f in fields(Attempt) if f.metadata.get("is_own"))
"""List what each of the answers that share an attempt has by itself; all other columns are shared."""


@dataclass(frozen=True, slots=True)
class Registration:
    """Hold what was fixed before the data (`collect preregister`): its canonical text, the SHA-256 of that
    (hexadecimal), and its study."""

    sha256: str
    study: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Hold one call of `collect` (or one import), as the first line of its journal and the table `runs` keep it.

    `models`, `tests` and `conditions` are JSON lists of objects, which become rows of the tables run_models …:
    models: model, model_no (place in the study), label, provider, requested_model, frame, measure, settings, planned,
            base_url, api_version, sent, left_to_default, prompt_hash, price; if it asks again: occasion, n_again
    tests:  test, test_no, label, groups, planned (trials of that test in one model)
    conditions: condition, condition_no, label, in the study's order
    `registration` is the SHA-256 of the run's registration. Of people `consent` says what they agreed to, and `origin`
    where their answers come from.
    """

    run_id: str
    source: Source
    study: str
    study_version: str
    variant: str
    seed: int | None
    repetitions: int
    models: str
    tests: str
    settings: str
    code_version: str
    machine: str
    command: str
    started_at: str
    design: str | None = None
    conditions: str = "[]"
    study_title: str | None = None
    study_source: str | None = None
    study_file: str | None = None
    git_commit: str | None = None
    registration: str | None = None
    refusal_rule: RefusalRule | None = None
    consent: str | None = None
    origin: str | None = None
