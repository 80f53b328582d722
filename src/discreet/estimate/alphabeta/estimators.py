"""The ways to an answer from a release of tuples, the default first."""

from __future__ import annotations

from types import MappingProxyType

from discreet.estimate.alphabeta.best import Best
from discreet.estimate.alphabeta.control import Control
from discreet.estimate.alphabeta.unbiased import Clipped, Unbiased
from discreet.estimate.estimator import Estimator

ESTIMATORS: MappingProxyType[str, type[Estimator]] = MappingProxyType(
    {each.name: each for each in (Unbiased, Clipped, Best, Control)}
)
