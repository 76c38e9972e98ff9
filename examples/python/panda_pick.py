"""A Panda picks up a cube and holds it for ten seconds.

Usage: python panda_pick.py PATH/TO/franka_emika_panda/panda.xml
"""

import sys

import numpy as np

import stiction as st

SCENE = """
model = [{{ file = "{}", keyframe = "home" }}]
body = [
    {{ name = "ground", fixed = true, shape = "plane" }},
    {{ name = "cube", position = [0.5, 0, 0.02], shape = "box", edges = [0.04, 0.04, 0.04], mass = 0.05 }},
]
"""
sim = st.Simulation(st.loads(SCENE.format(sys.argv[1]), format="native"))
plan = st.Simulation(sim.model)  # a second state, for inverse kinematics


def reach(height: float, grip: float) -> None:
    """Moves the hand above the cube [m], fingers down, in one second: inverse kinematics by least squares, then servos."""
    plan.qpos[:] = sim.qpos
    for _ in range(200):
        hand = plan.body_pose("hand")
        turn = np.cross(hand.rotation[:, 2], [0, 0, -1]) + np.cross(hand.rotation[:, 1], [0, -1, 0])
        error = np.concatenate([turn, [0.5, 0.0, height] - hand.position])
        J = plan.jacobian("hand")[:, :7]
        plan.qpos[:7] += 0.3 * J.T @ np.linalg.solve(J @ J.T + 1e-3 * np.eye(6), error)
    for goal in np.linspace(sim.ctrl[:7], plan.qpos[:7], 500):
        sim.ctrl[:] = [*goal, grip]
        sim.step()


def cube_in_hand() -> np.ndarray:
    """Position of the cube in the frame of the hand [m]."""
    hand = sim.body_pose("hand")
    return hand.rotation.T @ (sim.body_pose("cube").position - hand.position)


for height, grip in [(0.25, 255), (0.12, 255), (0.12, 0), (0.4, 0), (0.4, 0)]:
    reach(height, grip)
before = cube_in_hand()
sim.step(round(10.0 / sim.time_step))
slip = np.linalg.norm(cube_in_hand() - before)
print(f"held at {sim.body_pose('cube').position[2]:.3f} m; slip in 10 s: {1e3 * slip:.6f} mm")
