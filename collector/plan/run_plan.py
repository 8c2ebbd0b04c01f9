"""Plan what a run would do, before it does anything: who is asked, who is left out and why, how much is left to ask."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slant.collector.errors import ProviderError, UsageError
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.database_errors import check_place
from slant.collector.keep.final_trials import Finals, read_finals
from slant.collector.keep.journal import utc_now
from slant.collector.plan.conversations import (
    Done,
    Occasion,
    Shard,
    busy_parts,
    done_again,
    done_in,
    plan,
    planned_count,
    share_of,
    with_rates,
)
from slant.collector.providers import Provider, checked_address, provider_named
from slant.collector.providers.prices import PriceList, load_prices
from slant.collector.records import MAX_REPETITIONS, Conversation, Prompt, Registration
from slant.collector.request.record import Request
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import Study, StudyModel
from slant.collector.system.network import check_route


@dataclass(frozen=True)
class ModelPlan:
    """Hold one model that will be asked. `planned` are the trials of its shard, if only that is asked; or of the sample
    that is asked again, if it has an `occasion` (collector/plan/asking_again.py)."""

    model: StudyModel
    provider: Provider
    base_url: str | None
    planned: int
    already_done: int
    skip: bytes = field(default=b"", repr=False)  # one byte per conversation of the plan: 1 if it is done
    others: bytes = field(default=b"", repr=False)  # the same: 1 if it belongs to another shard
    planned_tests: Mapping[str, int] = field(default_factory=dict)  # `planned` by test, for a shard
    occasion: Occasion | None = None

    @property
    def name(self) -> str:
        return self.model.model

    @property
    def address(self) -> str:
        """Return the model as its provider knows it: PROVIDER/NAME."""
        return f"{self.provider.name}/{self.model.requested_model}"

    @property
    def pending(self) -> int:
        return self.planned - self.already_done


@dataclass(frozen=True)
class RunPlan:
    """Hold a run that could be started. `left_out` holds (model, reason) for those of the study that can't be asked.

    `slice` holds the ids of the conversations that a pilot asks (collector/cost/quote.py); None asks them all.
    `shard` is the part of the plan that is asked; None asks all. `registration` is kept with the run.
    `stopping`: `repetitions` is the maximum, and a model that is narrow enough by this rule is asked fewer
    (collector/run/until_width.py). `made_at`: when this call began.
    """

    study: Study
    db: Path
    seed: int
    repetitions: int
    model_plans: tuple[ModelPlan, ...]
    left_out: tuple[tuple[str, str], ...]
    done: Finals = field(repr=False)
    prices: PriceList = field(default_factory=load_prices, repr=False)
    slice: frozenset[str] | None = field(default=None, repr=False)
    shard: Shard | None = None
    registration: Registration | None = field(default=None, repr=False)
    stopping: StoppingRule | None = None
    made_at: str = field(default_factory=utc_now, compare=False)

    @property
    def pending(self) -> int:
        return sum(model_plan.pending for model_plan in self.model_plans)

    @property
    def is_simulated(self) -> bool:
        """Return True if slant answers itself. Raise UsageError if other models are asked in the same run."""
        sources = {model_plan.provider.name == "simulated" for model_plan in self.model_plans}
        if len(sources) > 1:
            raise UsageError("Simulated and real models can't share a run: their answers are never mixed.")
        return sources == {True}

    @property
    def paid(self) -> list[ModelPlan]:
        return [model_plan for model_plan in self.model_plans if model_plan.provider.costs_money and model_plan.pending]

    def asking_logprobs(self) -> RunPlan:
        """Return the same run, with log-probabilities asked for wherever a provider gives them. Ids of trials do not
        change.
        """
        model_plans = (replace(plan, provider=plan.provider.asking_logprobs()) for plan in self.model_plans)
        return replace(self, model_plans=tuple(model_plans))

    @property
    def whole(self) -> int:
        """Return the trials of one model in the whole plan, whatever the shard."""
        return planned_count(self.study, self.repetitions)

    def plan_of(self, model: StudyModel) -> tuple[Study, StudyModel, int, int]:
        """Return the parts of this run plan that `plan` and `done_in` use."""
        return self.study, model, self.seed, self.repetitions

    def conversations(self, model_plan: ModelPlan, skip: Sequence[int] = b"") -> Iterator[Conversation]:
        """Yield the conversations of this plan with a model, in its order, without those that `skip` marks."""
        occasion = model_plan.occasion
        for conversation in plan(*self.plan_of(model_plan.model), skip):
            name = conversation.conversation_id
            if occasion is not None and name in occasion.chosen:
                yield occasion.asked_again(conversation)
            elif occasion is None and (self.slice is None or name in self.slice):
                yield conversation

    def first_prompt(self, model_plan: ModelPlan) -> Prompt | None:
        """Return the first prompt; None if no conversation falls to the shard."""
        planned = plan(*self.plan_of(model_plan.model), model_plan.others)
        if model_plan.occasion is not None:
            planned = self.conversations(model_plan)
        if (conversation := next(planned, None)) is None:
            return None
        return self.study.design.asks.first(self.study, model_plan.model, conversation)[1]


def make_run_plan(study: Study, request: Request, registration: Registration | None = None) -> RunPlan:
    """Look at the study, the keys and the database; nothing is written and no model is asked. `study` is the one that
    the request names, as it was read; `registration` is kept with the run.

    Without `models` the study's own are taken, and those that can't be asked here are left out with the reason. A model
    that was named must be askable: ProviderError says what is missing. In a dry run that is only noted. With
    `structured_output` providers are to enforce the shape of the answer, which makes different trials. With `shard`
    only this part of the plan is asked.
    """
    db, models, repetitions, base_url = Path(request.db), request.models, request.repetitions, request.base_url
    if not 1 <= repetitions <= MAX_REPETITIONS:
        raise UsageError(f"--repetitions must be from 1 to {MAX_REPETITIONS:,}, not {repetitions}.")
    if not study.design.asks.asks_anyone:
        raise UsageError(
            f"A study of the design {study.design.name} asks nobody: its rows come from files.",
            "Bring them in: collect import --study STUDY --layout people FILE",
        )
    if request.seed is not None and not -(2**63) <= request.seed < 2**63:
        raise UsageError("--seed must fit into 64 bits.")
    if request.simulated and base_url:
        raise UsageError(
            "--base-url is the address of your own server, but simulated models run on slant's.",
            "Leave out one of --simulated and --base-url.",
        )
    if base_url:
        checked_address(base_url, "--base-url")
    check_place(db)
    shard = None if request.shard is None else Shard.read(request.shard)
    schema = _schema(study) if request.structured_output else None
    chosen, left_out = _choose(study, request)
    study, lacking = with_rates(study, chosen, db)
    if models and lacking:
        raise UsageError(
            f'Can\'t plan the variant "{study.variant}" of {study.name}.',
            *(f"{name}: {reason}" for name, reason in lacking.items()),
        )
    left_out += list(lacking.items())
    chosen = [model for model in chosen if model.model not in lacking]
    chosen_seed = study.seed if request.seed is None else request.seed
    planned = planned_count(study, repetitions)
    model_plans = []
    for model in chosen:
        provider = provider_named(model.provider)
        if models:
            refuse_to_move(provider, base_url)
        address = usable_address(provider, base_url)
        if schema is not None and provider.can_enforce:
            provider = provider.enforcing(schema)
        model_plans.append(ModelPlan(model, provider, address, planned, 0))
    if shard is not None:
        model_plans = [_in_shard(study, of_model, chosen_seed, repetitions, shard) for of_model in model_plans]
    prices = load_prices(request.prices)
    run_plan = RunPlan(study, db, chosen_seed, repetitions, tuple(model_plans), tuple(left_out), Finals(), prices)
    return up_to_date(replace(run_plan, shard=shard, registration=registration, stopping=request.stopping))


def with_repetitions(run_plan: RunPlan, models: Collection[str], repetitions: int) -> RunPlan:
    """Return the same run plan for some of its models and another number of repetitions. The trials of a repetition are
    the same, however many follow it.
    """
    planned = planned_count(run_plan.study, repetitions)
    model_plans = tuple(
        replace(of_model, planned=planned) for of_model in run_plan.model_plans if of_model.name in models
    )
    return up_to_date(replace(run_plan, repetitions=repetitions, model_plans=model_plans))


def part_of(run_plan: RunPlan, number: int, of: int) -> RunPlan:
    """Return the run plan of part `number` of `of` even parts, itself a shard; finished trials are looked up again."""
    shard = (run_plan.shard or Shard(1, 1)).part(number, of)
    plan_of = run_plan.seed, run_plan.repetitions, shard
    return replace(
        run_plan,
        shard=shard,
        model_plans=tuple(_in_shard(run_plan.study, model_plan, *plan_of) for model_plan in run_plan.model_plans),
    )


def parts_to_ask(run_plan: RunPlan, of: int) -> list[int]:
    """Return the numbers of those of `of` even parts that have something left to ask."""
    shard, busy = run_plan.shard or Shard(1, 1), set[int]()
    for of_model in run_plan.model_plans:
        plan_of = run_plan.plan_of(of_model.model)
        busy |= busy_parts(*plan_of, shard, of, of_model.skip) if of_model.skip else set(range(1, of + 1))
    return sorted(busy)


def _in_shard(study: Study, model_plan: ModelPlan, seed: int, repetitions: int, shard: Shard) -> ModelPlan:
    share = share_of(study, model_plan.model, seed, repetitions, shard)
    return replace(model_plan, planned=share.trials, others=share.others, planned_tests=share.tests)


def up_to_date(run_plan: RunPlan) -> RunPlan:
    """Return the run plan, brought up to date. A run looks again under the journal's lock: another collector may
    have asked meanwhile.
    """
    # trials in an open batch job are not asked again, live or by batch
    finals, jobs, name = read_finals(run_plan.db, run_plan.study.name), JobFolder(run_plan.db), run_plan.study.name
    finals.add(jobs.trial_ids(name))
    finals.end(jobs.trial_ids(name, with_more=True))  # their next turns wait for these
    model_plans = []
    for model_plan in run_plan.model_plans:
        plan_of = run_plan.plan_of(model_plan.model)
        if model_plan.occasion is not None:
            done = done_again(*plan_of, model_plan.occasion, finals)
            model_plans.append(replace(model_plan, already_done=done.trials, skip=done.conversations))
            continue
        done = done_in(*plan_of, finals, model_plan.others) if finals else Done(0, model_plan.others)
        trials = done.trials if run_plan.slice is None else done_in_slice(run_plan, model_plan.model, finals)
        model_plans.append(replace(model_plan, already_done=trials, skip=done.conversations))
    return replace(run_plan, model_plans=tuple(model_plans), done=finals)


def done_in_slice(run_plan: RunPlan, model: StudyModel, finals: Finals) -> int:
    """Return the number of trials of a pilot's slice in `finals`."""
    chosen = [
        conversation
        for conversation in plan(*run_plan.plan_of(model))
        if conversation.conversation_id in (run_plan.slice or ())
    ]
    return sum(finals.among_conversations([tuple(t.trial_id for t in conversation.trials) for conversation in chosen]))


