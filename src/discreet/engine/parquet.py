"""Writing tables in memory to Parquet: nothing in the file but the columns."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GROUP = 1 << 20  # rows of one group at most


def write_parquet(groups: Iterable[pa.Table], to: Path) -> None:
    """Tables with the same columns, at least one, one after the other in one file; raises OSError where it cannot be
    written, with the system's number and words alone.
    """
    try:
        with ExitStack() as stack:
            writer = None
            for group in groups:
                if writer is None:
                    opened = pq.ParquetWriter(to, group.schema, compression="zstd", store_schema=False)
                    writer = stack.enter_context(opened)
                writer.write_table(group, row_group_size=GROUP)
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, os.strerror(number), str(to)) from None
