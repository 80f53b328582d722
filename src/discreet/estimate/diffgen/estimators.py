"""The ways to an answer from a DiffGen release, the default first."""

from __future__ import annotations

from types import MappingProxyType

from discreet.estimate.diffgen.model import Model, Unbiased
from discreet.estimate.estimator import Estimator

ESTIMATORS: MappingProxyType[str, type[Estimator]] = MappingProxyType({each.name: each for each in (Model, Unbiased)})
