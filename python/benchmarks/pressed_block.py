"""The pressed soft block in Drake and here: CPU time per step while the plate presses.

A block of 1,452 vertices and 6,600 tetrahedra lies on the ground under a plate that can only fall. Both
engines build the same mesh and use the same material, friction, dissipation and time step, and the same
kind of solver, SAP. An engine that is not installed is left out. Medians of CPU times over the steps of each
half of a run: in the first the plate falls and the block swings, in the second it settles under the
plate. Engines take turns, so that what else the machine does meets both.
"""

import argparse
import importlib.util
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SIZE = (0.1, 0.1, 0.11)  # of the block [m]
YOUNG, POISSON, DENSITY, DAMPING = 1e5, 0.4, 1000.0, 0.01  # [Pa], [-], [kg/m³], [s]
PLATE, PLATE_MASS = (0.16, 0.16, 0.06), 5.0  # [m], [kg]
BELOW, ABOVE = 1e-4, 1e-3  # gaps at the start [m]
FRICTION, DISSIPATION, TIME_STEP = 0.6, 0.01, 0.01  # [-], per surface [s], [s]

Step = Callable[[], None]


def ours(cells: int, solver: str) -> Step:
    """A step of the scenario."""
    import stiction as st

    simulation = st.Simulation(st.scenario("pressed-block", cells=cells), solver=solver)

    def step() -> None:
        simulation.step()

    return step


def mesh(cells: int) -> str:
    """The block as a VTK file: cubes cut into six tetrahedra along one diagonal, corner to corner."""
    counts = (cells, cells, cells + 1)
    nx, ny = counts[0] + 1, counts[1] + 1

    def index(place: Sequence[int]) -> int:
        return (place[2] * ny + place[1]) * nx + place[0]

    places = itertools.product(*(range(n + 1) for n in reversed(counts)))
    points = [[SIZE[a] * (p[2 - a] / counts[a] - 0.5) for a in range(3)] for p in places]
    tetrahedra = []
    for corner in itertools.product(*(range(n) for n in counts)):
        for order in itertools.permutations(range(3)):
            place, vertices = list(corner), [index(corner)]
            for axis in order:
                place[axis] += 1
                vertices.append(index(place))
            # An odd order makes a tetrahedron of negative volume.
            if order not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                vertices[2], vertices[3] = vertices[3], vertices[2]
            tetrahedra.append(vertices)
    lines = ["# vtk DataFile Version 3.0", "block", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(points)} double", *(" ".join(map(repr, p)) for p in points)]
    lines += [f"CELLS {len(tetrahedra)} {5 * len(tetrahedra)}"]
    lines += [" ".join(map(str, [4, *vertices])) for vertices in tetrahedra]
    lines += [f"CELL_TYPES {len(tetrahedra)}", *("10" for _ in tetrahedra)]
    return "\n".join(lines) + "\n"


def drake(cells: int, folder: Path) -> Step:
    """A step of the same scene in Drake."""
    from pydrake import all as d

    friction = d.CoulombFriction(FRICTION, FRICTION)

    def surface(rigid: bool) -> d.ProximityProperties:
        properties = d.ProximityProperties()
        d.AddContactMaterial(friction=friction, properties=properties)
        properties.AddProperty("material", "relaxation_time", DISSIPATION)
        if rigid:
            d.AddRigidHydroelasticProperties(resolution_hint=0.02, properties=properties)
        return properties

    builder = d.DiagramBuilder()
    config = d.MultibodyPlantConfig(time_step=TIME_STEP, discrete_contact_approximation="sap")
    plant, _ = d.AddMultibodyPlant(config, builder)
    ground = d.RigidTransform([0.0, 0.0, -0.5])
    plant.RegisterCollisionGeometry(plant.world_body(), ground, d.Box(2, 2, 1), "ground", surface(True))
    inertia = d.SpatialInertia(PLATE_MASS, [0.0, 0.0, 0.0], d.UnitInertia.SolidBox(*PLATE))
    plate = plant.AddRigidBody("plate", inertia)
    slide = plant.AddJoint(
        d.PrismaticJoint("slide", plant.world_frame(), plate.body_frame(), [0.0, 0.0, 1.0])
    )
    plant.RegisterCollisionGeometry(plate, d.RigidTransform(), d.Box(*PLATE), "plate", surface(True))
    path = folder / "block.vtk"
    path.write_text(mesh(cells))
    raised = d.RigidTransform([0.0, 0.0, BELOW + 0.5 * SIZE[2]])
    shape = d.GeometryInstance(raised, d.Mesh(str(path)), "block")
    shape.set_proximity_properties(surface(False))
    body = d.DeformableBodyConfig()
    body.set_youngs_modulus(YOUNG)
    body.set_poissons_ratio(POISSON)
    body.set_mass_density(DENSITY)
    body.set_mass_damping_coefficient(0.0)
    body.set_stiffness_damping_coefficient(DAMPING)
    if hasattr(d.MaterialModel, "kLinearCorotated"):
        body.set_material_model(d.MaterialModel.kLinearCorotated)
    plant.mutable_deformable_model().RegisterDeformableBody(shape, body, 1.0)
    plant.Finalize()
    simulator = d.Simulator(builder.Build())
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    slide.set_translation(context, BELOW + SIZE[2] + ABOVE + 0.5 * PLATE[2])
    simulator.Initialize()

    def step() -> None:
        simulator.AdvanceTo(simulator.get_context().get_time() + TIME_STEP)

    return step


def medians(engines: dict[str, Step], steps: int) -> dict[str, tuple[float, float]]:
    """Median CPU times of a step of each engine [ms], over the first and the second half of its steps."""
    times: dict[str, list[float]] = {name: [] for name in engines}
    for _ in range(steps):
        for name, step in engines.items():
            begin = time.process_time()
            step()
            times[name].append(1e3 * (time.process_time() - begin))
    half = steps // 2
    return {
        name: (statistics.median(spent[:half]), statistics.median(spent[half:]))
        for name, spent in times.items()
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The pressed soft block in Drake and here.")
    parser.add_argument("--cells", type=int, default=10, help="along x and y, and one more along z")
    parser.add_argument("--steps", type=int, default=60, help="at least 2")
    parser.add_argument("--solver", default="sap", help="ours")
    options = parser.parse_args()
    if options.cells < 1 or options.steps < 2:
        parser.error("expected at least one cell and two steps")
    with tempfile.TemporaryDirectory() as folder:
        engines: dict[str, Step] = {}
        if importlib.util.find_spec("stiction"):
            engines["Stiction"] = ours(options.cells, options.solver)
        if importlib.util.find_spec("pydrake"):
            engines["Drake"] = drake(options.cells, Path(folder))
        found = medians(engines, options.steps)
    for name, (first, second) in found.items():
        print(f"{name}: CPU time per step {first:.2f} ms in the first half, {second:.2f} ms in the second")
    if len(found) == 2:
        ratios = [a / b for a, b in zip(found["Drake"], found["Stiction"], strict=True)]
        print(f"Drake takes {ratios[0]:.1f} and {ratios[1]:.1f} times as long")
    else:
        print("needs stiction and pydrake: there is nothing to compare with")
