"""One discrete step of Drake's SAP solver [Castro22] for four spheres with nine contacts.

Writes the text that stands beside this file under the same name:
    python drake_sap_step.py > drake_sap_step.txt
Needs the Python package `drake`. Each line of the output begins with a word that says what it is;
lines that begin with `#` are the header.
"""

import sys
from importlib.metadata import version

import numpy as np
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
)
from pydrake.multibody.tree import SpatialInertia
from pydrake.systems.framework import DiagramBuilder

TIME_STEP = 0.01  # [s]
GRAVITY = 9.81  # [m/s²], along -z

# mass [kg], radius [m], centre [m], angular velocity [rad/s], velocity [m/s]; world axes.
# Three spheres rest on the ground and touch each other, the fourth leans on all of them.
# Every pair overlaps, by 0.02 to 0.2 mm.
SPHERES = [
    (0.5, 0.05, (0.0, 0.0, 0.0499), (0.4, -1.1, 0.3), (0.21, 0.05, -0.11)),
    (1.0, 0.06, (0.10946, 0.0, 0.05995), (-0.6, 0.2, 0.9), (-0.14, 0.08, 0.02)),
    (1.5, 0.07, (0.042052, 0.110579, 0.06982), (0.1, 0.5, -0.7), (0.03, -0.17, -0.04)),
    (2.0, 0.1, (0.027637, -0.000967, 0.197268), (0.8, -0.3, 0.2), (0.06, 0.12, -0.23)),
]

# Stiffness of each geometry [N/m], relaxation time of each geometry [s], friction [-].
CASES = [(1e4, 0.01, 0.5), (1e9, 0.01, 0.5), (1e5, 0.0, 1.0), (1e5, 0.02, 0.0)]


def step(stiffness, relaxation_time, friction):
    """Velocities after one step, one row [ω, v] per sphere."""
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, TIME_STEP)
    plant.SetUseSampledOutputPorts(False)
    plant.set_contact_model(ContactModel.kPoint)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
    properties = ProximityProperties()
    AddContactMaterial(
        point_stiffness=stiffness,
        friction=CoulombFriction(friction, friction),
        properties=properties,
    )
    properties.AddProperty("material", "relaxation_time", relaxation_time)
    ground = RigidTransform()
    plant.RegisterCollisionGeometry(plant.world_body(), ground, HalfSpace(), "ground", properties)
    bodies = []
    for i, (mass, radius, *_) in enumerate(SPHERES):
        inertia = SpatialInertia.SolidSphereWithMass(mass, radius)
        body = plant.AddRigidBody(f"sphere{i}", inertia)
        shape = Sphere(radius)
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"sphere{i}", properties)
        bodies.append(body)
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    for body, (_, _, centre, spin, velocity) in zip(bodies, SPHERES):
        plant.SetFreeBodyPose(context, body, RigidTransform(list(centre)))
        joint = plant.GetJointByName(body.name())
        first = joint.velocity_start()
        v = plant.GetVelocities(context).copy()
        v[first : first + 6] = [*spin, *velocity]
        plant.SetVelocities(context, v)
    query = plant.get_geometry_query_input_port().Eval(context)
    depths = [pair.depth for pair in query.ComputePointPairPenetration()]
    assert len(depths) == 9 and 1e-5 < min(depths) and max(depths) < 3e-4, depths
    after = diagram.EvalUniquePeriodicDiscreteUpdate(root)
    root.SetDiscreteState(after)
    v = plant.GetVelocities(context)
    rows = []
    for body in bodies:
        first = plant.GetJointByName(body.name()).velocity_start()
        rows.append(v[first : first + 6])
    return np.array(rows)


def main():
    def write(word, *numbers):
        print(word, *(repr(float(x)) for x in numbers))

    print("# One step of Drake's SAP solver for four spheres with nine contacts.")
    print("# Generator: drake_sap_step.py, in this directory.")
    print(
        f"# Versions: drake {version('drake')}, numpy {version('numpy')},"
        f" python {sys.version_info.major}.{sys.version_info.minor}."
    )
    print("# Point contact, half space z <= 0, near-rigid parameters at their defaults.")
    print("# Tolerance: the solver stops at a relative momentum error of 1e-6.")
    print("# time_step dt [s]")
    print("# gravity g [m/s2], along -z")
    print("# sphere mass [kg] radius [m] centre(3) [m] angular velocity(3) [rad/s] velocity(3) [m/s]")
    print("# case stiffness [N/m] and relaxation time [s] of each geometry, friction [-]")
    print("# after angular velocity(3) [rad/s] velocity(3) [m/s], one line per sphere")
    write("time_step", TIME_STEP)
    write("gravity", GRAVITY)
    for mass, radius, centre, spin, velocity in SPHERES:
        write("sphere", mass, radius, *centre, *spin, *velocity)
    for case in CASES:
        write("case", *case)
        for row in step(*case):
            write("after", *row)


if __name__ == "__main__":
    main()
