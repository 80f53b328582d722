"""Skeletons: what is left of a text for the eye. Texts with an equal one are spellings of one another.

A text has two: one without the table of letters, for two spellings of a Greek word are alike though only one of them
could be taken for a Latin one; and one with it. The table is small and our own: capital and small letters of Greek and
Cyrillic that look like Latin ones, dashes, apostrophes and quotation marks, and signs without a picture. It does not
cover other scripts, accents that are left out, or pairs such as rn and m; what Unicode itself calls the same (wide
letters, ligatures, Roman numerals) needs no table. A part that is turned around by U+202E is read as it is shown.
"""

from __future__ import annotations

import re
from itertools import chain
from unicodedata import normalize

_GREEK = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϳαγικνορυχ", "ABEZHIKMNOPTYXjayikvopux", strict=True))
_CYRILLIC = dict(zip("АВЕЅІЈКМНОРСТУХҮӀԌԚԜѴаеѕіјкорсухүһԁԛԝѵ", "ABESIJKMHOPCTYXYIGQWVaesijkopcyxyhdqwv", strict=True))
_LATIN = dict(zip("ÐƉɑɡɩ", "ĐĐagi", strict=True))
_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－⁃", "-")
_APOSTROPHES = dict.fromkeys("‘’‚‛ʹʻʼʽˈ′´`＇", "'")
_QUOTES = dict.fromkeys("“”„‟«»″", '"')
_SLASHES = dict.fromkeys("⁄∕", "/")
_BLANK = {"\u2800": " "}  # Braille without a dot
_UNSEEN = (  # from-to, both included: controls, joiners, directions, fillers, variants of a picture, tags
    (0x00, 0x08),
    (0x0E, 0x1B),
    (0x7F, 0x84),
    (0x86, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE01EF),
)

UNSEEN = frozenset(map(chr, chain.from_iterable(range(first, last + 1) for first, last in _UNSEEN)))
SIGNS = str.maketrans({**dict.fromkeys(UNSEEN, ""), **_DASHES, **_APOSTROPHES, **_QUOTES, **_SLASHES, **_BLANK})
LETTERS = str.maketrans({**_GREEK, **_CYRILLIC, **_LATIN})
_BACKWARDS = re.compile("\u202e([^\u202a-\u202e]*)")  # shown from right to left, whatever the letters are
DOUBTFUL = str.maketrans({"I": "|", "l": "|", "1": "|", "O": "0", "o": "0"})  # of one alphabet: often told apart


def skeletons(text: str) -> tuple[str, ...]:
    """One or two texts: Unicode NFKC, case folded, white space in single spaces, nothing that does not show."""
    shown = _turned(text).translate(SIGNS)
    if shown.isascii():
        return (_folded(shown),)
    apart = normalize("NFKD", shown)  # letters and their accents one by one
    latin = apart.translate(LETTERS)
    return (_folded(apart),) if latin == apart else (_folded(apart), _folded(latin))


def loose_skeleton(text: str) -> str:
    """The same where 0 and O, and 1, l, I and |, are alike too, and white space counts for nothing."""
    shown = _turned(text).translate(SIGNS)
    if not shown.isascii():
        shown = normalize("NFKC", normalize("NFKD", shown).translate(LETTERS))
    return "".join(shown.translate(DOUBTFUL).casefold().split())


def _turned(text: str) -> str:
    """A text as it is shown where signs that do not show turn a part of it around."""
    return _BACKWARDS.sub(lambda found: found[1][::-1], text)


def _folded(text: str) -> str:
    if not text.isascii():
        text = normalize("NFKC", normalize("NFKC", text).casefold())
    return " ".join(text.casefold().split())
