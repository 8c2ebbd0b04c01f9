"""Declare options that several commands of `analyze` share, each once; those that `collect` also has are in
slant.collector.commands.options.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from slant.collector.commands import options as of_collect
from slant.collector.commands.options import AT_LEAST_1, FILE, Decorator, db_option, output_options, row_options
from slant.collector.errors import UsageError
from slant.collector.study.crossed_fits import engine_rows
from slant.collector.terminal import say

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from slant.collector.studies.catalogue import Study

ONE_STUDY = "Default: the only study of the database."

FIT_TABLES = ("table", "diagnostics", "variances", "messages")
ENGINE_TABLES = {
    row["engine"]: tuple(name for name in row["tables"].split() if name != "models")
    for row in reversed(engine_rows())
    if row["tables"] and row["engine"] != "stm"
}
COUNT_FAMILIES = ("lognormal", "shifted_lognormal", "gaussian", "negative_binomial", "hurdle_lognormal")
"""List the families that R's fit_brms() has for token counts."""
TOPIC_TABLES = (
    "topics", "words", "match", "prevalence", "contrasts", "shifts", "correlations", "examples", "models",
)  # fmt: skip
"""List what `--show` prints for every fit, for engines with their own tables, for topics."""


def option(*names: str, of: click.ParamType[Any] | Sequence[str] | None = None, **more: Any) -> Decorator:
    """Declare an option of one command; --help shows its default. `of`: its type, or what can be chosen."""
    kind = of if of is None or isinstance(of, click.ParamType) else click.Choice(of)
    return click.option(*names, type=kind, **{"show_default": "default" in more, **more})


measure_option = of_collect.rows_option(
    "--measure",
    type=click.Choice(["reasoning", "output", "recounted"]),
    help="The count to analyse as tokens. Default: the study's.",
)
_where_option = of_collect.section("Where R runs")
cluster_option = partial(
    _where_option,
    "--cluster",
    metavar="ADDRESS",
    help="A Dask cluster: tcp://scheduler:8786, or local:4 for four worker processes of this machine.",
)
"""Take the variable SLANT_CLUSTER instead, in commands that compute."""
_CLUSTER = cluster_option(envvar="SLANT_CLUSTER", show_envvar=True)
_WORKERS = _where_option(
    "--workers", type=AT_LEAST_1, help="Number of R processes on this machine. Default: one per core."
)
_MIXED = _where_option(
    "--mixed-versions",
    is_flag=True,
    help="Accept workers of a cluster with other versions of R or its packages; each row names its version.",
)


def workers_options(command: Callable[..., Any]) -> Any:
    """Add options for where R runs. The command gets `workers`: a number, an executor, or None for the default."""

    @functools.wraps(command)
    def with_workers(*args: Any, workers: int | None, cluster: str | None, mixed_versions: bool, **options: Any) -> Any:
        context = click.get_current_context()
        if context.invoked_subcommand is not None or context.resilient_parsing:
            return command(*args, workers=workers, **options)
        if cluster and workers and context.get_parameter_source("cluster") is not ParameterSource.ENVIRONMENT:
            raise UsageError(
                "--workers can't count workers of a cluster: they are R processes of this machine.",
                "Remove --workers or --cluster; a cluster of this machine is local:4.",
            )
        if mixed_versions and (workers or not cluster):
            raise UsageError(
                "--mixed-versions needs a cluster: it accepts workers with other versions.",
                "Name it (--cluster tcp://scheduler:8786), or remove --mixed-versions.",
            )
        with contextlib.nullcontext(workers) if workers or not cluster else _executor(cluster, mixed_versions) as here:
            return command(*args, workers=here, **options)

    return _WORKERS(_CLUSTER(_MIXED(with_workers)))


@contextlib.contextmanager
def _executor(cluster: str, mixed: bool) -> Iterator[Executor]:
    from slant.analysis.calls.cluster import ClusterExecutor
    from slant.analysis.calls.executors import mixed_versions

    with ClusterExecutor(cluster) as executor:
        yield mixed_versions(executor) if mixed else executor


_SHORT_CHAINS = (
    click.option("--chains", type=AT_LEAST_1, help="Chains of a short fit (brms). Default: 2."),
    click.option("--iterations", type=of_collect.WholeNumber(10), help="Iterations of a chain (brms). Default: 700."),
    click.option("--warmup", type=AT_LEAST_1, help="Warm-up iterations among them (brms). Default: 200."),
    click.option(
        "--adapt-delta",
        type=of_collect.BETWEEN_0_AND_1,
        help="Target acceptance rate of the sampler (brms). Default: 0.95; of a calibration the fit's.",
    ),
)


def short_chains_options(command: Callable[..., Any]) -> Any:
    """Add options for how Stan samples if it fits many times. The command gets `sampling`, the typed ones by name."""

    @functools.wraps(command)
    def with_sampling(*args: Any, **options: Any) -> Any:
        names = ("chains", "iterations", "warmup", "adapt_delta")
        typed = {name: options.pop(name) for name in names}
        return command(*args, sampling={name: value for name, value in typed.items() if value is not None}, **options)

    return functools.reduce(lambda decorated, option: option(decorated), reversed(_SHORT_CHAINS), with_sampling)


registration_option = click.option(
    "--registration",
    type=FILE,
    metavar="FILE",
    help="Compare with this file of `collect preregister`. Default: the registration of a run.",
)
refit_option = click.option("--refit", is_flag=True, help="Recompute stored results even if nothing has changed.")


def result_options(*, refit: bool = False) -> Decorator:
    """Add what each command takes that computes: which rows, where R runs, which database and how results are printed.
    `refit`: also whether to compute kept results again."""
    kept = (refit_option,) if refit else ()
    options = (of_collect.source_option(), workers_options, *kept, db_option, output_options)
    return lambda command: functools.reduce(lambda made, option: option(made), reversed(options), row_options(command))


def chosen_study(
    db: Path, study: str | None, suits: Callable[[Study], bool] | None = None, description: str = ""
) -> Study:
    """Return `study_in`; say on stderr which study was chosen if the database holds others, too."""
    from slant.analysis.rows.study_choice import study_in, study_names

    chosen = study_in(db, study, suits, description)
    if study is None and (others := [name for name in study_names(db) if name != chosen.name]):
        say(f'This is about "{chosen.name}". The database also holds: {", ".join(others)} (--study NAME).')
    return chosen
