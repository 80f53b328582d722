"""A classifier that knows a release alone, tested on rows as they are."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

import discreet
from discreet.evaluate.labelled import Coded, Halves


def accuracy(halves: Halves, release: discreet.Release) -> float:
    """Percent of the test rows that a tree gets right which was trained on synthetic rows of the release."""
    rows = halves.source.coded(release.to_training_table())

    def features(found: Coded) -> np.ndarray:
        wide = []
        for taxonomy, column in zip(halves.source.taxonomies, found.cells, strict=True):
            number = taxonomy.ordered or taxonomy.labels[0].startswith("0-")  # bins are in order too
            wide.append(column[:, None] if number else column[:, None] == np.arange(len(taxonomy)))
        return np.hstack(wide).astype(np.float32)

    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=0.001, ccp_alpha=1e-3, random_state=0)
    tree.fit(features(rows), rows.classes)
    return float((tree.predict(features(halves.tests)) == halves.tests.classes).mean() * 100)
