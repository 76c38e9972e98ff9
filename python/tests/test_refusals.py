"""Bad input: every message says what was found and what was expected; nothing changes."""

from pathlib import Path

import numpy as np
import pytest

import stiction as st
from models import BOX, PENDULUM


@pytest.fixture(scope="module")
def model() -> st.Model:
    return st.loads(PENDULUM)


def test_every_error_is_a_stiction_error_and_bad_input_is_a_value_error() -> None:
    for error in [st.ModelError, st.ProblemError, st.SettingError, st.SolverError, st.StateError]:
        assert issubclass(error, st.StictionError) and issubclass(error, ValueError)
    assert issubclass(st.StepError, st.StictionError) and issubclass(st.StateError, st.StepError)
    assert issubclass(st.ModelNotFoundError, FileNotFoundError)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing.xml"):
        st.load(tmp_path / "nothing.xml")


def test_a_file_of_an_unknown_kind(tmp_path: Path) -> None:
    path = tmp_path / "robot.docx"
    path.write_text("")
    with pytest.raises(st.ModelError, match=r"\.urdf"):
        st.load(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<mujoco",
        "<mujoco><worldbody><body></worldbody></mujoco>",
        '<mujoco><worldbody><geom type="sphere" size="nan"/></worldbody></mujoco>',
        '<mujoco><worldbody><geom type="donut" size="1"/></worldbody></mujoco>',
        '<mujoco><asset><mesh name="m" file="missing.stl"/></asset></mujoco>',
    ],
)
def test_a_text_that_is_not_a_model_is_rejected(text: str) -> None:
    with pytest.raises(st.ModelError, match="expected|missing|error"):
        st.loads(text)


def test_a_format_that_is_not_known() -> None:
    with pytest.raises(st.ModelError, match="mjcf, native, urdf"):
        st.loads("", format="vrml")  # type: ignore[arg-type]


def test_scenarios_and_parameters_that_are_not_known() -> None:
    with pytest.raises(st.ModelError, match="clutter"):
        st.scenario("cluter")
    with pytest.raises(st.SettingError, match="tolerance"):
        st.scenario("arm", bent=0.1)
    with pytest.raises(st.ModelError, match="from -1 to 1"):
        st.scenario("arm", bend=7)


def test_names_that_are_not_known(model: st.Model) -> None:
    simulation = st.Simulation(model)
    for call in [
        lambda: simulation.body_pose("rode"),
        lambda: simulation.jacobian("rode"),
        lambda: simulation.joint("rode"),
        lambda: simulation.actuator("rode"),
        lambda: simulation.site_pose("rode"),
        lambda: simulation.sensor("rode"),
        lambda: simulation.reset("rode"),
        lambda: model.body_mass("rode"),
        lambda: model.joint("rode"),
    ]:
        with pytest.raises(st.ModelError, match='"rode"; expected one of: '):
            call()
    with pytest.raises(st.ModelError, match="less than 2"):
        simulation.body_pose(2)
    with pytest.raises(st.ModelError, match="name or a number"):
        simulation.body_pose(1.5)  # type: ignore[arg-type]


def test_arrays_of_the_wrong_shape(model: st.Model) -> None:
    simulation = st.Simulation(model)
    with pytest.raises(ValueError, match="shape"):
        simulation.qpos = [1.0, 2.0]
    with pytest.raises(st.StateError, match="3 entries; expected nv = 1"):
        simulation.inverse_dynamics([1.0, 2.0, 3.0])
    with pytest.raises(st.StateError, match="expected 3"):
        simulation.jacobian("rod", point=[1.0, 2.0])
    with pytest.raises(st.StateError, match="finite"):
        simulation.jacobian("rod", point=[1.0, 2.0, np.nan])
    with pytest.raises(st.StateError, match="flat array"):
        simulation.inverse_dynamics("fast")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_numbers_are_rejected(model: st.Model, value: float) -> None:
    simulation = st.Simulation(model)
    for array in [simulation.qpos, simulation.qvel]:
        array[0] = value
        with pytest.raises(st.StateError, match="finite"):
            simulation.step()
        with pytest.raises(st.StateError, match="finite"):
            simulation.mass_matrix()
        assert not np.isfinite(array[0])
        array[0] = 0.0
    simulation.step()
    with pytest.raises(st.StateError, match="finite"):
        simulation.time = value


def test_a_quaternion_of_any_length_is_normalised_as_in_mujoco() -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.qpos[3:7] = [0.0, 2.0, 0.0, 0.0]
    assert simulation.body_pose("box").quaternion.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert simulation.qpos[3:7].tolist() == [0.0, 1.0, 0.0, 0.0]
    simulation.qpos[3:7] = 0.0
    assert simulation.body_pose("box").quaternion.tolist() == [1.0, 0.0, 0.0, 0.0]
    simulation.qpos[3] = np.nan
    with pytest.raises(st.StateError, match="finite"):
        simulation.step()


def test_invalid_settings_are_rejected(model: st.Model) -> None:
    with pytest.raises(st.SolverError, match="subadmm"):
        st.Simulation(model, solver="magic")
    with pytest.raises(st.SolverError, match="solve"):
        st.Simulation(model, solver=3)  # type: ignore[arg-type]
    with pytest.raises(st.SettingError, match="time_step.*> 0"):
        st.Simulation(model, time_step=-1.0)
    with pytest.raises(st.SettingError, match="no setting"):
        st.Simulation(model, tolerances=1e-3)
    with pytest.raises(st.SettingError, match="type list"):
        st.Simulation(model, tolerance=[1])  # type: ignore[arg-type]
    with pytest.raises(st.SettingError, match="euler"):
        st.Simulation(model, scheme="leapfrog")
    with pytest.raises(st.ModelError, match="controller"):
        st.Simulation(model).controlled = True


def test_a_state_of_another_model(model: st.Model) -> None:
    state = st.Simulation(st.loads(BOX)).get_state()
    simulation = st.Simulation(model)
    before = simulation.state_hash()
    with pytest.raises(st.StateError, match="expected"):
        simulation.set_state(state)
    assert simulation.state_hash() == before


def test_overflow_is_a_step_error(model: st.Model) -> None:
    simulation = st.Simulation(model, time_step=1.0)
    simulation.qvel[0] = 1.7e308
    with pytest.raises(st.StepError, match="time step"):
        simulation.step(100)
    # The first step was made, and no more.
    assert simulation.time == 1.0 and np.isfinite(simulation.qpos).all()
