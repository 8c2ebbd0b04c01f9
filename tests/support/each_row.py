"""One test of many rows, which says of all that fail what they are: quicker than a test for each of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

SHOWN = 20


def each_row(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, in one test. What the test takes besides serves all rows: nothing of its own."""
    listed, given = ([names] if isinstance(names, str) else [*names]), list(rows)
    assert given, "a table without rows proves nothing"

    def over_rows(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def test_all(**fixtures: Any) -> None:
            failed = []
            for row in given:
                values = (row,) if isinstance(names, str) else row
                try:
                    test(**dict(zip(listed, values, strict=True)), **fixtures)
                except Exception as error:
                    failed.append(f"{row!r}: {type(error).__name__} {error}")
            if failed:
                pytest.fail(f"{len(failed)} of {len(given)} rows:\n" + "\n".join(failed[:SHOWN]), pytrace=False)

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in listed]
        test_all.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test_all

    return over_rows
