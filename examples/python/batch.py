"""A batch of rollouts on all threads: the best of many initial velocities."""

import numpy as np

import stiction as st

model = st.loads(
    """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="10 10 0.1" friction="0.4"/>
    <body name="puck" pos="0 0 0.02">
      <freejoint/>
      <geom type="cylinder" size="0.05 0.02" mass="0.2" friction="0.4"/>
    </body>
  </worldbody>
</mujoco>
"""
)
target, speeds = 2.0, np.linspace(0.5, 6.0, 64)
states = np.zeros((len(speeds), model.nq + model.nv))
states[:, : model.nq] = model.qpos0
states[:, model.nq] = speeds  # along x

batch = st.rollout(model, states, steps=500)
reached = batch.qpos[:, -1, 0]
best = np.argmin(np.abs(reached - target))
print(f"thrown at {speeds[best]:.3f} m/s the puck stops at {reached[best]:.3f} m")
print(f"closed form: {np.sqrt(2 * 0.4 * 9.81 * target):.3f} m/s for {target} m")
