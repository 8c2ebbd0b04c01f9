"""Quote what a run plan would take: one row per model for `--dry-run` and for the question before paid requests.

Each round of a game sends all rounds before it again, so its input grows with the square of the rounds. A provider's
cache of what was sent before makes most of it cheaper; it can't be counted on.

Choose the pilot: a small balanced slice of the plan that is asked first. Its answers are ordinary ones, in the
journal like all others, so that the full run goes on from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from slant.collector.ask.rate_limits import spoken
from slant.collector.cost.estimate import (
    Estimate,
    Guess,
    Span,
    as_columns,
    earlier_sizes,
    estimate_run,
    known_limits,
    spoken_usd,
)
from slant.collector.designs.study import Study
from slant.collector.plan.conversations import Cell, plan, quotas
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.providers.prices import PER_TOKENS, Price
from slant.collector.records import Conversation, Turn
from slant.collector.study.records import StudyModel

LOOKED_AT = 50_000  # conversations in which every cell of a plan shows up: the order of asking is random


def pilot_of(run_plan: RunPlan, trials: int) -> RunPlan:
    """Return the same run plan cut down to a balanced slice of about `trials` trials of each model.

    Every model gets the same cells, and the same slice whether or not some is answered already. Raise UsageError if
    `trials` is less than one in each condition.
    """
    chosen: set[str] = set()
    model_plans = []
    for model_plan in run_plan.model_plans:
        conversations = list(balanced_slice(*run_plan.plan_of(model_plan.model), trials, model_plan.others))
        ids = [trial.trial_id for conversation in conversations for trial in conversation.trials]
        chosen.update(conversation.conversation_id for conversation in conversations)
        model_plans.append(replace(model_plan, planned=len(ids), already_done=sum(run_plan.done.among(ids))))
    return replace(run_plan, model_plans=tuple(model_plans), slice=frozenset(chosen))


def balanced_slice(
    study: Study, model: StudyModel, seed: int, repetitions: int, trials: int, skip: bytes = b""
) -> Iterator[Conversation]:
    """Yield the first conversations of the plan (except those to `skip`) that fill each test and condition alike.

    Every condition gets the same number of trials, and tests differ by at most one per condition. Conversations are not
    split, so that one of many trials (a game) may exceed `trials`.
    """

    def planned() -> Iterator[Conversation]:
        return islice(plan(study, model, seed, repetitions, skip), LOOKED_AT)

    left = quotas({_cell(conversation) for conversation in planned()}, [test.test for test in study.tests], trials)
    for conversation in planned():
        if left[_cell(conversation)] > 0:
            left[_cell(conversation)] -= len(conversation.trials)
            yield conversation
        elif max(left.values()) <= 0:
            return


def _cell(conversation: Conversation) -> Cell:
    return conversation.trials[0].test, conversation.trials[0].condition


CHARACTERS_OF_TOKEN = 4  # about right for English


@dataclass(frozen=True, slots=True)
class Growth:
    """Hold the characters sent in one game that was played with simulated answers: by turn, and how many of them were
    new. `output_tokens` are those of all its answers."""

    sent: tuple[int, ...]
    new: tuple[int, ...]
    output_tokens: int

    @property
    def characters(self) -> float:
        """Return the mean of a turn."""
        return sum(self.sent) / len(self.sent)

    def sentence(self, model: str, pending: int, price: Price | None, output: Span | None) -> str:
        """Return the sentence to read before paying for it."""
        first, last, total = (round(n / CHARACTERS_OF_TOKEN) for n in (self.sent[0], self.sent[-1], sum(self.sent)))
        sentence = (
            f"{model}: input grows with the square of the rounds: about {first:,} tokens in the first turn, "
            f"{last:,} in the last, {total:,} in all {len(self.sent)} of them, of which only "
            f"{round(sum(self.new) / CHARACTERS_OF_TOKEN):,} are new"
        )
        if price is None or price.cached_input is None or output is None or not pending:
            return f"{sentence}."
        games = pending / len(self.sent) / CHARACTERS_OF_TOKEN / PER_TOKENS
        new, again = sum(self.new), sum(self.sent) - sum(self.new)
        dear = price.cache_write or price.input
        cost = games * (new * dear + again * price.cached_input) + output.about * price.output / PER_TOKENS
        return f"{sentence}. Where its provider's prompt cache holds all of the rest: about ${cost:,.2f}."


def _characters(message: Mapping[str, Any]) -> int:
    """Count those of a message, and of the results of tool calls; calls themselves are short."""
    results = (str(result["content"]) for result in message.get("results") or ())
    return len(str(message["content"])) + sum(map(len, results))


def growth_of(study: Study, model: StudyModel, conversation: Conversation, seed: int) -> Growth:
    """Play one conversation with simulated answers, and count."""
    design = study.design
    history: list[Turn] = []
    sent, new, output = [], [], 0
    while step := design.asks.next(study, model, conversation, history):
        trial, prompt = step
        lengths = [_characters(message) for message in prompt.messages]
        sent.append(sum(lengths))
        new.append(sum(lengths[prompt.n_earlier :]))
        reply = design.simulates.simulate(study, model, trial, seed)
        output += reply.output_tokens or 0
        history.append(Turn(prompt, reply, design.reads.read(study, trial, reply), trial.trial_id))
    return Growth(tuple(sent), tuple(new), output)


PROMPTS_LOOKED_AT = 400
MOST_PLAYED = 20


@dataclass(frozen=True, slots=True)
class Quote:
    """Hold what one model's pending trials would take."""

    model_plan: ModelPlan
    price: Price | None
    estimate: Estimate
    is_batch: bool = False
    growth: Growth | None = None

    @property
    def costs_money(self) -> bool:
        """Return False for a custom server, unless the price list says otherwise."""
        return self.model_plan.provider.costs_money or self.price is not None

    @property
    def cost_rests_on(self) -> str:
        price = self.price
        if price is None:
            unknown = f"no price is known for {self.model_plan.address}: --prices FILE gives one"
            return unknown if self.costs_money else "nothing is charged"
        batch = f" (times {price.batch_factor:g})" if self.is_batch and price.batch_factor is not None else ""
        of = f"as of {price.date} ({price.source})" if price.source else f"as of {price.date}"
        return f"${price.input:g} in and ${price.output:g} out a million tokens{batch}, {of}"


