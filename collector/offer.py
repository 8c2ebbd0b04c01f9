"""What a run would do, before it does anything: who is asked, who is left out and why, how much is still to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from collector.designs import design_named
from collector.errors import ProviderError, UsageError
from collector.load import final_trial_ids
from collector.plan import plan, planned_count
from collector.providers import Provider, checked_address, provider_named
from collector.records import Prompt
from collector.store import check_place
from collector.study import Study, StudyModel

MOST_REPETITIONS = 10_000


@dataclass(frozen=True)
class Asked:
    """One model that will be asked."""

    model: StudyModel
    provider: Provider
    base_url: str | None
    planned: int
    already_done: int

    @property
    def pending(self) -> int:
        return self.planned - self.already_done


@dataclass(frozen=True)
class Offer:
    """A run that could be started. `left_out` holds (model, reason) of those the study names that can't be."""

    study: Study
    db: Path
    seed: int
    repetitions: int
    asked: tuple[Asked, ...]
    left_out: tuple[tuple[str, str], ...]
    done: frozenset[str] = field(repr=False)

    @property
    def pending(self) -> int:
        return sum(asked.pending for asked in self.asked)

    @property
    def paid(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.provider.costs_money and asked.pending]

    def first_prompt(self, asked: Asked) -> Prompt:
        conversation = next(plan(self.study, asked.model, self.seed, self.repetitions))
        step = design_named(self.study.design).next(self.study, asked.model, conversation, [])
        assert step is not None
        return step[1]

    def rows(self) -> list[dict[str, Any]]:
        """One row a model, as `--dry-run` prints them."""
        rows: list[dict[str, Any]] = []
        for asked in self.asked:
            input_tokens, output_tokens = expected_tokens(self, asked)
            rows.append(
                {
                    "model": asked.model.model, "provider": asked.provider.name,
                    "asked_as": asked.model.requested_model, "planned": asked.planned, "done": asked.already_done,
                    "to_ask": asked.pending, "input_tokens_about": input_tokens, "output_tokens_about": output_tokens,
                }
            )  # fmt: skip
        return rows


def expected_tokens(offer: Offer, asked: Asked) -> tuple[int, int | None]:
    """About how many tokens the pending trials cost: a token is taken as four characters of the prompt; output as
    the design would simulate it (from the published table), unknown for a model that the study does not name."""
    design = design_named(offer.study.design)
    characters = outputs = seen = 0
    simulated = next((m for m in offer.study.models if m.model == asked.model.model), None)
    for conversation in plan(offer.study, asked.model, offer.seed, offer.repetitions):
        if seen == 400:
            break
        step = design.next(offer.study, asked.model, conversation, [])
        assert step is not None
        seen += 1
        characters += sum(len(str(message["content"])) for message in step[1].messages)
        if simulated is not None:
            outputs += design.simulate(offer.study, simulated, step[0], offer.seed).output_tokens or 0
    per_trial = asked.pending / max(seen, 1)
    return round(characters / 4 * per_trial), round(outputs * per_trial) if simulated is not None else None


def make_offer(
    study: Study,
    models: Sequence[str] | None,
    db: Path,
    *,
    simulated: bool = False,
    seed: int | None = None,
    repetitions: int = 1,
    base_url: str | None = None,
    needs_keys: bool = True,
) -> Offer:
    """Look at the study, the keys and the database; nothing is written and nobody is asked.

    Without `models` the study's own are taken, and those that can't be asked here are left out with the reason. A
    model that was named must be askable: ProviderError says what is missing. With `needs_keys=False`, for a look at
    what would be asked, it is only noted.
    """
    if not 1 <= repetitions <= MOST_REPETITIONS:
        raise UsageError(f"--repeat must be from 1 to {MOST_REPETITIONS:,}, not {repetitions}.")
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise UsageError("--seed must fit into 64 bits.")
    check_place(db)
    chosen, left_out = _choose(study, models, simulated, base_url, needs_keys)
    the_seed = study.seed if seed is None else seed
    planned = planned_count(study, repetitions)
    asked = []
    for model in chosen:
        provider = provider_named(model.provider)
        if base_url and models and provider.key_variable:
            raise UsageError(
                f"--base-url is for servers without a key; {provider.name}'s key belongs to its own host.",
                f"To move that provider: {provider.address_variable}={base_url}",
            )
        address = provider.address(base_url)
        if address:
            checked_address(address, "--base-url" if base_url else provider.address_variable)
        asked.append(Asked(model, provider, address, planned, 0))
    return up_to_date(Offer(study, db, the_seed, repetitions, tuple(asked), tuple(left_out), frozenset()))


def up_to_date(offer: Offer) -> Offer:
    """The offer with what is done by now. A run asks again under the journal's lock: others may have been there."""
    done = frozenset(final_trial_ids(offer.db, offer.study.name))
    asked = tuple(replace(asked, already_done=_count_done(offer, asked, done)) for asked in offer.asked)
    return replace(offer, asked=asked, done=done)


def _count_done(offer: Offer, asked: Asked, done: frozenset[str]) -> int:
    if not done:
        return 0
    planned = plan(offer.study, asked.model, offer.seed, offer.repetitions)
    return sum(trial.trial_id in done for conversation in planned for trial in conversation.trials)


def _choose(
    study: Study, models: Sequence[str] | None, simulated: bool, base_url: str | None, needs_keys: bool
) -> tuple[list[StudyModel], list[tuple[str, str]]]:
    if models:
        specs = [s if not simulated or s.startswith("simulated/") else f"simulated/{s}" for s in models]
        chosen = _once_each([study.model(spec) for spec in specs])
        reasons = [(model, reason) for model in chosen if (reason := why_not(model, base_url))]
        for model, reason in reasons:
            if needs_keys:
                raise ProviderError(
                    f'Can\'t collect "{study.name}" from {model.provider}/{model.requested_model}.',
                    f"{reason}.",
                    "To try the study without a key: "
                    f"collect --study {study.name} --model simulated/{study.models[0].model}",
                )
        return chosen, [(model.model, reason) for model, reason in reasons]
    if simulated:
        return [study.model(f"simulated/{model.model}") for model in study.models], []
    left_out = [(model.model, reason) for model in study.models if (reason := why_not(model, base_url))]
    missing = {name for name, _ in left_out}
    return [model for model in study.models if model.model not in missing], left_out


def _once_each(models: Sequence[StudyModel]) -> list[StudyModel]:
    """A model that is named twice, perhaps in two ways, is asked once; two that share an id can't both be asked."""
    found: dict[str, StudyModel] = {}
    for model in models:
        if found.setdefault(model.model, model) != model:
            raise UsageError(f'Two different models would both be "{model.model}" in the tables. Ask them apart.')
    return list(found.values())


def why_not(model: StudyModel, base_url: str | None) -> str | None:
    """Why this model can't be asked here; None where it can."""
    provider = provider_named(model.provider)
    if provider.key_variable and not provider.key():
        return f"{provider.key_variable} must be set, but it is empty"
    if provider.name != "simulated" and not provider.address(base_url):
        return f"the address of its server must be given: --base-url URL, or {provider.address_variable}"
    return None
