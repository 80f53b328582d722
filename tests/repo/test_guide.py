"""The guide's own words run: every command, every Python block and every policy, page by page, in order."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
FENCE = re.compile(r"^```(?P<kind>\w+)(?: exit=(?P<exit>\d))?\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)


def _blocks(text: str) -> list[tuple[str, int, str]]:
    """The fenced blocks of a page: kind, expected exit code, body."""
    return [(found["kind"], int(found["exit"] or 0), found["body"]) for found in FENCE.finditer(text)]


def _commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each `$ ` line with the lines printed below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


def _masked(line: str) -> str:
    """A line whose numbers and spacing may differ from run to run."""
    return re.sub(r"\b[0-9a-f]{12,}\b|-?[\d,]*\d|unknown", "#", " ".join(line.split()))


def _missing(shown: list[str], printed: str, *, secret: bool) -> list[str]:
    """The lines that a page shows and the command did not print, in that order; `...` stands for anything."""
    same = _masked if secret else str.rstrip
    lines = iter([same(line) for line in printed.splitlines()])
    return [line for line in shown if line != "..." and same(line) not in lines]


def _run(command: str, shown: list[str], expected: int) -> None:
    words = shlex.split(command)
    assert words[0] == "discreet", command
    done = CliRunner().invoke(app, words[1:], env={"COLUMNS": "200"})
    assert done.exit_code == expected, (command, done.output, done.exception)
    secret = words[1] == "query" or "sha256" in "".join(shown)  # numbers that depend on coins
    assert not _missing(shown, done.output, secret=secret), (command, done.output)


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.md")), ids=lambda page: page.stem)
def test_every_block_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    """Commands end as the page says and print what it shows; Python raises nothing; a policy is one."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "guide"}
    blocks = _blocks(page.read_text(encoding="utf-8"))
    assert {kind for kind, _, _ in blocks} >= {"console", "python"}
    for kind, expected, body in blocks:
        if kind == "console":
            for command, shown in _commands(body):
                _run(command, shown, expected)
        elif kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(body, page.name, "exec"), namespace)  # noqa: S102 - the guide's own words
            namespace["printed"] = [*namespace.get("printed", []), printed.getvalue()]
        else:
            assert kind == "toml", f"{page.name} has a block that nothing runs"
            name = re.match(r"# (\S+\.toml)\n", body)
            assert name, "a policy starts with its file name"
            (tmp_path / name[1]).write_text(body, encoding="utf-8")
    for each in namespace.values():
        if isinstance(each, discreet.Release):
            each.close()
    if page.stem == "analyst":
        _pandas_agrees(namespace["printed"])


def _pandas_agrees(printed: list[str]) -> None:
    """Both recipes for pandas give the numbers that discreet gives."""
    for line in printed[-2:]:
        ours, theirs = line.split()
        assert ours == theirs


def test_every_fence_of_the_guide_is_one_that_runs():
    """No block is skipped because its fence is written otherwise."""
    for page in GUIDE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert len(_blocks(text)) * 2 == len(re.findall(r"^```", text, re.MULTILINE)), page.name


@pytest.mark.parametrize("secret", [True, False])
def test_a_line_that_a_command_does_not_print_is_found(secret):
    """What the pages show is compared, in order; only numbers of secret coins are free."""
    printed = "rows 10\n  interval 3 to 4\nend\n"
    assert _missing(["rows 10", "...", "end"], printed, secret=secret) == []
    assert _missing(["end", "rows 10"], printed, secret=secret) == ["rows 10"]
    assert _missing(["nothing"], printed, secret=secret) == ["nothing"]
    assert _missing(["  interval 5 to 60"], printed, secret=secret) == ([] if secret else ["  interval 5 to 60"])


def test_the_readme_links_every_page_of_the_guide():
    """A page that nobody can find helps nobody."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = sorted(GUIDE.glob("*.md"))
    assert pages
    for page in pages:
        assert f"(docs/guide/{page.name})" in readme
