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


def test_a_soft_body_is_described_by_its_arrays(cube: st.Simulation) -> None:
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


def test_invalid_vertex_states_are_rejected(cube: st.Simulation) -> None:
    before = cube.soft("cube").vertices.copy()
    cube.vertices[3, 1] = np.nan
    with pytest.raises(st.StateError):
        cube.step()
    cube.vertices[:] = before
    cube.step()


def test_uniform_strain_has_the_energy_of_linear_elasticity(cube: st.Simulation) -> None:
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


def test_contacts_mark_the_soft_side_and_support_the_weight(cube: st.Simulation) -> None:
    cube.step(200)
    contacts = cube.contacts
    assert len(contacts) > 0
    assert (contacts.softs == [-1, 0]).all() and (contacts.bodies[:, 1] == -1).all()
    assert (contacts.geoms[:, 1] == -1).all() and (contacts.geoms[:, 0] == 0).all()
    assert set(contacts.body_names) == {("ground", "cube")}
    assert {names[1] for names in contacts.geom_names} == {""}
    weight = cube.soft("cube").mass * GRAVITY
    # After two seconds the remaining motion is at most 1e-3 of the weight.
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
    # Arrays contain no warm start, whose round-off remains in free flight.
    assert batch.vertices[0, -1] == pytest.approx(cube.vertices, abs=1e-9)
    # Without them, the vertices start as in the model.
    rest = st.rollout(model, np.zeros((1, 0)), steps=1)
    assert rest.vertices[0, 0, :, 0] == pytest.approx(cube.soft(0).rest[:, 0], abs=1e-9)
    with pytest.raises(st.StateError, match=r"6 nvertex\) = \(n, 162\)"):
        st.rollout(model, np.zeros((1, 7)), steps=1)


def test_a_cable_is_described_by_its_segments() -> None:
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


def mesh_file(vertices: list[list[float]], tetrahedra: list[list[int]]) -> bytes:
    """A VTK file of tetrahedra."""
    lines = ["# vtk DataFile Version 3.0", "mesh", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(vertices)} double", *(" ".join(map(str, v)) for v in vertices)]
    lines += [f"CELLS {len(tetrahedra)} {5 * len(tetrahedra)}"]
    lines += ["4 " + " ".join(map(str, t)) for t in tetrahedra]
    lines += [f"CELL_TYPES {len(tetrahedra)}", *("10" for _ in tetrahedra)]
    return ("\n".join(lines) + "\n").encode()


CORNERS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
FROM_FILE = "[[soft]]\nfile = 'mesh.vtk'\nyoung = 1e4\npoisson = 0.3\n"


@pytest.mark.parametrize(
    ("vertices", "tetrahedra", "expected"),
    [
        ([*CORNERS[:3], [1.0, 1.0, 0.0]], [[0, 1, 2, 3]], r"mesh\.vtk:\d+.*volume"),
        ([*CORNERS, [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]], [[0, 1, 2, 3], [0, 1, 4, 5]], "manifold"),
        (CORNERS, [[0, 1, 2, 4]], "mesh.vtk"),
        ([*CORNERS[:3], [0.0, 0.0, float("nan")]], [[0, 1, 2, 3]], "mesh.vtk"),
        (CORNERS, [[0, 1, 1, 3]], "mesh.vtk"),
    ],
)
def test_an_invalid_mesh_is_rejected(
    vertices: list[list[float]], tetrahedra: list[list[int]], expected: str
) -> None:
    with pytest.raises(st.ModelError, match=expected):
        st.loads(FROM_FILE, format="native", assets={"mesh.vtk": mesh_file(vertices, tetrahedra)})


def test_points_of_a_file_that_no_tetrahedron_uses_are_omitted() -> None:
    mesh = mesh_file([[9.0, 9.0, 9.0], *CORNERS], [[1, 2, 3, 4]])
    soft = st.Simulation(st.loads(FROM_FILE, format="native", assets={"mesh.vtk": mesh})).soft(0)
    assert soft.rest.tolist() == CORNERS and soft.tetrahedra.tolist() == [[0, 1, 2, 3]]


