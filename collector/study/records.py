"""Define the nouns of a study file, all frozen: the study, its tests, its models, its fits and their variations.

A *study* is data (TOML and CSV), a *design* is code: `Study.data` holds what only the study's design understands.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from slant.collector.errors import UnknownNameError
from slant.collector.records import Measure, RefusalRule, TokenSource

ReasoningBack = Literal["default", "kept", "dropped"]
REASONING_BACK: tuple[ReasoningBack, ...] = ("kept", "dropped")
"""List what `--reasoning-back` may say; each value makes a separate variant, as a format of answers does."""

BASE = "base"
"""Name the variant that changes nothing: the study itself."""
NULL = "null"
"""Name the variant in which words are dealt to groups (levels to prompts) at random; every study that can deal has it
unless it defines one of that name. It is asked by its name only, and is no part of the study's version."""


@dataclass(frozen=True, slots=True)
class TestInfo:
    """Hold one test of a study. `planned` is its number of trials in one model and one repetition, `groups` are the
    groups of its words."""

    __test__ = False  # pytest would take the class for a test

    test: str
    test_no: int
    label: str
    planned: int
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """Hold one condition of a study: number 1 is the reference level of its fits. It may be a block of a forced choice
    or a class of jobs in a game."""

    condition: str
    condition_no: int
    label: str


def numbered(names: Iterable[str], labels: Mapping[str, str] | None = None) -> tuple[Condition, ...]:
    """Return conditions numbered in this order; one without a label goes by its name, with blanks for underscores."""
    known = labels or {}
    return tuple(Condition(name, no, known.get(name, name.replace("_", " "))) for no, name in enumerate(names, 1))


@dataclass(frozen=True, slots=True)
class StudyModel:
    """Hold a model as a study asks it.

    `model` is its id in every table, `requested_model` the name sent on the wire, `settings` the parameters sent (in
    the provider's own words). `measure` says which count is analysed as `tokens`; None takes the reasoning count if
    there is one, else the output count. `reasoning_back` says how much of its reasoning a model of many turns is given
    back: all that its provider takes ("kept"), nothing ("dropped"), or the usual ("default", see the dialects in
    collector/providers). `token_source` is set if an import or a simulation of this model has to say what its counts
    are because no provider does. A model that is not `asked_by_default` is asked only if it is named. `frame` is "" if
    the study's design has no frames. `structured_output`: the provider is to enforce the shape of the answer (a choice
    of the run, not of the study; a part of a trial's id).
    """

    model: str
    label: str
    provider: str
    requested_model: str
    frame: str = ""
    measure: Measure | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    token_source: TokenSource | None = None
    asked_by_default: bool = True
    structured_output: bool = False
    reasoning_back: ReasoningBack = "default"

    @property
    def settings_text(self) -> str:
        """Return the settings as the tables `run_models` and `checks` keep them: a check applies to the same settings
        only."""
        return json.dumps(dict(self.settings), ensure_ascii=False)


