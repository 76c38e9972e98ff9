"""The examples run, and do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "examples" / "python"
PICK = "panda_pick.py"
APART = {PICK, "view_live.py"}
"""Examples that need a model file or a user."""


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("name", sorted({p.name for p in EXAMPLES.glob("*.py")} - APART))
def test_an_example_runs(name: str) -> None:
    assert run(name)


def test_a_panda_holds_a_cube_without_slip(data_sets: Path) -> None:
    said = run(PICK, str(data_sets / "models" / "franka_emika_panda" / "panda.xml"))
    found = re.search(r"held at ([\d.]+) m; slip in 10 s: ([\d.]+) mm", said)
    assert found is not None, said
    assert float(found[1]) > 0.25 and float(found[2]) < 0.01