def _schema(study: Study) -> Mapping[str, Any]:
    schema = study.design.reads.schema_of(study)
    if schema is None:
        raise UsageError(
            f'--structured-output can\'t be used with "{study.name}": its answers are no JSON.',
            'A study of the design forced_choice can use it, and a factorial one with questions = "together".',
        )
    return schema


def _choose(study: Study, request: Request) -> tuple[list[StudyModel], list[tuple[str, str]]]:
    models, simulated, base_url = request.models, request.simulated, request.base_url

    def found(spec: str) -> StudyModel:
        return replace(study.model(spec), structured_output=request.structured_output)

    if models:
        specs = [s if not simulated or s.startswith("simulated/") else f"simulated/{s}" for s in models]
        chosen = _once_each([found(spec) for spec in specs])
        reasons = [(model, reason) for model in chosen if (reason := why_not_in(study, model, base_url))]
        for model in chosen:
            if model.model in study.left_out:
                raise UsageError(
                    f'The variant "{study.variant}" of {study.name} leaves {model.model} out: '
                    f"{study.left_out[model.model]}."
                )
        for model, reason in reasons:
            if not request.dry_run:
                raise ProviderError(
                    f'Can\'t collect "{study.name}" from {model.provider}/{model.requested_model}.',
                    f"{reason}.",
                    how_to_try(study),
                )
        return chosen, [(model.model, reason) for model, reason in reasons]
    if not study.models:
        hint = f"To ask one all the same: collect --study {study.as_typed} --model {EXAMPLE_MODEL}"
        raise UsageError(f'The study "{study.name}" names no model that could be asked.', hint, how_to_try(study))
    by_default = [replace(m, structured_output=request.structured_output) for m in study.models if m.asked_by_default]
    usual = [model for model in by_default if model.model not in study.left_out]
    named = [(m.model, study.left_out[m.model]) for m in by_default if m.model in study.left_out]
    if simulated:
        return [found(f"simulated/{model.model}") for model in usual], named
    left_out = named + [(model.model, reason) for model in usual if (reason := why_not_in(study, model, base_url))]
    missing = {name for name, _ in left_out}
    return [model for model in usual if model.model not in missing], left_out


