"""URDF robots against Pinocchio: the same dynamics after the change of coordinates.

Both programs read the same file and are put into the same random states. Masses, inertias, poses,
Jacobians, mass matrix and bias forces are sums of at most a few hundred products of numbers of
similar size, so that two correct programs agree to about 1e-12, far within the tolerance.

Pinocchio sorts the children of a link by name, tells unlimited angles by cosine and sine, puts the
scalar part of quaternions last, and measures the velocity of free and planar joints in the frame
that moves. Hence `v_pin = T(q) v`, and forces and mass matrix change by
`M = Tᵀ M_pin T`, `bias = Tᵀ (bias_pin + M_pin Ṫ v)`.
"""

import pickle
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction as st
from agreement import close

pin = pytest.importorskip("pinocchio")

STATES = 3
ROOT_JOINT = "root_joint"


def robots() -> list[Path]:
    """Every robot of the package example-robot-data."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in files if file.suffix == ".urdf")


def name_of(path: Path) -> str:
    return path.stem


class Coordinates:
    """One state in the coordinates of both programs."""

    def __init__(self, model: st.Model, reference: Any, random: np.random.Generator) -> None:
        self.qpos, self.qvel = np.zeros(model.nq), random.normal(size=model.nv)
        self.q = pin.neutral(reference)
        self.T = np.zeros((reference.nv, model.nv))
        #: Ṫ v
        self.drift = np.zeros(reference.nv)
        for name in model.joint_names:
            joint = model.joint(name)
            carrier = name.removesuffix("_x").removesuffix("_y").removesuffix("_z")
            if not reference.existJointName(name) and reference.existJointName(carrier):
                continue  # a slide of a floating joint, handled with its ball
            other = reference.joints[reference.getJointId(name)]
            if joint.type in ("hinge", "slide"):
                self.scalar(joint, other, random)
            elif joint.type == "planar":
                self.planar(joint, other, random)
            else:
                slides = [model.joint(f"{name}_{axis}") for axis in "xyz" if joint.type == "ball"]
                self.free(joint, slides, other, random)
        self.v = self.T @ self.qvel

    def scalar(self, joint: st.Joint, other: Any, random: np.random.Generator) -> None:
        low, high = joint.range or (-2.0, 2.0)
        q = random.uniform(low, high)
        self.qpos[joint.qpos_range] = q
        told = [np.cos(q), np.sin(q)] if other.nq == 2 else [q]
        self.q[other.idx_q : other.idx_q + other.nq] = told
        self.T[other.idx_v, joint.qvel_range.start] = 1.0

    def planar(self, joint: st.Joint, other: Any, random: np.random.Generator) -> None:
        x, y, angle = random.normal(size=3)
        self.qpos[joint.qpos_range] = x, y, angle
        at, place, here = other.idx_q, other.idx_v, joint.qvel_range
        self.q[at : at + 4] = x, y, np.cos(angle), np.sin(angle)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        self.T[place : place + 2, here.start : here.start + 2] = turn.T
        self.T[place + 2, here.start + 2] = 1.0
        u, w = turn.T @ self.qvel[here][:2], self.qvel[here][2]
        self.drift[place : place + 2] = w * u[1], -w * u[0]

    def free(
        self, joint: st.Joint, slides: list[st.Joint], other: Any, random: np.random.Generator
    ) -> None:
        quaternion = random.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        position = random.normal(size=3)
        at, place = other.idx_q, other.idx_v
        self.q[at : at + 7] = *position, *quaternion[1:], quaternion[0]
        turn = pin.Quaternion(*quaternion).matrix()
        angular = np.arange(joint.qvel_range.stop - 3, joint.qvel_range.stop)
        if slides:
            self.qpos[joint.qpos_range] = quaternion
            for slide, x in zip(slides, position, strict=True):
                self.qpos[slide.qpos_range] = x
            linear = np.array([slide.qvel_range.start for slide in slides])
        else:
            self.qpos[joint.qpos_range] = *position, *quaternion
            linear = angular - 3
        self.T[place : place + 3, linear] = turn.T
        self.T[place + 3 : place + 6, angular] = np.eye(3)
        self.drift[place : place + 3] = -np.cross(
            self.qvel[angular], turn.T @ self.qvel[linear]
        )


def add_armature(model: st.Model, reference: Any) -> None:
    """Gives the reference the armature with which joints without inertia were braced."""
    for note in model.notes:
        if "armature" in note:
            for item in note.rsplit(": ", 1)[1].split(", "):
                name, value = item.rsplit(" ", 1)
                joint = reference.joints[reference.getJointId(name)]
                reference.armature[joint.idx_v : joint.idx_v + joint.nv] = float(value)


def moments(mass: float, com: Any, inertia: Any) -> np.ndarray:
    """Mass, first moment of mass and inertia about the origin: the additive moments."""
    about_origin = inertia + mass * (np.dot(com, com) * np.eye(3) - np.outer(com, com))
    return np.concatenate([[mass], mass * np.asarray(com), about_origin.ravel()])


def compare(model: st.Model, reference: Any) -> None:
    """Compares one robot with Pinocchio."""
    assert model.nv == reference.nv
    add_armature(model, reference)
    sim, data = st.Simulation(model), reference.createData()
    bodies = {
        name: reference.getFrameId(name, pin.FrameType.BODY)
        for name in model.body_names[1:]
    }
    assert all(frame < reference.nframes for frame in bodies.values())
    moves = reference.nv > 0  # Pinocchio's algorithms fail for robots without coordinates
    random = np.random.default_rng(len(bodies))
    for _ in range(STATES):
        state = Coordinates(model, reference, random)
        sim.qpos[:], sim.qvel[:] = state.qpos, state.qvel
        pin.framesForwardKinematics(reference, data, state.q)
        if moves:
            pin.computeJointJacobians(reference, data, state.q)
            M = pin.crba(reference, data, state.q)
            M = np.triu(M) + np.triu(M, 1).T
            bias = pin.nonLinearEffects(reference, data, state.q, state.v)
            close(sim.mass_matrix(), state.T.T @ M @ state.T, "mass matrix")
            close(sim.bias_forces(), state.T.T @ (bias + M @ state.drift), "bias forces")
        for name, frame in bodies.items():
            pose, expected = sim.body_pose(name), data.oMf[frame]
            turn = pin.Quaternion(*pose.quaternion).matrix()
            close(pose.position, expected.translation, f"position of {name}")
            close(turn, expected.rotation, f"orientation of {name}")
            if moves:
                J = pin.getFrameJacobian(reference, data, frame, pin.LOCAL_WORLD_ALIGNED)
                angular_first = np.vstack([J[3:], J[:3]]) @ state.T
                close(sim.jacobian(name), angular_first, f"Jacobian of {name}")
    # Pinocchio keeps one inertia for all links that move together.
    sums: dict[int, Any] = {}
    for name, frame in bodies.items():
        joint = reference.frames[frame].parentJoint
        here = data.oMi[joint].actInv(data.oMf[frame])
        com = here.act(model.body_com(name))
        inertia = here.rotation @ model.body_inertia(name) @ here.rotation.T
        sums[joint] = sums.get(joint, 0.0) + moments(model.body_mass(name), com, inertia)
    for joint, ours in sums.items():
        theirs = reference.inertias[joint]
        expected = moments(theirs.mass, theirs.lever, theirs.inertia)
        close(ours, expected, f"inertia on {reference.names[joint]}")


LOADERS: dict[str, Callable[[Path], st.Model]] = {
    "fixed": st.load,
    "floating": partial(st.load, floating_base=True),
    "merged": partial(st.load, merge_fixed=True),
}


@pytest.mark.parametrize("variant", LOADERS)
@pytest.mark.parametrize("path", robots(), ids=name_of)
def test_robots_agree_with_pinocchio(path: Path, variant: str) -> None:
    try:
        reference = pin.buildModelFromUrdf(str(path))
    except ValueError:
        # A file without a robot: rejected by both.
        with pytest.raises(st.ModelError):
            LOADERS[variant](path)
        return
    model = LOADERS[variant](path)
    root = next(frame.name for frame in reference.frames if frame.type == pin.FrameType.BODY)
    assert (ROOT_JOINT in model.joint_names) == (variant == "floating" and root != "world")
    if ROOT_JOINT in model.joint_names:
        reference = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    compare(model, reference)


LINK = """<link name="{name}"><inertial><origin xyz="{x} 0.02 -0.03" rpy="0.1 0.2 0.3"/>
<mass value="{mass}"/><inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.001" ixz="0.002" iyz="0.003"/>
</inertial></link>"""

JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><axis xyz="{axis}"/></joint>"""


