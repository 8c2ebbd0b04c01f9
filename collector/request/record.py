"""Declare every setting of `collect` once, in `Request`. The options of the shell, the arguments of `collect()` and of
R's `collect_trials()`, and what a run keeps of its settings come from here. A new setting is a new field and the lines
that act on it; then run: python tools/r_settings.py

Refuse settings of a request that exclude each other, before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from slant.collector.errors import UsageError
from slant.collector.records import Registration
from slant.collector.request.setting import Setting, settings_of
from slant.collector.stopping.rule import StoppingRule
from slant.collector.study.records import ReasoningBack

if TYPE_CHECKING:
    from slant.collector.designs.study import Study  # --help reads this module, and needs no designs

MAX_AT_ONCE = 10_000  # requests in flight; a system has fewer ports for one address than six times that
_STOPPING, _REQUESTS, _MONEY, _BATCH = "Stopping on precision", "How requests are sent", "Money", "Batch jobs"


@dataclass(frozen=True)
class Request:
    """Hold what one call of `collect` asks, which models, and how."""

    db: Annotated[
        str | Path,
        Setting(
            "The database file.",
            section="Database and output",
            file=True,
            variable="SLANT_DB",
            usual="slant.duckdb",
        ),
    ]
    study: Annotated[
        str | Path | Study, Setting("A study's name (`collect studies` lists them) or the path of its TOML file.")
    ]
    models: Annotated[Sequence[str] | None, Setting("Repeatable. Default: the study's.", metavar="PROVIDER/NAME")] = (
        None
    )
    _: KW_ONLY
    simulated: Annotated[bool, Setting("Query a simulated provider on this machine instead; costs nothing.")] = False
    variant: Annotated[
        str,
        Setting(
            "A named set of changes that the study defines; null assigns its words to groups at random.",
            only_in_shell=" all: every variant in turn.",
        ),
    ] = "base"
    answer: Annotated[
        str | None, Setting("An answer format that the study has: direct, cot, react, tool.", metavar="FORMAT")
    ] = None
    reasoning_back: Annotated[
        ReasoningBack,
        Setting("Whether a game's model gets its earlier reasoning again; kept and dropped are separate variants."),
    ] = "default"
    seed: Annotated[int | None, Setting("Seed of all random draws. Default: the study's.", least=0)] = None
    repetitions: Annotated[int, Setting("How often each trial is collected.", least=1)] = 1
    until_width: Annotated[
        float | None,
        Setting(
            "Collect complete repetitions, up to --repetitions, until half of the 95 % interval of the condition "
            "effect is at most this in each test (in tokens, for example; needs R).",
            section=_STOPPING,
            above=0,
            metavar="UNITS",
        ),
    ] = None
    looks: Annotated[
        int | None,
        Setting(
            "The largest number of looks at that width. Default: 5, or as many as there are repetitions.",
            section=_STOPPING,
            least=1,
            metavar="N",
        ),
    ] = None
    shard: Annotated[
        str | tuple[int, int] | None,
        Setting("Collect only part K of N of the plan, as one of N collectors: 2/8.", metavar="K/N"),
    ] = None
    processes: Annotated[int, Setting("Divide the work among N processes on this machine.", least=1)] = 1
    registration: Annotated[
        str | Path | Registration | None,
        Setting("The file that `collect preregister` wrote; stored with the run.", file=True, metavar="FILE"),
    ] = None
    dry_run: Annotated[bool, Setting("Show tokens, cost, time and the first prompt; send nothing.")] = False
    base_url: Annotated[
        str | None, Setting("The address of your own server, for local/NAME.", section=_REQUESTS, metavar="URL")
    ] = None
    provider_file: Annotated[
        str | Path | None,
        Setting(
            "Custom providers (TOML): name, dialect, address. Default: ~/.config/slant/providers.toml.",
            section=_REQUESTS,
            file=True,
            metavar="FILE",
            variable="SLANT_PROVIDERS",
        ),
    ] = None
    concurrency: Annotated[
        int, Setting("Requests in flight for each model.", section=_REQUESTS, least=1, most=MAX_AT_ONCE, kept="live")
    ] = 16
    max_retries: Annotated[
        int,
        Setting("Retries after a failed request; answers are never retried.", section=_REQUESTS, least=0, kept="live"),
    ] = 5
    time_limit: Annotated[
        float,
        Setting(
            "The longest wait for an answer.", section=_REQUESTS, above=0, unit="s", metavar="SECONDS", kept="live"
        ),
    ] = 600.0
    longest_wait: Annotated[
        float,
        Setting(
            "The longest wait that a provider may request; beyond it, a terminal asks you.",
            section=_REQUESTS,
            above=0,
            unit="s",
            metavar="SECONDS",
            kept="live",
        ),
    ] = 600.0
    stop_after_declined: Annotated[
        int,
        Setting(
            "Stop a model after its provider has declined this many trials in a row in unknown words.",
            section=_REQUESTS,
            least=1,
            metavar="N",
            kept="live",
        ),
    ] = 5
    ask_rejected: Annotated[
        bool,
        Setting("Retry rejected trials once (declined twice, for an unknown reason).", section=_REQUESTS),
    ] = False
    logprobs: Annotated[
        bool,
        Setting("Store the probabilities of both options, if a provider gives them.", section=_REQUESTS, kept="live"),
    ] = False
    structured_output: Annotated[
        bool, Setting("Let the provider enforce the JSON of the answer.", section=_REQUESTS)
    ] = False
    prices: Annotated[
        str | Path | None, Setting("Custom prices (TOML).", section=_MONEY, file=True, metavar="FILE")
    ] = None
    budget: Annotated[
        float | None,
        Setting(
            "The most that the study may cost in --db, including earlier runs.",
            section=_MONEY,
            above=0,
            unit="usd",
            metavar="USD",
            kept="both",
        ),
    ] = None
    again: Annotated[
        int | None,
        Setting(
            "Repeat this many answered trials, balanced, on a new occasion.",
            least=1,
            metavar="TRIALS",
        ),
    ] = None
    pilot: Annotated[
        int | None,
        Setting(
            "First collect this many balanced trials from each model, then confirm the rest.",
            section=_MONEY,
            least=1,
            metavar="TRIALS",
        ),
    ] = None
    yes: Annotated[bool, Setting("Agree to requests that cost money.", section=_MONEY)] = False
    batch: Annotated[
        bool, Setting("Use batch jobs of OpenAI or Anthropic; the same command later fetches answers.", section=_BATCH)
    ] = False
    wait: Annotated[bool, Setting("Wait until every job is done.", section=_BATCH, kept="batch")] = False
    batch_size: Annotated[
        int | None,
        Setting(
            "Maximum number of requests in a job. Default: the provider's limit.",
            section=_BATCH,
            least=1,
            metavar="N",
            kept="batch",
        ),
    ] = None
    mixed: Annotated[
        bool, Setting("Allow live and batch answers of one model in one study.", section=_BATCH, kept="both")
    ] = False
    settle_s: Annotated[
        float,
        Setting(
            "How long a job whose submission got no answer may take to show up in the provider's list.",
            section=_BATCH,
            kept="batch",
            in_shell=False,
        ),
    ] = 120.0
    poll_s: Annotated[
        float,
        Setting(
            "With --wait, the longest time between two looks at the open jobs.",
            section=_BATCH,
            kept="batch",
            in_shell=False,
        ),
    ] = 60.0
    most_rounds: Annotated[
        int,
        Setting(
            "With --wait, how often requests without an answer are submitted again, at most.",
            section=_BATCH,
            least=1,
            kept="batch",
            in_shell=False,
        ),
    ] = 5

    @property
    def full_variant(self) -> str:
        """Return the variant with its answer format and how much reasoning is given back, as `load_study` takes it."""
        back = "" if self.reasoning_back == "default" else f".{self.reasoning_back}"
        return f"{self.variant}{f'.{self.answer}' if self.answer else ''}{back}"

    @property
    def stopping(self) -> StoppingRule | None:
        return StoppingRule.of(self.until_width, self.looks, self.repetitions)

    def kept(self) -> dict[str, Any]:
        """Return this request's settings, as they are stored with its run."""
        how = "batch" if self.batch else "live"
        kept = {
            declared.stored_name: getattr(self, name)
            for name, declared in settings_of(Request).items()
            if declared.setting.kept in (how, "both")
        }
        return kept | {"batch": True} if self.batch else kept


