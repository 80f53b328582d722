"""A register: names are known at once, values are made when they are asked for, and once."""

import subprocess
import sys
import threading

import pytest

from discreet.families import KINDS
from discreet.release.family import FAMILIES
from discreet.schema.mechanisms import MECHANISMS
from discreet.schema.register import Register


def test_names_are_known_without_making_a_value():
    """Listing, counting and looking for a name load nothing; asking for one loads that one."""
    made = []
    register = Register()
    register.enter(["a", "b"], lambda: made.append("ab") or object())
    register.enter(["c"], lambda: made.append("c") or "see")
    assert (list(register), len(register), "b" in register, "d" in register) == (["a", "b", "c"], 3, True, False)
    assert not made
    assert register["c"] == "see"
    assert made == ["c"]
    assert register["a"] is register["b"]
    assert dict(register)["a"] is register["a"]
    assert made == ["c", "ab"]
    with pytest.raises(KeyError):
        register["d"]


def test_a_value_takes_the_place_of_another_and_goes_again(monkeypatch):
    """As in a dict: set, patched in a test, deleted; a second name of the same value keeps it."""
    register = Register({"policy": "discreet.schema.policy:Policy"})
    register.enter(["a", "b"], lambda: 1)
    with monkeypatch.context() as patch:
        patch.setitem(register, "a", 2)
        patch.setitem(register, "new", 3)
        assert (register["a"], register["b"], register["new"]) == (2, 1, 3)
    assert (register["a"], list(register)) == (1, ["policy", "a", "b"])
    del register["a"]
    assert list(register) == ["policy", "b"]
    assert register["policy"].__name__ == "Policy"


def test_what_cannot_be_made_is_tried_again():
    """An error while a value is made is the asker's, and is not kept."""
    answers = iter([ValueError("not yet"), "now"])

    def load():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    register = Register()
    register.enter(["a"], load)
    with pytest.raises(ValueError, match="not yet"):
        register["a"]
    assert register["a"] == "now"


def test_threads_that_ask_at_once_get_the_same_value():
    """Each may make one, while the other does; all get the one that was there first."""
    together = threading.Barrier(8)
    register = Register()
    register.enter(["a"], lambda: (together.wait() and object()) or object())
    found = []
    threads = [threading.Thread(target=lambda: found.append(register["a"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len({id(each) for each in found}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_place_in_the_table_of_families_holds_what_it_is_named_for(kind):
    """Mechanisms by their kinds, estimators by their names, and one row for all kinds of a family."""
    family = FAMILIES[kind]
    assert MECHANISMS[kind] is family.mechanisms[kind]
    assert MECHANISMS[kind].kind == kind
    assert all(FAMILIES[other] is family for other in family.mechanisms)
    assert {name: each.name for name, each in family.estimators.items()} == {each: each for each in family.estimators}


@pytest.mark.parametrize(
    "room", ["schema.mechanisms", "schema.policy", "release.family", "estimate.open", "query.parse"]
)
def test_the_registers_are_filled_whichever_room_comes_first(room):
    """A room that is imported alone finds every family."""
    code = (
        f"import discreet.{room}; from discreet.release.family import FAMILIES; "
        "from discreet.schema.mechanisms import MECHANISMS; print(*FAMILIES, *MECHANISMS)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - us
    assert said.stdout.split() == [*KINDS, *KINDS]
