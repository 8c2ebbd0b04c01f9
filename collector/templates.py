"""Fill every page with Jinja2: a name that a page has and its values lack is an error, not an empty place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def template_environment(
    package: str,
    *,
    is_html: bool,
    finalize: Callable[[Any], Any] | None = None,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **options: Any,
) -> Environment:
    """Return the templates of a package. In HTML all values are escaped; `finalize` is applied to whatever is
    printed.
    """
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=is_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
        **options,
    )
    environment.filters |= filters or {}
    return environment
