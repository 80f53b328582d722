"""The checks of a bucket release, one function a check: each says what is broken, or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.engine.duck.sql import identifier
from discreet.release.buckets.manifest import QIT, ST
from discreet.schema.domain import key_of
from discreet.verifier.buckets.along import broken_windows
from discreet.verifier.buckets.beside import broken_fakes, certainty_of
from discreet.verifier.buckets.slack import Classes, is_part_of, leaves_slack
from discreet.verifier.checks import FIRST, LAST
from discreet.verifier.claim import Claim
from discreet.verifier.files import Files
from discreet.verifier.tables import WHOLE, Shape, check_tables, orders_of

BucketFiles = Files


def _sizes(files: BucketFiles) -> str:
    """A relation with every bucket and how many rows and values it has, counted once for all checks."""
    files.engine.rows(
        """CREATE TABLE sizes AS SELECT BID, q.n AS persons, s.n AS records
           FROM (SELECT BID, count(*) AS n FROM qit GROUP BY BID) q
           FULL JOIN (SELECT BID, sum(COUNT) AS n FROM st GROUP BY BID) s USING (BID)"""
    )
    return "sizes"


def _fakes(files: BucketFiles) -> int:
    """How many records of the ST are nobody's."""
    return files.manifest.statement.mechanism.fakes * files.manifest.statement.numbers.buckets


def check_schema(files: BucketFiles) -> str | None:
    """Both tables have exactly the declared columns, every cell lies in its domain, and nothing else is in them."""
    rows = files.manifest.statement.numbers.rows
    schema, added = files.schema, {"BID": WHOLE, "COUNT": WHOLE}
    qit = Shape(columns=(*schema.quasi_identifiers, "BID"), most=rows, added=added)
    st = Shape(columns=("BID", schema.sensitive, "COUNT"), most=rows + _fakes(files), added=added)
    return check_tables(files, {QIT: qit, ST: st})


def check_rows(files: BucketFiles) -> str | None:
    """The number of rows is the declared one in both tables."""
    stated = files.manifest.statement.numbers.rows
    persons = files.engine.rows("SELECT count(*) FROM qit")[0][0]
    values = files.engine.rows("SELECT coalesce(sum(COUNT), 0) FROM st")[0][0]
    made = _fakes(files)
    if not persons == values - made == stated:
        beside = f" with {made:,} fakes" if made else ""
        return f"{QIT} has {persons:,} rows, {ST} counts {values:,}{beside}, the manifest states {stated:,}"
    return None


def check_buckets(files: BucketFiles) -> str | None:
    """Both tables have the same buckets with the same sizes, and the sizes are the declared classes."""
    repeated = files.engine.rows(
        f"SELECT BID FROM st GROUP BY BID, {identifier(files.manifest.schema.sensitive)} HAVING count(*) > 1 ORDER BY "
        "1 LIMIT 1"
    )
    if repeated:
        return f"bucket {repeated[0][0]}: a value stands twice in {ST}"
    sizes = files.once(_sizes)
    made = files.manifest.statement.mechanism.fakes
    broken = files.engine.rows(f"FROM {sizes} WHERE persons + {made} IS DISTINCT FROM records ORDER BY BID LIMIT 1")
    if broken:
        bucket, persons, values = broken[0]
        return f"bucket {bucket}: {persons or 0} rows in {QIT} but {values or 0} values in {ST}"
    found = files.engine.rows(f"SELECT persons, count(*) FROM {sizes} GROUP BY 1 ORDER BY 1")
    if tuple(found) != tuple(sorted(files.manifest.statement.numbers.classes)):
        return "the sizes of the buckets are not the declared classes"
    least, largest = files.manifest.statement.mechanism.span
    if not all(least <= size <= largest for size, _ in found):
        return "the sizes of the buckets are not between those that the mechanism states"
    if files.manifest.statement.numbers.loss != sum(buckets * (size - 1) ** 2 for size, buckets in found):
        return "the declared loss is not that of the buckets"
    return None


