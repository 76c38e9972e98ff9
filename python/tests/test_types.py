"""Types: the stubs match the module, and the examples pass strict checks."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

pytest.importorskip("mypy")


def check(*arguments: str, folder: Path) -> None:
    command = [sys.executable, "-m", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    check("mypy.stubtest", "stiction._native", folder=tmp_path)


def test_the_package_and_the_examples_are_typed(tmp_path: Path) -> None:
    examples = [str(path) for path in sorted((ROOT / "examples" / "python").glob("*.py"))]
    assert examples
    package = str(ROOT / "python" / "stiction")
    check("mypy", "--strict", package, *examples, folder=tmp_path)
