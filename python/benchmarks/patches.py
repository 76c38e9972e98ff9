"""Contact patches here and in Drake: force, torque, pressure, slip and CPU time per step of the same scenes.

    python python/benchmarks/patches.py [--steps N] [--repeat N] [--only TEXT] [--json FILE]

Needs pydrake and stiction. A compliant sphere, box or cylinder lies on a rigid plane, or on a compliant shape that is fixed; it is pressed in by
a centimetre, has the weight of the force there, and slides and spins. Both engines have the same fields, friction, dissipation, time step,
and SAP with its near-rigid contact model. Edges have the same length, except that Drake does not divide boxes: ours get edges with
which patches have about as many polygons. Force, torque about the centre of the upper shape, area and largest pressure are those of the patch at the
start; velocities those after all steps. Engines take turns step by step in one process, so that what else the machine does meets both; times are medians
of CPU times.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stiction as st

MODULUS, DISSIPATION = 1e5, 0.05  # [Pa], per compliant surface [s]
RESOLUTION, BOX_RESOLUTION = 0.02, 0.06  # edges of round shapes, and of our boxes [m]
FRICTION, TIME_STEP, GRAVITY = 0.5, 0.005, 9.81  # [-], [s], [m/s²]
DEPTH = 0.01  # of the upper shape in the lower one at the start [m]
SLIDE, SPIN = (0.4, 0.1, 0.0), (0.0, 0.0, 2.0)  # velocities at the start [m/s], [rad/s]

Array = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Shape:
    """A shape: its kind, sizes [m], and its half height [m]."""

    kind: str
    sizes: tuple[float, ...]
    half: float

    def text(self) -> str:
        """The shape in a scene."""
        keys = {
            "sphere": "radius = {}",
            "box": "edges = [{}, {}, {}]",
            "cylinder": "radius = {}\nlength = {}",
        }
        return f'shape = "{self.kind}"\n' + keys[self.kind].format(*self.sizes)

    @property
    def surface(self) -> str:
        """Its compliance in a scene."""
        edges = BOX_RESOLUTION if self.kind == "box" else RESOLUTION
        return f"compliance = {{ modulus = {MODULUS}, resolution = {edges}, dissipation = {DISSIPATION} }}"

    def inertia(self, mass: float) -> Array:
        """Principal moments of inertia, solid and homogeneous [kg·m²]."""
        if self.kind == "sphere":
            return np.full(3, 0.4 * mass * self.sizes[0] ** 2)
        if self.kind == "box":
            a, b, c = np.square(self.sizes)
            return mass / 12 * np.array([b + c, a + c, a + b])
        across = mass / 12 * (3 * self.sizes[0] ** 2 + self.sizes[1] ** 2)
        return np.array([across, across, 0.5 * mass * self.sizes[0] ** 2])


SPHERE = Shape("sphere", (0.08,), 0.08)
BOX = Shape("box", (0.2, 0.16, 0.12), 0.06)
CYLINDER = Shape("cylinder", (0.08, 0.12), 0.06)
# The upper shape, the lower one or none for the plane, and a shift of the upper one [m].
CASES: dict[str, tuple[Shape, Shape | None, tuple[float, float]]] = {
    "sphere on plane": (SPHERE, None, (0, 0)),
    "box on plane": (BOX, None, (0, 0)),
    "cylinder on plane": (CYLINDER, None, (0, 0)),
    "sphere on sphere": (SPHERE, SPHERE, (0.02, 0.01)),
    "sphere on box": (SPHERE, BOX, (0.013, 0.007)),
    "sphere on cylinder": (SPHERE, CYLINDER, (0.013, 0.007)),
    "box on box": (BOX, BOX, (0.03, 0.02)),
    "box on cylinder": (BOX, CYLINDER, (0.03, 0.02)),
    "cylinder on cylinder": (CYLINDER, CYLINDER, (0.03, 0.02)),
}


@dataclasses.dataclass
class Patch:
    """A patch at rest: force [N] and torque about the centre of the upper shape [N·m] on it, largest pressure [Pa], area [m²], polygons."""

    force: Array
    torque: Array
    pressure: float
    area: float
    polygons: int


@dataclasses.dataclass
class Engine:
    """A simulation: one step, and the velocity of the upper shape [m/s] and its angular velocity in the world [rad/s]."""

    step: Callable[[], None]
    velocity: Callable[[], tuple[Array, Array]]


def centre(upper: Shape, lower: Shape | None, shift: Sequence[float]) -> Array:
    """Centre of the upper shape over a lower one whose top is at z = 0 [m]."""
    height = upper.half - DEPTH
    if lower is not None and upper.kind == lower.kind == "sphere":
        # The lower sphere ends below the shift.
        radius = lower.sizes[0] + upper.sizes[0] - DEPTH
        height = np.sqrt(radius**2 - shift[0] ** 2 - shift[1] ** 2) - lower.half
    return np.array([shift[0], shift[1], height])


def scene(upper: Shape, lower: Shape | None, shift: Sequence[float], mass: float) -> str:
    """The scene in our format."""
    x, y, z = map(float, centre(upper, lower, shift))
    ground = 'shape = "plane"' if lower is None else f"{lower.text()}\nposition = [0, 0, {-lower.half}]"
    surface = f"friction = {FRICTION}" + ("" if lower is None else f", {lower.surface}")
    return f"""
