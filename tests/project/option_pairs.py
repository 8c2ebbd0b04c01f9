"""Every pair of options of every command, and of arguments of every public Python function, with values that are right.

What is right follows from an option's type, or stands in RIGHT by its name. A pair that several commands or functions
share is tried with the first of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import click

import slant
from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.errors import RError
from tests.project.test_mistakes import commands
from tests.project.test_python_mistakes import NO_FUNCTIONS

NOBODY = "http://127.0.0.1:9"  # an address at which nobody listens
NO_R = "R is not started here."
Words = tuple[str, ...]


class NoExecutor(Executor):
    """Takes nothing."""

    def submit(self, *_: Any, **__: Any) -> Any:
        raise RError(NO_R)

    def __repr__(self) -> str:
        return "NoExecutor()"


# What each command is typed with, so that it comes as far as it can without a server and without R; some in two ways.
BASES: dict[str, tuple[str, ...]] = {
    "collect": ("--study=study/study.toml --dry-run", "--study=ultimatum --simulated --dry-run"),
    "collect check-model": (f"local/small --base-url={NOBODY}",),
    "collect export": ("", "lake --layout=lake"),
    "collect import": ("answers.csv --study=study/study.toml --model=local/small",),
    "collect merge": ("b.duckdb",),
    "collect preregister": ("--study=study/study.toml",),
    "collect prompts": ("rmiat",),
    "collect set-aside": ("r1",),
    "collect recode": ("--study=decision --simulated",),
    "collect sample": ("--study=rmiat --n=5",),
    "collect studies new": ("mine --design=association",),
    "collect studies show": ("rmiat",),
    "collect studies validate": ("study/study.toml",),
    "analyze": ("--fit=lme4", "--fit=brms", "--fit=stm"),
    "analyze calibrate": ("--fit=brms",),
    "analyze permute": ("--study=rmiat",),
    "analyze power": ("--study=rmiat --word=250 --residual=3200", "--study=rmiat --from=slant.duckdb"),
    "analyze reconstruct": ("--study=hiring",),
    "analyze replay": ("study.zip",),
    "analyze topics search": ("--topics=2",),
    "analyze validity": ("--measures=rmiat.tokens",),
}
# A base that is not a command's first is typed with these alone; all others are tried with the first.
ONLY = {
    "--study=ultimatum --simulated --dry-run": (
        "--variant", "--answer", "--reasoning-back", "--seed", "--shard", "--processes", "--logprobs", "--pilot",
        "--structured-output", "--repetitions", "--budget",
    ),
    "--fit=brms": (
        "--show", "--seed", "--random", "--family", "--chains", "--iterations", "--warmup", "--force", "--measure",
        "--refusals",
    ),
    "--fit=stm": ("--show", "--seed", "--topics", "--preprocessing", "--adjust", "--random", "--refusals", "--measure"),
    "--study=rmiat --from=slant.duckdb": (
        "--source", "--model", "--test", "--word", "--wording", "--residual", "--sd", "--effect", "--prices", "--words",
        "--games",
    ),
}  # fmt: skip
RIGHT = {
    "--answer": "direct", "--author": "Ada", "--base-url": NOBODY, "--batch-size": "3 --batch",
    "--bundle": "pages --where=wording=1", "--checklist": "guide-llm", "--cluster": "local:2", "--condition": "x",
    "--db": "b.duckdb", "--eligible": "openai/gpt-*", "--every": "3 --watch", "--exclude": "short", "--figure": "f.png",
    "--fit": "effect_size", "--folder": "there", "--from": "slant.duckdb", "--games": "10", "--height": "5",
    "--highlight": "o3-mini", "--order": "value",
    "--image": "pdf", "--iterations": "400", "--lake": "lake", "--layout": "scout", "--license": "MIT",
    "--lists": "lists", "--looks": "2 --until-width=5 --repetitions=4", "--map": "tokens=tokens",
    "--map-model": "a=local/small", "--model": f"local/small --base-url={NOBODY}",
    "--notes": "notes.csv", "--prices": "prices.toml", "--reason": "why", "--change": "lme4.outcome=tokens",
    "--problems": "problems.csv", "--reference": "o3-mini", "--registration": "plan.json", "--repetitions": "4",
    "--rule": "the next", "--run": "r1", "--settings": "temperature=0.2", "--shard": "1/2",
    "--spec": "x", "--spreadsheet-safe": "--format=csv", "--stop": "all", "--study": "rmiat", "--study-version": "v1",
    "--table": "S5", "--test": "flowers_insects", "--tokenizer": "tokenizer.json", "--topics": "3",
    "--until-width": "5 --repetitions=4", "--variant": "balanced", "--view": "trials", "--wait": "--batch",
    "--where": "wording=1 --bundle=pages", "--width": "5", "--with": "b.duckdb", "--wordings": "4", "--words": "10",
}  # fmt: skip
ENDINGS = {"analyze report": "html", "analyze check": "html", "analyze seal": "zip", "collect export": "parquet"}
ENDINGS |= {"collect prompts": "csv"}
ENDINGS |= {"collect methods": "md --checklist=guide-llm", "collect preregister": "json"}
UNTRIED = ("--verbose", "--wide", "--digits", "--version")  # change nothing but how much is said


@dataclass(frozen=True)
class Pair:
    """The command, and two options, each as the words that are typed for it."""

    typed: Words
    options: tuple[Words, Words]

    def __str__(self) -> str:
        first, second = self.options
        return " ".join((*self.typed, *first, *second))


def pairs() -> Iterator[Pair]:
    tried: set[frozenset[tuple[str, str | None]]] = set()
    for start, name in ((collect, "collect"), (analyze, "analyze")):
        for path, command in commands(start, (name,)):
            known = [option for option in command.params if isinstance(option, click.Option)]
            options = [option for option in known if option.opts[0] not in UNTRIED]
            here = set()
            for base in BASES.get(" ".join(path), ("",)):
                for two in combinations([o for o in options if o.opts[0] in ONLY.get(base, o.opts)], 2):
                    key = frozenset((option.opts[0], option.help) for option in two)
                    here.add(key)
                    if key not in tried:
                        first, second = (right_words(" ".join(path), option) for option in two)
                        if not _names(first) & _names(second):
                            yield Pair((*path, *base.split()), (first, second))
            tried |= here


def _names(words: Words) -> set[str]:
    return {word.partition("=")[0] for word in words}


def right_words(path: str, option: click.Option) -> Words:
    name = option.opts[0]
    if name == "--out":
        value = f"out.{ENDINGS[path]}" if path in ENDINGS else "out"
    elif option.is_flag:
        return (name, *RIGHT.get(name, "").split())
    else:
        value = RIGHT.get(name) or _value(option)
    value, *more = value.split()
    return (f"{name}={value}", *more)


def _value(option: click.Option) -> str:
    """One of the option's type which is not its default."""
    kind = option.type
    if isinstance(kind, click.Choice):
        return next(choice for choice in reversed(kind.choices) if choice != option.default)
    if isinstance(kind, click.IntRange):
        return str(max(3, kind.min or 0))
    if isinstance(kind, click.FloatRange):
        return "0.5"
    return "x"


