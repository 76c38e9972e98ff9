"""Worlds built in Python."""

from pathlib import Path

import numpy as np
import pytest
import stiction as st

GRIPPER = """<mujoco><worldbody><body name="palm"><geom size="0.02" mass="0.1"/>
  <body name="finger" pos="0.03 0 0"><joint name="grip" type="slide" axis="1 0 0" range="0 0.02"/><geom size="0.01" mass="0.02"/></body>
</body></worldbody></mujoco>"""


def world() -> st.WorldBuilder:
    world = st.WorldBuilder("test", gravity=[0.0, 0.0, -9.81], time_step=0.004)
    world.surface("rubber", friction=0.9)
    world.body("ground", shape="plane", fixed=True)
    world.body("box", shape="box", edges=np.array([0.2, 0.2, 0.1]), position=(0, 0, 0.05), mass=1.5, surface="rubber")
    world.body("post", position=[1, 0, 0], fixed=True)
    world.shape("post", "box", edges=[0.1, 0.1, 0.4], position=[0, 0, 0.2])
    world.shape("post", "sphere", radius=0.05, position=[0, 0, 0.45])
    world.body("arm", shape="box", edges=[0.5, 0.04, 0.04], position=[1.35, 0, 0.8], density=800.0)
    world.joint("arm", "hinge", name="hinge", axis=[0, 1, 0], anchor=[-0.25, 0, 0], range=[-1.0, 1.0], damping=0.1)
    world.actuator("hinge", "position", kp=40.0, kd=2.0)
    return world


def test_what_was_built_moves_as_it_should() -> None:
    model = world().build()
    assert model.body_names[1:] == ["ground", "box", "post", "arm"]
    assert (model.joint("hinge").range, model.actuator_names) == ((-1.0, 1.0), ["hinge"])
    assert model.body_mass("box") == 1.5 and model.time_step == 0.004
    assert model.body_mass("arm") == pytest.approx(0.5 * 0.04 * 0.04 * 800)
    sim = st.Simulation(model)
    sim.actuator("hinge").ctrl = 0.0
    sim.step(2000)
    # The servo carries the weight m g at half the length: kp q = m g (l/2) cos q, downwards about +y.
    q, load = sim.joint("hinge").qpos[0], 0.64 * 9.81 * 0.25
    assert 40 * q == pytest.approx(load * np.cos(q), rel=1e-6)
    assert sim.contacts.force_between("ground", "box")[2] == pytest.approx(1.5 * 9.81, rel=1e-3)


def test_the_scene_can_be_kept_and_gives_the_same_bits(tmp_path: Path) -> None:
    built, path = world(), tmp_path / "scene.toml"
    built.add_file("parts/gripper.xml", GRIPPER)
    built.model("hand", "parts/gripper.xml", position=[0, 2, 1])
    built.save(path)
    one, two = st.Simulation(built.build()), st.Simulation(st.load(path))
    assert "hand/grip" in one.model.joint_names
    one.step(100)
    two.step(100)
    assert np.array_equal(one.qpos, two.qpos)
    assert st.loads(built.to_toml().replace("parts/gripper.xml", str(tmp_path / "parts/gripper.xml"))).nq == one.model.nq


def test_soft_bodies_and_cables_hang_on_bodies() -> None:
    w = st.WorldBuilder(time_step=0.01)
    w.body("wall", shape="box", edges=[0.1, 0.4, 0.4], position=[-0.05, 0, 0.3], fixed=True)
    w.soft("beam", "box", edges=[0.4, 0.06, 0.06], cells=[8, 1, 1], position=[0.2, 0, 0.3], material="linear-corotated",
           young=1e6, poisson=0.3, stiffness_damping=0.02)
    w.attach("beam", "wall", {"along": [1, 0, 0], "below": -0.2})
    w.cable("rope", start=[0.0, 1.0, 1.0], direction=[1, 0, 0], length=0.5, segments=10, radius=0.005, first="world")
    sim = st.Simulation(w.build())
    sim.step(30)
    assert 0.2 < sim.vertices[:, 2].mean() < 0.3
    # What is attached stays where it was.
    assert np.abs(sim.vertices[sim.vertices[:, 0] < 0.01][:, 2] - 0.3).max() < 0.04
    assert sim.body_pose("rope/9").position[2] < 0.95


def test_mistakes_say_where_they_are() -> None:
    w = st.WorldBuilder()
    w.body("box", shape="box", edges=[1, 1, 1])
    with pytest.raises(st.ModelError, match='two of body are called "box"'):
        w.body("box", shape="sphere")
    with pytest.raises(st.ModelError, match='no body is called "bix"; expected one of: box'):
        w.shape("bix", "sphere", radius=1.0)
    with pytest.raises(st.ModelError, match="edges: found a object; expected a number"):
        w.body("other", edges=object()) and w.to_toml()
    w = st.WorldBuilder()
    w.body("box", shape="box", edges=[1, 1, 1], masss=1.0)
    with pytest.raises(st.ModelError, match="masss"):
        w.build()
    w = st.WorldBuilder()
    w.body("box", shape="box", edges=[1, 1, np.nan])
    with pytest.raises(st.ModelError, match="edges"):
        w.build()
    with pytest.raises(st.ModelError, match="expected a name that ends in .toml"):
        w.save("scene.xml")
