"""Hierarchies: read from and written to ARX's CSV files, or built from widths and prefixes.

ARX's format: no header, ';' between columns, one row for each leaf, from leaf to root, '*' last.
"""

from __future__ import annotations

import csv
import io
import re
import stat
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from discreet.errors import PolicyError
from discreet.schema.aligned import aligned
from discreet.schema.paths import MOST_LEAVES, ROOT, Paths, Values, checked

_QUOTED = re.compile(r'"[^"\n]*"')


def read_hierarchy(
    file: str | Path,
    values: Values | None = None,
    *,
    without: Collection[str] = (),
    apart: Sequence[Sequence[str]] = (),
) -> Paths:
    """The paths in a file, in the order of the domain's values if given; raises PolicyError with every problem.

    Columns are separated by ';', or by ',' where no ';' stands outside quotes; UTF-8, with or without a byte-order
    mark, any line ends. Without values, the leaves are the domain, as text in file order. Rows of leaves `without` are
    left out, and leaves of one list in `apart` may look alike.
    """
    name = f"hierarchy ({Path(file).name})"
    text = _text(Path(file), name)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in _QUOTED.sub("", text) else ",", strict=True
    )
    try:
        rows = [row for row in reader if row and row[0] not in without]
    except csv.Error as error:
        raise PolicyError(f"{name} must be CSV; mend line {reader.line_num}: {error}") from None
    return checked(rows, values, name, apart)


def _text(file: Path, name: str) -> str:
    """What a file says; one that may have no end, such as a device, is not read."""
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise PolicyError(f"{name} must be a file that can be read (it is a folder or a device); check the path")
        return file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise PolicyError(f"{name} must be a file that can be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        raise PolicyError(f"{name} must be UTF-8 (byte {error.start + 1} is not); save it as UTF-8") from None
    except ValueError:
        raise PolicyError(f"{name} must be a name that a file can have; check the path") from None


def write_hierarchy(paths: Iterable[Sequence[str]], file: str | Path) -> Path:
    """Write paths so that `read_hierarchy` and ARX read the same ones back; returns the file's path."""
    rows = checked(paths)
    try:
        with Path(file).open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened, delimiter=";", lineterminator="\n").writerows(rows)
    except OSError as error:
        raise PolicyError(
            f"hierarchy ({Path(file).name}) must be writable ({error.strerror}); check the path"
        ) from None
    return Path(file)


def hierarchy_of_ranges(low: int, high: int, widths: Sequence[int] = (5, 10, 20)) -> Paths:
    """The paths of the whole numbers from `low` to `high`: a level for each width, its ranges ("0-4") aligned to
    multiples of the width, so that the same width gives the same ranges for any domain.
    """
    if not all(type(number) is int for number in (low, high)) or not low <= high < low + MOST_LEAVES:
        raise PolicyError(
            f"integers ([{low}, {high}]) must be [lowest, highest] with at most {MOST_LEAVES:,} values to have widths; "
            "narrow them"
        )
    known = all(type(width) is int and width >= 2 for width in widths) and len(widths) > 0
    if not known or any(wide <= narrow or wide % narrow for narrow, wide in pairwise(widths)):
        raise PolicyError(
            f"widths ({list(widths)}) must be whole numbers from 2, each a multiple of the one before; "
            "write them such as [5, 10, 20]"
        )
    return tuple((*path, ROOT) for path in aligned(range(low, high + 1), widths, str))


def hierarchy_of_prefixes(values: Sequence[str] | Sequence[int], keep: Sequence[int] = (4, 3, 2)) -> Paths:
    """The paths of codes such as zip codes: a level for each number of first characters kept, the rest masked.

    "02139" goes up to "0213*", "021**", "02***" and "*". Masks are as long as the longest value, so that codes of
    any length with the same first characters come together.
    """
    known = all(type(length) is int and length >= 1 for length in keep) and len(keep) > 0
    if not known or any(shorter >= longer for longer, shorter in pairwise(keep)):
        raise PolicyError(
            f"prefixes ({list(keep)}) must be whole numbers from 1, longest first; write them such as [4, 3, 2]"
        )
    codes = [str(value) for value in values]
    longest = max(map(len, codes), default=0)
    paths = [(code, *(code[:length].ljust(longest, ROOT) for length in keep), ROOT) for code in codes]
    return checked(paths, name=f"hierarchy of prefixes ({list(keep)})")
