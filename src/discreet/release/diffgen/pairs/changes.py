"""How two releases of pairs, or policies for them, differ."""

from __future__ import annotations

from discreet.release.diffgen.changes import ADDED, changed_epsilon
from discreet.release.diffgen.pairs.manifest import COLUMNS
from discreet.release.family import Changes

CHANGES = Changes(main=COLUMNS, together=lambda _a, _b: ADDED, guarantee=changed_epsilon)
