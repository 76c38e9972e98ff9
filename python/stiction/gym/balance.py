"""Cart-pole balancing."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction import loads
from stiction.gym.environment import StictionEnv
from stiction.types import Array

MODEL = """
<mujoco model="balance">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.005"/>
  <worldbody>
    <body name="cart">
      <joint name="cart" type="slide" axis="1 0 0" range="-1.5 1.5" damping="0.1"/>
      <geom type="box" size="0.1 0.06 0.04" mass="1"/>
      <body name="pole">
        <joint name="pole" type="hinge" axis="0 1 0" damping="0.001"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.02" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <contact>
    <exclude body1="cart" body2="pole"/>
  </contact>
  <actuator>
    <motor name="push" joint="cart" ctrlrange="-10 10"/>
  </actuator>
</mujoco>
"""

TILT = 0.3
"""Angle beyond which the pole counts as fallen [rad]."""
EDGE = 1.4
"""Distance from the middle beyond which the cart counts as off the track [m]."""


class BalanceEnv(StictionEnv):
    """A force on the cart [N] balances the pole.

    Observation: position [m], angle [rad], velocity [m/s], angular velocity [rad/s]. Reward: one for
    every step until the pole falls or the cart leaves the track.
    """

    def __init__(self, **options: Any) -> None:
        options = {"frame_skip": 4, "noise": 0.05, **options}
        super().__init__(loads(MODEL), **options)

    def rate(self, action: Array) -> float:
        return 0.0 if self.is_over() else 1.0

    def is_over(self) -> bool:
        position, angle = np.abs(self.simulation.qpos)
        return bool(angle > TILT or position > EDGE)
