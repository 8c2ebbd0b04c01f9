"""The budget as a ledger: what was spent, what is reserved for requests in flight, and whether one more fits.

Before a request goes out, the most that it can cost is reserved; when its answer is there the reserve is given back
and the cost is booked. So the cap is passed only by as much as a reserve was too small. Pure: no clock, no network.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUNDING_USD = 1e-9  # thousands of sums of floats: a cap of 0.08 must hold eight times 0.01


@dataclass
class Ledger:
    """Money of one run, in US dollars. `spent_usd` begins with what the study has cost before; `cap_usd` None: no cap.

    `uncertain_usd` is what requests may have cost that ended without an answer (a time-out, a dropped connection), and
    what open batch jobs may cost: the provider may bill it, so it counts against the cap.
    """

    cap_usd: float | None = None
    spent_usd: float = 0.0
    uncertain_usd: float = 0.0
    reserved_usd: float = 0.0
    in_flight: int = 0

    @property
    def booked_usd(self) -> float:
        return self.spent_usd + self.uncertain_usd

    def is_hopeless(self, amount_usd: float) -> bool:
        """True where `amount_usd` does not fit even when nothing is in flight any more: spending only grows."""
        return self.cap_usd is not None and self.booked_usd + amount_usd > self.cap_usd + ROUNDING_USD

    def has_room(self, amount_usd: float) -> bool:
        """True where `amount_usd` fits now."""
        taken = self.booked_usd + self.reserved_usd + amount_usd
        return self.cap_usd is None or taken <= self.cap_usd + ROUNDING_USD

    def reserve(self, amount_usd: float) -> bool:
        """Sets `amount_usd` aside and says True, or False where it does not fit now."""
        if not self.has_room(amount_usd):
            return False
        self.reserved_usd += amount_usd
        self.in_flight += 1
        return True

    def settle(self, reserved_usd: float, cost_usd: float | None, *, is_uncertain: bool = False) -> None:
        """Ends a reservation. An unknown cost is booked as the whole reserve where it may have been billed."""
        self.in_flight -= 1
        self.reserved_usd = self.reserved_usd - reserved_usd if self.in_flight else 0.0
        if cost_usd is not None:
            self.spent_usd += cost_usd
        elif is_uncertain:
            self.uncertain_usd += reserved_usd
