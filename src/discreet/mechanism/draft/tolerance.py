"""Proposing a tolerance that some plan keeps: as strict as buckets of a useful size allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from discreet.errors import Infeasible
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.plan import BucketPlan, plan_buckets

SIZES = "two"
MAX_SIZE = 50
FLOOR = Decimal("0.02")
THETAS = (2, 4, 8, 16, 32)
_USEFUL = 10  # records in a bucket, on average


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tolerance and the plan that keeps it."""

    tolerance: Tolerance
    plan: BucketPlan

    @property
    def mean_size(self) -> float:
        return self.plan.records / self.plan.buckets


def propose_tolerance(counts: Mapping[object, int]) -> Proposal:
    """The smallest theta whose buckets are useful, else the one with the smallest buckets, else one cap for all values.

    Only where nothing else can be kept is every value's tolerance 1.
    """
    kept = []
    for theta in THETAS:
        proposal = _planned(Tolerance(theta=theta, floor=FLOOR), counts)
        if proposal is None or _promises_nothing(proposal, counts):
            continue
        if proposal.mean_size <= _USEFUL:
            return proposal
        kept.append(proposal)
    if kept:
        return min(kept, key=lambda proposal: proposal.mean_size)
    most = max(counts.values()) * 100 // sum(counts.values())  # no tolerance is below a value's share: [WWFW] Lemma 1
    for hundredths in range(max(1, most), 100):
        if proposal := _planned(Tolerance(floor=Decimal(hundredths) / 100), counts):
            return proposal
    return Proposal(
        tolerance=Tolerance(floor=1), plan=plan_buckets(counts, dict.fromkeys(counts, 1), SIZES, max_size=MAX_SIZE)
    )


def _planned(tolerance: Tolerance, counts: Mapping[object, int]) -> Proposal | None:
    try:
        plan = plan_buckets(counts, tolerance.of(counts), SIZES, max_size=MAX_SIZE)
    except Infeasible:
        return None
    return Proposal(tolerance=tolerance, plan=plan)


def _promises_nothing(proposal: Proposal, counts: Mapping[object, int]) -> bool:
    return all(proposal.plan.tolerance[value] == 1 for value, count in counts.items() if count)
