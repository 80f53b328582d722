"""What a release shows to a verifier: its manifest as it stands, and tables that an engine can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from discreet.engine.duck.database import Database
from discreet.errors import Cancelled, OutOfMemory, OutOfTime, PolicyError, ReleaseError
from discreet.release.plain import plain_file
from discreet.release.statement import Manifest
from discreet.schema.schema import Schema
from discreet.verifier.claim import Claim

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Files:
    """A manifest and an engine that can read nothing but the release's folder; what checks read, they share.

    What a release promises is checked from `block`, as it stands, over the domains of `schema`. `manifest` has it as
    analysts read it too: for the prose, and for how the manifest must be written.
    """

    manifest: Manifest[Any, Any, Any]
    engine: Database
    allow_seeded: bool
    memory: str | None = None  # that may be used, where the reader said how much
    _known: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def block(self) -> Mapping[str, Any]:
        return self.manifest.block

    @property
    def schema(self) -> Schema:
        return self.manifest.schema

    def path(self, name: str) -> Path:
        return plain_file(self.manifest.folder, name)

    def once(self, reader: Callable[[Files], R]) -> R:
        """What a reader makes of these files, read by the first check that needs it."""
        if reader not in self._known:
            self._known[reader] = reader(self)
        found: R = self._known[reader]
        return found


def failing(claim: Claim, files: Files) -> str | None:
    """Run one check; whatever the bytes make the libraries raise is a check that does not hold."""
    try:
        return claim.broken(files)
    except (OutOfMemory, OutOfTime, Cancelled):  # nothing was found out: neither that it holds nor that it does not
        raise
    except (ReleaseError, PolicyError) as error:
        return str(error)
    except (MemoryError, Exception) as error:
        return f"the files cannot be read ({type(error).__name__})"