def how_to_try(study: Study) -> str:
    """Return the command to try this study without a key; a study that came from files may have no model for it."""
    if study.models or study.participants:
        return f"To try it without a key: {study.trial_command}"
    provider, _, name = EXAMPLE_MODEL.partition("/")
    table = f'[[models]] with model = "{name}" and provider = "{provider}"'
    return f"To try it without a key, add a model to {study.as_typed}: {table}; then type --simulated"


def usable_address(provider: Provider, base_url: str | None) -> str | None:
    """Return the address of a provider; None if it is not set. UsageError for an address that can't be used, or that
    holds a key."""
    if address := provider.address(base_url):
        is_option = bool(base_url) and address == (base_url or "").rstrip("/")
        own = provider.address_variable or f'The address of "{provider.name}"'
        checked_address(address, "--base-url" if is_option else own, is_typed=is_option)
        check_route(address)
    return address


def refuse_to_move(provider: Provider, base_url: str | None) -> None:
    """Raise UsageError if `--base-url` would take a key to a host that it does not belong to."""
    if base_url:
        checked_address(base_url, "--base-url")
    if base_url and provider.is_own:
        raise UsageError(f"--base-url does not move {provider.name}: its address is in your provider file.")
    if base_url and provider.key_variable:
        raise UsageError(
            f"--base-url is for servers without a key; {provider.name}'s key belongs to its own host.",
            f"To move that provider: {provider.address_variable}={base_url}",
        )


