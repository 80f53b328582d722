"""The tables and examples of [W14] chapter 2, measured by the product: what is printed, and what follows from it.

Paper: [W14] Tables 2.1 to 2.3, Ex. 1 to 3, sections 2.2 and 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.reproduce.printed import COLUMNS, Statement, compared, holding
from discreet.guarantee.classic.classes import Classes, classes_of, numbered
from discreet.guarantee.classic.closeness import closeness, distances
from discreet.guarantee.classic.distinct_diversity import distinct_diversity
from discreet.guarantee.classic.k_anonymity import k_anonymity
from discreet.guarantee.classic.likeness import likeness, rises
from discreet.guarantee.classic.presence import Presence, presence
from discreet.guarantee.classic.share_diversity import eligible_diversity, share_diversity

PATIENTS = (  # Table 2.1: job, sex, age, disease
    ("Engineer", "Male", 35, "Cancer"),
    ("Lawyer", "Male", 38, "HIV"),
    ("Engineer", "Male", 38, "Cancer"),
    ("Singer", "Female", 30, "Flu"),
    ("Singer", "Female", 30, "HIV"),
    ("Dancer", "Female", 30, "HIV"),
    ("Dancer", "Female", 30, "Flu"),
)
OUTSIDE = (  # Table 2.2: name, job, sex, age
    ("Bob", "Engineer", "Male", 35),
    ("John", "Lawyer", "Male", 38),
    ("Jack", "Engineer", "Male", 38),
    ("Alice", "Singer", "Female", 30),
    ("Mary", "Singer", "Female", 30),
    ("Gayze", "Dancer", "Female", 30),
    ("Emily", "Dancer", "Female", 30),
)
GENERALIZED = (("Cancer", "Cancer", "HIV"), ("Flu", "HIV", "HIV", "HIV"))  # Table 2.3: professionals, artists
TEN = {"Cancer": 1, "HIV": 1, "Flu": 8}
SKEWED = {"HIV": 1, "Cancer": 100, "Flu": 9_899}


def _classes(*groups: Sequence[str]) -> Classes:
    """Classes of the diseases of their rows."""
    names = sorted({each for group in groups for each in group})
    cells = [(place, names.index(each)) for place, group in enumerate(groups) for each in group]
    return classes_of([place for place, _ in cells], [value for _, value in cells])


def generalized() -> Classes:
    """Table 2.3."""
    return _classes(*GENERALIZED)


def ten() -> Classes:
    """The class of ten tuples of section 2.3.1."""
    return _classes([name for name, count in TEN.items() for _ in range(count)])


def halves() -> Classes:
    """A group of half Flu and half HIV, and the rest of a table of 95 % Flu and 5 % HIV, of section 2.3.2."""
    return classes_of([0, 0, 1, 1], [0, 1, 0, 1], [10, 10, 940, 40])


def joined() -> Presence:
    """Tables 2.1 and 2.2, by job, sex and age."""
    rows = [[row[place] for row in PATIENTS] + [row[place + 1] for row in OUTSIDE] for place in range(3)]
    cells = [np.unique(np.array(column), return_inverse=True)[1] for column in rows]
    both = numbered(cells)
    return presence(both[: len(PATIENTS)], both[len(PATIENTS) :])


def identified(name: str) -> str:
    """What the join says of a person: the disease, or that several are possible."""
    (known,) = (row[1:] for row in OUTSIDE if row[0] == name)
    found = {row[3] for row in PATIENTS if row[:3] == known}
    return found.pop() if len(found) == 1 else f"{len(found)} diseases are possible"


def women() -> float:
    """The share of HIV among the women of Table 2.1."""
    found = [row[3] for row in PATIENTS if row[1] == "Female"]
    return found.count("HIV") / len(found)


PRINTED = (
    Statement(place="Ex. 1", what="Bob's disease, by the join", printed="Cancer", right=lambda: identified("Bob")),
    Statement(place="Ex. 2, Table 2.3", what="groups of rows", printed=2, right=lambda: len(generalized())),
    Statement(place="Ex. 2, Table 2.3", what="k", printed=3, right=lambda: int(k_anonymity(generalized()).size)),
    Statement(
        place="Ex. 3", what="share of HIV among the artists of Table 2.3", printed=0.75,
        right=lambda: float(share_diversity(generalized()).share or 0),
    ),
    Statement(
        place="Ex. 3", what="that the adversary infers Mary's HIV with this confidence", printed=0.75, right=women,
        why="Table 2.3 is said to be made of Table 2.1, where two of the four women have HIV; it has one Flu less and "
        "one HIV more",
    ),
    Statement(
        place="sec. 2.3.1", what="distinct l of 1, 1 and 8 of ten", printed=3,
        right=lambda: int(distinct_diversity(ten()).number or 0),
    ),
    Statement(
        place="sec. 2.3.1", what="accuracy with which Flu is guessed there", printed=0.8,
        right=lambda: float(distinct_diversity(ten()).share or 0),
    ),
    Statement(
        place="sec. 2.3.1", what="largest whole l for counts of 1, 100 and 9,899", printed=1,
        right=lambda: math.floor(eligible_diversity(SKEWED.values())),
    ),
    Statement(
        place="sec. 2.3.2", what="l of half Flu and half HIV", printed=2,
        right=lambda: float(share_diversity(classes_of([0, 0], [0, 1])).number or 0),
    ),
    Statement(
        place="sec. 2.3.2", what="confidence that one of that group has HIV", printed=0.5,
        right=lambda: float(closeness(halves()).share or 0),
    ),
)  # fmt: skip
OURS = (
    Statement(place="Ex. 1", what="people whom the join identifies", right=lambda: joined().alone,
              why="Bob, John and Jack; two women share each row of job, sex and age"),
    Statement(place="Table 2.3", what="t of the professionals", right=lambda: float(distances(generalized())[0])),
    Statement(place="Table 2.3", what="t of the artists", right=lambda: float(distances(generalized())[1])),
    Statement(place="Table 2.3", what="beta of the professionals", right=lambda: float(rises(generalized())[0])),
    Statement(place="Table 2.3", what="beta of the artists", right=lambda: float(rises(generalized())[1])),
    Statement(place="sec. 2.3.1", what="l in the share form of 1, 1 and 8 of ten",
              right=lambda: float(share_diversity(ten()).number or 0)),
    Statement(place="sec. 2.3.1", what="largest l for counts of 1, 100 and 9,899",
              right=lambda: float(eligible_diversity(SKEWED.values())), why="10,000 over 9,899: it is above 1, barely"),
    Statement(place="sec. 2.3.2", what="t of half HIV where the table has 5 %",
              right=lambda: float(closeness(halves()).number or 0)),
    Statement(place="sec. 2.3.2", what="beta of half HIV where the table has 5 %",
              right=lambda: float(likeness(halves()).number or 0)),
)  # fmt: skip


def _measured(setting: Setting) -> Result:
    rows = compared((*PRINTED, *OURS), setting)
    by = {(str(row[1]), str(row[2])): row[4] for row in rows[len(PRINTED) :]}
    return Result(
        columns=COLUMNS,
        rows=rows,
        figures=(("classes", _figure()),),
        ours=f"Of the statements that are checked here {holding(rows)}. Ours: the join identifies "
        f"{by['Ex. 1', 'people whom the join identifies']} people; Table 2.3 has t = {_two(by, 't')} and beta = "
        f"{_two(by, 'beta')} in its two classes",
        data="the thesis's own small tables; whose says which numbers it prints and which are ours",
    )


def _two(by: dict[tuple[str, str], Cell], what: str) -> str:
    found = [by["Table 2.3", f"{what} of the {whom}"] for whom in ("professionals", "artists")]
    return " and ".join(f"{float(each or 0):.3f}" for each in found)


def _figure() -> Figure:
    """The largest share of a value in each class, and how far the class is from its table."""
    table, half = generalized(), halves()
    most = (np.maximum.reduceat(table.count, table.starts) / table.sizes).tolist()
    found = [
        *zip(most, map(float, distances(table)), strict=True),
        (float(closeness(half).share or 0), float(closeness(half).number or 0)),
    ]
    curves = tuple(
        Curve(label=label, points=tuple((float(i), each[place]) for i, each in enumerate(found)))
        for place, label in enumerate(("largest share of a value that the class raises", "t, equal distance"))
    )
    names = ("Table 2.3\nprofessionals", "Table 2.3\nartists", "sec. 2.3.2\nhalf HIV")
    return Figure(
        title="what one value's share hides", x="class", y="share, t", curves=curves, kind="bars", names=names
    )


CLASSIC_MODELS = Item(
    name="classic-models",
    paper="[W14] Tables 2.1 to 2.3, Ex. 1 to 3, sections 2.2 and 2.3",
    line="the small tables of the classic models: k, l, t and beta, as the product measures them",
    claim="Joined with Table 2.2, Table 2.1 gives Bob away; Table 2.3 is 3-anonymous, and three of four artists have "
    "HIV; distinct 3-diversity leaves a guess that is right in 80 %; a skewed table has no l above 1; half HIV is "
    "2-diverse where the table has 5 %.",
    differs="Numbers are measured by the functions that measure any table, as exact fractions. Table 2.3 is not made "
    "of Table 2.1: it has one HIV more. The thesis prints neither t nor beta for its tables; they are ours.",
    run=_measured,
    whole=True,
)
