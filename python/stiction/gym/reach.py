"""A planar arm with two links that reaches for a target point."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction import loads
from stiction.gym.environment import StictionEnv
from stiction.types import Array

MODEL = """
<mujoco model="reach">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005" gravity="0 0 0"/>
  <default>
    <joint type="hinge" axis="0 0 1" armature="0.01" damping="0.1"/>
    <geom type="capsule" size="0.01" density="1000" contype="0" conaffinity="0"/>
    <motor ctrlrange="-1 1"/>
  </default>
  <worldbody>
    <body name="upper">
      <joint name="shoulder"/>
      <geom fromto="0 0 0 0.1 0 0"/>
      <body name="lower" pos="0.1 0 0">
        <joint name="elbow" range="-3 3"/>
        <geom fromto="0 0 0 0.1 0 0"/>
        <site name="tip" pos="0.1 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder"/>
    <motor name="elbow" joint="elbow"/>
  </actuator>
</mujoco>
"""

NEAREST, FARTHEST = 0.05, 0.18
"""Range of the distance of the random target from the shoulder [m]."""
EFFORT = 0.01
"""Cost of squared torque in the reward [m/(N·m)²]."""


class ReachEnv(StictionEnv):
    """Torques on two hinges [N·m] move the tip to a target point.

    Observation: cosines and sines of the angles, velocities [rad/s], the target (x, y) [m] and the
    vector from the tip to it [m]. Reward: minus the distance [m], minus a cost of the torques.
    """

    def __init__(self, **options: Any) -> None:
        self.target = np.array([NEAREST, 0.0])
        options = {"frame_skip": 4, "noise": 0.1, **options}
        super().__init__(loads(MODEL), **options)

    def observe(self) -> Array:
        q, v = self.simulation.qpos, self.simulation.qvel
        return np.concatenate([np.cos(q), np.sin(q), v, self.target, self._way()])

    def begin(self, random: np.random.Generator) -> None:
        super().begin(random)
        distance, angle = random.uniform(NEAREST, FARTHEST), random.uniform(-np.pi, np.pi)
        self.target = distance * np.array([np.cos(angle), np.sin(angle)])

    def rate(self, action: Array) -> float:
        return -float(np.linalg.norm(self._way())) - EFFORT * float(np.square(action).sum())

    def _way(self) -> Array:
        return self.target - self.simulation.site_pose("tip").position[:2]