def check_tolerance(files: BucketFiles) -> str | None:
    """In every bucket every value's share is at most its tolerance, in exact integers; also of the people who are left
    beside those who may be known, however many of the value are fakes.
    """
    limits, known = dict(files.manifest.statement.guarantee.tolerance), files.manifest.statement.guarantee.known
    shares = files.engine.rows(
        f"""SELECT min(s.BID), s.{identifier(files.manifest.schema.sensitive)}, s.COUNT, z.persons::BIGINT
            FROM st s JOIN {files.once(_sizes)} z USING (BID) GROUP BY ALL ORDER BY 1"""
    )
    for bucket, value, count, size in shares:
        if value not in limits:
            return f"bucket {bucket}: {value} has no tolerance in the promise"
        limit = limits[value]
        if limit < 1 and count * limit.denominator > limit.numerator * (size - known):
            of = f"{size} records beside {known} known" if known else f"{size} records"
            return f"bucket {bucket}: {value} is {count} of {of}, more than its tolerance {limit} allows"
    return None


def _held(files: BucketFiles) -> dict[int, dict[object, tuple[int, int]]]:
    """By size and value, how often the buckets of that size hold it, and one of them at most."""
    name = identifier(files.manifest.schema.sensitive)
    found: dict[int, dict[object, tuple[int, int]]] = {}
    for size, value, count, most in files.engine.rows(
        f"""SELECT z.persons, s.{name}, sum(s.COUNT)::BIGINT, max(s.COUNT)
            FROM st s JOIN {files.once(_sizes)} z USING (BID) GROUP BY ALL"""
    ):
        found.setdefault(size, {})[value] = count, most
    return found


def _people(files: BucketFiles) -> dict[int, dict[object, int]]:
    """By size and value, how many people a release with fakes states."""
    sizes = [size for size, _ in files.manifest.statement.numbers.classes]
    found: dict[int, dict[object, int]] = {size: {} for size in sizes}
    for value, numbers in files.manifest.statement.numbers.people or ():
        for size, number in zip(sizes, numbers, strict=True):
            if number:
                found[size][value] = number
    return found


def check_fakes(files: BucketFiles) -> str | None:
    """In the buckets of each size fakes are in proportion to people, and what one can be certain of follows."""
    fakes, numbers = files.manifest.statement.mechanism.fakes, files.manifest.statement.numbers
    if not fakes:
        return None
    schema, stated = files.manifest.schema, [value for value, _ in numbers.people or ()]
    if stated != [value for value in schema.domains[schema.sensitive] if value in set(stated)]:
        return "the values of the stated people must be in the order of their domain, each once"
    people, held = files.once(_people), files.once(_held)
    if broken := broken_fakes(fakes, dict(numbers.classes), people, held):
        return broken
    if numbers.certainty != certainty_of(fakes, people, held, dict(files.manifest.statement.guarantee.tolerance)):
        return "the stated certainty is not that of the buckets"
    return None


def _counts(files: BucketFiles) -> dict[object, int]:
    """How many people have each value that occurs."""
    if files.manifest.statement.numbers.people is not None:
        return {value: sum(numbers) for value, numbers in files.manifest.statement.numbers.people}
    name = identifier(files.manifest.schema.sensitive)
    return dict(files.engine.rows(f"SELECT {name}, sum(COUNT)::BIGINT FROM st GROUP BY 1"))


def check_promise(files: BucketFiles) -> str | None:
    """The tolerances are those that the stated parameters give for the published counts, and so is who has none."""
    schema, mechanism, rows = (
        files.manifest.schema,
        files.manifest.statement.mechanism,
        files.manifest.statement.numbers.rows,
    )
    domain, counts = schema.domains[schema.sensitive], files.once(_counts)
    if not set(mechanism.values) <= set(map(key_of, domain)):
        return "the mechanism must name values of the sensitive domain only"
    limits = [(value, mechanism.limit(value, counts.get(value, 0), rows)) for value in domain]
    if tuple((value, limit) for value, limit in limits if limit) != files.manifest.statement.guarantee.tolerance:
        return "the promised tolerances are not those that the stated parameters give"
    unprotected = tuple((value, counts.get(value, 0)) for value, limit in limits if limit == 1)
    if files.manifest.statement.numbers.unprotected not in (None, unprotected):
        return "the values with tolerance 1, or how many people have them, are not those that are stated"
    return None


