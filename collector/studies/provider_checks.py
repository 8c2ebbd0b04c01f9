"""What `collect studies validate` asks of [[models]]: a provider that there is."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from slant.collector.providers import GROUP, PROVIDERS
from slant.collector.study.records import Study
from slant.collector.system.third_party import third_party_names


def unknown_providers(study: Study) -> list[str]:
    """A sentence for each model whose provider nobody knows; a run would leave it out."""
    return list(_sentences(study))


def _sentences(study: Study) -> Iterator[str]:
    known = [*PROVIDERS, *third_party_names(GROUP)]
    for model in study.models:
        if model.provider not in known:
            near = get_close_matches(model.provider, known, n=1, cutoff=0.5)
            hint = f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(known)}."
            yield f'The model "{model.model}": there is no provider "{model.provider}". {hint}'
