"""Drop soft bodies on blocks, read their vertices, and save a page of the motion."""

import tempfile
from pathlib import Path

import numpy as np

import stiction as st

model = st.load(Path(__file__).parents[1] / "scenes" / "jelly.toml")
sim = st.Simulation(model)
print(*sim.softs, sep="\n")

ball = sim.soft("ball")
ball.velocities[:] += [0.0, 0.0, -1.0]  # writable views of the state
steps = round(1.2 / sim.time_step)
with sim.record() as recording:
    deepest = 0.0
    for _ in range(steps):
        sim.step()
        stretch = ball.vertices.max(axis=0) - ball.vertices.min(axis=0)
        deepest = max(deepest, 1 - stretch[2] / np.ptp(ball.rest[:, 2]))

print(f"t = {sim.time:.2f} s: the ball was flattened by up to {100 * deepest:.0f} %")
print(f"its centre is at {ball.centre_of_mass.round(3)} m, its elastic energy is {ball.elastic_energy:.2e} J")
touching = sim.contacts.softs == ball.id
print(f"{np.count_nonzero(touching.any(axis=1))} of {len(sim.contacts)} contacts are its own")

page = Path(tempfile.mkdtemp()) / "jelly.html"
recording.save(page)
print(f"{recording.frames} frames, {page.stat().st_size / 1e6:.1f} MB: {page}")
