"""The words of MJCF that are known here against those that MuJoCo accepts."""

import json
import re
import subprocess
import sys

import pytest

mujoco = pytest.importorskip("mujoco")

# Attributes start at this column of MuJoCo's grammar; levels are indented by three.
COLUMN, INDENT = 30, 3


def grammar() -> set[tuple[str, str | None]]:
    """Elements, by path, and their attributes that MuJoCo accepts."""
    found: set[tuple[str, str | None]] = set()
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if not line.strip():
            continue
        start = re.match(r"( *)(\S+) \(.\)", line[:COLUMN])
        if start:
            level, name = len(start[1]) // INDENT, start[2].replace("(world)body", "worldbody")
            path[level:] = [name]
        element = "/".join(path)
        # The world body has the children of a body; the attributes are those of a body.
        owner = "mujoco/worldbody/body" if element == "mujoco/worldbody" else element
        found.add((element, None))
        found.update((owner, attribute) for attribute in line[COLUMN:].split())
    return found


def vocabulary() -> dict[tuple[str, str | None], str]:
    """Elements and attributes that are known here, and how each is treated."""
    command = [sys.executable, "-m", "stiction", "list", "mjcf", "--json"]
    words = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["mjcf"]
    return {(word["element"], word["attribute"]): word["treatment"] for word in words}


def test_every_element_and_attribute_of_mujoco_is_known() -> None:
    theirs, ours = grammar(), vocabulary()
    # The grammar has been parsed: MuJoCo 3 and 4 have more than 1500 words, among them these.
    assert len(theirs) > 1500 and ("mujoco/worldbody/geom", "friction") in theirs
    unknown = sorted(f"{element} {attribute or ''}" for element, attribute in theirs - set(ours))
    assert not unknown, unknown
    for treatment in ["read", "ignored", "unsupported"]:
        words = [word for word in theirs if ours[word] == treatment]
        print(f"{treatment}: {len(words)} of {len(theirs)} words of MJCF")
