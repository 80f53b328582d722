"""A classifier in the manner of C4.5, trained on weighted rows: an entropy tree, pruned by pessimistic errors.

Paper: Quinlan, C4.5 (1993), chapter 4; [QSL] section IV-A measures releases by its accuracy.
Symbols: a node with weight N of which E is not of its largest class is expected to err on N U(E, N), where U is the
    upper end of the binomial interval at confidence CF = 0.25. Where a leaf is expected to err on no more than the
    subtree (and a tenth of a record), it replaces it.
Departs: splits are binary (an interval's end, or one value against the others) and chosen by information gain, not by
    gain ratio; subtrees are replaced but not raised; U is the exact limit, not its normal approximation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.errors import DiscreetError
from discreet.ground.arrays import Floats, Ints

Features = NDArray[np.float32]

CONFIDENCE = 0.25
LEAST = 2.0  # records in each branch
_SLACK = 0.1  # of a record, by which a leaf may be expected to be worse


@dataclass(frozen=True, eq=False)
class Classifier:
    """A pruned tree: for each node of the grown one the node at which its rows end, and each node's largest class."""

    grown: Any
    ends: Ints
    labels: Ints

    def predict(self, features: Features) -> Ints:
        """The class of each row."""
        return np.asarray(self.labels[self.ends[self.grown.apply(features)]])

    @property
    def leaves(self) -> int:
        """How many leaves are left."""
        return len(np.unique(self.ends[self.grown.tree_.children_left < 0]))

    def accuracy(self, features: Features, classes: Ints) -> float:
        """The percentage of rows whose class is right."""
        return float((self.predict(features) == classes).mean() * 100)


def grow(
    features: Features, classes: Ints, weights: Floats | None = None, confidence: float | None = CONFIDENCE
) -> Classifier:
    """The tree of rows with weights (1 each by default; rows of weight 0 are left out); None does not prune."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise DiscreetError("a classifier needs scikit-learn; pip install scikit-learn") from None
    heavy = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)
    chosen = heavy > 0
    if not chosen.any():
        raise DiscreetError("weights must hold one above 0; a release without people teaches nothing")
    least = min(0.5, LEAST / float(heavy.sum()))
    model = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=least, random_state=0)
    model.fit(features[chosen], classes[chosen], sample_weight=heavy[chosen])
    tree = model.tree_
    shares = tree.value[:, 0, :]
    labels = np.asarray(model.classes_)[shares.argmax(axis=1)]
    total = np.asarray(tree.weighted_n_node_samples, dtype=np.float64)
    wrong = total * np.clip(1 - shares.max(axis=1), 0.0, 1.0)
    ends = np.arange(tree.node_count)
    if confidence is not None:
        ends = _ends(tree.children_left, tree.children_right, pessimistic(wrong, total, confidence))
    return Classifier(model, ends, labels)


def pessimistic(wrong: Floats, total: Floats, confidence: float = CONFIDENCE) -> Floats:
    """N U(E, N): on how much of a weight a leaf is expected to err that errs on so much of what it was trained on."""
    right = total - wrong
    rate = np.ones_like(total)
    some = right > 0
    rate[some] = betaincinv(wrong[some] + 1, right[some], 1 - confidence)
    return np.asarray(total * rate)


def encode(columns: Sequence[Ints], sizes: Sequence[int], ordered: Sequence[bool]) -> Features:
    """Codes as features: ordered ones and those of two values as they are, the others one column for each value."""
    if not columns:
        raise DiscreetError("columns must not be empty; give an attribute to classify by")
    parts = [
        column[:, None] if in_order or size <= 2 else column[:, None] == np.arange(size)
        for column, size, in_order in zip(columns, sizes, ordered, strict=True)
    ]
    return np.hstack(parts).astype(np.float32)


def _ends(left: Ints, right: Ints, errors: Floats) -> Ints:
    """Where each node's rows end once subtrees that are not expected to be better than a leaf are replaced by one."""
    below, cut = errors.tolist(), (left < 0).tolist()
    lefts, rights = left.tolist(), right.tolist()
    for node in range(len(below) - 1, -1, -1):  # children have higher numbers than their parent
        if lefts[node] >= 0:
            subtree = below[lefts[node]] + below[rights[node]]
            cut[node] = below[node] <= subtree + _SLACK
            if not cut[node]:
                below[node] = subtree
    ends = list(range(len(below)))
    for node in range(len(below)):
        if lefts[node] >= 0 and (cut[node] or ends[node] != node):
            ends[lefts[node]] = ends[rights[node]] = ends[node]
    return np.array(ends, dtype=np.int64)
