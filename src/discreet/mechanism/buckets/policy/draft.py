"""Drafting a policy for buckets: a tolerance that some plan keeps, with what it means for every value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from discreet.ground.exact import exact, toml_number
from discreet.guarantee.words import percent
from discreet.mechanism.buckets.planning.propose import Proposal, propose_tolerance
from discreet.mechanism.buckets.planning.slack import DEFAULT
from discreet.mechanism.draft.family import Section
from discreet.mechanism.draft.toml import comment, key, quoted, share, shown
from discreet.schema.domain import key_of
from discreet.table.column import Column

_SHOWN_VALUES = 20  # the most frequent, and as many of the rarest


class BucketDrafts:
    """Buckets publish any columns, as they are."""

    decision = "Tolerance. How probable an inference of a sensitive value may become."
    shown = "published as they are, for everyone to read beside what they know of a person"

    def fits(self, chosen: Sequence[Column], column: Column, sensitive: Column) -> str | None:
        return None

    def section(self, published: Sequence[Column], sensitive: Column) -> Section:
        proposal = propose_tolerance(sensitive.histogram)
        parameters = {"tolerance": proposal.tolerance, "sizes": proposal.sizes, "max_size": proposal.max_size}
        return Section(lines=list(_lines(proposal, sensitive)), parameters=parameters)


def _lines(proposal: Proposal, sensitive: Column) -> Iterator[str]:
    plan, own = proposal.plan, proposal.tolerance
    yield "[mechanism]"
    yield 'kind = "buckets"'
    yield f"sizes = {quoted(proposal.sizes)}"
    yield f"max_size = {proposal.max_size}"
    yield from comment(
        "Slack is the share of every cap that the plan leaves unused, so that buckets differ and answers become exact; "
        'composition "free" draws the buckets freely within the caps. The promise depends on neither.'
    )
    yield f"slack = {toml_number(DEFAULT)}"
    yield 'composition = "free"'
    yield ""
    yield "[mechanism.tolerance]"
    yield from comment(
        "DECIDE: how probable an inference of a value may become, for one who looks up a person's bucket: at most "
        "min(ceiling, theta x the value's share of the rows + floor). Smaller protects better and makes larger "
        "buckets, so counts from the release become less exact.",
        f"With this the plan has {plan.buckets:,} buckets of {proposal.mean_size:.1f} records on average.",
    )
    yield from _strength(plan.tolerance, sensitive)
    yield f"theta = {toml_number(exact('theta', own.theta))}"
    yield f"floor = {toml_number(exact('floor', own.floor))}"
    if own.ceiling != 1:
        yield f"ceiling = {toml_number(exact('ceiling', own.ceiling))}  # 1 would leave frequent values unprotected"
    yield from comment('Exceptions by value; 1 means not sensitive at all, and "" is the empty cell. Such as:')
    yield f"# values = {{ {_example(plan.tolerance, sensitive)} }}"


def _strength(tolerance: Mapping[object, Fraction], column: Column) -> Iterator[str]:
    """The histogram of the sensitive attribute, with what may be inferred."""
    limits = {value: tolerance[value] for value in column.histogram}
    if all(limit == 1 for limit in limits.values()):
        yield from comment("WARNING: no tolerance below 1 can be kept for every value; this protects nobody.")
    yield f"# {'value':<40} {'rows':>12} {'share':>8}   may be inferred with at most"
    ordered = sorted(column.histogram.items(), key=lambda pair: -pair[1])
    hidden = range(_SHOWN_VALUES, len(ordered) - _SHOWN_VALUES)
    for position, (value, count) in enumerate(ordered):
        if position not in hidden:
            part = share(count, column.rows)
            yield f"#   {shown(value, 38):<38} {count:>12,} {part:>8}   {percent(limits[value])}"
        elif position == hidden[0]:
            yield f"#   ... {len(hidden):,} more values ..."


def _example(tolerance: Mapping[object, Fraction], column: Column) -> str:
    """The rarest value with about the tolerance that it has."""
    rarest = min(column.histogram.items(), key=lambda pair: pair[1])[0]
    return f"{key(key_of(rarest))} = {math.ceil(100 * tolerance[rarest]) / 100}"


DRAFTS = BucketDrafts()
