"""The base class of environments: actions are controls, observations are coordinates and velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from numpy.typing import NDArray

from stiction import Model, Simulation
from stiction.types import Array, Camera


class StictionEnv(gymnasium.Env[Array, Array]):
    """A model with its controls as actions.

    An action is the controls of all actuators, shape (nu,), within their ranges, constant for
    `frame_skip` steps. An observation is `observe()`: coordinates and velocities, shape (nq + nv,),
    unless overridden. Pass `reward` and `terminated` as functions, or override the methods in a
    subclass: `begin` sets the initial state of an episode, `rate` returns the reward of a step,
    `is_over` returns whether the episode has ended.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}

    def __init__(
        self,
        model: Model,
        *,
        frame_skip: int = 1,
        reward: Callable[[Simulation, Array], float] | None = None,
        terminated: Callable[[Simulation], bool] | None = None,
        noise: float = 0.0,
        keyframe: str | int | None = None,
        solver: str | None = None,
        time_step: float | None = None,
        render_mode: str | None = None,
        camera: str | int | Camera | None = None,
        width: int = 480,
        height: int = 480,
        **settings: bool | int | float | str,
    ) -> None:
        """`noise` [m, rad, m/s, rad/s] is the amplitude of a uniform random perturbation of each number
        of the initial state, except quaternions. With render_mode "rgb_array", `render` returns what a camera
        sees, see `Simulation.render`. Further keywords are settings of the simulation.
        """
        if frame_skip < 1:
            raise ValueError(f"frame_skip = {frame_skip}; expected at least 1")
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode = {render_mode!r}; expected None or 'rgb_array'")
        self.simulation = Simulation(model, solver, time_step, keyframe, **settings)
        self.frame_skip = frame_skip
        self.keyframe = keyframe
        self.noise = noise
        self.render_mode = render_mode
        self._picture = (camera, width, height)
        self.metadata = {**self.metadata, "render_fps": max(1, round(1 / self.dt))}
        self._reward = reward
        self._terminated = terminated
        # Coordinates that do not belong to a quaternion.
        self._scalars: NDArray[np.bool_] = np.ones(model.nq, dtype=bool)
        for index in range(model.njnt):
            joint = model.joint(index)
            if joint.type in ("ball", "free"):
                self._scalars[joint.qpos_range.stop - 4 : joint.qpos_range.stop] = False
        low, high = model.ctrl_range.T
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        size = self.observe().shape
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, size, dtype=np.float64)

    @property
    def dt(self) -> float:
        """Time between two actions [s]."""
        return self.frame_skip * self.simulation.time_step

    def observe(self) -> Array:
        """The observation of the present state."""
        return np.concatenate([self.simulation.qpos, self.simulation.qvel])

    def begin(self, random: np.random.Generator) -> None:
        """Sets the initial state of an episode; the simulation has been reset before."""
        simulation, noise = self.simulation, self.noise
        count = int(self._scalars.sum())
        simulation.qpos[self._scalars] += random.uniform(-noise, noise, count)
        simulation.qvel[:] += random.uniform(-noise, noise, len(simulation.qvel))

    def rate(self, action: Array) -> float:
        """The reward of the last step, made with the given action."""
        return 0.0 if self._reward is None else float(self._reward(self.simulation, action))

    def is_over(self) -> bool:
        """Whether the episode has terminated."""
        return self._terminated is not None and bool(self._terminated(self.simulation))

    def render(self) -> NDArray[np.uint8] | None:
        """The picture of the present state, shape (height, width, 3), with render_mode "rgb_array"."""
        return None if self.render_mode is None else self.simulation.render(*self._picture).rgb

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts an episode."""
        super().reset(seed=seed, options=options)
        self.simulation.reset(self.keyframe)
        self.begin(self.np_random)
        return self.observe(), {"time": self.simulation.time}

    def step(self, action: Array) -> tuple[Array, SupportsFloat, bool, bool, dict[str, Any]]:
        """Makes `frame_skip` steps. The info holds the time [s] and whether all steps converged."""
        action = np.asarray(action, dtype=np.float64)
        self.simulation.ctrl = action
        report = self.simulation.step(self.frame_skip)
        info = {"time": self.simulation.time, "converged": report.converged}
        return self.observe(), self.rate(action), self.is_over(), False, info
