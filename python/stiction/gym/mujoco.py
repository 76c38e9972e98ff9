"""Environments that keep their state in MuJoCo's data, with the steps computed here.

    import gymnasium
    from stiction.gym.mujoco import step_with_stiction

    environment = step_with_stiction(gymnasium.make("Ant-v5"))

Needs the packages `mujoco` and `gymnasium` (`pip install 'stiction[mujoco]'`). All but the step remains MuJoCo's:
resets, observations, rewards, pictures.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from stiction import Model, Simulation, StepReport, load
from stiction._extras import need
from stiction.types import Array

mujoco = need("mujoco", "MuJoCo", "mujoco")


class MujocoStepper:
    """Advances states of MuJoCo by steps of a simulation of the same model.

    State, controls, forces on bodies and poses of mocap bodies are taken from the data before the steps, and the new state
    is written back. What MuJoCo derives from a state (poses, sensors, contact forces) is computed by MuJoCo.
    """

    def __init__(self, model: Model, **settings: Any) -> None:
        """Keywords are settings of the simulation."""
        self.simulation = Simulation(model, **settings)

    def step(self, reference: Any, data: Any, steps: int = 1) -> StepReport:
        """Advances an MjData by a number of steps; `reference` is its MjModel."""
        simulation = self.simulation
        if data.qfrc_applied.any():
            raise ValueError("qfrc_applied is not zero; expected forces in xfrc_applied alone")
        simulation.qpos, simulation.qvel, simulation.ctrl = data.qpos, data.qvel, data.ctrl
        simulation.time = data.time
        # MuJoCo puts the force before the torque.
        simulation.wrench = np.roll(data.xfrc_applied, 3, axis=1)
        for body in np.nonzero(reference.body_mocapid >= 0)[0]:
            mocap = reference.body_mocapid[body]
            simulation.body(int(body)).pose = (data.mocap_pos[mocap], data.mocap_quat[mocap])
        report = simulation.step(steps)
        data.qpos[:], data.qvel[:], data.time = simulation.qpos, simulation.qvel, simulation.time
        mujoco.mj_forward(reference, data)
        mujoco.mj_rnePostConstraint(reference, data)
        return report


def step_with_stiction(environment: gymnasium.Env[Any, Any], **settings: Any) -> gymnasium.Env[Any, Any]:
    """Lets one of Gymnasium's MuJoCo environments compute its steps here; returns the environment. Its stepper is the
    attribute `stepper` of the unwrapped environment. Further keywords are settings of the simulation.
    """
    base: Any = environment.unwrapped
    base.stepper = MujocoStepper(load(base.fullpath), **settings)

    def advance(controls: Array, steps: int) -> None:
        base.data.ctrl[:] = controls
        base.stepper.step(base.model, base.data, steps)

    base._step_mujoco_simulation = advance
    return environment
