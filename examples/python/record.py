"""Record a run, evaluate its arrays, and write a page that shows it in any browser."""

import tempfile
from pathlib import Path

import numpy as np

import stiction as st

folder = Path(tempfile.mkdtemp())
sim = st.Simulation(st.scenario("clutter"))

# Each step within the block is recorded; the page is written at its end, also after an exception.
with sim.record(folder / "clutter.html", fps=60) as recording:
    sim.step(round(1.0 / sim.time_step))

arrays = recording.to_arrays()
force = np.linalg.norm(arrays["contact_force"], axis=1)
print(f"{recording.frames} frames of {arrays['position'].shape[1]} bodies")
print(f"strongest contact force {force.max():.1f} N, deepest penetration {arrays['penetration'].max():.1e} m")
print(f"largest violation of the constraint laws {arrays['residual_coulomb'].max():.1e} m/s")
print(f"open {folder / 'clutter.html'}")
