"""Say how long a Bayesian fit will take before it begins: R would report it only at the end."""

from __future__ import annotations

from concurrent.futures import Executor

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers, worker_count
from slant.collector.errors import RError
from slant.collector.terminal import count_text

_MANY_ROWS = 10_000  # below, a fit takes minutes at most, and R need not be asked
_LONG_S = 600
_NEEDED = ("chains", "iterations")


def expected_duration(call: Call, workers: Workers = None) -> str | None:
    """Return a sentence if R's own estimate is ten minutes or more; R itself refuses what takes more than an
    hour.
    """
    arguments, rows = call.arguments.get(call.nested, {}) if call.nested else call.arguments, call.rows
    if rows is None or rows.height < _MANY_ROWS or not set(_NEEDED) <= arguments.keys():
        return None
    cores = 1 if isinstance(workers, Executor) else worker_count(workers)
    settings = {**{name: arguments[name] for name in _NEEDED}, "cores": cores}
    try:
        seconds = float(answered(Call("expected_s", arguments={"n": rows.height, "settings": settings}), workers)[0])
    except RError:
        return None
    return (
        f"{count_text(rows.height, 'row')} will take about {seconds / 60:,.0f} minutes, if they are fitted."
        if seconds >= _LONG_S
        else None
    )
