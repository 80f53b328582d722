"""The checks of a release of tuples among random ones, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

from discreet.engine.encoding import Encoding
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.manifest import (
    EARLIER,
    SLOT,
    VIEW,
    StatedAlphaBeta,
    domain_size,
)
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.tables import Shape, check_tables, orders_of

AlphaBetaFiles = Files
FALSE_ALARM = 1e-9


def check_schema(files: AlphaBetaFiles) -> str | None:
    """The tables have exactly the declared columns, and every cell lies in its domain."""
    numbers = files.manifest.statement.numbers
    mechanism, columns = files.manifest.statement.mechanism, files.schema.columns
    if mechanism.slots > 1:
        columns = (*columns, SLOT)
    most = {VIEW: numbers.tuples, **({EARLIER: numbers.earlier} if mechanism.views > 1 else {})}
    added = {SLOT: Encoding(range(mechanism.slots))}
    return check_tables(files, {name: Shape(columns=columns, most=each, added=added) for name, each in most.items()})


def check_tuples(files: AlphaBetaFiles) -> str | None:
    """Every tuple stands once (in FRAPP, copies side by side), in the order of the domains.

    So nothing tells true ones from noise by their place.
    """
    mechanism, numbers, schema = (
        files.manifest.statement.mechanism,
        files.manifest.statement.numbers,
        files.manifest.schema,
    )
    columns = [(each, schema.domains[each].encoding) for each in schema.columns]
    columns += [(SLOT, Encoding(range(mechanism.slots)))] * (mechanism.slots > 1)
    stated = {VIEW: numbers.tuples, **({EARLIER: numbers.earlier} if mechanism.views > 1 else {})}
    for name, number in stated.items():
        seen = 0
        for order in orders_of(files, Path(name).stem, columns):
            seen += order.rows
            if order.falls:
                return f"the tuples of {name} are not in the order of the domains"
            if order.repeats and not mechanism.copies:
                return f"a tuple stands twice in {name}"
        if seen != number:
            return f"{name} has {seen:,} tuples, the manifest states {number:,}"
    return None


def check_promise(files: AlphaBetaFiles) -> str | None:
    """The probabilities keep the promise in exact arithmetic, and are for what the mechanism states."""
    schema, mechanism = files.manifest.schema, files.manifest.statement.mechanism
    guarantee, numbers = files.manifest.statement.guarantee, files.manifest.statement.numbers
    domain = domain_size(schema, mechanism.slots)
    if isinstance(guarantee, FrappPrivacy):
        broken = _other_frapp(guarantee, schema.public_rows, domain)
    else:
        broken = _other_alphabeta(files, guarantee)
    if broken:
        return broken
    if not 1 <= numbers.view <= mechanism.views:
        return f"this would be view {numbers.view}, and the promise is for {mechanism.views}"
    if numbers.view == 1 and numbers.earlier:
        return "a first view has no earlier tuples"
    prior = mechanism.prior
    d = prior if prior < 1 else prior * Fraction(schema.public_rows or 0, domain)
    if (d, mechanism.posterior) != (guarantee.d, guarantee.gamma):
        return "the guarantee is not the one that the stated prior and posterior give"
    if guarantee.candidates != len(schema.domains[schema.sensitive]) * mechanism.slots:
        return "the guarantee states another number of candidates than the sensitive column has values"
    return None if guarantee.holds else "the stated probabilities do not keep the promise"


def _other_alphabeta(files: AlphaBetaFiles, guarantee: DGammaPrivacy) -> str | None:
    """How the guarantee differs from the one that the mechanism states."""
    mechanism = files.manifest.statement.mechanism
    if (mechanism.adversary, mechanism.views, mechanism.slots) != (
        guarantee.adversary,
        guarantee.views,
        guarantee.slots,
    ):
        return "the guarantee is not for the stated adversary, views and slots"
    schema = files.manifest.schema
    if not isinstance(mechanism, StatedAlphaBeta) or guarantee.weights != mechanism.weighed(schema).range:
        return "the guarantee is not for the stated source"
    return None


def _other_frapp(guarantee: FrappPrivacy, rows: int | None, domain: int) -> str | None:
    if rows is None or (guarantee.rows, guarantee.domain) != (rows, domain):
        return "the guarantee is not for the public number of rows and the domain"
    return None


def check_size(files: AlphaBetaFiles) -> str | None:
    """As many tuples as the stated probabilities give, but for chance (Bernstein; a false alarm once in 10^9)."""
    guarantee, numbers, rows = (
        files.manifest.statement.guarantee,
        files.manifest.statement.numbers,
        files.manifest.schema.public_rows,
    )
    tuples = numbers.tuples
    if isinstance(guarantee, FrappPrivacy):
        return None if tuples == guarantee.rows else f"{tuples:,} tuples are not one for each public row"
    insert = guarantee.inserts[numbers.view - 1]
    length = math.log(2 / FALSE_ALARM)
    domain = domain_size(files.manifest.schema, files.manifest.statement.mechanism.slots)
    noise = float(guarantee.again * numbers.earlier + insert * (domain - numbers.earlier))
    if tuples < noise - math.sqrt(2 * noise * length):
        return f"{tuples:,} tuples are too few for the stated probabilities and domains"
    most = noise + float(guarantee.keep) * (rows or 0)
    if rows is not None and tuples > most + length / 3 + math.sqrt(length**2 / 9 + 2 * most * length):
        return f"{tuples:,} tuples are too many for the stated probabilities, domains and number of rows"
    return None


CHECKS = (
    *FIRST,
    Claim("schema", check_schema, "only declared columns, every cell in its domain", first=True, share=2.0),
    Claim("tuples", check_tuples, "every tuple in its place in the domain, so that none says what is noise", share=1.0),
    Claim("promise", check_promise, "the stated probabilities keep the promise"),
    Claim("size", check_size, "as many tuples as these probabilities give, but for chance (one false alarm in 10^9)"),
    *LAST,
)
NOT_CHECKABLE = (
    "that the true tuples are those of the custodian's table, and that each was kept by a secret coin",
    "that the other tuples were inserted by secret coins with the stated probability",
    "that the domains, the number of rows and the parameters were chosen without looking at the data",
    "that no other release about the same people exists",
)
