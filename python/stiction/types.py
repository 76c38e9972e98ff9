"""Small answers with names: poses, velocities, energies, residuals, solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """Where a frame stands in the world."""

    position: Array
    """Origin [m], shape (3,)."""
    quaternion: Array
    """Rotation from the frame to the world as (w, x, y, z), shape (4,)."""

    @property
    def rotation(self) -> Array:
        """Rotation from the frame to the world, shape (3, 3)."""
        w, x, y, z = self.quaternion
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    @property
    def matrix(self) -> Array:
        """Homogeneous transformation from the frame to the world, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.position
        return matrix


class Velocity(NamedTuple):
    """How a body moves, world axes."""

    angular: Array
    """Angular velocity [rad/s], shape (3,)."""
    linear: Array
    """Velocity of the point asked about [m/s], shape (3,)."""


class Energy(NamedTuple):
    """Energy of a mechanism [J]."""

    kinetic: float
    potential: float
    """Of gravity and springs."""

    @property
    def total(self) -> float:
        """The sum."""
        return self.kinetic + self.potential


class Residual(NamedTuple):
    """How far an answer is from the contact problem, measured on the problem itself."""

    momentum: float
    """Relative error of momentum [-]."""
    coulomb: float
    """Largest violation of the laws with exact friction [m/s]."""
    convex: float
    """Largest violation of the laws with friction relaxed to a cone [m/s]."""
    natural_map: float
    """Natural map of the contacts with unit step, relative to the free velocities [-]."""
    reference_velocity: float
    """The velocity to compare violations with [m/s]."""


__all__ = ["Array", "Energy", "Pose", "Residual", "Velocity"]