def address_sentence(model_plan: ModelPlan) -> str | None:
    """Say where a model will be asked, conspicuously if that is not its provider's usual address; None if slant itself
    answers."""
    provider, address = model_plan.provider, model_plan.base_url
    if provider.name == "simulated" or address is None:
        return None
    if not provider.is_moved:
        return f"{model_plan.name} is asked at {address}."
    key = f", and the key in {provider.key_variable} goes there" if provider.key_variable else ""
    usual, variable = provider.base_url, provider.address_variable
    return f"MOVED: {variable} leads to {address}: {model_plan.name} is asked there and not at {usual}{key}."


def quotes(run_plan: RunPlan, concurrency: int, *, is_batch: bool = False) -> list[Quote]:
    """Quote each model. `concurrency`: requests in flight for each model. Only the database is read."""
    return [_quote(run_plan, model_plan, concurrency, is_batch) for model_plan in run_plan.model_plans]


def _quote(run_plan: RunPlan, model_plan: ModelPlan, concurrency: int, is_batch: bool) -> Quote:
    price = run_plan.prices.find(model_plan.provider.name, model_plan.model.requested_model)
    sizes = earlier_sizes(run_plan.db, run_plan.study, model_plan.model)
    limits = known_limits(run_plan.db, model_plan.model)
    cell = run_plan.plan_of(model_plan.model)
    growth = _growth(*cell)
    guess = _guess_of_question(*cell) if growth is None else _guess_of_game(*cell[:2], growth)
    estimated = estimate_run(model_plan.pending, sizes, guess, price, limits, concurrency, is_batch=is_batch)
    return Quote(model_plan, price, estimated, is_batch, growth)


def guess_of(study: Study, model: StudyModel, seed: int) -> Guess:
    """Return the expected size of one call to this model before it has answered any."""
    growth = _growth(study, model, seed, 1)
    if growth is None:
        return _guess_of_question(study, model, seed, 1)
    return _guess_of_game(study, model, growth)


def calls_of_game(study: Study, model: StudyModel, seed: int) -> int:
    """Return the number of calls of one game: its rounds, and the questions after them; 1 for a single question."""
    growth = _growth(study, model, seed, 1)
    return 1 if growth is None else len(growth.sent)


def _growth(study: Study, model: StudyModel, seed: int, repetitions: int) -> Growth | None:
    """Return the growth of the input in a game of this model; None for a study of single questions."""
    if not study.design.asks.has_turns(study):
        return None
    played: list[Growth] = []
    for conversation in islice(plan(study, model, seed, repetitions), MOST_PLAYED):
        played.append(growth_of(study, model, conversation, seed))
        if len(played[-1].sent) == len(conversation.trials):  # one that ends early says little about the others
            break
    return max(played, key=lambda growth: len(growth.sent))