# ---- arguments of Python

CALLED: dict[str, dict[str, Any]] = {
    "collect": {"db": "new.duckdb", "study": "study/study.toml"},
    "import_trials": {"db": "new.duckdb", "study": "study/study.toml", "paths": ["answers.csv"]},
    "merge": {"db": "new.duckdb", "sources": ["b.duckdb"]},
    "preregister": {"study": "study/study.toml"},
    "seal": {"db": "slant.duckdb", "out": "out.zip"},
    "export_trials": {"db": "slant.duckdb"},
    "export_lake": {"db": "slant.duckdb", "folder": "lake"},
    "fit": {"db": "slant.duckdb", "fit": "lme4"},
    "permute": {"db": "slant.duckdb", "study": "rmiat"},
    "plan_power": {"study": "rmiat", "variances": {"word": 250.0, "residual": 3200.0}},
    "validity": {"db": "slant.duckdb", "measures": ["rmiat.tokens"]},
}
RIGHT_ARGUMENTS: dict[str, Any] = {
    "adjust": "none", "again": 3, "anonymous": True, "answer": "direct", "authors": ["Ada"], "base_url": NOBODY,
    "between": "model", "budget": 5.0, "columns": ["tokens=tokens"], "effect": 20.0, "effects": "cells",
    "eligible": ["openai/*"], "engine": "lme4", "exclusions": ["short"], "fit": "effect_size", "fits": ["lme4"],
    "format": "csv", "formats": ["pdf"], "label": "tab:a", "license": "MIT", "looks": 2, "looks_at": [3],
    "map_models": ["a=local/small"], "measure": "output", "model": "local/small", "models": ["local/small"],
    "n_games": [10], "n_repetitions": [3],
    "n_wordings": [4], "n_words": [10], "names": [], "out": "out.csv", 
    "prices": "prices.toml", "reasoning_back": "kept",
    "registration": "plan.json", "repetitions": 4, "rule": "the next", "shard": (1, 2), "source": "simulated",
    "stopping_rule": "all", "study": "rmiat", "tables": ["S5"], "tests": ["flowers_insects"], "time_limit": 5.0,
    "unit": "log",
    "until_width": 5.0, "variant": "balanced", "version": "v1", "view": "trials", "width": 5.0, "height": 5.0,
    "executor": NoExecutor(), "workers": 3, "power": 0.5, "alpha": 0.1, "bound": 0.2,
}  # fmt: skip


UNTRIED_ARGUMENTS = ("dry_run",)  # asks nobody, whatever else is said; all options of `collect` are tried with it


@dataclass(frozen=True)
class ArgumentPair:
    """A function, what it needs, and two arguments more."""

    function: Callable[..., Any]
    given: dict[str, Any]
    arguments: tuple[dict[str, Any], dict[str, Any]]

    def __str__(self) -> str:
        named = {**self.given, **self.arguments[0], **self.arguments[1]}
        return f"{self.function.__name__}({', '.join(f'{name}={value!r}' for name, value in named.items())})"


def argument_pairs() -> Iterator[ArgumentPair]:
    tried: set[frozenset[tuple[str, str]]] = set()
    for name in slant.__all__:
        function = getattr(slant, name)
        if inspect.isclass(function) or name in NO_FUNCTIONS:
            continue
        given = CALLED.get(name, {"db": "slant.duckdb"})
        parameters = inspect.signature(function).parameters.values()
        tried_here = [p for p in parameters if p.name not in UNTRIED_ARGUMENTS]
        right = {(p.name, str(p.annotation)): value for p in tried_here if (value := right_argument(p)) is not None}
        for one, other in combinations(right, 2):
            if one[0] not in given and other[0] not in given and frozenset((one, other)) not in tried:
                yield ArgumentPair(function, given, ({one[0]: right[one]}, {other[0]: right[other]}))
        tried |= {frozenset(two) for two in combinations(right, 2)}


def right_argument(parameter: inspect.Parameter) -> Any:
    """None where nothing else than what the function takes by itself is known to be right."""
    if parameter.annotation == "bool":
        return not parameter.default
    known = RIGHT_ARGUMENTS.get(parameter.name)
    return 3 if known is None and str(parameter.annotation).startswith("int") else known