_NAMING_COLUMNS = (
    "text", "id", "attributes", "between", "weights", "sets", "respondent", "item", "scale", "key", "limits",
    "unit", "error", "phase", "thresholds_by", "disc_by", "material", "probability", "predictors", "fold",
    "repeated",
)  # fmt: skip
"""Settings of fits that are names of columns, or lists of them; `cluster` may join two by a colon."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Hold one analysis that a study defines: which engine fits what, on which view, by which cells.

    `formula` belongs to a regression, `outcome` and `contrast` to a comparison of two levels. `levels` gives the
    levels of each factor in order, the reference level first; `factors` are the columns that are made factors.
    Only rows are taken that have one of the values of each column of `where`, as text. Rows for which one of
    `drop_flags` is true, and those whose outcome is one of `drop_outcomes`, are left out when refusals are removed.
    `settings` are further arguments of the R function; R refuses those that it doesn't take.
    """

    name: str
    engine: str
    view: str
    formula: str | None
    outcome: str | None
    contrast: str | None
    by: tuple[str, ...]
    levels: Mapping[str, tuple[str | int, ...]]
    factors: tuple[str, ...]
    drop_flags: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    drop_outcomes: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def fitted(self) -> str:
        """Return the outcome, or the left side of the formula."""
        return self.outcome or (self.formula or "").partition("~")[0].strip()

    @property
    def flag(self) -> str:
        """Return the outcome if it is a yes or no about what came of a trial (is_refusal); otherwise empty."""
        return self.fitted if self.fitted.startswith("is_") else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that settings name: the text of a topic model, what distinguishes its documents,
        attributes, what answers have in common, what distinguishes the sets of a choice."""
        named: list[str] = []
        for value in (self.settings.get(name, ()) for name in _NAMING_COLUMNS):
            named += [value] if isinstance(value, str) else map(str, value)
        for coded, coders in dict(self.settings.get("codes", {})).items():
            named += [coded, *([coders] if isinstance(coders, str) else coders)]
        clusters = self.settings.get("cluster", ())
        for cluster in (clusters,) if isinstance(clusters, str) else clusters:
            named += str(cluster).split(":")  # a word within its group: "group:item"
        declared = self.settings.get("declared", {})
        named += [*declared.get("properties", {}).values(), *declared.get("cells", ()), *declared.get("prompt", ())]
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class Specification:
    """Define one way to ask the question of a study again (a sensitivity analysis): its fit with one change.

    None keeps what the fit has. `contrast` is the factor of two levels whose difference is wanted. Rows are left out by
    `drop_flags` (true) and `drop_outcomes` (values of the column outcome); `missing_as` says which value replaces a
    missing one. `rotate` names a factor: the specification is fitted with each of its levels as the reference.
    `settings` are added to those of the fit. `choices`, by dimension, are what a figure says of it.
    """

    name: str
    label: str
    fit: str
    contrast: str
    formula: str | None
    drop_flags: tuple[str, ...]
    drop_outcomes: tuple[str, ...]
    missing_as: Mapping[str, Any]
    rotate: str | None
    settings: Mapping[str, Any]
    choices: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StudyFigure:
    """Define one figure that shows variants side by side, in this order: all in one panel, or by the label of a
    `panel`.

    `indices` are measures of games (si, bgd …, success_rate). `families` are models by family, newer and larger ones
    later; if there are any, only their models are drawn.
    """

    name: str
    what: str
    title: str | None
    indices: tuple[str, ...]
    variants: tuple[str, ...]
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def all_variants(self) -> tuple[str, ...]:
        """Return the variants of all panels, each once."""
        return tuple(dict.fromkeys((*self.variants, *(variant for panel in self.panels.values() for variant in panel))))

    @property
    def is_comparison(self) -> bool:
        """Return True if variants are side by side in one panel."""
        return any(len(panel) > 1 for panel in (self.variants, *self.panels.values()))


@dataclass(frozen=True, slots=True)
class ImportNames:
    """Hold names of columns and models in foreign files, as `--map` and `--map-model` take them ("answer=response")."""

    columns: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyFile:
    """Hold what the file of a study says, read and checked: what its design receives (`Study` adds the design itself).

    `version` is 12 hexadecimal digits over everything that decides what is asked, in all variants; `contents` are its
    parts (see `Asks.contents`), any of which an edit may leave unchanged. `texts` are the files that it was read
    from, its own first, by their names in its folder. `note` is what people should know before they use its results.
    `asked_as` is the variant as the file names it, without a format of answers.

    `about` is one line on the variant, `left_out` says by model why this variant does not ask it, and `temperature` is
    in the settings of every model (None: each provider's own), as is `reasoning_back` if a run asks for it. A variant
    that `is_extension` is not a condition of its paper. `variant_labels` are names of variants in figures. `conditions`
    are in the study's order, the reference first. `participants` are not models; they play any study of this design,
    named by its file or not, and have labels. A study that ships with slant, or was read from a database,
    `is_known_by_name`: commands need no path. `refusal_rule` says what its views call a refusal, `count_truncated` that
    an answer counts which was cut off after a clear first sentence, `import_names` what
    the columns of files are, and `person_columns` which columns of people come in, with their levels (none: a number).
    `fit_settings` are by name those that it changes of fits which every study of its design has. `smallest_effect`: the
    smallest that would matter, by measure (rating, is_yes …; rate: of answers and refusals), or "" for any.
    """

    name: str
    title: str
    version: str
    source: str
    path: Path
    seed: int
    frame: str
    tests: tuple[TestInfo, ...]
    models: tuple[StudyModel, ...]
    variants: tuple[str, ...]
    variant: str
    fits: Mapping[str, Fit]
    published: Path | None
    data: Any
    sensitivity: Mapping[str, Specification] = field(default_factory=dict)
    note: str = ""
    about: str = ""
    figures: Mapping[str, StudyFigure] = field(default_factory=dict)
    variant_labels: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    temperature: float | None = None
    reasoning_back: ReasoningBack = "default"
    is_extension: bool = False
    conditions: tuple[Condition, ...] = ()
    asked_as: str = BASE
    participants: Mapping[str, str] = field(default_factory=dict)
    is_known_by_name: bool = False
    refusal_rule: RefusalRule = "outcome"
    count_truncated: bool = False
    import_names: ImportNames = ImportNames()
    person_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fit_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    smallest_effect: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    contents: frozenset[str] = field(default_factory=frozenset, repr=False, compare=False)

    def with_answer(self, answer: str) -> Self:
        """Return the same study with another format of answers, as the variant NAME.ANSWER. Models that have their own
        format (they reason by themselves) are left out, by name.
        """
        if answer == self.frame:
            return self
        own = "it has its own format of answers"
        fixed = {model.model: own for model in self.models if model.frame != self.frame}
        models = tuple(m if m.model in fixed else replace(m, frame=answer) for m in self.models)
        variant = f"{self.variant}.{answer}"
        return replace(self, variant=variant, frame=answer, models=models, left_out={**fixed, **self.left_out})

    def with_reasoning_back(self, back: ReasoningBack) -> Self:
        """Return the same study with this much reasoning given back to every model, as the variant NAME.kept or
        NAME.dropped: other conversations are other trials, and belong in separate tables."""
        models = tuple(replace(model, reasoning_back=back) for model in self.models)
        return replace(self, variant=f"{self.variant}.{back}", reasoning_back=back, models=models)

    def condition_label(self, condition: str) -> str:
        """Return the study's name of a condition in figures and sentences."""
        return next((known.label for known in self.conditions if known.condition == condition), condition)

    @property
    def as_typed(self) -> str:
        """Return the `--study` for this study: its name if it ships with slant, else its path."""
        if self.is_known_by_name:
            return self.name
        folder = Path.cwd()
        return shlex.quote(f"./{self.path.relative_to(folder)}" if self.path.is_relative_to(folder) else str(self.path))

    @property
    def trial_command(self) -> str:
        """Return the command to play this study without a key."""
        names = [*(model.model for model in self.models), *self.participants]
        whom = "--simulated" if any(model.asked_by_default for model in self.models) or not names else ""
        return f"collect --study {self.as_typed} {whom or f'--model simulated/{names[0]}'}"

    def test(self, name: str) -> TestInfo:
        """Return the test with this id; UnknownNameError if there is none."""
        for test in self.tests:
            if test.test == name:
                return test
        raise UnknownNameError(f"test in the study {self.name}", name, [test.test for test in self.tests])
