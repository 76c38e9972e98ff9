"""Contact patches of compliant shapes, from scenes: force, moment, area and centre of pressure."""

import sys
from pathlib import Path

import numpy as np
import pytest

import stiction as st

GRAVITY = 9.81

FLOOR = """
[[body]]
name = "floor"
shape = "plane"
fixed = true
surface = { friction = 0.5, compliance = { modulus = 1e5, thickness = 0.1, dissipation = 0.2 } }
"""

BLOCK = """
[[body]]
name = "block"
shape = "box"
edges = [0.2, 0.1, 0.1]
mass = 2.0
position = [0.3, 0.1, 0.05]
surface = { friction = 0.0 }
"""


def loads(text: str) -> st.Simulation:
    return st.Simulation(st.loads(text, format="native"), time_step=0.005)


def test_a_block_stands_on_a_patch_that_carries_its_weight() -> None:
    sim = loads(FLOOR + BLOCK)
    sim.step(600)
    # Depth m g L/(E a); the sides of the block are under pressure as well, to this depth.
    depth = 2.0 * GRAVITY * 0.1 / (1e5 * 0.02)
    assert sim.qpos[2] == pytest.approx(0.05 - depth, abs=1e-3 * depth)
    (patch,) = sim.contacts.patches
    assert patch.body_names == ("floor", "block")
    assert patch.area == pytest.approx(0.02 + 0.6 * depth, rel=1e-3)
    assert patch.force == pytest.approx([0, 0, 2.0 * GRAVITY], abs=1e-3)
    # The centre of pressure lies under the centre of mass, but for the pressure on the sides, which have a height.
    assert patch.centre[:2] == pytest.approx([0.3, 0.1], abs=1e-6)
    assert np.abs(patch.moment).max() < 1e-4
    contacts = sim.contacts
    assert contacts.area.sum() == pytest.approx(patch.area, rel=1e-12)
    assert len(contacts) == patch.polygons
    assert patch.pressure == pytest.approx(2.0 * GRAVITY / 0.02, rel=1e-2)


def test_bad_compliances_are_refused() -> None:
    for field, expected in [
        ("modulus = 0", "above zero"),
        ("modulus = inf", "above zero"),
        ("modulus = 1e5, dissipation = -1", "dissipation"),
    ]:
        with pytest.raises(st.ModelError, match=expected):
            loads(
                FLOOR + BLOCK.replace("friction = 0.0", f"compliance = {{ {field} }}")
            )
    with pytest.raises(st.ModelError, match="thickness"):
        loads(FLOOR.replace("thickness = 0.1, ", "") + BLOCK)


def drake_force(
    kind: str, size: tuple[float, ...], height: float, ground: str
) -> np.ndarray:
    """Force of Drake on a compliant shape whose origin is at a height over a ground at z = 0."""
    drake = pytest.importorskip("pydrake.all")
    shape = {"sphere": drake.Sphere, "box": drake.Box, "cylinder": drake.Cylinder}[
        kind
    ](*size)
    builder = drake.DiagramBuilder()
    plant, _ = drake.AddMultibodyPlantSceneGraph(builder, time_step=0.0)
    plant.set_contact_model(drake.ContactModel.kHydroelastic)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    friction = drake.CoulombFriction(0.0, 0.0)

    def properties(is_compliant: bool) -> object:
        found = drake.ProximityProperties()
        drake.AddContactMaterial(0.0, None, friction, found)
        if is_compliant:
            drake.AddCompliantHydroelasticProperties(RESOLUTION, MODULUS, found)
        else:
            drake.AddRigidHydroelasticProperties(RESOLUTION, found)
        return found

    floor_shape = drake.HalfSpace() if ground == "plane" else drake.Sphere(0.1)
    floor_pose = (
        drake.RigidTransform()
        if ground == "plane"
        else drake.RigidTransform([0, 0, -0.1])
    )
    plant.RegisterCollisionGeometry(
        plant.world_body(),
        floor_pose,
        floor_shape,
        "floor",
        properties(ground == "ball"),
    )
    body = plant.AddRigidBody(
        "body", drake.SpatialInertia.SolidSphereWithMass(1.0, 0.1)
    )
    plant.RegisterCollisionGeometry(
        body, drake.RigidTransform(), shape, "pad", properties(True)
    )
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    mine = plant.GetMyMutableContextFromRoot(context)
    plant.SetFreeBodyPose(mine, body, drake.RigidTransform([0, 0, height]))
    results = plant.get_contact_results_output_port().Eval(mine)
    info = results.hydroelastic_contact_info(0)
    # The force on the geometry with the smaller id, the floor.
    return -info.F_Ac_W().translational()


