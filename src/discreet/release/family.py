"""Families: what several mechanisms share of a release. One table has them all, by kind of mechanism.

A family is a value: whoever registers one more (`discreet.families.register`) gets policy, publish, verify, count,
diff and the command line for it, and no other file need know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from discreet.release.fields import Fields
from discreet.release.statement import G, M, N, Statement
from discreet.schema.mechanisms import Mechanism
from discreet.schema.register import Register

Content = Mapping[str, Any]  # what a release or a policy says of itself, to be compared
READ = "schema as read"  # where a content has its schema as a value, beside what it says
Change = dict[str, Any]  # name, a, b, meaning, and how a and b are shown to people


@dataclass(frozen=True, kw_only=True)
class Words(Generic[M, G, N]):
    """One version of the prose: facts for people and programs, and the README. It stays as it is for ever.

    `speaks` says for which mechanisms: a version has no words for what came after it, or is for that alone.
    """

    facts: Callable[[Statement[M, G, N]], dict[str, Any]]
    readme: Callable[[Statement[M, G, N], Mapping[str, Any]], str]
    speaks: Callable[[M], bool] = field(default=lambda _: True)


def of_guarantee(facts: Callable[[G, bool], dict[str, Any]]) -> Callable[[Statement[M, G, N]], dict[str, Any]]:
    """Facts that follow from the guarantee, and from whether the series went on after other releases."""
    return lambda statement: facts(statement.guarantee, statement.continued)


def _nothing(_a: Content, _b: Content) -> Iterator[Change]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Changes:
    """How two contents of one family are compared: what a changed parameter or number means, and who is stronger.

    `together` says what two releases of the same people give away; `main` is the file in which they show.
    """

    main: str
    together: Callable[[Content, Content], str]
    parameters: Mapping[str, str | Callable[[Any, Any], str]] = field(default_factory=dict)  # or what A's and B's mean
    numbers: Mapping[str, Callable[[Content, Content], str]] = field(default_factory=dict)
    shown: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    mechanism: Callable[[Content, Content], Iterator[Change]] = _nothing
    guarantee: Callable[[Content, Content], Iterator[Change]] = _nothing
    told: tuple[str, ...] = ()  # parameters whose changes `mechanism` tells
    roles: Mapping[str | None, str] = field(  # what becomes of a column with such a role
        default_factory=lambda: {"quasi-identifier": "B publishes it", "sensitive": "B publishes it, protected"}
    )


@dataclass(frozen=True, kw_only=True)
class Family(Generic[M, G, N]):
    """A kind of release: how it is read, checked, said, compared and asked.

    `files` and `fields` are its data files and their columns; `mechanism`, `guarantee` and `numbers` read the block and
    raise ReleaseError or PolicyError; `reader` opens a release for questions, and `estimators` are the ways to answer
    them, the default first; `mechanisms` make them. Both are by name, and may be loaded when they are first asked for
    (`schema/register.py`). `holds` is what `size` counts.
    """

    name: str
    mechanisms: Mapping[str, type[Mechanism]]  # by kind
    files: Callable[[Statement[M, G, N]], tuple[str, ...]]
    fields: Callable[[Statement[M, G, N], str], Fields]
    mechanism: Callable[[Mapping[str, Any]], M]
    guarantee: Callable[[Any, M], G]  # as it stands, for a release of that mechanism
    numbers: Callable[[Mapping[str, Any]], N]
    number_names: tuple[str, ...]
    checks: tuple[Any, ...]  # verifier.claim.Claim values, in their order
    not_checkable: tuple[str, ...]
    words: Mapping[int, Words[M, G, N]]
    changes: Changes
    reader: Callable[..., Any]  # of a manifest, and of the limits of one question
    estimators: Mapping[str, Any]  # estimate.estimator.Estimator classes, by name
    holds: str
    drafts: Mapping[str, Any] = field(default_factory=dict)  # mechanism.draft.family.Drafts, by kind
    attacks: Mapping[str, Any] = field(default_factory=dict)  # attack.attack.Attack classes of its own, by name
    later_numbers: Mapping[str, int] = field(default_factory=dict)  # by name, the version of words that first has it
    by_value: bool = True  # two spellings of a sensitive value split what is promised of it
    further_numbers: Callable[[Mapping[str, Any]], tuple[str, ...]] = field(default=lambda _: ())  # by its parameters

    def facts(self, statement: Statement[M, G, N]) -> dict[str, Any]:
        """The promise in the words of the statement's version."""
        return self.words[statement.words].facts(statement)

    def words_for(self, mechanism: M) -> int:
        """The latest version of the words that has some for a mechanism as it is stated."""
        return max(number for number, words in self.words.items() if words.speaks(mechanism))

    def readme(self, statement: Statement[M, G, N], facts: Mapping[str, Any]) -> str:
        """The README, with these facts, in the words of the statement's version."""
        return self.words[statement.words].readme(statement, facts)


FAMILIES: Register[Family[Any, Any, Any]] = Register()  # by kind of mechanism; filled by discreet.families
