"""Environments for Gymnasium: a base class for user-defined environments, and registered examples.

    import gymnasium
    import stiction.gym

    environment = gymnasium.make("stiction/Balance-v0")

Needs the package `gymnasium` (`pip install 'stiction[gym]'`).
"""

import gymnasium

from stiction.gym.balance import BalanceEnv
from stiction.gym.environment import StictionEnv
from stiction.gym.reach import ReachEnv

gymnasium.register(
    id="stiction/Balance-v0",
    entry_point="stiction.gym.balance:BalanceEnv",
    max_episode_steps=500,
)
gymnasium.register(
    id="stiction/Reach-v0",
    entry_point="stiction.gym.reach:ReachEnv",
    max_episode_steps=100,
)

__all__ = ["BalanceEnv", "ReachEnv", "StictionEnv"]
