"""Linear feedback balances a pole on a cart, in a Gymnasium environment."""

import gymnasium
import numpy as np

import stiction.gym  # noqa: F401  registers the environments

environment = gymnasium.make("stiction/Balance-v0")
gains = np.array([2.0, 60.0, 4.0, 12.0])  # of position, angle and their rates
for seed in range(5):
    observation, _ = environment.reset(seed=seed)
    reward, ended = 0.0, False
    while not ended:
        action = np.clip([gains @ observation], -10, 10)
        observation, gained, terminated, truncated, _ = environment.step(action)
        reward += float(gained)
        ended = terminated or truncated
    print(f"seed {seed}: balanced for {reward:.0f} steps")