MODULUS = 1e6
RESOLUTION = 0.008


@pytest.mark.parametrize("ground", ["plane", "ball"])
@pytest.mark.parametrize(
    ("kind", "size", "keys", "half"),
    [
        ("sphere", (0.08,), "radius = 0.08", 0.08),
        ("box", (0.2, 0.16, 0.12), "edges = [0.2, 0.16, 0.12]", 0.06),
        ("cylinder", (0.08, 0.12), "radius = 0.08\nlength = 0.12", 0.06),
    ],
)
def test_forces_of_patches_are_those_of_drake(
    kind: str, size: tuple[float, ...], keys: str, half: float, ground: str
) -> None:
    depth = 0.01
    expected = drake_force(kind, size, half - depth, ground)
    field = f"compliance = {{ modulus = {MODULUS}, resolution = {RESOLUTION} }}"
    floor = (
        "shape = 'plane'"
        if ground == "plane"
        else "shape = 'sphere'\nradius = 0.1\nposition = [0, 0, -0.1]"
    )
    surface = "friction = 0.0" if ground == "plane" else f"friction = 0.0, {field}"
    scene = f"""
[scene]
gravity = [0, 0, 0]
[[body]]
name = "floor"
{floor}
fixed = true
surface = {{ {surface} }}
[[body]]
name = "pad"
shape = "{kind}"
{keys}
mass = 1.0
position = [0, 0, {half - depth}]
surface = {{ friction = 0.0, {field} }}
"""
    # At rest, in a step in which nothing moves.
    sim = st.Simulation(st.loads(scene, format="native"), time_step=1e-7)
    sim.step()
    (patch,) = sim.contacts.patches
    # Facets of edge e lie e²/(8 R) deep in a round surface, twice that of the force; so do those of Drake, whose edges are at
    # most twice as long as its hint.
    round_off = (
        0.0 if (kind, ground) in (("box", "plane"), ("cylinder", "plane")) else 1.0
    )
    bound = 1e-3 + round_off * (2 * RESOLUTION) ** 2 / (4 * 0.08 * depth / 2)
    assert np.linalg.norm(patch.force - expected) <= bound * np.linalg.norm(expected)


CASES = ["sphere on plane", "box on plane", "cylinder on plane", "sphere on sphere", "sphere on box", "cylinder on cylinder"]


@pytest.mark.parametrize("case", CASES)
def test_patches_push_turn_and_slide_as_those_of_drake(case: str) -> None:
    """Force, torque, pressure and area at rest, and the motion of a shape that slides and spins."""
    pytest.importorskip("pydrake.all", reason="pydrake is not installed: nothing to compare with")
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    import patches as benchmark

    upper, lower, shift = benchmark.CASES[case]
    here = benchmark.our_patch(upper, lower, shift)
    there = benchmark.drake_patch(upper, lower, shift)
    load = float(np.linalg.norm(there.force))
    # Facets of edge e lie e²/(8 R) deep in a round surface: a part of the depth, in both engines. A part of
    # the force twice as large as that of the depth; flat patches have the same force to round-off.
    is_round = "sphere" in case
    facet = benchmark.RESOLUTION**2 / (8 * 0.08) / benchmark.DEPTH
    bound = 2 * facet if is_round else 1e-6
    assert np.linalg.norm(here.force - there.force) <= bound * load
    # The arm of a load on a patch is at most its radius, sqrt(2 R d); the centre of a flat patch depends on its polygons' centroids in
    # Drake, which lie within an edge of ours.
    arm = np.sqrt(2 * 0.08 * benchmark.DEPTH) if is_round else benchmark.BOX_RESOLUTION
    assert np.linalg.norm(here.torque - there.torque) <= max(bound, 0.05) * arm * load
    # Mean pressures of polygons and an edge of the boundary.
    assert here.pressure == pytest.approx(there.pressure, rel=max(bound, 1e-3))
    assert here.area == pytest.approx(there.area, rel=max(bound, 1e-3))
    engines = [make(upper, lower, shift, load / benchmark.GRAVITY) for make in (benchmark.ours, benchmark.drake)]
    for _ in range(10):
        for engine in engines:
            engine.step()
    slide = [engine.velocity()[0][:2] for engine in engines]
    lost = np.linalg.norm(slide[1] - np.array(benchmark.SLIDE[:2]))
    # The impulse of friction, which the normal forces bound: the error of the force, and a tenth for what polygons of other sizes do
    # while the shape tilts.
    assert lost > 0.1 * np.linalg.norm(benchmark.SLIDE)
    assert np.linalg.norm(slide[0] - slide[1]) <= (bound + 0.1) * lost
