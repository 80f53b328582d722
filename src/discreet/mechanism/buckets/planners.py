"""The planners by name: each takes caps, counts and sizes, and gives the best classes or None."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from discreet.mechanism.buckets.caps import Ints
from discreet.mechanism.buckets.one_size import best_one_size
from discreet.mechanism.buckets.two_size import best_two_sizes

Planner = Callable[[Ints, Ints, Ints], tuple[tuple[int, int], ...] | None]

PLANNERS: MappingProxyType[str, Planner] = MappingProxyType({"one": best_one_size, "two": best_two_sizes})
LARGEST = 200  # sizes beyond this make a release useless, and pairs of sizes grow with the square
