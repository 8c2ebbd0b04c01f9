"""Check [[models]] for `collect studies validate`: each needs a known provider."""

from __future__ import annotations

from collections.abc import Iterator

from slant.collector.designs.study import Study
from slant.collector.errors import UnknownNameError
from slant.collector.providers import provider_named


def unknown_providers(study: Study) -> list[str]:
    """Return a sentence for each unknown provider; a run would leave it out."""
    return list(_sentences(study))


def _sentences(study: Study) -> Iterator[str]:
    for model in study.models:
        try:
            provider_named(model.provider)
        except UnknownNameError as error:
            yield f'The model "{model.model}": {error.what}'
