"""A damped spring between a point of a body and a target in the world, for dragging bodies.

The spring is critically damped for the effective mass m of the point, m = 3 / tr(J M⁻¹ Jᵀ) with the
Jacobian J of the point, but at least the mass of the body, so that it can be lifted at a corner:
f = m ω (ω (target - point) - 2 velocity). It is added to Simulation.wrench and is explicit: apply it
before each step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stiction._native import Simulation
from stiction.types import Array

STRENGTH = 20.0
"""Frequency ω of the spring [rad/s]."""
MOST_VELOCITIES = 200
"""Largest number of velocities for which the effective mass is computed; beyond it, the mass of the
body is used.
"""


class Grip:
    """A spring attached to a point of a body, until released."""

    def __init__(
        self, sim: Simulation, body: int, point: ArrayLike | None = None, strength: float = STRENGTH
    ) -> None:
        """Attaches the spring to a body at a point in the world [m], shape (3,), by default its centre of
        mass. strength is the frequency of the spring [rad/s].
        """
        self.body = body
        self.strength = strength
        self._sim = sim
        pose = sim.body_pose(body)
        self._com = sim.model.body_com(body)
        arm = self._com if point is None else pose.rotation.T @ (np.asarray(point) - pose.position)
        self._arm = np.asarray(arm, np.float64)
        self._before = sim.wrench[body].copy()
        self._mass = self._effective_mass()
        self.target = self.point
        """Target of the spring, world frame [m], shape (3,)."""

    @property
    def point(self) -> Array:
        """Point of the body to which the spring is attached, world frame [m], shape (3,)."""
        pose = self._sim.body_pose(self.body)
        return np.asarray(pose.position + pose.rotation @ self._arm)

    @property
    def force(self) -> Array:
        """The force of the spring at the present state, world axes [N], shape (3,)."""
        point, w = self.point, self.strength
        velocity = self._sim.body_velocity(self.body, point).linear
        return np.asarray(self._mass * w * (w * (self.target - point) - 2 * velocity))

    def apply(self) -> None:
        """Writes the force at the present state to Simulation.wrench, for the next step."""
        pose, force = self._sim.body_pose(self.body), self.force
        arm = pose.rotation @ (self._arm - self._com)
        self._sim.wrench[self.body] = self._before + np.concatenate([np.cross(arm, force), force])

    def release(self) -> None:
        """Removes the spring and restores the previous wrench on the body."""
        self._sim.wrench[self.body] = self._before

    def _effective_mass(self) -> float:
        sim = self._sim
        least = sim.model.body_mass(self.body)
        if sim.model.nv > MOST_VELOCITIES:
            return least
        jacobian = sim.jacobian(self.body, self.point)[3:]
        mobility = float(np.trace(jacobian @ np.linalg.solve(sim.mass_matrix(), jacobian.T)))
        return max(least, 3 / mobility) if mobility > 0 else 0.0


__all__ = ["STRENGTH", "Grip"]
