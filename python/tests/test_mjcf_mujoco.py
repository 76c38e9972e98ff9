"""MJCF models against MuJoCo itself: the same numbers in the same coordinates.

Both programs read the same file and are put into the same random states. Masses, inertias, poses,
Jacobians, mass matrix and bias forces are sums of at most a few hundred products of numbers of
similar size, so that two correct programs agree to about 1e-12; files with few digits do not
matter, since both read the same ones. The tolerance of 1e-9 leaves room for principal axes, which
MuJoCo finds by iteration.
"""

from pathlib import Path

import numpy as np
import pytest

import stiction as st
from agreement import TOLERANCE, close
from conftest import ROOT, shared

mujoco = pytest.importorskip("mujoco")


def models() -> list[Path]:
    """Every model file there is: ours, and those of the data sets."""
    found = sorted((ROOT / "examples" / "models").glob("*.xml"))
    folder = shared()
    if folder is not None:
        found += sorted((folder / "models").glob("*/*.xml"))
    return found


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


# Robots whose free motion under random torques multiplies round-off beyond any bound: light links turn by tens of
# radians within the second.
CHAOTIC = {
    # Its muscles without limits and loops: MuJoCo reports that it is unstable after 14 ms.
    "ms_human_700/": "unstable in MuJoCo",
    "pal_talos/": "fast light links",
    "toddlerbot_2xc/": "fast light links",
}


def parameters(known: dict[str, str]) -> list:
    """All models; those that are listed may fail."""

    def parameter(path: Path):
        name = name_of(path)
        reasons = [reason for start, reason in known.items() if name.startswith(start)]
        marks = [pytest.mark.xfail(reason=reason, strict=False) for reason in reasons]
        return pytest.param(path, id=name, marks=marks)

    return [parameter(path) for path in models()]


def random_state(model: "mujoco.MjModel", random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates within their ranges, unit quaternions, velocities of order one."""
    q = np.zeros(model.nq)
    for joint in range(model.njnt):
        at, kind = model.jnt_qposadr[joint], mujoco.mjtJoint(model.jnt_type[joint])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            q[at : at + 3] = random.normal(size=3)
            at += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            quaternion = random.normal(size=4)
            q[at : at + 4] = quaternion / np.linalg.norm(quaternion)
        else:
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-1.0, 1.0)
            q[at] = random.uniform(low, high)
    return q, random.normal(size=model.nv)


@pytest.mark.parametrize("path", parameters({}))
def test_dynamics_agree_with_mujoco(path: Path) -> None:
    reference = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(reference)
    model = st.load(path)

    physical = [entry for entry in model.unsupported if entry.physical]
    assert not physical, physical
    assert (model.nq, model.nv, model.nu) == (reference.nq, reference.nv, reference.nu)
    bodies = [reference.body(i).name for i in range(reference.nbody)]
    assert list(model.body_names)[1:] == bodies[1:]
    joints = [reference.joint(i).name for i in range(reference.njnt)]
    assert list(model.joint_names) == joints

    for i in range(1, reference.nbody):
        assert model.body_mass(i) == pytest.approx(reference.body_mass[i], rel=TOLERANCE)
        if reference.body_mass[i] > 0.0:
            close(model.body_com(i), reference.body_ipos[i], f"centre of mass of {bodies[i]}")
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, reference.body_iquat[i])
            axes = axes.reshape(3, 3)
            inertia = axes @ np.diag(reference.body_inertia[i]) @ axes.T
            close(model.body_inertia(i), inertia, f"inertia of {bodies[i]}")

    sim = st.Simulation(model)
    random = np.random.default_rng(1)
    for _ in range(5):
        q, v = random_state(reference, random)
        data.qpos[:], data.qvel[:] = q, v
        sim.qpos[:], sim.qvel[:] = q, v
        mujoco.mj_forward(reference, data)
        full = np.zeros((reference.nv, reference.nv))
        mujoco.mj_fullM(reference, data, full)
        close(sim.mass_matrix(), full, "mass matrix")
        close(sim.bias_forces(), data.qfrc_bias, "bias forces")
        for i in range(1, reference.nbody):
            pose = sim.body_pose(i)
            close(pose.position, data.xpos[i], f"position of {bodies[i]}")
            turn = np.dot(pose.quaternion, data.xquat[i])
            close(pose.quaternion * np.sign(turn), data.xquat[i], f"orientation of {bodies[i]}")
            linear, angular = np.zeros((3, reference.nv)), np.zeros((3, reference.nv))
            mujoco.mj_jacBody(reference, data, linear, angular, i)
            close(sim.jacobian(i), np.vstack([angular, linear]), f"Jacobian of {bodies[i]}")


@pytest.mark.parametrize("path", parameters(CHAOTIC))
def test_motion_without_constraints_follows_mujoco(path: Path) -> None:
    """One second with random controls, nothing touching: contacts, limits, equalities and dry
    friction are switched off in both. The scheme is the one that the file asks for: others may be
    unstable with its gains. Two programs that do the same arithmetic in another order differ by
    round-off, which a mechanism in motion multiplies; the bound is 1e-6.
    """
    reference = mujoco.MjModel.from_xml_path(str(path))
    reference.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    reference.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    data = mujoco.MjData(reference)
    free = f'<mujoco><include file="{path.name}"/><option><flag constraint="disable"/></option></mujoco>'
    sim = st.Simulation(st.loads(free, folder=path.parent), scheme="file")

    random = np.random.default_rng(2)
    q, v = random_state(reference, random)
    data.qpos[:], data.qvel[:] = q, 0.1 * v
    sim.qpos[:], sim.qvel[:] = data.qpos, data.qvel
    for actuator in range(reference.nu):
        low, high = reference.actuator_ctrlrange[actuator]
        limited = reference.actuator_ctrllimited[actuator]
        data.ctrl[actuator] = random.uniform(low, high) if limited else random.normal()
    sim.ctrl[:] = data.ctrl
    steps = round(1.0 / reference.opt.timestep)
    sim.step(steps)
    mujoco.mj_step(reference, data, steps)
    scale = max(1.0, np.abs(data.qpos).max(initial=0.0))
    assert np.abs(sim.qpos - data.qpos).max(initial=0.0) <= 1e-6 * scale
