"""Mechanics at a state against closed forms and finite differences."""

import numpy as np
import pytest

import stiction as st
from models import GRAVITY, PENDULUM, ROD_INERTIA, ROD_LENGTH, ROD_MASS

ROUNDING = 1e-13
"""A few hundred operations on numbers of order one."""


@pytest.fixture
def pendulum() -> st.Simulation:
    simulation = st.Simulation(st.loads(PENDULUM))
    simulation.qpos[0], simulation.qvel[0] = 0.7, -1.3
    return simulation


@pytest.fixture
def arm() -> st.Simulation:
    simulation = st.Simulation(st.scenario("arm"))
    random = np.random.default_rng(3)
    simulation.qpos[:] = random.uniform(-1, 1, simulation.model.nq)
    simulation.qvel[:] = random.uniform(-1, 1, simulation.model.nv)
    return simulation


def test_a_pendulum_has_the_inertia_of_its_parallel_axis(pendulum: st.Simulation) -> None:
    expected = ROD_INERTIA + ROD_MASS * ROD_LENGTH**2
    assert pendulum.mass_matrix() == pytest.approx(np.array([[expected]]), rel=ROUNDING)


def test_the_bias_of_a_pendulum_is_its_weight(pendulum: st.Simulation) -> None:
    torque = ROD_MASS * GRAVITY * ROD_LENGTH * np.sin(0.7)
    assert pendulum.bias_forces() == pytest.approx([torque], rel=ROUNDING)


def test_a_pendulum_has_the_energy_of_its_height_and_speed(pendulum: st.Simulation) -> None:
    energy = pendulum.energy()
    inertia = ROD_INERTIA + ROD_MASS * ROD_LENGTH**2
    assert energy.kinetic == pytest.approx(0.5 * inertia * 1.3**2, rel=ROUNDING)
    assert energy.potential == pytest.approx(-ROD_MASS * GRAVITY * ROD_LENGTH * np.cos(0.7), rel=ROUNDING)
    assert energy.total == energy.kinetic + energy.potential


def test_sensors_measure_the_motion(pendulum: st.Simulation) -> None:
    assert pendulum.sensor("angle") == pytest.approx([0.7])
    tip = pendulum.site_pose("tip").position
    assert pendulum.sensor("tip_position") == pytest.approx(tip)
    assert pendulum.sensor_data.shape == (pendulum.model.nsensordata,) == (4,)


def test_inverse_dynamics_undoes_forward_dynamics(arm: st.Simulation) -> None:
    acceleration = arm.forward_dynamics()
    # Only gravity and inertia act: the generalized forces are zero.
    scale = np.abs(arm.bias_forces()).max()
    assert np.abs(arm.inverse_dynamics(acceleration)).max() <= ROUNDING * scale


def test_forces_are_mass_times_acceleration_and_bias(arm: st.Simulation) -> None:
    a = np.linspace(-1, 1, arm.model.nv)
    expected = arm.mass_matrix() @ a + arm.bias_forces()
    assert arm.inverse_dynamics(a) == pytest.approx(expected, rel=ROUNDING, abs=ROUNDING)


def test_jacobians_are_derivatives_of_poses(arm: st.Simulation) -> None:
    hand = arm.model.nbody - 1
    jacobian, q = arm.jacobian(hand), arm.qpos.copy()
    assert jacobian.shape == (6, arm.model.nv)
    h = 1e-6
    for dof in range(arm.model.nv):
        ends = []
        for sign in (1, -1):
            arm.qpos[:] = q
            arm.qpos[dof] += sign * h
            ends.append(arm.body_pose(hand))
        linear = (ends[0].position - ends[1].position) / (2 * h)
        turn = ends[0].rotation @ ends[1].rotation.T
        turn = (turn - turn.T) / (4 * h)
        angular = [turn[2, 1], turn[0, 2], turn[1, 0]]
        # Central differences: h² from the expansion, ε/h from round-off.
        assert jacobian[:3, dof] == pytest.approx(angular, abs=1e-8)
        assert jacobian[3:, dof] == pytest.approx(linear, abs=1e-8)


def test_velocities_are_jacobians_times_rates(arm: st.Simulation) -> None:
    point = [0.1, -0.2, 0.3]
    velocity = arm.body_velocity("arm-hand", point)
    twist = arm.jacobian("arm-hand", point) @ arm.qvel
    assert velocity.angular == pytest.approx(twist[:3], abs=ROUNDING)
    assert velocity.linear == pytest.approx(twist[3:], abs=ROUNDING)


def test_kinetic_energy_is_half_v_m_v(arm: st.Simulation) -> None:
    assert arm.energy().kinetic == pytest.approx(0.5 * arm.qvel @ arm.mass_matrix() @ arm.qvel, rel=ROUNDING)


def test_a_pose_is_a_transformation(arm: st.Simulation) -> None:
    pose = arm.body_pose("arm-hand")
    position, quaternion = pose
    assert pose.matrix[:3, 3] == pytest.approx(position)
    assert pose.rotation @ pose.rotation.T == pytest.approx(np.eye(3), abs=ROUNDING)
    assert np.linalg.det(pose.rotation) == pytest.approx(1.0)
    assert np.linalg.norm(quaternion) == pytest.approx(1.0)


def test_a_model_describes_its_parts() -> None:
    model = st.loads(PENDULUM)
    assert (model.name, model.format) == ("pendulum", "mjcf")
    assert (model.nq, model.nv, model.nu, model.nbody, model.njnt) == (1, 1, 1, 2, 1)
    assert model.body_names == ["world", "rod"]
    assert model.joint_names == ["swing"] and model.actuator_names == ["torque"]
    assert model.sensor_names == ["angle", "tip_position"] and model.site_names == ["tip"]
    assert model.keyframe_names == ["raised"] and model.time_step == 0.001
    assert model.body_mass("rod") == ROD_MASS and model.masses.tolist() == [0.0, ROD_MASS]
    assert model.body_com("rod") == pytest.approx([0, 0, -ROD_LENGTH])
    assert model.body_inertia("rod") == pytest.approx(ROD_INERTIA * np.eye(3))
    assert model.ctrl_range.tolist() == [[-5.0, 5.0]]
    joint = model.joint("swing")
    assert (joint.name, joint.type, joint.body, joint.range) == ("swing", "hinge", "rod", None)
    assert (joint.qpos_range, joint.qvel_range) == (slice(0, 1, 1), slice(0, 1, 1))
    assert model.unsupported == [] and "pendulum" in repr(model)
