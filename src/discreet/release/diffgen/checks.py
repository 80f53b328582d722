"""The checks of a release of leaves and tables, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import numpy as np

from discreet.errors import PolicyError
from discreet.guarantee.epsilon import UNSPENT, EpsilonPrivacy
from discreet.guarantee.tolerance import exact
from discreet.release.checks import Check, Files, check_copies, check_files, check_hashes, check_randomness
from discreet.release.diffgen.tables import read_leaves, target_of
from discreet.release.manifest import LEAVES, README, TABLES, leaf_fields_of
from discreet.release.readme import leaf_readme_of

_AGAIN, _LEAVES = "tables again", "leaves"
_CHOICES = ("selections", "split points", _LEAVES, UNSPENT)


def check_schema(files: Files) -> str | None:
    """Both tables have exactly the rows and columns that the domains and the generalized values give."""
    manifest = files.manifest
    found = read_leaves(manifest)
    if found.leaves.size != manifest.block["leaves"]:
        return f"{LEAVES} has {found.leaves.size:,} counts, the manifest states {manifest.block['leaves']:,}"
    for each in manifest.resources:
        path = LEAVES if each["path"].startswith(LEAVES.removesuffix("parquet")) else TABLES
        if each["schema"] != {"fields": leaf_fields_of(manifest.schema, found.target, path)}:
            return f"the manifest describes the columns of {each['path']} otherwise than its schema"
    return None


def check_counts(files: Files) -> str | None:
    """No count is negative, and the cells of every generalized value add up to its leaves, exactly, class by class."""
    found = read_leaves(files.manifest)
    axes = [position for position, cut in enumerate(found.values) if len(cut) > 1]
    for position, taxonomy in enumerate(found.taxonomies):
        sums = np.zeros((len(found.values[position]), found.leaves.shape[-1]), dtype=np.int64)
        np.add.at(sums, found.groups[position], found.tables[position])
        others = tuple(axis for axis, own in enumerate(axes) if own != position)
        if not np.array_equal(sums, found.leaves.sum(axis=others).reshape(sums.shape)):
            return f"the cells of {taxonomy.name} do not add up to the leaves"
    return None


def check_budget(files: Files) -> str | None:
    """What the parts cost adds up to epsilon exactly, every part is one that this release has, and none is missing."""
    manifest, guarantee = files.manifest, files.manifest.guarantee
    if not isinstance(guarantee, EpsilonPrivacy):
        return "the guarantee is not epsilon-differential privacy"
    mechanism = manifest.block["mechanism"]
    match mechanism:
        case {
            "kind": "diffgen",
            "epsilon": str(epsilon),
            "score": "max" | "information_gain",
            "consistency": "exact" | "paper" | "none",
            "guide": "histogram" | "exponential",
            **rest,
        } if set(rest) <= {"specializations", "target"} and type(rest.get("specializations", 1)) is int:
            try:
                stated = exact("epsilon", epsilon)
            except PolicyError as error:
                return str(error)
        case _:
            return "the mechanism must state its kind and its parameters and nothing else"
    if stated != guarantee.epsilon:
        return "the guarantee is not for the epsilon that the mechanism states"
    if not guarantee.holds:
        return "the parts do not add up to epsilon"
    target = target_of(manifest)
    names = [name for name, _ in guarantee.parts]
    if mechanism["guide"] == "histogram":
        tables = [f"table of {name}" for name in manifest.schema.columns if name != target]
        last = _LEAVES if manifest.block["specializations"] else _AGAIN
        known = names == [*tables, last] and all(share > 0 for _, share in guarantee.parts)
    else:
        known = tuple(names) in (_CHOICES, _CHOICES[:-1]) and (guarantee.share(_LEAVES) or 0) > 0
    return None if known else "the parts of epsilon are not those of such a release"


def check_steps(files: Files) -> str | None:
    """There may have been as many specializations, and counts on each record's path, as the manifest states."""
    found, block = read_leaves(files.manifest), files.manifest.block
    mechanism, steps, levels = block["mechanism"], block["specializations"], block["levels"]
    sizes = [len(cut) - 1 for cut in found.values]
    if not sum(map(bool, sizes)) <= steps <= sum(sizes) or steps > mechanism.get("specializations", steps):
        return f"{steps:,} specializations do not lead to these generalized values"
    nodes = mechanism["guide"] == "exponential" and mechanism["consistency"] != "none"
    if not (1 if not nodes or not steps else 2) <= levels <= (steps + 1 if nodes else 1):
        return f"a record's path does not have {levels:,} counts in such a tree"
    return None


def check_promise(files: Files) -> str | None:
    """The facts and the README say what the guarantee promises, and no more."""
    schema, guarantee, block = files.manifest.schema, files.manifest.guarantee, files.manifest.block
    if not isinstance(guarantee, EpsilonPrivacy):
        return "the guarantee is not epsilon-differential privacy"
    if block["facts"] != guarantee.facts(continued=block["continued"]):
        return "the facts do not say what the guarantee promises"
    words = leaf_readme_of(
        schema,
        block["facts"],
        block["mechanism"],
        {name: block[name] for name in ("leaves", "specializations")},
        alone=guarantee.share(_AGAIN) is not None,
        seeded=block["randomness"] == "seeded",
    ).encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:
        return f"{README} does not say what the manifest promises"
    return None


LEAF_CHECKS: tuple[Check, ...] = (
    ("files", check_files, "every file is declared and plain"),
    ("hashes", check_hashes, "every file has the stated bytes"),
    ("schema", check_schema, "only declared columns, generalized values of the public taxonomies, in a fixed order"),
    ("counts", check_counts, "no negative count, and tables and leaves add up exactly"),
    ("budget", check_budget, "the parts of epsilon add up exactly"),
    ("steps", check_steps, "as many specializations, and counts on a record's path, as the values allow"),
    ("promise", check_promise, "the facts and the README say what is promised"),
    ("copies", check_copies, "CSV copies, if any, hold the same rows"),
    ("randomness", check_randomness, "the coins are stated to be secret"),
)
LEAF_NOT_CHECKABLE = (
    "that the counts are those of the custodian's table with noise of the stated size, from secret coins",
    "that every person has one record in it",
    "that the domains, hierarchies, bounds and parameters were chosen without looking at the data",
    "that no other release about the same people exists, and that the stated cost of earlier ones is right",
)
