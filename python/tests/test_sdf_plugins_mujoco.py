"""Solids that MuJoCo's plugins of signed distances describe: masses, and a nut on its bolt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import stiction as st

mujoco = pytest.importorskip("mujoco")

SOLID = """
<mujoco>
  <extension><plugin plugin="mujoco.sdf.{name}"><instance name="i">{config}</instance></plugin></extension>
  <asset><mesh name="m"><plugin instance="i"/></mesh></asset>
  <worldbody><body><freejoint/><geom type="sdf" mesh="m"><plugin instance="i"/></geom></body></worldbody>
</mujoco>
"""

NUT_ON_BOLT = """
<mujoco>
  <extension>
    <plugin plugin="mujoco.sdf.nut"><instance name="nut"><config key="radius" value="0.26"/></instance></plugin>
    <plugin plugin="mujoco.sdf.bolt"><instance name="bolt"><config key="radius" value="0.255"/></instance></plugin>
  </extension>
  <asset>
    <mesh name="nut"><plugin instance="nut"/></mesh>
    <mesh name="bolt"><plugin instance="bolt"/></mesh>
  </asset>
  <option sdf_iterations="10" sdf_initpoints="40"/>
  <default><geom solref="0.01 1" solimp=".95 .99 .0001" friction="0.01"/></default>
  <worldbody>
    <body pos="-0.0012 0.0033 0.83" quat="-0.0002 0.999996 -0.002 0.0019">
      <joint type="free" damping="30"/><geom type="sdf" mesh="nut"><plugin instance="nut"/></geom>
    </body>
    <body euler="180 0 0"><geom type="sdf" mesh="bolt"><plugin instance="bolt"/></geom></body>
  </worldbody>
</mujoco>
"""


def both(text: str, folder: Path) -> tuple[mujoco.MjModel, st.Simulation]:
    path = folder / "model.xml"
    path.write_text(text)
    model = st.load(path)
    assert not model.unsupported
    return mujoco.MjModel.from_xml_path(str(path)), st.Simulation(model)


@pytest.mark.parametrize("name", ["torus", "bowl", "bolt", "nut", "gear"])
def test_mass_and_inertia_are_those_of_the_same_surface(name: str, tmp_path: Path) -> None:
    reference, simulation = both(SOLID.format(name=name, config=""), tmp_path)
    data = mujoco.MjData(reference)
    mujoco.mj_forward(reference, data)
    full = np.zeros((6, 6))
    mujoco.mj_fullM(reference, data, full)
    # Both surfaces consist of triangles with edges of some hundredths of the size. Curved ones lie inside by their square;
    # sharp edges are cut off by a part of a triangle, of which a gear with teeth of 0.25 m has many.
    assert np.abs(simulation.mass_matrix() - full).max() <= 0.02 * full.max()


def test_a_nut_stays_on_its_thread_as_in_mujoco(tmp_path: Path) -> None:
    reference, simulation = both(NUT_ON_BOLT, tmp_path)
    data = mujoco.MjData(reference)
    for _ in range(100):
        mujoco.mj_step(reference, data)
        assert simulation.step().status == "ok"
    # A free fall of 0.2 s is 0.2 m; the thread lets the nut settle by the clearance of the radii, 5 mm.
    assert abs(simulation.qpos[2] - data.qpos[2]) <= 5e-3
    assert abs(data.qpos[2] - 0.83) <= 2e-2
