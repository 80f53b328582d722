"""The ways to an answer from a bucket release, the default first."""

from __future__ import annotations

from types import MappingProxyType

from discreet.estimate.buckets.unbiased import Unbiased
from discreet.estimate.buckets.uniform import Uniform
from discreet.estimate.estimator import Estimator

ESTIMATORS: MappingProxyType[str, type[Estimator]] = MappingProxyType({each.name: each for each in (Unbiased, Uniform)})
