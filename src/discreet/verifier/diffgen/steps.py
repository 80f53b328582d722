"""Which specializations lead to the generalized values that are published, and how many counts a record's path has."""

from __future__ import annotations

from discreet.verifier.diffgen.found import MOST_LEAF_COUNTS, Found

MOST_GUIDED_COUNTS = 60_000  # of leaves to which tables guide


def check_steps(found: Found) -> str | None:
    """As many specializations as the values show, no fewer than were asked for unless no further one had room, and
    counts on a path as a tree with these values can have.
    """
    stated, steps = found.stated, 0
    shallowest = deepest = 1
    for each in found.cuts:
        number, depth = (len(each.values) - 1, 0) if each.taxonomy.ordered else each.above
        steps += number
        if each.taxonomy.ordered:
            shallowest += (len(each.values) - 1).bit_length()
            deepest += number
        else:
            shallowest, deepest = shallowest + depth, deepest + depth
    if steps != stated.specializations:
        return f"{stated.specializations:,} specializations do not lead to these generalized values; {steps:,} do"
    if stated.guided or stated.consistency == "none":
        shallowest = deepest = 1
    if not shallowest <= stated.levels <= deepest:
        return f"a record's path does not have {stated.levels:,} counts in such a tree"
    return _check_end(found)


def _check_end(found: Found) -> str | None:
    """The run ended where it had to."""
    stated, counts = found.stated, MOST_GUIDED_COUNTS if found.stated.guided else MOST_LEAF_COUNTS
    leaves, most = stated.leaves // found.classes, counts // found.classes
    if stated.specializations and leaves > most:
        return f"specializations do not lead to more than {counts:,} counts"
    asked = stated.asked if stated.guided else found.paid
    if asked is None or stated.specializations == asked or (stated.guided and not stated.specializations):
        return None
    if stated.specializations > asked:
        return f"{stated.specializations:,} specializations are more than the {asked:,} that were paid for"
    sizes = [(len(each.values), fan) for each in found.cuts for fan in each.next]
    after = [leaves // size * (size - 1 + fan) for size, fan in sizes]
    ended = all(each >= most for each in after) if stated.guided else not after or any(each > most for each in after)
    return None if ended else f"{stated.specializations:,} specializations are fewer than were asked for"
