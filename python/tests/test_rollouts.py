"""Batches: the same bits as single runs, for every number of threads."""

import numpy as np
import pytest

import stiction as st
from models import BOX, PENDULUM


def test_a_batch_is_as_many_single_runs_for_every_number_of_threads() -> None:
    model = st.scenario("clutter", bodies=6)
    simulation = st.Simulation(model)
    states = []
    for _ in range(5):
        simulation.step(20)
        states.append(simulation.get_state())
    expected = []
    for state in states:
        simulation.set_state(state)
        motion = []
        for _ in range(30):
            simulation.step()
            motion.append(np.concatenate([[simulation.time], simulation.qpos, simulation.qvel]))
        expected.append(motion)
    for threads in [1, 2, 3, None]:
        batch = st.rollout(model, states, steps=30, threads=threads)
        found = np.concatenate([batch.time[..., None], batch.qpos, batch.qvel], axis=2)
        assert (found == np.array(expected)).all()
        assert (batch.failed == -1).all() and batch.unconverged.shape == (5,)


def test_arrays_of_states_and_controls() -> None:
    model = st.loads(PENDULUM)
    states = np.array([[0.1, 0.0], [0.2, -0.5], [0.3, 1.0]])
    controls = np.random.default_rng(5).uniform(-1, 1, (3, 40, 1))
    batch = st.rollout(model, states, controls, threads=2)
    assert batch.qpos.shape == (3, 40, 1) and batch.qvel.shape == (3, 40, 1)
    assert batch.sensor_data.shape == (3, 40, model.nsensordata)
    for item in range(3):
        simulation = st.Simulation(model)
        simulation.qpos[:], simulation.qvel[:] = states[item, :1], states[item, 1:]
        for step in range(40):
            simulation.ctrl[:] = controls[item, step]
            simulation.step()
            assert batch.qpos[item, step] == simulation.qpos
            assert (batch.sensor_data[item, step] == simulation.sensor_data).all()
    alike = st.rollout(model, states, controls[0])
    assert (alike.qpos[0] == batch.qpos[0]).all() and (alike.qpos[1] != batch.qpos[1]).any()


def test_controls_of_a_state_stay_without_others() -> None:
    model = st.loads(PENDULUM)
    simulation = st.Simulation(model)
    simulation.ctrl[0] = 2.0
    batch = st.rollout(model, simulation.get_state(), steps=10)
    simulation.step(10)
    assert batch.qpos[0, -1] == simulation.qpos


def test_an_empty_batch_is_empty() -> None:
    model = st.loads(PENDULUM)
    assert st.rollout(model, [], steps=3).qpos.shape == (0, 3, 1)
    assert st.rollout(model, np.zeros((2, 2)), steps=0).qpos.shape == (2, 0, 1)


def test_settings_are_applied() -> None:
    model = st.loads(BOX)
    state = np.concatenate([model.qpos0, np.zeros(model.nv)])[None]
    batch = st.rollout(model, state, steps=4, time_step=0.01, solver="canal")
    assert batch.time[0] == pytest.approx([0.01, 0.02, 0.03, 0.04])


def test_a_failed_step_raises_or_is_marked() -> None:
    model = st.loads(PENDULUM)
    states = np.array([[0.0, 0.0], [0.0, 1.7e308]])
    with pytest.raises(st.StepError, match="rollout 1, step 1"):
        st.rollout(model, states, steps=5, time_step=1.0)
    batch = st.rollout(model, states, steps=5, time_step=1.0, on_error="nan")
    assert batch.failed.tolist() == [-1, 1]
    assert np.isfinite(batch.qpos[0]).all() and np.isnan(batch.qpos[1, -1]).all()
    with pytest.raises(st.StateError, match="finite"):
        st.rollout(model, [[np.nan, 0.0]], steps=1)


def test_shapes_that_do_not_fit() -> None:
    model = st.loads(PENDULUM)
    with pytest.raises(st.StateError, match=r"nq \+ nv"):
        st.rollout(model, np.zeros((2, 3)), steps=1)
    with pytest.raises(st.StateError, match="controls has shape"):
        st.rollout(model, np.zeros((2, 2)), np.zeros((3, 10, 1)))
    with pytest.raises(st.StateError, match="controls has shape"):
        st.rollout(model, np.zeros((2, 2)), np.zeros((10, 2)))
    with pytest.raises(st.SettingError, match="steps"):
        st.rollout(model, np.zeros((2, 2)))
    with pytest.raises(st.SettingError, match="at most"):
        st.rollout(model, np.zeros((2, 2)), np.zeros((10, 1)), steps=11)
    with pytest.raises(st.StateError, match="expected a State"):
        st.rollout(model, [object()], steps=1)  # type: ignore[list-item]
    with pytest.raises(st.SettingError, match="raise or nan"):
        st.rollout(model, np.zeros((2, 2)), steps=1, on_error="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", [10**10, 2**62])
def test_a_batch_that_does_not_fit_into_memory_is_refused_with_its_size(steps: int) -> None:
    model = st.loads(PENDULUM)
    with pytest.raises(st.SettingError, match="of the memory that is available") as refused:
        st.rollout(model, np.zeros((4, 2)), steps=steps)
    assert f"4 simulations for steps = {steps}" in str(refused.value)


def test_more_threads_than_can_be_of_use_are_refused() -> None:
    with pytest.raises(st.SettingError, match="threads = 1000000; expected at most"):
        st.rollout(st.loads(PENDULUM), np.zeros((1, 2)), steps=1, threads=10**6)


def test_a_cable_of_too_many_segments_is_refused() -> None:
    text = "[[cable]]\nstart = [0, 0, 1]\nlength = 1\nsegments = 4000000000\n"
    with pytest.raises(st.ModelError, match="expected at most"):
        st.loads(text, format="native")
