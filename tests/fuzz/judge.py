"""What is a find: a traceback, a cell that is shown, a refusal without words, too much time or too much memory.

Crashes and inputs that never end cannot be judged from inside; who started the process sees those.
"""

from __future__ import annotations

import time
import traceback
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from fuzz.door import Door

SECONDS = 20  # of processor time, for one input
MEGABYTES = 512  # by which one input may raise the memory in use
_TESTS = Path(__file__).parents[1]
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Find(NamedTuple):
    """A fault: its kind, where it is (two finds at one place are one fault), and what a person needs to know."""

    kind: str
    where: str
    told: str

    @property
    def name(self) -> str:
        return f"{self.kind}-{sha256(self.where.encode()).hexdigest()[:8]}"


def judged(door: Door, data: bytes) -> Find | None:
    """Enter a door and look at what happens."""
    before, started = _memory("VmRSS", anew=True), time.process_time()
    try:
        told = door.enter(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a library in Rust is no Exception
        return Find("traceback", _where(error), "".join(traceback.format_exception(error)))
    seconds, grown = time.process_time() - started, _memory("VmHWM") - before
    for sentence in told:
        if not sentence.strip():
            return Find("silent", "a refusal without words", "")
        if shown := [secret for secret in door.secrets if secret in sentence]:
            return Find("shown", f"{shown[0]}: {sentence[:40]}", sentence)
    if seconds > SECONDS:
        return Find("slow", "", f"{seconds:.0f} s of processor time")
    if grown > MEGABYTES * 1024:
        return Find("memory", "", f"{grown / 1024:.0f} MB more memory")
    return None


def _where(error: BaseException) -> str:
    """The error's kind and the last places of discreet and of all that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    files = [Path(frame.filename) for frame in frames]
    own = [at for at, file in enumerate(files) if "discreet" in file.parts and _TESTS not in file.parents]
    places = [f"{files[at].name}:{frames[at].name}" for at in dict.fromkeys((*own[-1:], len(files) - 1))]
    return " ".join([type(error).__name__, *places])


def _memory(name: str, *, anew: bool = False) -> int:
    """Kilobytes in use now or at most, by the name that Linux has for them; the most is counted `anew` from now."""
    if anew:
        _CLEAR.write_text("5")
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])
