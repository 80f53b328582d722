"""Steps on text that know what a word is: in questions, policies and tables."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_NUMBER = re.compile(r"[0-9]+")
_NUMBERS = ("0", "1", "2", "65535", "2147483648", "9007199254740992", "9223372036854775808", "1e308", "9" * 60)
_LONG = 2_000  # words of a text that grows
_SHORT = 0.97  # the share of repetitions that cost little
_MOST = 4  # steps at once


def read(content: bytes) -> str:
    """The text that any bytes stand for; halves of a surrogate pair too, which a program may send."""
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def step(content: bytes, pieces: Sequence[str], coins: random.Random) -> bytes:
    """The content after a few steps; bytes that are no text stay what they are."""
    words = _WORD.findall(content.decode("utf-8", "surrogateescape"))
    for _ in range(coins.randint(1, _MOST)):
        words = _step(words, pieces, coins)
    return b"".join(map(_bytes, words))


def _bytes(word: str) -> bytes:
    """A word as UTF-8; a sign that hides a byte is that byte, and half of a pair stays that."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return word.encode("utf-8", "surrogatepass")


def _step(words: list[str], pieces: Sequence[str], coins: random.Random) -> list[str]:
    at = coins.randrange(len(words) + 1)
    end = min(len(words), at + coins.choice((1, 1, 2, 3, 8, 20)))
    piece, how = coins.choice(pieces), coins.randrange(9)
    if how <= 1 or not words:
        return [*words[:at], *coins.choice(((piece,), (" ", piece, " "))), *words[at:]]
    if how == 2:
        return [*words[:at], piece, *words[at + 1 :]]
    if how == 3:
        return [*words[:at], *words[end:]]
    if how == 4:
        other = coins.randrange(len(words))
        return [*words[:other], *words[at:end], *words[other:]] if len(words) < _LONG else words
    if how == 5:
        times = coins.choice((2, 3, 10, 100) if coins.random() < _SHORT else (1_000, 5_000))
        return [*words[:at], *words[at:end] * times, *words[end:]] if len(words) < _LONG else words
    if how == 6:
        places = [place for place, word in enumerate(words) if _NUMBER.fullmatch(word)]
        if not places:
            return words
        place = coins.choice(places)
        nearby = str(max(0, int(words[place][:18]) + coins.choice((-1, 1))))
        return [*words[:place], coins.choice((*_NUMBERS, nearby)), *words[place + 1 :]]
    if how == 7:
        return [*words[:at], *(word.swapcase() for word in words[at:end]), *words[end:]]
    sign = chr(coins.choice((0, 9, 10, 13, 27, 0x85, 0xA0, 0x200B, 0x2028, 0x202E, 0xFEFF, 0x1F600)))
    return [*words[:at], sign, *words[at:]]
