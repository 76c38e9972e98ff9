"""The console script is the command `stiction`."""

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import stiction as st


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "stiction", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_version_is_that_of_the_package() -> None:
    found = run("--version")
    assert found.returncode == 0 and st.__version__ in found.stdout


def test_a_list_in_json_is_that_of_the_package() -> None:
    found = json.loads(run("list", "solvers", "--json").stdout)
    names = [entry["name"] for entry in (found["solvers"] if isinstance(found, dict) else found)]
    assert names == list(st.solvers())


def test_a_run_says_the_same_as_the_package() -> None:
    found = run("run", "clutter", "--set", "bodies=5", "--steps", "50", "--json")
    assert found.returncode in (0, 1), found.stderr
    report = json.loads(found.stdout)
    simulation = st.Simulation(st.scenario("clutter", bodies=5))
    simulation.step(50)
    assert int(report["state_hash"], 16) == simulation.state_hash()


def test_a_wrong_call_has_status_two() -> None:
    found = run("run", "no-such-scene")
    assert found.returncode == 2 and "no-such-scene" in found.stderr and found.stdout == ""


def test_the_script_is_installed() -> None:
    script = shutil.which("stiction", path=sysconfig.get_path("scripts"))
    if script is None:
        pytest.skip("the package is not installed with its script")
    found = subprocess.run([script, "list"], capture_output=True, text=True, check=False)
    assert found.returncode == 0 and "clutter" in found.stdout


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stiction", "run", "clutter", "--steps", "100000000", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=20)
    # Either it listens already and ends with what it has, or the interpreter was not yet that far.
    assert process.returncode in (130, -signal.SIGINT)
    if process.returncode == 130:
        assert "asked to stop" in json.loads(printed)["check"]["detail"]
