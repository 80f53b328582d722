"""Publish a table about people with a promise that anyone can check; answer counts from it with honest intervals."""

from discreet import families as families  # the table of families is filled before anything is asked of it
from discreet.errors import (
    CertificateError,
    DiscreetError,
    Infeasible,
    PolicyError,
    QueryError,
    ReleaseError,
    SeriesRefusal,
    TableError,
)
from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.estimate.estimate import Counts, Estimate
from discreet.estimate.open import open_release
from discreet.estimate.release import Release
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.alphabeta.planning.plan import AlphaBetaPlan
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.policy.frapp import Frapp
from discreet.mechanism.buckets.planning.certificate import Certificate
from discreet.mechanism.buckets.planning.explain import Reason
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.planning.validity import Violation, find_violation
from discreet.mechanism.buckets.policy.anatomy import Anatomy
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.mechanism.check import check
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.making.cover import minimum_cover
from discreet.mechanism.diffgen.planning.plan import DiffGenPlan
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.mechanism.draft.draft import Draft, draft_policy
from discreet.mechanism.publish import plan, publish
from discreet.query.count_domain import count_domain
from discreet.release.verify import Verdict, verify
from discreet.schema.domain import Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy, write_hierarchy
from discreet.schema.policy import Policy
from discreet.schema.read import Problem
from discreet.schema.schema import Schema
from discreet.table.read import read_table
from discreet.table.source import CsvForm
from discreet.table.table import Table

__all__ = [
    "AlphaBeta",
    "AlphaBetaPlan",
    "Anatomy",
    "BucketPlan",
    "Buckets",
    "Certificate",
    "CertificateError",
    "Counts",
    "CsvForm",
    "DiffGen",
    "DiffGenPlan",
    "DiffGenRelease",
    "DiscreetError",
    "Draft",
    "Estimate",
    "Frapp",
    "Infeasible",
    "Integers",
    "Listed",
    "Policy",
    "PolicyError",
    "Problem",
    "QueryError",
    "Reason",
    "Release",
    "ReleaseError",
    "Schema",
    "SeriesRefusal",
    "Table",
    "TableError",
    "Tolerance",
    "Verdict",
    "Violation",
    "check",
    "consistent",
    "count_domain",
    "draft_policy",
    "find_violation",
    "hierarchy_of_prefixes",
    "hierarchy_of_ranges",
    "minimum_cover",
    "open_release",
    "plan",
    "plan_buckets",
    "publish",
    "read_hierarchy",
    "read_table",
    "verify",
    "write_hierarchy",
]
