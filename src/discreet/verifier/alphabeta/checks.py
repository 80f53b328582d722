"""The checks of a release of tuples among random ones, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from discreet.engine.encoding import Encoding
from discreet.verifier.alphabeta.bayes import keeps
from discreet.verifier.alphabeta.size import counts_of, counts_of_records, misfit, noise_of
from discreet.verifier.alphabeta.stated import EARLIER, SLOT, VIEW, Records, Stated, stated_of, tables_of
from discreet.verifier.alphabeta.tuning import coins_have, tuned
from discreet.verifier.alphabeta.walk import Walk, columns_of, walk
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.tables import Shape, check_tables


def _stated(files: Files) -> Stated:
    return stated_of(files.block, files.schema)


def check_schema(files: Files) -> str | None:
    """The tables have exactly the declared columns, and every cell lies in its domain."""
    stated = files.once(_stated)
    columns = (*files.schema.columns, *[SLOT] * (stated.slots > 1))
    added = {SLOT: Encoding(range(stated.slots))}
    return check_tables(
        files, {name: Shape(columns=columns, most=most, added=added) for name, most in tables_of(stated).items()}
    )


def _view(files: Files) -> Walk:
    stated = files.once(_stated)
    promised = stated.promised
    if isinstance(promised, Records):
        return _walked(files, VIEW, int(noise_of(promised)))
    noise = min(promised.inserts) * files.schema.tuples * stated.slots  # blocks follow from what is public
    return _walked(files, VIEW, int(noise))


def _earlier(files: Files) -> Walk:
    return _walked(files, EARLIER, 0)


def _walked(files: Files, name: str, noise: int) -> Walk:
    stated, domains = files.once(_stated), files.schema.domains
    columns = [(each, domains[each].encoding) for each in files.schema.columns]
    columns += [(SLOT, Encoding(range(stated.slots)))] * (stated.slots > 1)
    return walk(files, Path(name).stem, columns_of(columns, noise))


def check_tuples(files: Files) -> str | None:
    """Every tuple stands once (in FRAPP, copies side by side), in the order of the domains.

    So nothing tells true ones from noise by their place.
    """
    stated = files.once(_stated)
    for name, number in tables_of(stated).items():
        found = files.once(_view if name == VIEW else _earlier)
        if found.falls:
            return f"the tuples of {name} are not in the order of the domains"
        if found.repeats and not isinstance(stated.promised, Records):
            return f"a tuple stands twice in {name}"
        if found.rows != number:
            return f"{name} has {found.rows:,} tuples, the manifest states {number:,}"
    return None


def check_promise(files: Files) -> str | None:
    """The probabilities keep the promise in exact arithmetic, and are those that the mechanism chooses."""
    stated, schema = files.once(_stated), files.schema
    promised, domain = stated.promised, schema.tuples * stated.slots
    if broken := _other(stated, schema.public_rows, domain):
        return broken
    if promised.candidates != len(schema.domains[schema.sensitive]) * stated.slots:
        return "the guarantee states another number of candidates than the sensitive column has values"
    if stated.view == 1 and stated.earlier:
        return "a first view has no earlier tuples"
    if not coins_have(promised):
        return "the stated probabilities must be multiples of 2^-62, which coins can have"
    if not keeps(promised):
        return "the stated probabilities do not keep the promise"
    return None if tuned(promised, stated.tuning) else "the stated probabilities are not those that the tuning gives"


def _other(stated: Stated, rows: int | None, domain: int) -> str | None:
    """How the guarantee differs from the one that the mechanism states."""
    promised, prior = stated.promised, stated.prior
    if prior >= 1 and rows is None:
        return "a prior of 1 or more needs a public number of rows"
    d = prior if prior < 1 else prior * Fraction(rows or 0, domain)
    if (d, stated.posterior) != (promised.d, promised.gamma):
        return "the guarantee is not the one that the stated prior and posterior give"
    if isinstance(promised, Records):
        same = (promised.rows, promised.domain) == (rows, domain)
        return None if same else "the guarantee is not for the public number of rows and the domain"
    asked = (stated.adversary, stated.views, stated.slots)
    if asked != (promised.adversary, len(promised.inserts), promised.slots):
        return "the guarantee is not for the stated adversary, views and slots"
    if stated.weights != promised.weights:
        return "the guarantee is not for the stated source"
    if stated.views > 1 and (stated.slots > 1 or stated.source or stated.tuning == "paper"):
        return "several views go without slots and source, and are tuned as 'optimal'"
    return None


def check_size(files: Files) -> str | None:
    """As many tuples as the stated probabilities give, but for chance (a false alarm once in 10^9)."""
    stated, schema = files.once(_stated), files.schema
    if isinstance(stated.promised, Records):
        if stated.tuples != stated.promised.rows:
            return f"{stated.tuples:,} tuples are not one for each public row"
        return misfit(list(counts_of_records(stated, stated.promised, files.once(_view))))
    counts = counts_of(stated, stated.promised, schema.tuples * stated.slots, schema.public_rows, files.once(_view))
    return misfit(list(counts))


CHECKS = (
    *FIRST,
    Claim("schema", check_schema, "only declared columns, every cell in its domain", first=True, share=2.0),
    Claim("tuples", check_tuples, "every tuple in its place in the domain, so that none says what is noise", share=1.0),
    Claim("promise", check_promise, "the stated probabilities keep the promise, and are those that the tuning gives"),
    Claim("size", check_size, "as many tuples as these probabilities give, but for chance (one false alarm in 10^9)"),
    *LAST,
)
NOT_CHECKABLE = (
    "that the true tuples are those of the custodian's table, and that each was kept by a secret coin",
    "that the other tuples were inserted by secret coins with the stated probability",
    "that the domains, the number of rows and the parameters were chosen without looking at the data",
    "that no other release about the same people exists",
)
