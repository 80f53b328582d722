"""What the files of a release carry beside their cells: metadata, names, times, dictionaries, identifiers."""

from __future__ import annotations

import getpass
import json
import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.attack.attack import Finding, Group
from discreet.attack.carried import FOREIGN, ODD, carried, texts_in
from discreet.attack.rate import computed
from discreet.attack.target import Target
from discreet.engine.digest import digest_of
from discreet.errors import ReleaseError
from discreet.ground.progress import Tell
from discreet.release.plain import strangers
from discreet.release.signature import read_signature
from discreet.release.statement import MANIFEST, README

SHORTEST = 6  # signs of a text that says whose it is
_MOST = 5_000  # cells of each unpublished column that are looked for
_LARGEST = 1 << 26  # bytes of a file that are looked through
_DISTINCT = 0.5  # of the cells of a column, where they say whose they are
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
_PATH = re.compile(r"(?:^|[\s\"'(=])(?:/(?:home|Users|root|tmp|var|mnt|work|data|srv|opt)/|[A-Za-z]:\\\\?)\S+")
_RUN = re.compile(rb"[\x20-\x7e\x80-\xff]{%d,}" % SHORTEST)
_SPLIT = re.compile(r"[\s\"',;:|=<>\[\](){}/\\]+")


@dataclass(frozen=True, kw_only=True)
class FileLeaks:
    """He reads the files as bytes, and looks for what no reader of tables would see."""

    name: ClassVar[str] = "files"
    group: ClassVar[Group] = Group.LINKABILITY
    line: ClassVar[str] = "reads what the files carry beside the cells: metadata, dictionaries, names and times"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 1.0

    def unfit(self, target: Target) -> str:
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        found = things_in(target)
        tell(0.5)
        yield self._counted(
            found, ("undeclared files", *FOREIGN), "", "things that no cell of a release has", covered=True
        )
        yield self._counted(
            found,
            ODD,
            "layout",
            "things about how the files are laid out that no writer of releases does",
            covered=False,
        )
        words = Counter({what: sum(1 for _ in each) for what, each in _words(target).items()})
        yield self._counted(
            words, tuple(words), "names and times", "paths, times and names of the machine", covered=False
        )
        if target.table is not None:
            hidden = identifying(target)
            if hidden:
                yield self._of_people(target, hidden)

    def _counted(
        self, found: Mapping[str, int], kinds: Iterable[str], variant: str, measures: str, *, covered: bool
    ) -> Finding:
        own = {kind: found.get(kind, 0) for kind in kinds}
        some = [f"{number:,} {kind}" for kind, number in own.items() if number]
        return Finding(
            name=self.name,
            variant=variant,
            group=self.group,
            measures=measures,
            rate=computed(sum(own.values()), len(own)),
            bound=Fraction(0),
            covered=covered,
            share=False,
            note="found: " + ", ".join(some) if some else "nothing was found",
            details=own,
        )

    def _of_people(self, target: Target, hidden: set[int]) -> Finding:
        """Cells of columns that are not published, found as text anywhere."""
        seen = {digest_of(each) for each in set(tokens(target)) if len(each) >= SHORTEST}
        return Finding(
            name=self.name,
            variant="unpublished cells",
            group=self.group,
            measures="cells of unpublished columns that stand in the files as text, of those looked for",
            rate=computed(len(hidden & seen), len(hidden)),
            bound=Fraction(0),
            covered=False,
            share=False,
            note=f"of columns whose cells tell people apart, up to {_MOST:,} each; a number may agree by chance",
            details={"looked_for": len(hidden)},
        )


def things_in(target: Target) -> Counter[str]:
    """What all files carry, by kind."""
    folder, manifest = target.release.path, target.manifest
    domains = {name: list(_listed(domain)) for name, domain in target.schema.domains.items()}
    found: Counter[str] = Counter()
    found["undeclared files"] = len(strangers(folder, {each.path for each in manifest.resources}))
    try:
        read_signature(folder)
    except ReleaseError:  # it may hold anything
        found["undeclared files"] += 1
    for each in manifest.resources:
        if each.path.endswith(".parquet"):
            found += carried(folder / each.path, [field["name"] for field in each.fields], domains)
    return found


def identifying(target: Target) -> set[int]:
    """Digests of cells of unpublished columns that tell people apart."""
    table = target.known
    published = {table.given.get(name, name).casefold() for name in target.schema.columns}
    columns = [name for name in table.columns if name.casefold() not in published]
    found: set[int] = set()
    if not columns:
        return found
    batch = next(table.digests(*columns))
    for cells in batch:
        some = set(cells[:_MOST].tolist()) - {digest_of(None)}
        if len(some) >= _DISTINCT * min(len(cells), _MOST):
            found |= some
    return found


def tokens(target: Target) -> Iterator[str]:
    """Every text in the files that may be somebody's: entries, ends and undeclared cells, and runs of signs."""
    folder = target.release.path
    fields = {each.path: [field["name"] for field in each.fields] for each in target.manifest.resources}
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and not each.is_symlink()):
        name = path.relative_to(folder).as_posix()
        if name in fields and name.endswith(".parquet"):
            yield from texts_in(path, fields[name])
        with path.open("rb") as opened:
            content = opened.read(_LARGEST)
        for run in _RUN.findall(content):
            text = run.decode("utf-8", errors="ignore")
            for token in (text, *_SPLIT.split(text)):
                if any(sign.isalpha() for sign in token):
                    yield token.strip()


def _words(target: Target) -> dict[str, Iterator[str]]:
    """Times, paths and names of the machine in the manifest and the README, the public schema aside."""
    folder = target.release.path
    document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    public = {text for domain in target.schema.domains.values() for text in map(str, _listed(domain))}
    texts = [each for each in _said(document) if each not in public]
    texts.append((folder / README).read_text(encoding="utf-8"))
    whole = [_without(each, public) for each in texts]
    names = {each for each in (_user(), socket.gethostname()) if len(each) >= SHORTEST}
    return {
        "times": (hit for each in whole for hit in _TIME.findall(each)),
        "paths": (hit for each in whole for hit in _PATH.findall(each)),
        "names of this machine": (name for each in whole for name in names if name in each),
    }


def _said(content: Any) -> Iterator[str]:
    """Every text in a document but those of domains, keys too."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for each in content:
            yield from _said(each)
    elif isinstance(content, dict):
        for key, each in content.items():
            yield str(key)
            if key not in ("schema", "constraints"):
                yield from _said(each)


def _without(text: str, public: set[str]) -> str:
    """A text without the longer values that anybody knows."""
    for each in public:
        if len(each) >= SHORTEST and each in text:
            text = text.replace(each, " ")
    return text


def _listed(domain: Any) -> Iterator[Any]:
    """The public values of a text column; numbers and dates are no dictionary."""
    encoding = domain.encoding
    return iter(encoding.values) if encoding.kind == "text" else iter(())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
