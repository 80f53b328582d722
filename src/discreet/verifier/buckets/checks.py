"""The checks of a bucket release, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

from discreet.engine.duck.sql import identifier
from discreet.verifier.buckets.along import broken_windows
from discreet.verifier.buckets.beside import broken_fakes
from discreet.verifier.buckets.composed import broken_composition
from discreet.verifier.buckets.held import sizes
from discreet.verifier.buckets.promised import broken_promise, broken_tolerance
from discreet.verifier.buckets.sized import broken_sizes
from discreet.verifier.buckets.slack import broken_slack
from discreet.verifier.buckets.stated import QIT, ST, stated
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.tables import WHOLE, Shape, check_tables, in_order


def check_schema(files: Files) -> str | None:
    """Both tables have exactly the declared columns, every cell lies in its domain, and nothing else is in them."""
    own, schema, added = files.once(stated), files.schema, {"BID": WHOLE, "COUNT": WHOLE}
    qit = Shape(columns=(*schema.quasi_identifiers, "BID"), most=own.rows, added=added)
    most = own.rows + own.fakes * own.buckets
    st = Shape(columns=("BID", schema.sensitive, "COUNT"), most=most, added=added)
    return check_tables(files, {QIT: qit, ST: st})


def check_rows(files: Files) -> str | None:
    """The number of rows is the declared one in both tables."""
    own = files.once(stated)
    persons = files.engine.rows("SELECT count(*) FROM qit")[0][0]
    values = files.engine.rows("SELECT coalesce(sum(COUNT), 0) FROM st")[0][0]
    made = own.fakes * own.buckets
    if not persons == values - made == own.rows:
        beside = f" with {made:,} fakes" if made else ""
        return f"{QIT} has {persons:,} rows, {ST} counts {values:,}{beside}, the manifest states {own.rows:,}"
    return None


def check_buckets(files: Files) -> str | None:
    """Both tables have the same buckets, with ids from 1 on, and with the same sizes, which are the declared ones."""
    repeated = files.engine.rows(
        f"SELECT BID FROM st GROUP BY BID, {identifier(files.schema.sensitive)} HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
    )
    if repeated:
        return f"bucket {repeated[0][0]}: a value stands twice in {ST}"
    own, relation = files.once(stated), files.once(sizes)
    broken = files.engine.rows(
        f"FROM {relation} WHERE persons + {own.fakes} IS DISTINCT FROM records ORDER BY BID LIMIT 1"
    )
    if broken:
        bucket, persons, values, _ = broken[0]
        return f"bucket {bucket}: {persons or 0} rows in {QIT} but {values or 0} values in {ST}"
    number, first, last = files.engine.rows(f"SELECT count(*), min(BID), max(BID) FROM {relation}")[0]
    if (first, last) != (1, number):
        return "the ids of the buckets are not those from 1 on, each once"
    return broken_sizes(files)


def check_order(files: Files) -> str | None:
    """Rows stand in an order that follows from what is published: by bucket, then by every other column."""
    schema = files.schema
    for relation, columns in (("qit", schema.quasi_identifiers), ("st", (schema.sensitive,))):
        encodings = [("BID", WHOLE), *((name, schema.domains[name].encoding) for name in columns)]
        if not in_order(files, relation, encodings):
            return f"the rows of {relation} are not sorted by BID and then by every column"
    return None


CHECKS = (
    *FIRST,
    Claim("schema", check_schema, "only declared columns, every cell in its domain", first=True, share=2.0),
    Claim("rows", check_rows, "the stated number of rows in both tables"),
    Claim("buckets", check_buckets, "the same buckets in both tables, of the stated sizes", share=4.0),
    Claim("tolerance", broken_tolerance, "every share in every bucket is at most its tolerance", share=1.0),
    Claim("fakes", broken_fakes, "fakes, if any, are in proportion to people; how certain they leave one", share=0.1),
    Claim("composition", broken_composition, "buckets hold what the stated composition gives them", share=0.1),
    Claim("promise", broken_promise, "the tolerances follow from the stated parameters"),
    Claim("slack", broken_slack, "the sizes of the buckets leave the stated slack"),
    Claim("order", check_order, "the order of rows says nothing of the input's", share=1.7),
    Claim(
        "windows", broken_windows, "windows, if any, are consecutive runs of the curve, of the stated size", share=1.0
    ),
    *LAST,
)
NOT_CHECKABLE = (
    "that the rows are those of the custodian's table, and that its people have one row each",
    "that each row is in the bucket it was given by secret and uniformly random coins",
    "of fakes: that which slots they are was drawn uniformly",
    "how the plan was looked for among several sizes, and limits that nothing reached: max_size, or a ceiling",
    "that the domains and parameters were chosen without looking at the data",
    "that no other release about the same people exists",
    "of near buckets: that no other window, nor this one with other tolerances, was tried in vain, beside those that "
    "refused_windows lists",
)
