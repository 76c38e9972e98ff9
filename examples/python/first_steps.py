"""Load a robot, move it by its controls, and read its state."""

from pathlib import Path

import stiction as st

model = st.load(Path(__file__).parents[1] / "models" / "arm.xml")
print(model, *model.joint_names)

sim = st.Simulation(model, keyframe="home")
sim.joint("elbow").qpos -= 0.1  # writable views of the state
sim.actuator("yaw").ctrl = 0.5
report = sim.step(round(1.0 / sim.time_step))

print(f"t = {sim.time:.3f} s, yaw = {sim.joint('yaw').qpos[0]:.4f} rad")
print(f"grasp point at {sim.site_pose('grasp').position} m")
print(f"elbow sensor reads {sim.sensor('elbow_angle')[0]:.4f} rad")
print(f"contacts: {len(sim.contacts)}, worst violation {report.residual.coulomb:.1e} m/s")
