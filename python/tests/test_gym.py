"""Environments: Gymnasium's checker, and solutions of the examples."""

import numpy as np
import pytest

import stiction as st
from models import PENDULUM

gymnasium = pytest.importorskip("gymnasium")

import stiction.gym as environments  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

NAMES = ["stiction/Balance-v0", "stiction/Reach-v0"]


@pytest.mark.parametrize("name", NAMES)
def test_registered_environments_pass_the_checker(name: str) -> None:
    environment = gymnasium.make(name)
    check_env(environment.unwrapped, skip_render_check=True)
    environment.close()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_episode(name: str) -> None:
    def episode() -> list[np.ndarray]:
        environment = gymnasium.make(name)
        observation, _ = environment.reset(seed=7)
        environment.action_space.seed(7)
        seen = [observation]
        for _ in range(30):
            observation, *_ = environment.step(environment.action_space.sample())
            seen.append(observation)
        return seen

    assert all((a == b).all() for a, b in zip(episode(), episode(), strict=True))


def test_a_linear_law_balances_the_pole() -> None:
    environment = gymnasium.make("stiction/Balance-v0")
    gains = np.array([2.0, 60.0, 4.0, 12.0])
    for seed in range(3):
        observation, _ = environment.reset(seed=seed)
        reward, ended = 0.0, False
        while not ended:
            push = np.clip([gains @ observation], -10, 10)
            observation, gained, terminated, truncated, info = environment.step(push)
            reward += float(gained)
            ended = terminated or truncated
            assert info["converged"]
        assert reward == 500.0


def test_without_a_push_the_pole_falls() -> None:
    environment = gymnasium.make("stiction/Balance-v0")
    environment.reset(seed=1)
    for _ in range(499):
        _, _, terminated, _, _ = environment.step(np.zeros(1))
        if terminated:
            return
    pytest.fail("the pole stood by itself")


def test_a_servo_reaches_the_point() -> None:
    environment = gymnasium.make("stiction/Reach-v0")
    environment.reset(seed=3)
    arm = environment.unwrapped
    assert isinstance(arm, environments.ReachEnv)
    # Two equal links and the vector to the target make an isosceles triangle.
    length, distance = 0.1, np.linalg.norm(arm.target)
    elbow = 2 * np.arccos(distance / (2 * length))
    goal = np.array([np.arctan2(arm.target[1], arm.target[0]) - elbow / 2, elbow])
    reward = -1.0
    for _ in range(100):
        q, v = arm.simulation.qpos, arm.simulation.qvel
        _, gained, *_ = environment.step(np.clip(2.0 * (goal - q) - 0.3 * v, -1, 1))
        reward = float(gained)
    assert reward > -1e-3


def test_a_model_with_a_reward_is_an_environment() -> None:
    environment = environments.StictionEnv(
        st.loads(PENDULUM),
        frame_skip=5,
        noise=0.1,
        reward=lambda simulation, action: float(np.cos(simulation.qpos[0])),
        terminated=lambda simulation: bool(abs(simulation.qpos[0]) > 3.0),
    )
    check_env(environment, skip_render_check=True)
    assert environment.dt == pytest.approx(0.005)
    observation, info = environment.reset(seed=0)
    assert observation.shape == (2,) and info["time"] == 0.0
    _, reward, terminated, truncated, info = environment.step(np.zeros(1))
    assert reward == pytest.approx(np.cos(environment.simulation.qpos[0]))
    assert (terminated, truncated) == (False, False) and info["time"] == pytest.approx(0.005)


def test_invalid_options_are_rejected() -> None:
    model = st.loads(PENDULUM)
    with pytest.raises(ValueError, match="frame_skip"):
        environments.StictionEnv(model, frame_skip=0)
    with pytest.raises(ValueError, match="render_mode"):
        environments.StictionEnv(model, render_mode="human")