def _once_each(models: Sequence[StudyModel]) -> list[StudyModel]:
    """Return the models, each once, even if it is named twice, perhaps in two ways; two that share an id can't
    both be asked.
    """
    chosen: dict[str, StudyModel] = {}
    for model in models:
        if chosen.setdefault(model.model, model) != model:
            raise UsageError(f'Two different models would both be "{model.model}" in the tables. Ask them apart.')
    return list(chosen.values())


def why_not_in(study: Study, model: StudyModel, base_url: str | None) -> str | None:
    """Return the reason why this model can't be used here; None if it can."""
    provider = provider_named(model.provider)
    if study.design.asks.needs_reasoning(study) and provider.hides_reasoning:
        return f"{provider.name} hides the reasoning that a later prompt shows"
    if not study.design.asks.needs_tools(study, model):
        return why_not(model, base_url)
    if not provider.takes_tools:
        return f"{provider.name} is offered no tools here, so --answer tool has to be left out"
    if provider.tools_need_reasoning and model.reasoning_back == "dropped":
        return f"{provider.name} requires the reasoning that led to a tool call, so it can't be dropped"
    return why_not(model, base_url)


def why_not(model: StudyModel, base_url: str | None) -> str | None:
    """Return the reason why this model can't be used here; None if it can."""
    provider = provider_named(model.provider)
    if provider.key_variable and not provider.key():
        return f"{provider.key_variable} is not set"
    if provider.name != "simulated" and not provider.address(base_url):
        option = "" if provider.key_variable else "--base-url URL, or "
        return f"the address of its server must be given: {option}{provider.address_variable}"
    if model.structured_output and not provider.can_enforce:
        return f"{provider.name} can't enforce the shape of an answer, so --structured-output has to be left out"
    return None
