"""The checks of a release of leaves and tables, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import numpy as np

from discreet.guarantee.spent import For
from discreet.release.diffgen.manifest import LEAVES
from discreet.release.diffgen.tables import LeafTables, read_leaves
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files

DiffGenFiles = Files
_CHOICES = (For.SELECTIONS, For.SPLITS, For.LEAVES, For.UNSPENT)


def _read(files: DiffGenFiles) -> LeafTables:
    """Both tables as numbers."""
    return read_leaves(files.manifest)


def check_schema(files: DiffGenFiles) -> str | None:
    """Both tables have exactly the rows and columns that the domains and the generalized values give."""
    found, stated = files.once(_read), files.manifest.statement.numbers.leaves
    if found.leaves.size != stated:
        return f"{LEAVES} has {found.leaves.size:,} counts, the manifest states {stated:,}"
    return None


def check_counts(files: DiffGenFiles) -> str | None:
    """No count is negative, and the cells of every generalized value add up to its leaves, exactly, class by class."""
    found = files.once(_read)
    axes = [position for position, cut in enumerate(found.values) if len(cut) > 1]
    for position, taxonomy in enumerate(found.taxonomies):
        sums = np.zeros((len(found.values[position]), found.leaves.shape[-1]), dtype=np.int64)
        np.add.at(sums, found.groups[position], found.tables[position])
        others = tuple(axis for axis, own in enumerate(axes) if own != position)
        if not np.array_equal(sums, found.leaves.sum(axis=others).reshape(sums.shape)):
            return f"the cells of {taxonomy.name} do not add up to the leaves"
    return None


def check_promise(files: DiffGenFiles) -> str | None:
    """What the parts cost adds up to epsilon exactly, every part is one that this release has, and none is missing."""
    schema, mechanism, guarantee = (
        files.manifest.schema,
        files.manifest.statement.mechanism,
        files.manifest.statement.guarantee,
    )
    if mechanism.epsilon != guarantee.epsilon:
        return "the guarantee is not for the epsilon that the mechanism states"
    if not guarantee.holds:
        return "the parts do not add up to epsilon"
    target = mechanism.target_of(schema)
    if mechanism.guide == "histogram":
        tables = [(For.TABLE, name) for name in schema.columns if name != target]
        last = For.LEAVES if files.manifest.statement.numbers.specializations else For.AGAIN
        known = [(part.paid, part.column) for part in guarantee.parts] == [*tables, (last, None)]
        known = known and all(part.share > 0 for part in guarantee.parts)
    else:
        paid = tuple(part.paid for part in guarantee.parts)
        known = paid in (_CHOICES, _CHOICES[:-1]) and (guarantee.share(For.LEAVES) or 0) > 0
    return None if known else "the parts of epsilon are not those of such a release"


def check_steps(files: DiffGenFiles) -> str | None:
    """There may have been as many specializations, and counts on each record's path, as the manifest states."""
    mechanism, numbers = files.manifest.statement.mechanism, files.manifest.statement.numbers
    steps, wanted = numbers.specializations, mechanism.specializations
    sizes = [len(cut) - 1 for cut in files.once(_read).values]
    if not sum(map(bool, sizes)) <= steps <= sum(sizes) or (wanted is not None and steps > wanted):
        return f"{steps:,} specializations do not lead to these generalized values"
    nodes = mechanism.guide == "exponential" and mechanism.consistency != "none"
    if not (1 if not nodes or not steps else 2) <= numbers.levels <= (steps + 1 if nodes else 1):
        return f"a record's path does not have {numbers.levels:,} counts in such a tree"
    return None


CHECKS = (
    *FIRST,
    Claim(
        "schema",
        check_schema,
        "only declared columns, generalized values of the public taxonomies, in a fixed order",
        first=True,
        share=2.0,
    ),
    Claim("counts", check_counts, "no negative count, and tables and leaves add up exactly", share=1.0),
    Claim("promise", check_promise, "the parts of epsilon add up exactly"),
    Claim("steps", check_steps, "as many specializations, and counts on a record's path, as the values allow"),
    *LAST,
)
NOT_CHECKABLE = (
    "that the counts are those of the custodian's table with noise of the stated size, from secret coins",
    "that every person has one record in it",
    "that the domains, hierarchies, bounds and parameters were chosen without looking at the data",
    "that no other release about the same people exists, and that the stated cost of earlier ones is right",
)
