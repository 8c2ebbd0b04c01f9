"""Ask once before a key goes to the host that a provider file names.

A provider file may come from somebody else, and may name the variable of any secret. So its owner agrees to each pair
of variable and host; what a person agreed to on a terminal is kept in the user's own folder, not beside the file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from slant.collector.errors import UsageError
from slant.collector.plan.run_plan import ModelPlan
from slant.collector.providers.own_providers import provider_file
from slant.collector.system.files import contents, replace_on_disk


def new_key_hosts(model_plans: Sequence[ModelPlan]) -> dict[str, str]:
    """Return "VARIABLE HOST" of each key of a provider file that nobody agreed to yet, with the sentence about it."""
    agreed = _agreed()
    hosts = {}
    for plan in model_plans:
        provider = plan.provider
        if plan.pending and provider.is_own and provider.key_variable:
            host = urlsplit(plan.base_url or provider.base_url or "").netloc
            place = f'("{provider.name}" in {provider_file()})'
            hosts[f"{provider.key_variable} {host}"] = f"The key in {provider.key_variable} goes to {host} {place}."
    return {pair: sentence for pair, sentence in hosts.items() if pair not in agreed}


def check_key_hosts(model_plans: Sequence[ModelPlan]) -> None:
    """Raise UsageError if a key would go where nobody agreed to."""
    if sentences := list(new_key_hosts(model_plans).values()):
        raise UsageError("Nothing was sent: keys would go to hosts that nobody agreed to.", *sentences,
                         "To agree: --yes (from Python: yes=True), or type the same command on a terminal, "
                         "which asks once.")  # fmt: skip


def agree_to(pairs: Sequence[str]) -> None:
    """Keep what a person agreed to; where it can't be kept, the next command asks again."""
    with suppress(OSError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_on_disk(file, "".join(f"{pair}\n" for pair in sorted({*_agreed(), *pairs})).encode())


def _agreed() -> set[str]:
    with suppress(OSError, UnicodeDecodeError):
        return set(contents(_file()).decode("utf-8").splitlines())
    return set()


def _file() -> Path:
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    except RuntimeError as error:
        raise OSError("there is no home") from error
    return state / "slant" / "hosts_of_keys"
