"""Find what no archive may hold: keys, folders of this machine, its name and its user's."""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slant.collector.ask.redaction import spellings
from slant.collector.providers import all_providers

_MIN_KEY, _MIN_NAME_LENGTH = 8, 3
_NAMES_A_KEY = re.compile(r"(?:_|\b)(?:KEY|TOKEN|SECRET|PASSWORD)$")
_NO_NAMES = ("localhost", "127.0.0.1", "::1", "0.0.0.0")
_ABOUT_MACHINE = ("command", "machine", "study_file", "settings", "models", "error", "headers", "source", "answers")
"""List fields of a journal that slant or the system wrote. A name of four letters may be a word anywhere else."""


@dataclass(frozen=True)
class PrivateWords:
    """Hold private words. `anywhere`: keys and folders as they occur in text, with their replacements; `names`: those
    of machines and people, which are sought only in what describes the machine."""

    anywhere: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    def in_text(self, text: str) -> str:
        """Return the text without keys and folders."""
        for word, stand_in in self.anywhere:
            text = text.replace(word, stand_in)
        return text

    def are_in(self, data: bytes) -> bool:
        """Return whether these bytes may have any."""
        words = (*(word for word, _ in self.anywhere), *self.names)
        return any(word.encode() in data for word in words)

    def without(self, record: Any, *, is_about_machine: bool = False) -> Any:
        """Return a record of a journal without them."""
        if isinstance(record, str):
            text = self.in_text(record)
            return self._without_names(text) if is_about_machine else text
        if isinstance(record, list):
            return [self.without(value, is_about_machine=is_about_machine) for value in record]
        if isinstance(record, Mapping):
            return {
                name: self.without(value, is_about_machine=is_about_machine or name in _ABOUT_MACHINE)
                for name, value in record.items()
            }
        return record

    def _without_names(self, text: str) -> str:
        for name in self.names:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "[name]", text)
        return text


def private_words(*folders: Path, addresses: Iterable[str | None] = ()) -> PrivateWords:
    """Return the private words of this process and machine: keys in its environment, its home, these folders, its name
    and its user's, and the hosts of servers at `addresses`."""
    anywhere = {spelt: "[key]" for key in _keys() for spelt in spellings(key)}
    for folder in (Path.home(), Path.cwd(), *folders):
        for place in {folder, folder.resolve()}:
            if place.is_absolute() and len(place.parts) > 1:
                anywhere |= {f"{place}/": "…/", json.dumps(f"{place}/")[1:-1]: "…/"}
    longest_first = sorted(anywhere.items(), key=lambda item: -len(item[0]))
    hosts = {urlsplit(address).hostname or "" for address in addresses if address}
    names = {*_own_names(), *hosts} - {*_NO_NAMES}
    return PrivateWords(tuple(longest_first), tuple(sorted(name for name in names if len(name) >= _MIN_NAME_LENGTH)))


def _keys() -> Iterator[str]:
    named = {provider.key_variable for provider in all_providers()}
    for name, value in os.environ.items():
        if (name in named or _NAMES_A_KEY.search(name)) and len(value.strip()) >= _MIN_KEY and "/" not in value[:1]:
            yield value.strip()


def _own_names() -> Iterator[str]:
    host = socket.gethostname()
    yield from {host, host.partition(".")[0]}
    try:
        yield getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in containers
        return
