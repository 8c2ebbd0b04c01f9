"""Numbers that content decides: the same content gets the same draw in whatever order, on every machine."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

NORMAL = NormalDist()


def uniforms(*content: object) -> list[float]:
    """Four numbers inside (0, 1) that the content decides."""
    digest = hashlib.blake2b("\x1f".join(map(str, content)).encode(), digest_size=32).digest()
    return [(int.from_bytes(digest[i : i + 8]) + 0.5) / 2**64 for i in range(0, 32, 8)]


def log_normal(mean: float, sd: float, u: float) -> float:
    """The quantile `u` of the log-normal distribution with this mean and standard deviation."""
    if mean <= 0 or sd <= 0:
        return max(mean, 0.0)
    variance = math.log1p((sd / mean) ** 2)
    return math.exp(math.log(mean) - variance / 2 + math.sqrt(variance) * NORMAL.inv_cdf(u))