def refuse_conflicts(request: Request) -> None:
    """Raise UsageError for two settings that can't be used together, or for one that needs another."""
    if not request.batch and (request.wait or request.batch_size):
        raise UsageError("--wait and --batch-size need --batch.")
    if request.stopping is not None:
        for name, reason in _NOT_UNTIL_WIDTH.items():
            if getattr(request, name):
                raise UsageError(f"--until-width and --{name} can't be used together: {reason}")
    if request.again is not None:
        if request.batch:
            raise UsageError(
                "Trials can't be repeated by batch: a job may take a day, and the comparison is between days.",
                "Remove --batch (from Python: batch=True).",
            )
        if request.shard is not None:
            raise UsageError(
                "A shard can't be repeated: the sample is drawn from all answers, balanced over tests and conditions.",
                "Merge the shards (collect merge), then remove --shard.",
            )
        if request.pilot is not None:
            raise UsageError("--again is already a balanced sample: remove --pilot.")
        if request.processes != 1:
            raise UsageError("Trials are repeated by one process: remove --processes.")
    if request.batch and request.processes != 1:
        raise UsageError("Batch jobs use one process: remove --processes.")


_NOT_UNTIL_WIDTH = {
    "batch": "a look waits for all answers of a repetition, and a batch may take a day for each of them.",
    "pilot": "its first look serves as a pilot. Remove --pilot.",
    "shard": "the width is that of all answers, and a shard has only some of them. Remove --shard.",
    "again": "repeated trials are on a separate occasion, where no width is measured. Remove one of them.",
}