def test_an_inverted_tetrahedron_is_reoriented() -> None:
    model = st.loads(FROM_FILE, format="native", assets={"mesh.vtk": mesh_file(CORNERS, [[1, 0, 2, 3]])})
    soft = st.Simulation(model).soft(0)
    a, b, c, d = soft.rest[soft.tetrahedra[0]]
    assert np.dot(np.cross(b - a, c - a), d - a) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("found", "given", "expected"),
    [
        ("poisson = 0.3", "poisson = 0.5", r"poisson.*0\.5.*expected.*< 0\.5"),
        ("poisson = 0.3", "poisson = nan", "poisson"),
        ("young = 5e4", "young = 0.0", "young.*expected"),
        ("young = 5e4", "young = inf", "young.*expected"),
        ("density = 500.0", "density = 0.0", "density.*expected.*above zero"),
        ("density = 500.0", "density = nan", "density.*expected"),
        ("position = [0.0, 0.0, 0.11]", "position = [0.0, 0.0, nan]", "position"),
        ("stiffness-damping = 0.02", "stiffness-damping = -1", "stiffness-damping.*expected"),
        ("cells = 2", "cells = 0", "cells.*expected"),
        ("cells = 2", "cells = 2\nbounce = 1", "bounce.*expected"),
        ("cells = 2", "cells = 2\nmaterial = 'jelly'", "jelly.*expected.*neo-hookean"),
        ("cells = 2", "cells = 2\nfixed = { below = -9 }", "fixed.*no vertex"),
    ],
)
def test_invalid_numbers_of_soft_bodies_are_rejected_with_their_line(found: str, given: str, expected: str) -> None:
    assert found in CUBE
    text = CUBE.replace(found, given)
    line = 1 + text[: text.index(given.splitlines()[-1])].count("\n")
    with pytest.raises(st.ModelError, match=expected) as error:
        st.loads(text, format="native")
    assert f":{line}:" in str(error.value)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("segments = 0", "segments.*expected"),
        ("density = 0", "density.*expected"),
        ("poisson = 0.6", "poisson.*expected"),
        ("young = nan", "young.*expected"),
        ("last = 'nobody'", "nobody.*expected.*hand"),
        ("stiffness = 3", "stiffness.*expected"),
    ],
)
def test_invalid_numbers_of_cables_are_rejected(more: str, expected: str) -> None:
    text = ROPE if more.startswith("segments") else ROPE + more
    with pytest.raises(st.ModelError, match=expected):
        st.loads(text.replace("segments = 8", more) if more.startswith("segments") else text, format="native")


def test_arrays_of_other_shapes_are_rejected_and_change_nothing(cube: st.Simulation) -> None:
    soft = cube.soft("cube")
    before = soft.vertices.copy()
    with pytest.raises((ValueError, st.StictionError)):
        soft.vertices = np.zeros((5, 3))
    with pytest.raises((ValueError, st.StictionError)):
        soft.velocities = "fast"
    assert (soft.vertices == before).all()


def test_every_material_can_be_stepped() -> None:
    for material in ["corotational", "linear", "linear-corotated", "neo-hookean", "mooney-rivlin"]:
        parameters = "c1 = 8e3\nc2 = 2e3\nbulk = 5e4" if material == "mooney-rivlin" else "young = 5e4\npoisson = 0.3"
        text = CUBE.replace("young = 5e4\npoisson = 0.3", f"material = '{material}'\n{parameters}")
        sim = st.Simulation(st.loads(text, format="native"))
        report = sim.step(20)
        assert sim.soft(0).material == material
        assert report.inverted == 0 and not report.unresolved


def test_a_state_of_another_model_is_rejected(cube: st.Simulation) -> None:
    other = st.Simulation(st.loads(CUBE.replace("cells = 2", "cells = 1"), format="native"))
    with pytest.raises(st.StateError, match="expected"):
        cube.set_state(other.get_state())


def test_attached_vertices_follow_a_driven_body() -> None:
    hold = '[[body]]\nname = "hand"\nshape = "sphere"\nradius = 0.02\ndriven = true\nposition = [0, 0, 0.3]\n\n'
    text = CUBE.replace("[[soft]]", hold + "[[soft]]")
    text += '\n[[soft.attach]]\nbody = "hand"\nwhere = { above = 0.1 }\n'
    sim = st.Simulation(st.loads(text, format="native"))
    soft, hand = sim.soft("cube"), sim.body("hand")
    held = np.flatnonzero(soft.rest[:, 2] > 0.2)
    assert len(held) == 9
    for k in range(1, 41):
        hand.pose = ([0.005 * k, 0.0, 0.3], [1.0, 0.0, 0.0, 0.0])
        report = sim.step()
    # An attachment constrains the position at the end of the step.
    assert soft.vertices[held] == pytest.approx(soft.rest[held] + [0.2, 0.0, 0.0], abs=1e-6)
    assert report.equality_error < 1e-6


def test_extreme_velocities_are_flagged_or_rejected(cube: st.Simulation) -> None:
    cube.soft("cube").velocities[:] = [0.0, 0.0, -1e308]
    try:
        report = cube.step()
        assert report.unresolved or report.inverted > 0
    except st.StepError as error:
        assert "cube" in str(error)
    assert np.isfinite(cube.vertices).all() and np.isfinite(cube.vertex_velocities).all()


def test_sides_of_contacts_between_soft_bodies_and_a_cable_are_reported() -> None:
    text = CUBE + CUBE[CUBE.index("[[soft]]") :].replace('"cube"', '"upper"').replace("0.11", "0.32")
    text += ROPE.replace("2.0]", "1.3]").replace("2.05]", "1.35]")
    sim = st.Simulation(st.loads(text, format="native"))
    sim.step(60)
    contacts = sim.contacts
    pairs = {tuple(sorted(pair)) for pair in contacts.softs.tolist()}
    assert (0, 1) in pairs and (-1, 0) in pairs
    names = {frozenset(pair) for pair in contacts.body_names}
    assert frozenset({"cube", "upper"}) in names
    assert len(contacts.geom_names) == len(contacts) and np.isfinite(contacts.force).all()