def check_slack(files: BucketFiles) -> str | None:
    """What is kept of the slack follows from what was asked for, and the sizes of the buckets leave it."""
    slack, kept = files.manifest.statement.mechanism.asked_slack, files.manifest.statement.numbers.slack_used
    if not is_part_of(kept, slack):
        return (
            f"kept_slack ({kept}) is not the slack that the mechanism states ({slack}), halved at most four times, or 0"
        )
    limits = dict(files.manifest.statement.guarantee.tolerance)
    for counts, classes in _parts(files) if kept else ():
        defence = files.manifest.statement.mechanism.known, files.manifest.statement.mechanism.fakes
        if not leaves_slack(counts, limits, classes, slack, kept, *defence):
            return f"no allocation of the people to these sizes leaves the stated slack ({kept})"
    return None


def _parts(files: BucketFiles) -> Iterator[tuple[dict[object, int], Classes]]:
    """What is planned together: the counts and classes of the whole table, or of each window."""
    numbers = files.manifest.statement.numbers
    if numbers.windows is None:
        yield files.once(_counts), numbers.classes
        return
    listed = ", ".join(f"({number}, {each.first}, {each.last})" for number, each in enumerate(numbers.windows))
    files.engine.rows(f"CREATE OR REPLACE TABLE windows AS FROM (VALUES {listed}) t(number, first, last)")
    name = identifier(files.manifest.schema.sensitive)
    held, classes = (
        files.engine.rows(
            f"""SELECT w.number, {what}, sum({often})::BIGINT FROM {relation} t
                ASOF JOIN windows w ON t.BID >= w.first GROUP BY ALL ORDER BY ALL"""
        )
        for what, often, relation in ((f"t.{name}", "COUNT", "st"), ("persons", "1", files.once(_sizes)))
    )
    known: list[tuple[dict[object, int], list[tuple[int, int]]]] = [({}, []) for _ in numbers.windows]
    for number, value, count in held:
        known[number][0][value] = count
    for number, size, buckets in classes:
        known[number][1].append((size, buckets))
    yield from known


def check_windows(files: BucketFiles) -> str | None:
    """The windows of a near release are consecutive runs of the curve, of the stated size."""
    return broken_windows(files, files.once(_sizes), files.once(_counts))


def check_order(files: BucketFiles) -> str | None:
    """Rows stand in an order that follows from what is published: by bucket, then by every other column."""
    schema = files.manifest.schema
    for relation, columns in (("qit", schema.quasi_identifiers), ("st", (schema.sensitive,))):
        encodings = [("BID", WHOLE), *((name, schema.domains[name].encoding) for name in columns)]
        if any(order.falls for order in orders_of(files, relation, encodings)):
            return f"the rows of {relation} are not sorted by BID and then by every column"
    return None


CHECKS = (
    *FIRST,
    Claim("schema", check_schema, "only declared columns, every cell in its domain", first=True, share=2.0),
    Claim("rows", check_rows, "the stated number of rows in both tables"),
    Claim("buckets", check_buckets, "the same buckets in both tables, of the stated sizes", share=4.0),
    Claim("tolerance", check_tolerance, "every share in every bucket is at most its tolerance", share=1.0),
    Claim("fakes", check_fakes, "fakes, if any, are in proportion to people; how certain they leave one", share=1.0),
    Claim("promise", check_promise, "the tolerances follow from the stated parameters"),
    Claim("slack", check_slack, "the sizes of the buckets leave the stated slack"),
    Claim("order", check_order, "the order of rows says nothing of the input's", share=1.7),
    Claim(
        "windows", check_windows, "windows, if any, are consecutive runs of the curve, of the stated size", share=1.0
    ),
    *LAST,
)
NOT_CHECKABLE = (
    "that the rows are those of the custodian's table, and that its people have one row each",
    "that each row is in the bucket it was given by secret and uniformly random coins",
    "of fakes: that which slots they are was drawn uniformly",
    "that the domains and parameters were chosen without looking at the data",
    "that no other release about the same people exists",
    "of near buckets: that no other window, nor this one with other tolerances, was tried in vain, beside those that "
    "refused_windows lists",
)
