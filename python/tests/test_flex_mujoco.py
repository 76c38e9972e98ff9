"""Flexible bodies of MJCF against MuJoCo's own."""

import numpy as np
import pytest

import stiction as st

mujoco = pytest.importorskip("mujoco", minversion="4.0")

# A beam of ten cells of 0.1 m, held at one end and damped.
BEAM = """
<mujoco>
  <option integrator="discrete" timestep="0.002"/>
  <worldbody>
    <flexcomp name="beam" type="grid" dim="3" count="11 3 3" spacing=".1 .05 .05" mass="1" pos="0 0 1">
      <pin gridrange="0 0 0 0 2 2"/>
      <elasticity young="2e6" poisson="0.2" damping="0.05"/>
      <contact contype="0" conaffinity="0"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


def test_a_beam_of_the_same_elements_sags_as_in_mujoco_under_the_load_of_its_masses() -> None:
    theirs = mujoco.MjModel.from_xml_string(BEAM)
    data = mujoco.MjData(theirs)
    simulation = st.Simulation(st.loads(BEAM))
    while data.time < 3.0:
        mujoco.mj_step(theirs, data)
    while simulation.time < 3.0:
        simulation.step()
    ours = 1.0 - np.asarray(simulation.vertices)[-5, 2]
    reference = 1.0 - data.flexvert_xpos[-5, 2]
    # MuJoCo spreads the mass evenly over the points, here it is that of the elements. The end of an Euler
    # beam sinks by w L⁴/(8 E I) under a uniform load, and by Σ P x² (3 L − x)/(6 E I) under loads
    # P = w L/11 at x = 0, L/10, …, L.
    x = np.linspace(0.0, 1.0, 11)
    ratio = np.sum(x**2 * (3.0 - x)) / 66.0 / 0.125
    # The beam is not quite slender, sinks by a few hundredths of its length, and has almost come to rest:
    # each changes the ratio by less than a hundredth.
    assert reference / ours == pytest.approx(ratio, rel=0.01)
