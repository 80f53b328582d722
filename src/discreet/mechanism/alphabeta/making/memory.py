"""Whether the noise of a view fits into memory, asked before it is drawn."""

from __future__ import annotations

from discreet.engine.memory import free_memory
from discreet.errors import PolicyError
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Radix

_BYTES = 40  # that the noise takes for each word of a tuple, measured; with a source also its draws
_BYTES_OF_DRAWS = 100


def check_memory(tuples: float, radix: Radix, guarantee: DGammaPrivacy) -> None:
    """Refuse so many tuples where they would not fit."""
    each = _BYTES * len(radix.words) + (_BYTES_OF_DRAWS if guarantee.weights[1] > 1 else 0)
    needed, free = tuples * each, free_memory()
    if free is not None and needed > free:
        raise PolicyError(
            f"the domain ({float(radix.domain):.3g} tuples) must be smaller: {tuples:.3g} random tuples need about "
            f"{needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free; raise posterior, lower prior, or "
            "publish fewer or coarser columns"
        )
