"""The arrays of a simulation are views: writable, updated by steps, and valid after its deletion."""

import gc

import numpy as np
import pytest

import stiction as st
from models import BOX, PENDULUM


@pytest.fixture
def pendulum() -> st.Simulation:
    return st.Simulation(st.loads(PENDULUM))


def test_written_values_are_used_by_the_next_query(pendulum: st.Simulation) -> None:
    before = pendulum.site_pose("tip").position
    pendulum.qpos[0] = np.pi / 2
    after = pendulum.site_pose("tip").position
    # The rod of unit length points along -z; a rotation by 90° about y takes it to -x.
    assert before == pytest.approx([0, 0, -1], abs=1e-15)
    assert after == pytest.approx([-1, 0, 0], abs=1e-15)


def test_a_step_starts_from_written_values_and_updates_the_view(pendulum: st.Simulation) -> None:
    q, v = pendulum.qpos, pendulum.qvel
    v[0] = 2.0
    pendulum.step()
    assert q[0] != 0.0
    # Moved by about one step of the velocity; gravity changes that by the square of the step.
    assert q[0] == pytest.approx(2.0 * pendulum.time_step, rel=1e-2)


def test_repeated_access_returns_the_same_array(pendulum: st.Simulation) -> None:
    for name in ["qpos", "qvel", "ctrl", "wrench"]:
        first, second = getattr(pendulum, name), getattr(pendulum, name)
        assert np.shares_memory(first, second)
        assert not first.flags.owndata and first.flags.writeable
        assert first.dtype == np.float64


def test_views_outlive_the_simulation() -> None:
    simulation = st.Simulation(st.loads(PENDULUM), keyframe="raised")
    simulation.step(10)
    q, kept = simulation.qpos, simulation.qpos.copy()
    del simulation
    gc.collect()
    _ = [np.ones(64) for _ in range(100)]  # would reuse freed memory
    assert (q == kept).all()
    q[0] = 3.0
    assert q[0] == 3.0


def test_assignment_writes_through(pendulum: st.Simulation) -> None:
    q = pendulum.qpos
    pendulum.qpos = [0.25]
    assert q[0] == 0.25
    pendulum.ctrl = 1.0
    assert pendulum.ctrl[0] == 1.0
    pendulum.qvel += 1.0
    assert pendulum.qvel[0] == 1.0


def test_a_control_acts_until_changed(pendulum: st.Simulation) -> None:
    pendulum.ctrl[0] = 3.0
    still = pendulum.forward_dynamics()[0]
    pendulum.step(2)
    assert pendulum.ctrl[0] == 3.0
    pendulum.reset()
    assert pendulum.ctrl[0] == 0.0
    # At rest at the bottom: acceleration is torque over inertia about the hinge.
    inertia = pendulum.mass_matrix()[0, 0]
    assert still == pytest.approx(3.0 / inertia, rel=1e-12)


def test_a_wrench_pushes_a_body() -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.qpos[2] = 1.0
    weight = simulation.model.body_mass("box") * 9.81
    simulation.wrench[1] = [0, 0, 0, 0, 0, weight]
    simulation.step(50)
    # The force balances the weight: nothing moves, except for round-off of the sum.
    assert np.abs(simulation.qvel).max() <= 1e-12
    simulation.body("box").wrench = np.zeros(6)
    assert (simulation.wrench == 0).all()


def test_named_parts_are_views(pendulum: st.Simulation) -> None:
    joint = pendulum.joint("swing")
    joint.qpos[0] = 0.5
    assert pendulum.qpos[0] == 0.5
    joint.qpos = 0.75
    joint.qvel = -1.0
    assert (pendulum.qpos[0], pendulum.qvel[0]) == (0.75, -1.0)
    assert np.shares_memory(joint.qpos, pendulum.qpos)
    actuator = pendulum.actuator("torque")
    actuator.ctrl = 2.5
    assert pendulum.ctrl[0] == 2.5 == actuator.ctrl
    assert actuator.range == (-5.0, 5.0)
    body = pendulum.body("rod")
    assert (body.name, body.id, body.mass) == ("rod", 1, 2.0)
    # The body's origin lies on the axis of the hinge.
    assert body.velocity.angular == pytest.approx([0, -1, 0])
    assert body.velocity.linear == pytest.approx([0, 0, 0])


def test_a_quaternion_near_unit_length_is_normalised_and_shown_so() -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.qpos[3:7] = np.array([1.0, 0.1, 0.0, 0.0]) / np.sqrt(1.01) * 1.001
    simulation.body_pose("box")
    assert np.linalg.norm(simulation.qpos[3:7]) == pytest.approx(1.0, abs=1e-15)


def test_a_reshaped_view_has_no_effect(pendulum: st.Simulation) -> None:
    pendulum.qpos.shape = (1, 1)
    pendulum.step()
    with pytest.raises(ValueError, match="own"):
        pendulum.wrench.resize((100, 6))
    pendulum.step()
