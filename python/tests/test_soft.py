"""Soft bodies and cables: arrays of vertices that are views, states, contacts, recordings."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction as st
from conftest import ROOT, skip

GRAVITY = 9.81
SIDE = 0.2
DENSITY = 500.0
CUBE = f"""
[step]
time-step = 0.01

[[body]]
name = "ground"
shape = "plane"
fixed = true

[[soft]]
name = "cube"
mesh = "box"
edges = [{SIDE}, {SIDE}, {SIDE}]
cells = 2
position = [0.0, 0.0, 0.11]
density = {DENSITY}
young = 5e4
poisson = 0.3
stiffness-damping = 0.02
"""
ROPE = """
[[body]]
name = "hand"
shape = "sphere"
radius = 0.05
position = [0.0, 0.0, 2.05]
fixed = true

[[cable]]
name = "rope"
start = [0.0, 0.0, 2.0]
length = 1.0
segments = 8
radius = 0.01
first = "hand"
"""


@pytest.fixture
def cube() -> st.Simulation:
    return st.Simulation(st.loads(CUBE, format="native"))


def test_a_soft_body_is_told_by_its_arrays(cube: st.Simulation) -> None:
    soft = cube.soft("cube")
    assert cube.model.soft_names == ["cube"] and cube.model.nvertex == 27
    assert [found.name for found in cube.softs] == ["cube"]
    assert soft.vertices.shape == soft.velocities.shape == (27, 3)
    assert soft.tetrahedra.shape == (48, 4) and soft.triangles.shape == (48, 3)
    # Exact but for round-off: the mesh fills the cube.
    assert soft.mass == pytest.approx(DENSITY * SIDE**3, rel=1e-12)
    assert soft.centre_of_mass == pytest.approx([0, 0, 0.11], abs=1e-15)
    # The surface, seen from outside, encloses the volume.
    a, b, c = soft.vertices[soft.triangles].transpose(1, 0, 2)
    assert np.einsum("ij,ij", np.cross(a, b), c) / 6 == pytest.approx(SIDE**3, rel=1e-12)
    with pytest.raises(st.ModelError, match="expected one of: cube"):
        cube.soft("ball")


def test_vertices_are_views_that_write_through(cube: st.Simulation) -> None:
    soft = cube.soft("cube")
    assert np.shares_memory(soft.vertices, cube.vertices)
    assert not soft.vertices.flags.owndata and soft.vertices.flags.writeable
    soft.vertices[:, 2] += 1.0
    soft.velocities = [0.0, 0.0, 1.0]
    assert soft.centre_of_mass[2] == pytest.approx(1.11, abs=1e-12)
    assert soft.energy.kinetic == pytest.approx(0.5 * soft.mass, rel=1e-12)
    assert soft.elastic_energy == pytest.approx(0.0, abs=1e-12)
    vertices = soft.vertices
    cube.step(10)
    # Free flight: first order in the step, half a step of the weight over the time.
    fallen = 0.1 - GRAVITY * 0.1**2 / 2
    assert vertices[:, 2].mean() == pytest.approx(1.11 + fallen, abs=0.5 * GRAVITY * 0.1 * 0.011)


def test_what_is_no_state_of_vertices_is_refused(cube: st.Simulation) -> None:
    before = cube.soft("cube").vertices.copy()
    cube.vertices[3, 1] = np.nan
    with pytest.raises(st.StateError):
        cube.step()
    cube.vertices[:] = before
    cube.step()


def test_stretching_costs_the_energy_of_the_book(cube: st.Simulation) -> None:
    soft = cube.soft("cube")
    rest = soft.rest.copy()
    stretch = 1e-4
    soft.vertices[:] = rest * (1 + stretch)
    # Uniform strain ε in all directions: 9/2 K ε² of volume, with the bulk modulus K.
    bulk = 5e4 / (3 * (1 - 2 * 0.3))
    expected = 4.5 * bulk * stretch**2 * SIDE**3
    assert soft.elastic_energy == pytest.approx(expected, rel=10 * stretch)
    energy = cube.energy()
    assert energy.potential == pytest.approx(soft.energy.potential, rel=1e-12)


def test_contacts_tell_which_side_is_soft_and_carry_the_weight(cube: st.Simulation) -> None:
    cube.step(200)
    contacts = cube.contacts
    assert len(contacts) > 0
    assert (contacts.softs == [-1, 0]).all() and (contacts.bodies[:, 1] == -1).all()
    assert (contacts.geoms[:, 1] == -1).all() and (contacts.geoms[:, 0] == 0).all()
    assert set(contacts.body_names) == {("ground", "cube")}
    assert {names[1] for names in contacts.geom_names} == {""}
    weight = cube.soft("cube").mass * GRAVITY
    # What still moves after two seconds is a part in a thousand of the weight at most.
    assert contacts.force.sum(axis=0) == pytest.approx([0, 0, weight], abs=2e-3 * weight)


def test_a_state_brings_the_vertices_back_to_the_bit(cube: st.Simulation) -> None:
    cube.step(20)
    state = pickle.loads(pickle.dumps(cube.get_state()))
    assert (state.vertices == cube.vertices).all()
    assert (state.vertex_velocities == cube.vertex_velocities).all()
    cube.step(20)
    end, hashed = cube.vertices.copy(), cube.state_hash()
    again = st.Simulation(pickle.loads(pickle.dumps(cube.model)))
    again.set_state(state)
    assert (again.vertices == state.vertices).all()
    again.step(20)
    assert (again.vertices == end).all() and again.state_hash() == hashed
    again.reset()
    assert (again.vertices == again.soft(0).rest).all() and not again.vertex_velocities.any()


def test_rollouts_carry_vertices(cube: st.Simulation) -> None:
    model = cube.model
    cube.soft("cube").velocities[:] = [0.5, 0.0, 0.0]
    whole = np.concatenate([cube.qpos, cube.qvel, cube.vertices.ravel(), cube.vertex_velocities.ravel()])
    batch = st.rollout(model, np.stack([whole, whole]), steps=3, threads=2)
    assert batch.vertices.shape == batch.vertex_velocities.shape == (2, 3, 27, 3)
    assert (batch.vertices[0] == batch.vertices[1]).all()
    from_state = st.rollout(model, cube.get_state(), steps=3)
    cube.step(3)
    assert (from_state.vertices[0, -1] == cube.vertices).all()
    assert (from_state.vertex_velocities[0, -1] == cube.vertex_velocities).all()
    # Numbers alone bring no warm start, of which free flight keeps round-off.
    assert batch.vertices[0, -1] == pytest.approx(cube.vertices, abs=1e-9)
    # Without them, the vertices begin as the model says.
    rest = st.rollout(model, np.zeros((1, 0)), steps=1)
    assert rest.vertices[0, 0, :, 0] == pytest.approx(cube.soft(0).rest[:, 0], abs=1e-9)
    with pytest.raises(st.StateError, match=r"6 nvertex\) = \(n, 162\)"):
        st.rollout(model, np.zeros((1, 7)), steps=1)


def test_a_cable_is_told_by_its_segments() -> None:
    sim = st.Simulation(st.loads(ROPE, format="native"))
    rope = sim.cable("rope")
    assert sim.model.cable_names == ["rope"] and len(sim.cables) == 1
    assert rope.body_names == [f"rope/{k}" for k in range(8)]
    assert rope.positions == pytest.approx(
        np.stack([np.zeros(8), np.zeros(8), 2.0 - (np.arange(8) + 0.5) / 8], axis=1), abs=1e-12
    )
    assert rope.ends == pytest.approx(np.array([[0, 0, 2.0], [0, 0, 1.0]]), abs=1e-12)
    assert sim.model.njnt == 8  # segments are bodies with free joints
    sim.step(50)
    # It hangs: stretched a little by its own weight.
    assert rope.ends[0] == pytest.approx([0, 0, 2.0], abs=1e-3)
    assert 0.9 < rope.ends[1, 2] < 1.0


def test_a_recording_shows_the_surface_as_it_moves(cube: st.Simulation, tmp_path: Path) -> None:
    cube.vertices[:, 2] += 0.1
    with cube.record(fps=50) as recording:
        cube.step(30)
    frames = recording.to_arrays()["soft_position"]
    [surface] = recording.soft_surfaces()
    assert (surface.name, surface.start, surface.end) == ("cube", 0, 26)  # all but the centre
    assert surface.triangles.shape == (48, 3) and surface.triangles.max() == 25
    assert frames.shape == (recording.frames, 26, 3)
    assert frames[-1, :, 2].mean() < frames[0, :, 2].mean() - 0.05
    last = cube.soft(0).vertices[np.unique(cube.soft(0).triangles)]
    assert frames[-1] == pytest.approx(last, abs=1e-6)
    for name in ["cube.html", "cube.glb", "cube.png", "cube.npz"]:
        recording.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    columns = np.load(tmp_path / "cube.npz")
    assert (columns["soft_position"] == frames).all()


def test_pictures_show_that_the_surface_moves(cube: st.Simulation) -> None:
    cube.vertices[:, 2] += 0.3
    with cube.record(fps=50) as recording:
        cube.step(20)
    first, last = (recording.picture(size=(96, 64), time=time) for time in (0.0, cube.time))
    assert first.shape == last.shape and (first != last).any()


def test_the_viewer_moves_the_mesh() -> None:
    try:
        import viser  # noqa: F401
    except ImportError:
        skip("viser is not installed")
    from stiction.viewer import Viewer

    sim = st.Simulation(st.loads(CUBE, format="native"))
    with Viewer(sim, port=8280) as viewer:
        [skin] = viewer._scene.softs
        mesh: Any = skin.mesh
        before = np.array(mesh.vertices)
        sim.step(10)
        viewer.update()
        assert np.array(mesh.vertices).shape == (26, 3)
        assert (np.array(mesh.vertices)[:, 2] < before[:, 2]).all()


def test_rerun_gets_the_surface(cube: st.Simulation, tmp_path: Path) -> None:
    try:
        import rerun  # noqa: F401
    except ImportError:
        skip("rerun is not installed")
    with cube.record(fps=50) as recording:
        cube.step(5)
    recording.save(tmp_path / "cube.rrd")
    assert (tmp_path / "cube.rrd").stat().st_size > 1000


@pytest.mark.parametrize("name", ["jelly", "draped-cable", "soft-press"])
def test_an_example_scene_can_be_stepped_from_python(name: str) -> None:
    sim = st.Simulation(st.load(ROOT / "examples" / "scenes" / f"{name}.toml"))
    report = sim.step(3)
    assert report.steps == 3 and np.isfinite(sim.vertices).all()
