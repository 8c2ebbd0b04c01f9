"""Fill every page with Jinja2: a name that a page has and its values lack is an error, not an empty place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket


class _Compiled(BytecodeCache):
    """Compile each template once per process: that of a report takes half a second."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


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
        bytecode_cache=_COMPILED,
        **options,
    )
    environment.filters |= filters or {}
    return environment
