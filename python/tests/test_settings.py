"""Every setting of the table is a keyword, is read back, is listed and stands in the documentation."""

import json
import subprocess
import sys
from typing import Any

import pytest

import stiction as st
from conftest import ROOT


def listed() -> list[dict[str, Any]]:
    call = [sys.executable, "-m", "stiction", "list", "settings", "--json"]
    output = subprocess.run(call, capture_output=True, check=True, text=True).stdout
    return json.loads(output)["settings"]  # type: ignore[no-any-return]


SETTINGS = [entry for entry in listed() if entry["solver"] is None]


def other_value(entry: dict[str, Any]) -> Any:
    """A value in range that is not the default."""
    if entry["type"] == "choice":
        return next(name for name in entry["choices"] if name != entry["default"])
    return {"flag": not entry["default"], "count": 7, "number": 0.125, "text": "other"}[entry["type"]]


@pytest.fixture(scope="module")
def model() -> st.Model:
    return st.scenario("stack")


@pytest.mark.parametrize("entry", SETTINGS, ids=lambda entry: entry["keyword"])
def test_every_setting_is_read_back_as_it_was_set(entry: dict[str, Any], model: st.Model) -> None:
    keyword, value = entry["keyword"], other_value(entry)
    settings = st.Simulation(model, **{keyword: value}).settings
    assert settings[keyword] == value and type(settings[keyword]) is type(value)
    # Text is read as on the command line, except for the typed parameter of the constructor.
    if keyword == "time_step":
        return
    text = value if isinstance(value, str) else json.dumps(value)
    assert st.Simulation(model, **{keyword: text}).settings == settings


def test_all_settings_of_one_simulation_make_those_of_another(model: st.Model) -> None:
    settings = st.Simulation(model, "alm", sleep=False, solver_growth=3.0).settings
    assert {entry["keyword"] for entry in SETTINGS} <= settings.keys()
    assert float(settings["solver_growth"]) == 3.0
    assert st.Simulation(model, **settings).settings == settings
    backwards = dict(reversed(settings.items()))
    assert st.Simulation(model, **backwards).settings == settings


@pytest.mark.parametrize("entry", SETTINGS, ids=lambda entry: entry["keyword"])
def test_values_out_of_range_are_refused_by_keyword(entry: dict[str, Any], model: st.Model) -> None:
    if entry["keyword"] == "solver":
        return
    wrong = "none of these" if entry["type"] != "number" else -1.0
    with pytest.raises(st.SettingError, match=rf"setting '{entry['keyword']}'.*expected"):
        st.Simulation(model, **{entry["keyword"]: wrong})


def test_solver_settings_of_a_scene_apply_only_to_the_solver_of_the_scene() -> None:
    scene = """
    [[body]]
    name = "ball"
    shape = "sphere"
    radius = 0.1
    [step]
    solver = { name = "alm", growth = 3 }
    """
    model = st.loads(scene, format="native")

    def growth(solver: str | None, **settings: Any) -> float:
        return float(st.Simulation(model, solver, **settings).settings["solver_growth"])

    default = float(st.Simulation(st.scenario("stack"), "canal").settings["solver_growth"])
    assert growth(None) == 3.0
    assert growth("alm") == 3.0
    assert growth("canal") == default
    assert growth("canal", solver_growth=5.0) == 5.0


def test_unknown_keywords_are_refused_with_the_known_ones(model: st.Model) -> None:
    with pytest.raises(st.SettingError, match=r"stabilization_slop.*stabilisation_slop.*solver_KEY"):
        st.Simulation(model, stabilization_slop=0.0)
    with pytest.raises(st.SolverError, match=r"solver_growht.*solver_growth"):
        st.Simulation(model, "alm", solver_growht=3.0)
    with pytest.raises(st.SettingError, match="time_step"):
        st.scenario("stack", time_steps=1.0)


def test_every_setting_stands_in_the_documentation() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    for entry in SETTINGS:
        assert f"| `{entry['keyword']}` |" in page and entry["about"] in page


def test_accuracy_is_the_tolerance_and_a_budget_makes_reports_say_that_bits_are_not_reproducible(
    model: st.Model,
) -> None:
    simulation = st.Simulation(model, accuracy=1e-4, budget=None)
    assert simulation.settings["tolerance"] == 1e-4 and simulation.settings["budget"] is None
    assert simulation.step().reproducible
    with pytest.raises(st.SettingError, match="accuracy and tolerance"):
        st.Simulation(model, accuracy=1e-4, tolerance=1e-5)
    report = st.Simulation(model, budget=1e3).step()
    assert not report.reproducible and report.parts == 1