def _guess_of_game(study: Study, model: StudyModel, growth: Growth) -> Guess:
    knows = study.design.simulates.knows_lengths(study, model)
    output = growth.output_tokens / len(growth.sent) if knows else None
    return Guess(growth.characters, output, "format of answers")


def _guess_of_question(study: Study, model: StudyModel, seed: int, repetitions: int) -> Guess:
    """Return characters of a prompt, and the output as the design would simulate it: from the study's table, or unknown
    for a model that is not in one."""
    design = study.design
    named = next((m for m in study.models if m.model == model.model), None)
    known = named if named is not None and design.simulates.knows_lengths(study, named) else None
    characters, outputs = [0], [0]
    for conversation in islice(plan(study, model, seed, repetitions), PROMPTS_LOOKED_AT):
        trial, prompt = design.asks.first(study, model, conversation)
        characters.append(sum(len(str(message["content"])) for message in prompt.messages))
        if known is not None:
            outputs.append(design.simulates.simulate(study, known, trial, seed).output_tokens or 0)
    n = max(1, len(characters) - 1)
    is_published = study.published is not None and design.analyses.counts_tokens
    table = "published table" if is_published else "own table for simulations, a guess that --pilot 50 replaces"
    if known is not None and (assumed := design.simulates.assumed_lengths(study, known)):
        table = f"{table}; {assumed}"
    return Guess(sum(characters) / n, sum(outputs) / n if known is not None else None, table)


def quote_rows(quotes: list[Quote]) -> list[dict[str, Any]]:
    """Return the numbers with their ranges, for programs: tokens, US dollars, seconds."""
    return [
        _counts(quote, asked_as=quote.model_plan.model.requested_model)
        | as_columns("input_tokens", quote.estimate.input_tokens)
        | as_columns("output_tokens", quote.estimate.output_tokens)
        | as_columns("cost_usd", quote.estimate.cost_usd, 6)
        | as_columns("time_s", quote.estimate.time_s, 1)
        | {
            "tokens_rest_on": quote.estimate.tokens_rest_on,
            "cost_rests_on": quote.cost_rests_on,
            "time_rests_on": quote.estimate.time_rests_on,
        }
        for quote in quotes
    ]


def _counts(quote: Quote, **more: Any) -> dict[str, Any]:
    of = quote.model_plan
    counts = {"planned": of.planned, "done": of.already_done, "to_ask": of.pending}
    return {"model": of.name, "provider": of.provider.name, **more, **counts}


def short_rows(quotes: list[Quote]) -> list[dict[str, Any]]:
    """Return the same for people: a row that fits a terminal."""
    return [
        _counts(quote)
        | {
            "input_tokens": f"{quote.estimate.input_tokens.about:,.0f}",
            "output_tokens": f"{out.about:,.0f}" if (out := quote.estimate.output_tokens) else "?",
            "cost": spoken_usd(quote.estimate.cost_usd) if quote.costs_money else "",
            "time": f"{spoken(quote.estimate.time_s.low)} to {spoken(quote.estimate.time_s.high)}",
        }
        for quote in quotes
    ]


def total(quotes: list[Quote]) -> tuple[Span, list[str]]:
    """Return the cost of all models together in US dollars, and the paid models that it lacks."""
    cost, missing = Span(0.0, 0.0, 0.0), []
    for quote in quotes:
        if quote.estimate.cost_usd is not None:
            cost = cost.plus(quote.estimate.cost_usd)
        elif quote.costs_money and quote.model_plan.pending:
            missing.append(quote.model_plan.name)
    return cost, missing


def sentences(quotes: list[Quote]) -> list[str]:
    """Return the basis of the numbers, one line per model, and the sum if anything costs money."""
    lines = []
    for quote in quotes:
        lines.append(
            f"{quote.model_plan.name}: tokens: {quote.estimate.tokens_rest_on}; "
            f"cost: {quote.cost_rests_on}; time: {quote.estimate.time_rests_on}."
        )
        if address := address_sentence(quote.model_plan):
            lines.append(address)
        if quote.growth is not None and quote.growth.sent != quote.growth.new:
            of = quote.estimate
            name, pending = quote.model_plan.name, quote.model_plan.pending
            lines.append(quote.growth.sentence(name, pending, quote.price, of.output_tokens))
    if any(quote.costs_money for quote in quotes):
        cost, missing = total(quotes)
        without = f" without {', '.join(missing)}, whose cost is not known" if missing else ""
        is_known = any(quote.estimate.cost_usd is not None for quote in quotes)  # else a sum of 0 would say free
        lines.append(f"Together{f' {spoken_usd(cost)}' if is_known else ': no estimate'}{without}.")
    return lines
