"""What a release says itself of its classes of people: a family answers by a method, or has no classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.guarantee.classic.classes import Classes

if TYPE_CHECKING:
    from discreet.estimate.release import Release


class HasClasses(Protocol):
    """A release that says itself what its classes of people are."""

    def classes(self) -> Classes:
        """Classes of what it shows, with the counts of each sensitive value."""


class ShowsRows(Protocol):
    """A release that shows every person's quasi-identifiers as they are."""

    def known(self) -> dict[str, Ints]:
        """Positions in their domains, row after row."""


def classes_of_release(release: Release) -> Classes:
    """The classes of a release, as its family sees them; raises ReleaseError where it has none."""
    if getattr(release, "classes", None) is None:
        raise ReleaseError(
            f"release ({release.path}) must show classes of people; it holds {release.holds}, so measure the table "
            "instead"
        )
    return cast("HasClasses", release).classes()


def known_of_release(release: Release) -> dict[str, Ints] | None:
    """The quasi-identifiers of everybody, where a release shows them; else None."""
    return cast("ShowsRows", release).known() if getattr(release, "known", None) is not None else None
