"""How epsilon is divided in a release of leaves: one exact rule for each guide, from what else is stated."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ReleaseError
from discreet.verifier.diffgen.found import Cut, Found
from discreet.verifier.diffgen.stated import Parts

FOR_TABLES = Fraction(4, 5)  # of epsilon, where tables guide


def check_parts(found: Found) -> str | None:
    """The parts are those of the guide, in order, and each has the share that the rule gives it, exactly."""
    parts = found.stated.spent.parts
    if broken := found.stated.spent.broken:
        return broken
    wanted = _of_tables(found) if found.stated.guided else _of_choices(found)
    if [name for name, _ in wanted] != [name for name, _ in parts]:
        return "the parts of epsilon are not those of such a release"
    for (name, share), (_, stated) in zip(wanted, parts, strict=True):
        if share != stated:
            return f"the share of epsilon for {name} is not the one that the rule gives"
    return None


def weight(cells: int) -> int:
    """The whole number nearest to 1000 times the cube root of an attribute's cells."""
    found = 0
    for bit in (1 << place for place in reversed(range(cells.bit_length() // 3 + 11))):
        if (2 * (found + bit) - 1) ** 3 <= 8 * 10**9 * cells:
            found += bit
    return found


def _of_tables(found: Found) -> Parts:
    """Each attribute's table by its weight; the rest for leaves, or for the tables again where there are none."""
    weights = {each.taxonomy.name: weight(len(each.taxonomy)) for each in found.cuts}
    epsilon, whole = found.stated.spent.epsilon, sum(weights.values())
    last = "leaves" if found.stated.specializations else "tables again"
    tables = [(f"table of {name}", epsilon * FOR_TABLES * own / whole) for name, own in weights.items()]
    return [*tables, (last, epsilon * (1 - FOR_TABLES))]


def _of_choices(found: Found) -> Parts:
    """Half for leaves; the other half in equal parts for choices: those that were made, and those not needed.

    How many split points were chosen depends on the order in which intervals were cut, which is not published.
    """
    epsilon, numeric = found.stated.spent.epsilon, sum(each.taxonomy.ordered for each in found.cuts)
    number = numeric + 2 * found.paid
    choice = epsilon / (2 * number)
    selections = min(found.stated.specializations + 1, found.paid, found.possible)
    splits = dict(found.stated.spent.parts).get("split points", Fraction(0)) / choice
    least, most = (sum(each) for each in zip((0, 0), *map(split_points, found.cuts), strict=True))
    if splits.denominator > 1 or not least <= splits <= most:
        raise ReleaseError(f"split points must be paid for from {least:,} to {most:,} times, as the values allow")
    left = number - selections - splits
    parts = [("selections", choice * selections), ("split points", choice * splits), ("leaves", epsilon / 2)]
    return [*parts, ("not needed", choice * left)] if left else parts


def split_points(cut: Cut) -> tuple[int, int]:
    """How often split points of an attribute were chosen, at least and at most.

    Once for the whole, and once for each interval that was cut, unless it had two cells: no part can be cut again then.
    """
    if not cut.taxonomy.ordered or len(cut.taxonomy) == 1:
        return 0, 0
    steps, pairs, run = len(cut.values) - 1, 0, 0
    for size in (len(each.cells) for each in cut.values):
        run = run + 1 if size == 1 else 0
        pairs += run > 0 and run % 2 == 0
    always = 1 if len(cut.values) == len(cut.taxonomy) else 0  # the last that is cut has two cells
    return 1 + steps - pairs, 1 + steps - always
