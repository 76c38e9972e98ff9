"""A Panda picks up a cube and holds it for ten seconds.

Usage: python panda_pick.py PATH/TO/franka_emika_panda/panda.xml
"""

import sys

import numpy as np

import stiction as st

SCENE = """
model = [{{ file = "{}", keyframe = "home" }}]

[[body]]
name = "ground"
fixed = true
shape = "plane"

[[body]]
name = "cube"
position = [0.5, 0.0, 0.02]
shape = "box"
edges = [0.04, 0.04, 0.04]
mass = 0.05
"""

sim = st.Simulation(st.loads(SCENE.format(sys.argv[1]), format="native"))
plan = st.Simulation(sim.model)  # a second state, to try out configurations


def reach(target: np.ndarray, seconds: float, grip: float) -> None:
    """Moves the hand, fingers down, to a point [m]: damped least squares, then servos."""
    plan.qpos[:] = sim.qpos
    for _ in range(200):
        pose = plan.body_pose("hand")
        turn = np.cross(pose.matrix[:3, 2], [0, 0, -1]) + np.cross(pose.matrix[:3, 1], [0, -1, 0])
        error = np.concatenate([turn, target - pose.position])
        jacobian = plan.jacobian("hand")[:, :7]
        plan.qpos[:7] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-4 * np.eye(6), error)
    start = sim.ctrl[:7].copy()
    for weight in np.linspace(0, 1, round(seconds / sim.time_step)):
        sim.ctrl[:7] = (1 - weight) * start + weight * plan.qpos[:7]
        sim.ctrl[7] = grip
        sim.step()


def cube_in_hand() -> np.ndarray:
    """Position of the cube in the frame of the hand [m]."""
    hand, cube = sim.body_pose("hand"), sim.body_pose("cube")
    return hand.matrix[:3, :3].T @ (cube.position - hand.position)


reach(np.array([0.5, 0.0, 0.25]), 1.0, grip=255)
reach(np.array([0.5, 0.0, 0.12]), 1.0, grip=255)
reach(np.array([0.5, 0.0, 0.12]), 0.5, grip=0)
reach(np.array([0.5, 0.0, 0.40]), 1.0, grip=0)
before = cube_in_hand()
sim.step(round(10.0 / sim.time_step))
slip = np.linalg.norm(cube_in_hand() - before)
print(f"held at {sim.body_pose('cube').position[2]:.3f} m; slip in 10 s: {1e3 * slip:.6f} mm")
