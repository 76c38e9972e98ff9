"""Driven (mocap) bodies: contact, welds, states and keyframes."""

import numpy as np
import pytest

import stiction as st

PADDLE = """<mujoco><option timestep="0.002"/><worldbody>
  <geom type="plane" size="1 1 .1"/>
  <body name="paddle" mocap="true" pos="0 0 .2"><geom type="box" size=".05 .2 .2"/></body>
  <body name="cube" pos=".1 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
</worldbody><keyframe><key name="far" mpos="-1 0 .2" mquat="0 0 0 2"/></keyframe></mujoco>"""

HAND = """<mujoco><worldbody>
  <body name="hand"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
    <joint type="slide" axis="0 0 1"/><geom size=".05"/></body>
  <body name="target" mocap="true"/>
</worldbody><equality><weld body1="target" body2="hand" torquescale="0"/></equality></mujoco>"""

UPRIGHT = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture
def simulation() -> st.Simulation:
    return st.Simulation(st.loads(PADDLE))


def test_a_cube_moves_with_the_paddle_that_pushes_it(simulation: st.Simulation) -> None:
    paddle, cube, speed = simulation.body("paddle"), simulation.body("cube"), 0.5
    for step in range(1, 201):
        paddle.pose = ([speed * simulation.time_step * step, 0, 0.2], UPRIGHT)
        simulation.step()
    assert paddle.pose.position == pytest.approx([200 * speed * simulation.time_step, 0, 0.2])
    # Contacts of MJCF yield: they are still settling by about 1e-3.
    assert cube.velocity.linear[0] == pytest.approx(speed, rel=1e-2)
    assert cube.pose.position[0] - paddle.pose.position[0] == pytest.approx(0.1, abs=2e-3)


def test_a_hand_follows_the_target_that_it_is_welded_to() -> None:
    simulation = st.Simulation(st.loads(HAND))
    for step in range(1, 101):
        angle = 0.02 * step
        place = np.array([np.sin(angle), 1 - np.cos(angle), 0.1 * angle])
        simulation.body("target").pose = (place, UPRIGHT)
        simulation.step()
    # The weld is soft as in MuJoCo, with a time constant of 0.02 s: it lags behind, and then closes.
    assert simulation.qpos != pytest.approx(place, abs=1e-3)
    simulation.step(round(0.5 / simulation.time_step))
    weight = 9.81 * (1 - 0.9) * 0.02**2
    assert simulation.qpos == pytest.approx(place, abs=1e-5 + weight)


def test_pose_is_reached_by_the_next_step_and_place_acts_at_once(simulation: st.Simulation) -> None:
    paddle, there = simulation.body("paddle"), ([-0.5, 0.0, 0.2], [0.0, 0.0, 0.0, 3.0])
    paddle.pose = there
    assert paddle.pose.position[0] == 0.0
    paddle.place(there)
    assert list(paddle.pose.position) == there[0]
    assert list(paddle.pose.quaternion) == [0.0, 0.0, 0.0, 1.0]
    simulation.step()
    assert list(paddle.pose.position) == there[0]


def test_keyframes_and_states_contain_driven_poses(simulation: st.Simulation) -> None:
    paddle = simulation.body("paddle")
    assert paddle.driven and not simulation.body("cube").driven
    simulation.reset("far")
    assert list(paddle.pose.position) == [-1.0, 0.0, 0.2]
    kept = simulation.get_state()
    simulation.reset()
    assert list(paddle.pose.position) == [0.0, 0.0, 0.2]
    simulation.set_state(kept)
    assert list(paddle.pose.position) == [-1.0, 0.0, 0.2]
    paddle.pose = paddle.pose  # what was read can be written


def test_setting_the_pose_of_a_body_that_is_not_driven_is_rejected(simulation: st.Simulation) -> None:
    with pytest.raises(st.ModelError, match='body "cube".*driven'):
        simulation.body("cube").pose = ([0, 0, 0], UPRIGHT)
    for position, quaternion, said in [
        ([0.0, 0.0], UPRIGHT, "position has 2"),
        ([0.0, 0.0, np.nan], UPRIGHT, "finite"),
        ([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], "quaternion has 3"),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], "length 0"),
    ]:
        with pytest.raises(st.StateError, match=said):
            simulation.body("paddle").pose = (position, quaternion)
