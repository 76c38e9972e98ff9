"""Comparisons: the document of the command as typed objects, the report, and invalid input."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import stiction as st
from models import BOX

SOLVERS = ["canal", "sap"]


def without_times(document: Any) -> Any:
    """A document without the entries that differ from run to run, such as times."""
    if isinstance(document, dict):
        apart = {"command", "threads", "seconds", "realtime_factor", "microseconds_per_step"}
        return {k: without_times(v) for k, v in document.items() if k not in apart and not k.endswith("_seconds")}
    return [without_times(entry) for entry in document] if isinstance(document, list) else document


def test_the_document_is_that_of_the_command() -> None:
    found = st.compare(st.scenario("clutter", bodies=4), SOLVERS, steps=50)
    command = ["compare", "clutter", "--set", "bodies=4", "--solvers", ",".join(SOLVERS), "--steps", "50", "--json"]
    printed = subprocess.run([sys.executable, "-m", "stiction", *command], capture_output=True, check=True)
    document: st.ComparisonDocument = found.document
    assert without_times(document) == without_times(json.loads(printed.stdout))
    assert set(document) == set(json.loads(printed.stdout))
    assert document["threads"] >= 1 and "compare" in document["command"]


def test_runs_and_captured_steps_are_found_by_name() -> None:
    found = st.compare("stack", SOLVERS, steps=40, tolerance=1e-7)
    assert (found.target, found.reference) == ("stack", "canal")
    assert list(found.solvers) == SOLVERS
    run: st.RunFigures = found.solvers["sap"]
    assert run["steps"] == 40 and run["finished"] and run["friction_model"] == "convex"
    assert found.document["tolerance"] == 1e-7
    step: st.CapturedStep = found.captured[0]
    assert [answer["solver"] for answer in step["answers"]] == SOLVERS
    trace = step["answers"][0]["trace"]
    assert len(trace["iteration"]) == len(trace["residual"]) > 1


def test_the_report_is_one_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    found = st.compare(st.loads(BOX), SOLVERS, time=0.05, report=page)
    assert page.read_text() == found.html()
    assert "canal" in found.html() and "<iframe" in found._repr_html_()
    found.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == found.html()
    assert repr(found).startswith("Comparison(")


def test_a_solver_that_cannot_run_is_reported() -> None:
    found = st.compare("stack", ["sap", "canal"], steps=5, friction_model="coulomb")
    assert "coulomb" in found.solvers["sap"]["error"]
    assert not found.solvers["sap"]["finished"] and found.reference == "canal"


def test_parameters_reach_their_solver() -> None:
    least = st.compare("stack", ["pgs"], steps=5, max_iterations=3)
    assert max(least.solvers["pgs"]["iterations"].values(), key=lambda x: x or 0) == 3
    st.compare("stack", ["pgs", "sap"], steps=2, solver_settings={"pgs": {"omega": 0.8}})


def test_invalid_input_is_rejected_before_the_runs(tmp_path: Path) -> None:
    for arguments, expected in [
        ({"solvers": ["magic"]}, "magic"),
        ({"solvers": ["sap", "sap"]}, "twice"),
        ({"solvers": []}, "at least one"),
        ({"solvers": ["sap"], "steps": 0}, "at least one"),
        ({"solvers": ["sap"], "steps": 1, "time": 1.0}, "expected one"),
        ({"solvers": ["sap"], "report": tmp_path / "report.docx"}, "docx"),
        ({"solvers": ["sap"], "report": tmp_path / "report.png"}, r"\.html"),
        ({"solvers": ["sap"], "report": tmp_path / "no" / "report.html"}, "no folder"),
        ({"solvers": ["sap"], "solver_settings": {"pgs": {"omega": 1}}}, "pgs"),
        ({"solvers": ["pgs"], "solver_settings": {"pgs": {"magic": 1}}}, "magic"),
        ({"solvers": ["pgs"], "magic": 1}, "magic"),
        ({"solvers": ["pgs"], "time_limit": 0.0}, "time_limit"),
    ]:
        with pytest.raises(st.StictionError, match=expected):
            st.compare("stack", **{"steps": 1, **arguments} if "time" not in arguments else arguments)  # type: ignore[arg-type]
    with pytest.raises(st.ModelError, match="nowhere"):
        st.compare("nowhere", ["sap"])
    assert list(tmp_path.iterdir()) == []
