"""A release of columns and pairs that answers."""

from __future__ import annotations

import numpy as np

from discreet.errors import ReleaseError
from discreet.estimate.diffgen.draw import codes_of
from discreet.estimate.diffgen.noisy import NoisyRelease
from discreet.estimate.diffgen.pairs.answers import PairModel
from discreet.estimate.learned import learned
from discreet.ground.arrays import Ints
from discreet.release.diffgen.pairs.manifest import PairManifest
from discreet.release.diffgen.pairs.read import PairTables, read_pairs
from discreet.release.diffgen.registry import PAIRS, Used


class PairsRelease(NoisyRelease):
    """Noisy tables of single columns and of chosen pairs of them."""

    _manifest: PairManifest
