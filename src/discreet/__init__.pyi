"""The public sentence, in flow order: what `discreet` offers, and where it stands.

The package root reads it and loads a name when it is first asked for. Type checkers read it too.
"""

from . import families as families
from .attack.audit import audit
from .attack.measure import Measurement, measure
from .attack.report import AuditReport
from .errors import (
    Cancelled,
    CertificateError,
    DiscreetError,
    EngineError,
    Infeasible,
    OutOfMemory,
    OutOfTime,
    PolicyError,
    QueryError,
    ReleaseError,
    SeriesRefusal,
    SigningError,
    TableError,
)
from .estimate.crosstab import Crosstab
from .estimate.diffgen.pairs.release import PairsRelease
from .estimate.diffgen.release import DiffGenRelease
from .estimate.estimate import Counts, Estimate
from .estimate.open import open_release
from .estimate.release import Release
from .evaluate.compare.compare import compare
from .evaluate.compare.comparison import Comparison
from .guarantee.tolerance import Tolerance
from .mechanism.alphabeta.planning.plan import AlphaBetaPlan
from .mechanism.alphabeta.policy.alphabeta import AlphaBeta
from .mechanism.alphabeta.policy.frapp import Frapp
from .mechanism.buckets.planning.certificate import Certificate
from .mechanism.buckets.planning.explain import Reason
from .mechanism.buckets.planning.plan import BucketPlan
from .mechanism.buckets.planning.plan_buckets import plan_buckets
from .mechanism.buckets.planning.validity import Violation, find_violation
from .mechanism.buckets.policy.anatomy import Anatomy
from .mechanism.buckets.policy.buckets import Buckets
from .mechanism.check import Review, check, review
from .mechanism.diffgen.making.consistency import consistent
from .mechanism.diffgen.papers.cover import minimum_cover
from .mechanism.diffgen.planning.pairs_plan import PairsPlan
from .mechanism.diffgen.planning.plan import DiffGenPlan
from .mechanism.diffgen.policy.diffgen import DiffGen
from .mechanism.diffgen.policy.pairs import Pairs
from .mechanism.draft.draft import Draft, draft_policy
from .mechanism.publish import plan, publish
from .mechanism.sign import SigningKey
from .query.count_domain import count_domain
from .schema.bands import hierarchy_of_bands
from .schema.domain import Dates, Decimals, Integers, Listed
from .schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy, write_hierarchy
from .schema.levels import published_at
from .schema.policy import Policy
from .schema.read import Problem
from .schema.schema import Schema
from .schema.widths import hierarchy_of_dates, hierarchy_of_decimals
from .table.read import read_table
from .table.source import CsvForm
from .table.table import Table
from .verifier.verify import Verdict, verify

__all__ = [
    "AlphaBeta",
    "AlphaBetaPlan",
    "Anatomy",
    "AuditReport",
    "BucketPlan",
    "Buckets",
    "Cancelled",
    "Certificate",
    "CertificateError",
    "Comparison",
    "Counts",
    "Crosstab",
    "CsvForm",
    "Dates",
    "Decimals",
    "DiffGen",
    "DiffGenPlan",
    "DiffGenRelease",
    "DiscreetError",
    "Draft",
    "EngineError",
    "Estimate",
    "Frapp",
    "Infeasible",
    "Integers",
    "Listed",
    "Measurement",
    "OutOfMemory",
    "OutOfTime",
    "Pairs",
    "PairsPlan",
    "PairsRelease",
    "Policy",
    "PolicyError",
    "Problem",
    "QueryError",
    "Reason",
    "Release",
    "ReleaseError",
    "Review",
    "Schema",
    "SeriesRefusal",
    "SigningError",
    "SigningKey",
    "Table",
    "TableError",
    "Tolerance",
    "Verdict",
    "Violation",
    "audit",
    "check",
    "compare",
    "consistent",
    "count_domain",
    "draft_policy",
    "families",
    "find_violation",
    "hierarchy_of_bands",
    "hierarchy_of_dates",
    "hierarchy_of_decimals",
    "hierarchy_of_prefixes",
    "hierarchy_of_ranges",
    "measure",
    "minimum_cover",
    "open_release",
    "plan",
    "plan_buckets",
    "publish",
    "published_at",
    "read_hierarchy",
    "read_table",
    "review",
    "verify",
    "write_hierarchy",
]
