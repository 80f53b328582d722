"""The worked examples of Consistent DiffGen: what is printed and what is right, with numbers of ours beside them.

Paper: [QSL] Tables I and II, Figures 2 and 3, Example 3, Algorithms 1 and 2, Theorem III.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.diffgen_trees import (
    NAMES,
    NOISY,
    PARENTS,
    SEED,
    TREES,
    TRUE,
    by_the_letter,
    changed_by_one_record,
    cover,
    differing_trees,
    edges,
    frequency_matrix,
    generalized_table,
    inconsistency,
    squared_error,
    variance,
)
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.reproduce.printed import COLUMNS, Statement, compared, holding
from discreet.ground.arrays import Floats
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.papers.consistency import consistent_by_paper

NOT_DEFINED = "not defined"


def _inconsistent(how: Callable[[Sequence[int], Sequence[float]], Sequence[float] | Floats]) -> Callable[[], Cell]:
    """By how much Figure 3 is inconsistent once it was adjusted in that way."""

    def found() -> Cell:
        most = inconsistency(PARENTS, how(PARENTS, NOISY))
        return NOT_DEFINED if math.isnan(most) else round(most, 10) + 0.0

    return found


def _at_parent(parents: Sequence[int], counts: Sequence[float]) -> list[float]:
    return by_the_letter(parents, counts, at_parent=True)


PRINTED = (
    Statement(
        place="Table I(b)", what="Yes and No of each age", printed="0 2, 1 1, 1 2, 1 0",
        right=lambda: ", ".join(f"{yes} {no}" for yes, no in frequency_matrix()),
    ),
    Statement(
        place="Table II(b)", what="ClassCount of each combination", printed="3, 2, 0, 3",
        right=lambda: ", ".join(map(str, generalized_table().values())),
    ),
    Statement(
        place="Theorem III.1", what="sensitivity of counting every node of Figure 2, its height", printed=edges(),
        right=changed_by_one_record,
        why="section IV takes the number of specializations, here 2, for the height; a record is counted at every "
        "level, the root's too, so a height in levels would be right",
    ),
    Statement(place="Example 3", what="cover of ABCD", printed="ABCD", right=lambda: cover("ABCD")),
    Statement(place="Example 3", what="cover of BCD", printed="B + CD", right=lambda: cover("BCD")),
    Statement(
        place="Algorithm 2", what="Figure 3 by the letter: a node minus its children, at most", printed=0,
        right=_inconsistent(by_the_letter),
        why="the paper says consistent; leaves have no children, so ChildNum is 0 there",
    ),
    Statement(
        place="section III.C", what="trees on which the formula is Hay's, which is least squares", printed="any",
        right=lambda: "complete ones" if differing_trees(TREES) else "any",
        why="the paper carries it from full trees to any; that needs weights that follow from each subtree",
    ),
)  # fmt: skip
WAYS = {"leaves": "from leaves alone", "cover": "from the fewest nodes", "consistent": "from all nodes together"}
_OFF, _ERROR = "Figure 3 {}: a node minus its children, at most", "Figure 3 {}: squared error of all nodes"
OURS = (
    Statement(place="Figure 3", what=_OFF.format("with its noise"), right=lambda: inconsistency(PARENTS, NOISY)),
    Statement(place="Algorithm 2", what=_OFF.format("with ChildNum of the parent"), right=_inconsistent(_at_parent)),
    Statement(place="Algorithm 2", what=_OFF.format("as meant"), right=_inconsistent(consistent_by_paper)),
    Statement(place="least squares", what=_OFF.format("exact"), right=_inconsistent(consistent)),
    Statement(place="Figure 3", what=_ERROR.format("with its noise"), right=lambda: squared_error(NOISY)),
    Statement(place="Algorithm 2", what=_ERROR.format("with ChildNum of the parent"),
              right=lambda: squared_error(_at_parent(PARENTS, NOISY)),
              why="the root keeps its noise, and the first pass is thrown away"),
    Statement(place="Algorithm 2", what=_ERROR.format("as meant"),
              right=lambda: squared_error(consistent_by_paper(PARENTS, NOISY))),
    Statement(place="least squares", what=_ERROR.format("exact"),
              right=lambda: squared_error(consistent(PARENTS, NOISY)), why="this tree is binary and complete"),
    Statement(place="section III.C", what=f"random trees of {TREES:,} on which the formula is not least squares",
              right=lambda: differing_trees(TREES)),
    *(Statement(place=place, what=f"variance of {letters} times eps^2, {WAYS[how]}",
                right=partial(variance, letters, how))
      for letters in ("A", "BCD", "ABCD")
      for how, place in (("leaves", "DiffGen"), ("cover", "Example 3"), ("consistent", "Algorithm 2"))),
)  # fmt: skip


def _example(setting: Setting) -> Result:
    setting.seeds.take("random trees", SEED)
    rows = compared((*PRINTED, *OURS), setting)
    return Result(
        columns=COLUMNS,
        rows=rows,
        figures=(("figure-3", _figure()),),
        ours=f"Of the statements that the paper prints {holding(rows)}; by the letter Algorithm 2 divides by zero, as "
        f"meant it brings the squared error of Figure 3 from {squared_error(NOISY):.0f} to "
        f"{squared_error(consistent_by_paper(PARENTS, NOISY)):.1f}; at the same epsilon the count of ABCD has a "
        f"variance of {variance('ABCD', 'leaves'):.0f}/eps^2 from leaves alone, {variance('ABCD', 'cover'):.0f}/eps^2 "
        f"from the root and {variance('ABCD', 'consistent'):.1f}/eps^2 from all nodes together",
        data="the paper's own small tables; whose says which numbers the paper prints and which are ours; variances "
        "are those of Laplace noise at the sensitivity that each way needs",
    )


def _figure() -> Figure:
    ways: dict[str, Sequence[float] | Floats] = {
        "true": TRUE,
        "noisy": NOISY,
        "ChildNum of the parent": by_the_letter(PARENTS, NOISY, at_parent=True),
        "as meant, and exact": consistent(PARENTS, NOISY),
    }
    curves = tuple(
        Curve(label=label, points=tuple((float(place), float(count)) for place, count in enumerate(counts)))
        for label, counts in ways.items()
    )
    return Figure(title="Figure 3", x="node", y="count", curves=curves, kind="bars", names=NAMES)


DIFFGEN_EXAMPLE = Item(
    name="diffgen-example",
    paper="[QSL] Tables I and II, Figures 2 and 3, Example 3, Theorem III.1, Algorithm 2",
    line="the small tables of Consistent DiffGen and its tree: what is printed and what is right",
    claim="Tables I and II count what they show; the tree's height is the sensitivity; the fewest nodes cover a query; "
    "Algorithm 2 makes a tree consistent and carries Hay's adjustment from full trees to any tree; range counts gain "
    "more than single counts lose.",
    differs="The tables and covers are right. The sensitivity is the number of levels, one more than the edges, where "
    "the root is counted. Algorithm 2 as printed divides by the children of a leaf, uses raw counts in both passes and "
    "throws the root's adjustment away; as meant it is least squares on complete trees only. On a tree of three levels "
    "every count is worse than from leaves alone at the same epsilon: what a cover saves is less than what the levels "
    "cost.",
    run=_example,
    whole=True,
)
