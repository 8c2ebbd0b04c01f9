"""`preregister()`: one call from a study to the text that is fixed before the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.records import Registration
from slant.collector.registration.document import STOPPING_RULE, Choices, make_registration
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import Study, load_study, load_variants, with_variant
from slant.collector.system.scratch import write_whole_file


@checked_arguments(repetitions=1, seed=0, looks=1)
def preregister(
    study: str | Path | Study,
    models: Sequence[str] | None = None,
    *,
    simulated: bool = False,
    variants: Sequence[str] = ("base",),
    seed: int | None = None,
    repetitions: int = 1,
    eligible: Sequence[str] = (),
    rule: str = "",
    fits: Sequence[str] = (),
    exclusions: Sequence[str] = (),
    looks_at: Sequence[int] = (),
    stopping_rule: str | None = None,
    until_width: float | None = None,
    looks: int | None = None,
    pilot: str | Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Registration:
    """What is fixed before the data, as canonical JSON (`.text`, RFC 8785) with its SHA-256 (`.sha256`).

    `models` are specs like "openai/o3-mini" (None: those the study names), `variants` names of the study's ("all": all
    but extensions). `eligible`: patterns of later models that may be asked, such as "openai/gpt-*"; `rule`
    says the same in words. `fits` are confirmatory (none: all of the study), `exclusions` rules in words beside
    the fits' own flags, `looks_at` numbers of trials of each model at which results are looked at before the end.
    `until_width` and `looks`: the rule of `collect()` by which collecting ends, with `repetitions` at most; its looks
    and its words are then those of the registration. `pilot` is a database with earlier answers; `say` is told of what
    takes long. Nobody is asked; no key is needed.
    Raises a SlantError.

    >>> preregister("rmiat", ["openai/o3-mini"]).sha256  # doctest: +SKIP
    """
    place = None if pilot is None else Path(pilot)
    stopping = StoppingRule.of(until_width, looks, repetitions)
    if stopping is not None and (looks_at or stopping_rule):
        raise UsageError(
            "--until-width is a rule of stopping with looks of its own.",
            "Leave out --stop and --look, or --until-width.",
        )
    words = stopping_rule or STOPPING_RULE
    choices = Choices(seed, repetitions, eligible, rule, exclusions, fits, looks_at, words, stopping)
    studies = _variants(study, variants, place)
    return make_registration(studies, models or (), choices, simulated=simulated, pilot=place, say=say)


def _variants(study: str | Path | Study, names: Sequence[str], pilot: Path | None) -> list[Study]:
    if "all" in names:
        path = study.path if isinstance(study, Study) else study
        return [variant for variant in load_variants(path, pilot).values() if not variant.is_extension]
    if isinstance(study, Study):
        return [with_variant(study, name) for name in dict.fromkeys(names)]
    return [load_study(study, name, pilot) for name in dict.fromkeys(names)]


@checked_arguments()
def write_registration(registration: Registration, path: str | Path) -> Path:
    """Write the text, to the byte, to `path`. UsageError where another one is there: what was fixed is not replaced."""
    path, data = Path(path), registration.text.encode("utf-8")
    try:
        if not path.exists():
            write_whole_file(path, data)
        elif path.read_bytes() != data:
            raise UsageError(
                f'"{path}" is there, and registers something else.',
                "What was fixed is not replaced. To write another one: --out OTHER.json",
            )
    except OSError as error:
        raise UsageError(
            f'Can\'t write the registration to "{path}": {error.strerror}.', "Name another: --out FILE"
        ) from None
    return path