@pytest.mark.parametrize("first", ["fixed", "continuous"])
@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_of_many_coordinates_agree_with_pinocchio(first: str, kind: str) -> None:
    """A joint of this kind between two hinges, or on a base that is fixed."""
    links = [LINK.format(name=n, x=0.1, mass=1.5) for n in ("base", "arm", "thing", "tip")]
    joints = [
        JOINT.format(name="first", kind=first, parent="base", child="arm", axis="0 1 1"),
        JOINT.format(name="many", kind=kind, parent="arm", child="thing", axis="0 0 1"),
        JOINT.format(name="last", kind="continuous", parent="thing", child="tip", axis="1 2 3"),
    ]
    text = f'<robot name="chain">{"".join(links + joints)}</robot>'
    reference = pin.buildModelFromXML(text)
    if kind == "floating" and first == "fixed":
        # Here the coordinates are the pose in the world; there, in the frame of the joint.
        placement = pin.SE3.Identity()
        reference.jointPlacements[reference.getJointId("many")] = placement
    compare(st.loads(text, format="urdf"), reference)


def test_a_robot_with_meshes_can_be_pickled() -> None:
    paths = [path for path in robots() if path.stem == "panda"]
    if not paths:
        pytest.skip("example-robot-data is not there")
    model = st.load(paths[0])
    other = pickle.loads(pickle.dumps(model))
    assert (other.nq, other.nv, other.nu, other.ngeom) == (model.nq, model.nv, model.nu, model.ngeom)
    sims = [st.Simulation(model), st.Simulation(other)]
    for sim in sims:
        sim.step(10)
    assert np.array_equal(sims[0].qpos, sims[1].qpos)
