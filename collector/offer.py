"""What a run would do, before it does anything: who is asked, who is left out and why, how much is still to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from collector.batch_jobs import JobFolder
from collector.designs import design_named
from collector.errors import ProviderError, UsageError
from collector.finals import Finals, final_trials
from collector.plan import Done, done_in, plan, planned_count
from collector.prices import PriceList, load_prices
from collector.providers import Provider, provider_named
from collector.records import Prompt
from collector.study import Study, StudyModel


@dataclass(frozen=True)
class Asked:
    """One model that will be asked."""

    model: StudyModel
    provider: Provider
    base_url: str | None
    planned: int
    already_done: int
    skip: bytes = field(default=b"", repr=False)  # one byte a conversation of the plan: 1 where it is done

    @property
    def pending(self) -> int:
        return self.planned - self.already_done


@dataclass(frozen=True)
class Offer:
    """A run that could be started. `left_out` holds (model, reason) of those the study names that can't be.

    `slice` holds the ids of the conversations that a pilot asks (collector/pilot.py); None asks them all.
    """

    study: Study
    db: Path
    seed: int
    repetitions: int
    asked: tuple[Asked, ...]
    left_out: tuple[tuple[str, str], ...]
    done: Finals = field(repr=False)
    prices: PriceList = field(default_factory=load_prices, repr=False)
    slice: frozenset[str] | None = field(default=None, repr=False)

    @property
    def pending(self) -> int:
        return sum(asked.pending for asked in self.asked)

    @property
    def paid(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.provider.costs_money and asked.pending]

    def asking_logprobs(self) -> Offer:
        """The same run, with log-probabilities asked for wherever a provider gives them. Ids of trials stay theirs."""
        asked = tuple(replace(one, provider=one.provider.asking_logprobs()) for one in self.asked)
        return replace(self, asked=asked)

    def first_prompt(self, asked: Asked) -> Prompt:
        conversation = next(plan(self.study, asked.model, self.seed, self.repetitions))
        step = design_named(self.study.design).next(self.study, asked.model, conversation, [])
        assert step is not None
        return step[1]


def make_offer(
    study: Study,
    models: Sequence[str] | None,
    db: Path,
    *,
    simulated: bool = False,
    seed: int | None = None,
    repetitions: int = 1,
    base_url: str | None = None,
    prices_file: Path | None = None,
) -> Offer:
    """Look at the study, the keys and the database; nothing is written and nobody is asked.

    Without `models` the study's own are taken, and those that can't be asked here are left out with the reason. A
    model that was named must be askable: ProviderError says what is missing.
    """
    if repetitions < 1:
        raise UsageError(f"--repeat must be 1 or more, not {repetitions}.")
    chosen, left_out = _choose(study, models, simulated, base_url)
    the_seed = study.seed if seed is None else seed
    # what a batch job is asking is not asked again meanwhile, live or by batch
    finals = final_trials(db, study.name, also=JobFolder(db).trial_ids(study.name))
    planned = planned_count(study, repetitions)
    asked = []
    for model in chosen:
        provider = provider_named(model.provider)
        done = done_in(study, model, the_seed, repetitions, finals) if finals else Done()
        asked.append(Asked(model, provider, provider.address(base_url), planned, done.trials, done.conversations))
    return Offer(study, db, the_seed, repetitions, tuple(asked), tuple(left_out), finals, load_prices(prices_file))


def _choose(
    study: Study, models: Sequence[str] | None, simulated: bool, base_url: str | None
) -> tuple[list[StudyModel], list[tuple[str, str]]]:
    if models:
        specs = [s if not simulated or s.startswith("simulated/") else f"simulated/{s}" for s in models]
        chosen = list({spec: study.model(spec) for spec in specs}.values())
        for model in chosen:
            if reason := why_not(model, base_url):
                raise ProviderError(
                    f'Can\'t collect "{study.name}" from {model.provider}/{model.requested_model}.',
                    f"{reason}.",
                    "To try the study without a key: "
                    f"collect --study {study.name} --model simulated/{study.models[0].model}",
                )
        return chosen, []
    if simulated:
        return [study.model(f"simulated/{model.model}") for model in study.models], []
    left_out = [(model.model, reason) for model in study.models if (reason := why_not(model, base_url))]
    missing = {name for name, _ in left_out}
    return [model for model in study.models if model.model not in missing], left_out


def why_not(model: StudyModel, base_url: str | None) -> str | None:
    """Why this model can't be asked here; None where it can."""
    provider = provider_named(model.provider)
    if provider.key_variable and not provider.key():
        return f"{provider.key_variable} must be set, but it is empty"
    if provider.name != "simulated" and not provider.address(base_url):
        return f"the address of its server must be given: --base-url URL, or {provider.address_variable}"
    return None
