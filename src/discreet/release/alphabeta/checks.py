"""The checks of a release of tuples among random ones, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from discreet.engine.encoding import Encoding, code, text
from discreet.errors import PolicyError
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.guarantee.source import source_of
from discreet.guarantee.tolerance import exact
from discreet.release.checks import (
    Check,
    Files,
    check_copies,
    check_files,
    check_hashes,
    check_randomness,
    check_table,
)
from discreet.release.folder import Guarantee
from discreet.release.manifest import README, SLOT, view_fields_of
from discreet.release.readme import view_readme_of

FALSE_ALARM = 1e-9


def check_schema(files: Files) -> str | None:
    """The tables have exactly the declared columns, and every cell lies in its domain."""
    slots = _slots(files)
    fields = view_fields_of(files.manifest.schema, slots)
    for name in files.manifest.family.tables:
        path, relation = files.path(name), Path(name).stem
        if pq.read_metadata(path).metadata:
            return f"{name} carries metadata that nobody declared"
        files.engine.rows(
            f"CREATE OR REPLACE VIEW {relation} AS SELECT * FROM read_parquet({text(str(path.resolve()))})"
        )
        if broken := check_table(files, relation, name, fields, {SLOT: Encoding(range(slots))}):
            return broken
    for each in files.manifest.resources:
        if each["schema"] != {"fields": fields}:
            return f"the manifest describes the columns of {each['path']} otherwise than its schema"
    return None


def check_tuples(files: Files) -> str | None:
    """Every tuple stands once (in FRAPP, copies side by side), in the order of the domains.

    So nothing tells true ones from noise by their place.
    """
    copies = isinstance(files.manifest.guarantee, FrappPrivacy)
    for name, stated in zip(files.manifest.family.tables, ("tuples", "earlier"), strict=False):
        number = files.manifest.block[stated]
        if broken := _check_order(files, name, number, copies=copies):
            return broken
    return None


def _check_order(files: Files, name: str, number: int, *, copies: bool) -> str | None:
    schema, slots = files.manifest.schema, _slots(files)
    columns = [(each, schema.domains[each].encoding) for each in schema.columns]
    columns += [(SLOT, Encoding(range(slots)))] * (slots > 1)
    codes = [f"{code(each, encoding)}::BIGINT" for each, encoding in columns]
    seen, last = 0, None
    for batch in files.engine.batches(f"SELECT {', '.join(codes)} FROM {Path(name).stem}_in_domain"):
        keys = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        seen += len(keys[0])
        if last is not None:
            keys = [np.concatenate([[before], key]) for before, key in zip(last, keys, strict=True)]
        tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
        for key in keys:
            step = np.diff(key)
            if (tied & (step < 0)).any():
                return f"the tuples of {name} are not in the order of the domains"
            tied &= step == 0
        if tied.any() and not copies:
            return f"a tuple stands twice in {name}"
        last = [int(key[-1]) for key in keys] if len(keys[0]) else last
    if seen != number:
        return f"{name} has {seen:,} tuples, the manifest states {number:,}"
    return None


def check_promise(files: Files) -> str | None:
    """The probabilities keep the promise in exact arithmetic, and the facts say the same."""
    schema, guarantee, block = files.manifest.schema, files.manifest.guarantee, files.manifest.block
    try:
        broken = (
            _other_frapp(files, guarantee) if isinstance(guarantee, FrappPrivacy) else _other_promise(files, guarantee)
        )
    except PolicyError as error:
        return str(error)
    if broken:
        return broken
    if not isinstance(guarantee, DGammaPrivacy | FrappPrivacy) or not guarantee.holds:
        return "the stated probabilities do not keep the promise"
    if block["facts"] != guarantee.facts(continued=block["continued"]):
        return "the facts do not say what the guarantee promises"
    numbers = {name: block[name] for name in files.manifest.family.numbers}
    words = view_readme_of(schema, block["facts"], guarantee, numbers, seeded=block["randomness"] == "seeded").encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:
        return f"{README} does not say what the manifest promises"
    return None


def _other_frapp(files: Files, guarantee: FrappPrivacy) -> str | None:
    """How the guarantee differs from the one that the mechanism states."""
    schema = files.manifest.schema
    match files.manifest.block["mechanism"]:
        case {"kind": "frapp", "prior": str(prior), "posterior": str(posterior), **rest} if not rest:
            stated, gamma = exact("prior", prior), exact("posterior", posterior)
        case _:
            return "the mechanism must state its kind, prior and posterior, and nothing else"
    domain, rows = _domain(files), schema.public_rows
    if rows is None or (guarantee.rows, guarantee.domain) != (rows, domain):
        return "the guarantee is not for the public number of rows and the domain"
    return _other_numbers(files, stated, gamma, domain)


def _other_promise(files: Files, guarantee: Guarantee) -> str | None:
    """How the guarantee differs from the one that the mechanism states."""
    if not isinstance(guarantee, DGammaPrivacy):
        return "the guarantee is not (d, gamma)-privacy"
    match files.manifest.block["mechanism"]:
        case {
            "kind": "alphabeta",
            "prior": str(prior),
            "posterior": str(posterior),
            "adversary": str(adversary),
            "tuning": "optimal" | "paper",
            "views": int(views),
            "slots": int(slots),
            **rest,
        } if set(rest) <= {"source"} and bool not in (type(views), type(slots)):
            stated, gamma = exact("prior", prior), exact("posterior", posterior)
        case _:
            return "the mechanism must state its kind, prior, posterior, adversary, tuning, views and slots"
    if (adversary, views, slots) != (guarantee.adversary, guarantee.views, guarantee.slots):
        return "the guarantee is not for the stated adversary, views and slots"
    if guarantee.weights != source_of(_mapping(rest.get("source", {})), files.manifest.schema).range:
        return "the guarantee is not for the stated source"
    view = files.manifest.block.get("view", 1)
    if not 1 <= view <= views:
        return f"this would be view {view}, and the promise is for {views}"
    if view == 1 and files.manifest.block.get("earlier", 0):
        return "a first view has no earlier tuples"
    return _other_numbers(files, stated, gamma, _domain(files))


def _other_numbers(files: Files, stated: Fraction, gamma: Fraction, domain: int) -> str | None:
    schema, guarantee = files.manifest.schema, files.manifest.guarantee
    d = stated if stated < 1 else stated * Fraction(schema.public_rows or 0, domain)
    if not isinstance(guarantee, DGammaPrivacy | FrappPrivacy) or (d, gamma) != (guarantee.d, guarantee.gamma):
        return "the guarantee is not the one that the stated prior and posterior give"
    if guarantee.candidates != len(schema.domains[schema.sensitive]) * _slots(files):
        return "the guarantee states another number of candidates than the sensitive column has values"
    return None


def check_size(files: Files) -> str | None:
    """As many tuples as the stated probabilities give, but for chance (Bernstein; a false alarm once in 10^9)."""
    schema, guarantee, block = files.manifest.schema, files.manifest.guarantee, files.manifest.block
    tuples, rows = block["tuples"], schema.public_rows
    if isinstance(guarantee, FrappPrivacy):
        return None if tuples == guarantee.rows else f"{tuples:,} tuples are not one for each public row"
    if not isinstance(guarantee, DGammaPrivacy):
        return "the guarantee is not (d, gamma)-privacy"
    earlier = block.get("earlier", 0)
    insert = guarantee.inserts[block.get("view", 1) - 1]
    length = math.log(2 / FALSE_ALARM)
    noise = float(guarantee.again * earlier + insert * (_domain(files) - earlier))
    if tuples < noise - math.sqrt(2 * noise * length):
        return f"{tuples:,} tuples are too few for the stated probabilities and domains"
    most = noise + float(guarantee.keep) * (rows or 0)
    if rows is not None and tuples > most + length / 3 + math.sqrt(length**2 / 9 + 2 * most * length):
        return f"{tuples:,} tuples are too many for the stated probabilities, domains and number of rows"
    return None


def _mapping(source: Any) -> dict[str, Any]:
    if not isinstance(source, dict):
        raise PolicyError("source must have a table of values and their shares for each column that it names")
    return source


def _slots(files: Files) -> int:
    guarantee = files.manifest.guarantee
    return guarantee.slots if isinstance(guarantee, DGammaPrivacy) else 1


def _domain(files: Files) -> int:
    """m: how many tuples the public domains and the slots allow."""
    schema = files.manifest.schema
    return math.prod(len(schema.domains[name]) for name in schema.columns) * _slots(files)


VIEW_CHECKS: tuple[Check, ...] = (
    ("files", check_files, "every file is declared and plain"),
    ("hashes", check_hashes, "every file has the stated bytes"),
    ("schema", check_schema, "only declared columns, every cell in its domain"),
    ("tuples", check_tuples, "every tuple in its place in the domain, so that none says what is noise"),
    ("promise", check_promise, "the stated probabilities keep the promise"),
    ("size", check_size, "as many tuples as these probabilities give, but for chance (one false alarm in 10^9)"),
    ("copies", check_copies, "CSV copies, if any, hold the same rows"),
    ("randomness", check_randomness, "the coins are stated to be secret"),
)
VIEW_NOT_CHECKABLE = (
    "that the true tuples are those of the custodian's table, and that each was kept by a secret coin",
    "that the other tuples were inserted by secret coins with the stated probability",
    "that the domains, the number of rows and the parameters were chosen without looking at the data",
    "that no other release about the same people exists",
)