[scene]
gravity = [0, 0, {-GRAVITY}]
[[body]]
name = "ground"
{ground}
fixed = true
surface = {{ {surface} }}
[[body]]
name = "pad"
{upper.text()}
mass = {mass}
position = [{x}, {y}, {z}]
surface = {{ friction = {FRICTION}, {upper.surface} }}
"""


def our_patch(upper: Shape, lower: Shape | None, shift: Sequence[float]) -> Patch:
    """The patch at rest, from a step so short that nothing moves, without dissipation and friction."""
    text = scene(upper, lower, shift, 1.0).replace(f"friction = {FRICTION}", "friction = 0")
    text = text.replace(f"dissipation = {DISSIPATION}", "dissipation = 0").replace(str(-GRAVITY), "0")
    simulation = st.Simulation(st.loads(text, format="native"), time_step=1e-7)
    simulation.step()
    (patch,) = simulation.contacts.patches
    arm = np.asarray(patch.centre) - centre(upper, lower, shift)
    return Patch(
        np.asarray(patch.force),
        np.asarray(patch.moment) + np.cross(arm, patch.force),
        patch.pressure,
        patch.area,
        patch.polygons,
    )


def ours(upper: Shape, lower: Shape | None, shift: Sequence[float], mass: float) -> Engine:
    """The moving scene here."""
    model = st.loads(scene(upper, lower, shift, mass), format="native")
    simulation = st.Simulation(model, solver="sap", time_step=TIME_STEP, contact="sap", tolerance=1e-3)
    simulation.qvel[:] = [*SLIDE, *SPIN]  # the body's axes are those of the world

    def velocity() -> tuple[Array, Array]:
        w, x, y, z = simulation.qpos[3:7]
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return np.array(simulation.qvel[:3]), turn @ simulation.qvel[3:6]

    return Engine(simulation.step, velocity)


def drake_plant(
    upper: Shape, lower: Shape | None, shift: Sequence[float], mass: float, time_step: float
) -> tuple[Any, Any, Any]:
    """A diagram of the scene in Drake, its plant, and the upper body."""
    from pydrake import all as d

    shapes = {"sphere": d.Sphere, "box": d.Box, "cylinder": d.Cylinder}
    builder = d.DiagramBuilder()
    config = d.MultibodyPlantConfig(
        time_step=time_step,
        contact_model="hydroelastic",
        contact_surface_representation="polygon",
        discrete_contact_approximation="sap",
    )
    plant, _ = d.AddMultibodyPlant(config, builder)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])

    def surface(is_compliant: bool) -> Any:
        found = d.ProximityProperties()
        d.AddContactMaterial(friction=d.CoulombFriction(FRICTION, FRICTION), properties=found)
        found.AddProperty("material", "relaxation_time", DISSIPATION if is_compliant else 0.0)
        if is_compliant:
            d.AddCompliantHydroelasticProperties(RESOLUTION, MODULUS, found)
        else:
            d.AddRigidHydroelasticProperties(found)
        return found

    ground = d.HalfSpace() if lower is None else shapes[lower.kind](*lower.sizes)
    place = d.RigidTransform([0, 0, 0 if lower is None else -lower.half])
    plant.RegisterCollisionGeometry(plant.world_body(), place, ground, "ground", surface(lower is not None))
    unit = d.UnitInertia(*(upper.inertia(mass) / mass))
    body = plant.AddRigidBody("pad", d.SpatialInertia(mass, [0, 0, 0], unit))
    shape = shapes[upper.kind](*upper.sizes)
    plant.RegisterCollisionGeometry(body, d.RigidTransform(), shape, "pad", surface(True))
    plant.Finalize()
    return builder.Build(), plant, body


def drake_patch(upper: Shape, lower: Shape | None, shift: Sequence[float]) -> Patch:
    """The patch at rest in Drake."""
    from pydrake import all as d

    diagram, plant, body = drake_plant(upper, lower, shift, 1.0, 0.0)
    context = diagram.CreateDefaultContext()
    mine = plant.GetMyMutableContextFromRoot(context)
    place = centre(upper, lower, shift)
    plant.SetFreeBodyPose(mine, body, d.RigidTransform(place))
    info = plant.get_contact_results_output_port().Eval(mine).hydroelastic_contact_info(0)
    surface, at_centroid = info.contact_surface(), info.F_Ac_W()
    # The force on the first geometry, which may be either one; that on the upper shape points upwards.
    sign = 1.0 if at_centroid.translational()[2] > 0 else -1.0
    force = sign * at_centroid.translational()
    torque = sign * at_centroid.rotational() + np.cross(surface.centroid() - place, force)
    field, mesh = surface.poly_e_MN(), surface.poly_mesh_W()
    pressures = [field.EvaluateCartesian(k, mesh.element_centroid(k)) for k in range(mesh.num_elements())]
    return Patch(force, torque, max(pressures), surface.total_area(), surface.num_faces())


def drake(upper: Shape, lower: Shape | None, shift: Sequence[float], mass: float) -> Engine:
    """The moving scene in Drake."""
    from pydrake import all as d

    diagram, plant, body = drake_plant(upper, lower, shift, mass, TIME_STEP)
    simulator = d.Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.SetFreeBodyPose(context, body, d.RigidTransform(centre(upper, lower, shift)))
    velocity = d.SpatialVelocity(np.array(SPIN), np.array(SLIDE))
    plant.SetFreeBodySpatialVelocity(context, body, velocity)
    simulator.Initialize()

    def step() -> None:
        simulator.AdvanceTo(simulator.get_context().get_time() + TIME_STEP)

    def velocity() -> tuple[Array, Array]:
        found = plant.EvalBodySpatialVelocityInWorld(context, body)
        return np.array(found.translational()), np.array(found.rotational())

    return Engine(step, velocity)


def difference(one: Array, other: Array, scale: float) -> float:
    """Size of a difference of vectors, relative to a scale."""
    return float(np.linalg.norm(one - other)) / scale


def compare(name: str, steps: int, repeat: int) -> dict[str, Any]:
    """One case in both engines."""
    upper, lower, shift = CASES[name]
    here, there = our_patch(upper, lower, shift), drake_patch(upper, lower, shift)
    load = float(np.linalg.norm(there.force))
    mass = load / GRAVITY
    times: dict[str, list[float]] = {"ours": [], "drake": []}
    for _ in range(repeat):
        engines = {"ours": ours(upper, lower, shift, mass), "drake": drake(upper, lower, shift, mass)}
        for _ in range(steps):
            for engine, simulated in engines.items():
                begin = time.process_time()
                simulated.step()
                times[engine].append(1e6 * (time.process_time() - begin))
    (v, w), (v_drake, w_drake) = (engines[engine].velocity() for engine in ("ours", "drake"))
    microseconds = {engine: statistics.median(spent) for engine, spent in times.items()}
    return {
        "case": name,
        "force": {"ours": here.force.tolist(), "drake": there.force.tolist()},
        "force_difference": difference(here.force, there.force, load),
        "torque_difference": difference(here.torque, there.torque, load * upper.half),
        "pressure": {"ours": here.pressure, "drake": there.pressure},
        "area": {"ours": here.area, "drake": there.area},
        "polygons": {"ours": here.polygons, "drake": there.polygons},
        "velocity_difference": difference(v, v_drake, float(np.linalg.norm(SLIDE))),
        "spin_difference": difference(w, w_drake, float(np.linalg.norm(SPIN))),
        "microseconds_per_step": microseconds,
        "ratio": microseconds["ours"] / microseconds["drake"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Contact patches here and in Drake.")
    parser.add_argument("--steps", type=int, default=10, help="of each run")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each case")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--json", help="file to write")
    options = parser.parse_args()
    head = ("case", "force", "torque", "pressure", "area", "polygons", "velocity", "spin", "ours", "Drake", "ratio")
    print("{:22}{:>9}{:>9}{:>9}{:>8}{:>11}{:>9}{:>9}{:>9}{:>9}{:>7}".format(*head))
    results = []
    for name in CASES:
        if options.only not in name:
            continue
        found = compare(name, options.steps, options.repeat)
        results.append(found)
        of = {key: found[key]["ours"] / found[key]["drake"] - 1 for key in ("pressure", "area")}
        polygons, spent = found["polygons"], found["microseconds_per_step"]
        print(
            f"{name:22}{found['force_difference']:9.1e}{found['torque_difference']:9.1e}{of['pressure']:+9.3f}"
            f"{of['area']:+8.3f}{polygons['ours']:>6}{polygons['drake']:>5}{found['velocity_difference']:9.1e}"
            f"{found['spin_difference']:9.1e}{spent['ours']:9.0f}{spent['drake']:9.0f}{found['ratio']:7.3f}"
        )
    print("differences relative to the load, the speed and the spin at the start; times in microseconds of CPU per step")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
