"""The checks of a release of tuples among random ones, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq

from discreet.engine.encoding import code, text
from discreet.errors import PolicyError
from discreet.guarantee.dgamma import DGammaPrivacy
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
from discreet.release.manifest import README, VIEW, fields_of
from discreet.release.readme import view_readme_of

FALSE_ALARM = 1e-9


def check_schema(files: Files) -> str | None:
    """The view has exactly the declared columns, and every cell lies in its domain."""
    path = files.path(VIEW)
    if pq.read_metadata(path).metadata:
        return f"{VIEW} carries metadata that nobody declared"
    files.engine.rows(f"CREATE OR REPLACE VIEW view AS SELECT * FROM read_parquet({text(str(path.resolve()))})")
    if broken := check_table(files, "view", VIEW):
        return broken
    fields = {"fields": fields_of(files.manifest.schema, "view")}
    for each in files.manifest.resources:
        if each["schema"] != fields:
            return f"the manifest describes the columns of {each['path']} otherwise than its schema"
    return None


def check_tuples(files: Files) -> str | None:
    """Every tuple stands once, in the order of the domains: nothing tells true ones from noise by their place."""
    schema = files.manifest.schema
    codes = [f"{code(name, schema.domains[name].encoding)}::BIGINT" for name in schema.columns]
    seen, last = 0, None
    for batch in files.engine.batches(f"SELECT {', '.join(codes)} FROM view_in_domain"):
        keys = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        seen += len(keys[0])
        if last is not None:
            keys = [np.concatenate([[before], key]) for before, key in zip(last, keys, strict=True)]
        tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
        for key in keys:
            step = np.diff(key)
            if (tied & (step < 0)).any():
                return "the tuples are not in the order of the domains"
            tied &= step == 0
        if tied.any():
            return "a tuple stands twice"
        last = [int(key[-1]) for key in keys] if len(keys[0]) else last
    if seen != files.manifest.block["tuples"]:
        return f"{VIEW} has {seen:,} tuples, the manifest states {files.manifest.block['tuples']:,}"
    return None


def check_promise(files: Files) -> str | None:
    """The probabilities keep the promise in exact arithmetic, and the facts say the same."""
    schema, guarantee, block = files.manifest.schema, files.manifest.guarantee, files.manifest.block
    if not isinstance(guarantee, DGammaPrivacy):
        return "the guarantee is not (d, gamma)-privacy"
    match block["mechanism"]:
        case {
            "kind": "alphabeta",
            "prior": str(prior),
            "posterior": str(posterior),
            "adversary": str(adversary),
            "tuning": "optimal" | "paper",
            **rest,
        } if not rest:
            try:
                stated, gamma = exact("prior", prior), exact("posterior", posterior)
            except PolicyError as error:
                return str(error)
        case _:
            return "the mechanism must state its kind, prior, posterior, adversary and tuning, and nothing else"
    domain = math.prod(len(schema.domains[name]) for name in schema.columns)
    d = stated if stated < 1 else stated * Fraction(schema.public_rows or 0, domain)
    if (d, gamma, adversary) != (guarantee.d, guarantee.gamma, guarantee.adversary):
        return "the guarantee is not the one that the stated prior, posterior and adversary give"
    if guarantee.candidates != len(schema.domains[schema.sensitive]):
        return "the guarantee states another number of candidates than the sensitive column has values"
    if not guarantee.holds:
        return "the stated probabilities do not keep the promise"
    if block["facts"] != guarantee.facts(continued=block["continued"]):
        return "the facts do not say what the guarantee promises"
    words = view_readme_of(
        schema, block["facts"], guarantee, tuples=block["tuples"], seeded=block["randomness"] == "seeded"
    ).encode()
    readme = files.path(README)
    if readme.stat().st_size != len(words) or readme.read_bytes() != words:
        return f"{README} does not say what the manifest promises"
    return None


def check_size(files: Files) -> str | None:
    """As many tuples as the stated probabilities give, but for chance (Bernstein; a false alarm once in 10^9)."""
    schema, guarantee, tuples = files.manifest.schema, files.manifest.guarantee, files.manifest.block["tuples"]
    if not isinstance(guarantee, DGammaPrivacy):
        return "the guarantee is not (d, gamma)-privacy"
    domain = math.prod(len(schema.domains[name]) for name in schema.columns)
    length = math.log(2 / FALSE_ALARM)
    noise = float(guarantee.insert * domain)
    most = noise + float(guarantee.keep) * (schema.public_rows or 0)
    if tuples < noise - math.sqrt(2 * noise * length):
        return f"{tuples:,} tuples are too few for the stated probabilities and domains"
    if schema.public_rows is not None and tuples > most + length / 3 + math.sqrt(length**2 / 9 + 2 * most * length):
        return f"{tuples:,} tuples are too many for the stated probabilities, domains and number of rows"
    return None


VIEW_CHECKS: tuple[Check, ...] = (
    ("files", check_files, "every file is declared and plain"),
    ("hashes", check_hashes, "every file has the stated bytes"),
    ("schema", check_schema, "only declared columns, every cell in its domain"),
    ("tuples", check_tuples, "every tuple once, in an order that says nothing of the table's"),
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
