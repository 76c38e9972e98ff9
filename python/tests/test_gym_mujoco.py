"""Gymnasium's MuJoCo environments with the steps computed here: resets and random actions."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")
pytest.importorskip("gymnasium.envs.mujoco.ant_v5")

ENVIRONMENTS = [
    "Ant-v5",
    "HalfCheetah-v5",
    "Hopper-v5",
    "Humanoid-v5",
    "HumanoidStandup-v5",
    "InvertedDoublePendulum-v5",
    "InvertedPendulum-v5",
    "Pusher-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Walker2d-v5",
]
ACTIONS = 500


def start(name: str) -> tuple[Any, Counter[str]]:
    """The environment, and a count of the statuses of its steps."""
    from stiction.gym.mujoco import step_with_stiction

    environment = step_with_stiction(gymnasium.make(name))
    stepper, counts = environment.unwrapped.stepper, Counter[str]()
    advance = stepper.step

    def counted(*arguments: Any) -> Any:
        report = advance(*arguments)
        counts.update(report.status_counts)
        return report

    stepper.step = counted
    return environment, counts


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_reset_and_run_random_actions(name: str) -> None:
    environment, counts = start(name)
    environment.reset(seed=1)
    environment.action_space.seed(1)
    base = environment.unwrapped
    for _ in range(ACTIONS):
        observation, reward, terminated, truncated, _ = environment.step(environment.action_space.sample())
        assert np.isfinite(observation).all() and np.isfinite(reward)
        # Motors of a few hundred N·m on limbs of a kilogram: nothing spins at a hundred turns per second.
        assert np.abs(base.data.qvel).max() <= 600.0
        if terminated or truncated:
            environment.reset()
    steps = ACTIONS * base.frame_skip
    assert sum(counts.values()) == steps
    unreliable = counts["problem_not_solved"] + counts["correction_not_done"]
    # The share with which a run fails.
    assert unreliable <= 1e-3 * steps, counts


@pytest.mark.filterwarnings("ignore")
def test_ant_returns_into_its_limits_from_its_own_reset() -> None:
    environment, counts = start("Ant-v5")
    environment.reset(seed=1)
    base = environment.unwrapped
    model, data = base.model, base.data

    def beyond() -> float:
        q = np.array([data.qpos[model.jnt_qposadr[j]] for j in range(1, model.njnt)])
        low, high = model.jnt_range[1:].T
        return float(np.maximum(low - q, q - high).max())

    assert beyond() > 0.4, "the reset is outside of the limits"
    for _ in range(10):
        environment.step(np.zeros(environment.action_space.shape))
    # Half a second, 25 time constants of the law.
    assert beyond() <= 1e-2
    assert counts["ok"] == sum(counts.values())
