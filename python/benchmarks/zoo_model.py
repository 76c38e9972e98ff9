"""One MJCF file in MuJoCo and here: loading, mass matrix, bias forces, half a second of motion.

`python zoo_model.py FILE` prints the findings as one JSON document. Both programs start at the first keyframe,
or at the reference configuration without one, with the controls of that keyframe, and take the time step of the
file. All other settings here are the defaults.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import stiction as st

DURATION = 0.5  # [s]
STATES = 3  # random states at which mass matrix and bias forces are compared
REFINEMENTS = (2, 8)  # parts of the reference's step, to tell whether it is too large
PERTURBATION = 1e-6  # of the reference, to tell chaotic motion [m, rad]
DISTANCE, TRAVEL, EXTENT = 1e-3, 0.05, 0.005  # bound of the error: [m], share of travel, share of extent
OVERLAP, OUTSIDE = 1e-3, 1e-3  # a start is bad beyond these [m], [m, rad]
JUMP = 0.02  # of a coordinate in one step, beyond what its velocity explains [m, rad]

Array = np.ndarray


class Reference:
    """The model in MuJoCo."""

    def __init__(self, path: Path, divisor: int = 1) -> None:
        """Steps are divided by the divisor."""
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.divisor = divisor
        self.data = mujoco.MjData(self.model)
        self.steps = max(1, round(DURATION / self.model.opt.timestep))
        self.model.opt.timestep /= divisor
        # Files for other engines ask for one iteration; motions are compared with the solution.
        self.few = (self.model.opt.iterations, self.model.opt.ls_iterations)
        self.set_iterations(max(self.few[0], 100), max(self.few[1], 50))
        self.reset()

    def set_iterations(self, iterations: int, line_search: int) -> None:
        """Sets the largest numbers of iterations of the solver."""
        self.model.opt.iterations, self.model.opt.ls_iterations = iterations, line_search

    def reset(self) -> None:
        """Puts the state at the first keyframe or the reference configuration, quaternions normalised."""
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_normalizeQuat(self.model, self.data.qpos)

    def equality_error(self) -> float:
        """Largest position error of an equality in the present constraints [m, rad]."""
        rows = self.data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        return float(np.abs(self.data.efc_pos[rows]).max(initial=0.0))

    def run(self, perturbation: float = 0.0, seed: int = 0) -> dict[str, Any]:
        """Positions of the bodies after every step, and what happened on the way."""
        model, data = self.model, self.data
        self.reset()
        if perturbation:
            direction = np.random.default_rng(seed).normal(size=model.nv)
            mujoco.mj_integratePos(model, data.qpos, direction, perturbation)
        mujoco.mj_forward(model, data)
        positions = np.zeros((self.steps + 1, model.nbody, 3))
        positions[0] = data.xpos
        equality, contact, soft = [self.equality_error()], False, False
        for step in range(self.steps):
            mujoco.mj_step(model, data, self.divisor)
            mujoco.mj_kinematics(model, data)
            positions[step + 1] = data.xpos
            equality.append(self.equality_error())
            contact = contact or data.ncon > 0
            soft = soft or has_soft_contact(data)
        warnings = [mujoco.mjtWarning(k).name for k in range(len(data.warning)) if data.warning[k].number]
        return {
            "positions": positions,
            "equality": equality,
            "contact": contact,
            "soft": soft,
            "warnings": warnings,
        }

    def step_time(self) -> float:
        """CPU time per step with the iterations of the file [s]."""
        self.set_iterations(*self.few)
        self.reset()
        begin = time.process_time()
        mujoco.mj_step(self.model, self.data, self.steps)
        return (time.process_time() - begin) / self.steps


def has_soft_contact(data: mujoco.MjData) -> bool:
    """Whether a contact has other values than MuJoCo's default solref and solimp."""
    values = np.hstack([data.contact.solref, data.contact.solimp])
    return bool(data.ncon) and not np.allclose(values, [0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0])


def bad_start(reference: Reference) -> list[str]:
    """What is wrong with the start: overlaps, coordinates outside of their limits, open equalities."""
    model, data = reference.model, reference.data
    reference.reset()
    mujoco.mj_forward(model, data)
    found = []
    if (data.contact.dist < -OVERLAP).any():
        found.append("overlap")
    kinds = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)}
    for joint in range(model.njnt):
        if model.jnt_limited[joint] and int(model.jnt_type[joint]) in kinds:
            value, (low, high) = data.qpos[model.jnt_qposadr[joint]], model.jnt_range[joint]
            if value < low - OUTSIDE or value > high + OUTSIDE:
                found.append("limit")
                break
    for tendon in range(model.ntendon):
        value, (low, high) = data.ten_length[tendon], model.tendon_range[tendon]
        if model.tendon_limited[tendon] and (value < low - OUTSIDE or value > high + OUTSIDE):
            found.append("tendon limit")
            break
    if reference.equality_error() > OUTSIDE:
        found.append("equality")
    return found


def random_state(model: mujoco.MjModel, random: np.random.Generator) -> tuple[Array, Array]:
    """Coordinates near the reference configuration, and velocities of order one."""
    q = np.array(model.qpos0)
    mujoco.mj_normalizeQuat(model, q)
    mujoco.mj_integratePos(model, q, random.normal(size=model.nv), 0.3)
    return q, random.normal(size=model.nv)


def relative(ours: Array, theirs: Array, least: float) -> float:
    """Largest difference, relative to the largest entry or the least scale."""
    scale = max(np.abs(theirs).max(initial=0.0), least)
    return float(np.abs(ours - theirs).max(initial=0.0) / scale) if len(theirs) else 0.0


def dynamics_errors(reference: Reference, simulation: st.Simulation) -> dict[str, float]:
    """Relative errors of mass matrix and bias forces at random states."""
    model, data = reference.model, mujoco.MjData(reference.model)
    random = np.random.default_rng(1)
    mass, bias = 0.0, 0.0
    for _ in range(STATES):
        data.qpos[:], data.qvel[:] = random_state(model, random)
        simulation.qpos, simulation.qvel = data.qpos, data.qvel
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        mass = max(mass, relative(simulation.mass_matrix(), full, 0.0))
        # Without gravity and Coriolis forces the bias is round-off of terms M v², with v of order one.
        least = 1e-3 * np.abs(full).max(initial=0.0)
        bias = max(bias, relative(simulation.bias_forces(), data.qfrc_bias, least))
    return {"mass_error": mass, "bias_error": bias}


class JumpWatch:
    """The largest displacement of a coordinate in one step beyond the larger of its velocities before and after, or beyond
    IN_PARTS times that in a step in parts, whose velocities between the two states are resolved as well."""

    IN_PARTS = 1.5

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self.rate = np.zeros(model.nv)
        self.jump, self.time, self.joint = 0.0, 0.0, ""

    def look(self, q: Array, v: Array, simulation: st.Simulation, parts: int) -> None:
        """Compares the state with that before the step."""
        h = self.model.opt.timestep
        mujoco.mj_differentiatePos(self.model, self.rate, h, q, simulation.qpos)
        speed = np.maximum(np.abs(v), np.abs(simulation.qvel))
        excess = h * (np.abs(self.rate) - (self.IN_PARTS if parts > 1 else 1.0) * speed)
        if excess.max(initial=0.0) > self.jump:
            worst = int(excess.argmax())
            self.jump, self.time = float(excess[worst]), simulation.time
            self.joint = self.model.joint(self.model.dof_jntid[worst]).name


def own_run(reference: Reference, simulation: st.Simulation) -> dict[str, Any]:
    """The motion here: positions of the bodies after every step, jumps, statuses and errors of equalities."""
    positions = np.zeros((reference.steps + 1, reference.model.nbody, 3))
    positions[0] = simulation.body_poses()[0]
    statuses, equality, watch = [], [], JumpWatch(reference.model)
    for step in range(reference.steps):
        q, v = simulation.qpos.copy(), simulation.qvel.copy()
        report = simulation.step()
        statuses.append(report.status)
        equality.append(report.equality_error)
        positions[step + 1] = simulation.body_poses()[0]
        watch.look(q, v, simulation, report.parts)
    return {"positions": positions, "statuses": statuses, "equality": equality, "watch": watch}


def start(reference: Reference, simulation: st.Simulation) -> None:
    """Puts the simulation at the first keyframe or the reference configuration."""
    simulation.reset(0 if reference.model.nkey else None)


def step_time(reference: Reference, simulation: st.Simulation) -> float:
    """CPU time per step here [s]."""
    start(reference, simulation)
    begin = time.process_time()
    simulation.step(reference.steps)
    return (time.process_time() - begin) / reference.steps


def silent_growth(ours: dict[str, Any], theirs: dict[str, Any]) -> int:
    """Number of steps that are "ok" although the error of the equalities grows by more than a tenth of a
    millimetre or milliradian, to more than 1 mm or mrad beyond twice that of the reference at the same time.
    """
    before, after = np.array(ours["equality"][:-1]), np.array(ours["equality"][1:])
    ok = np.array(ours["statuses"][1:]) == "ok"
    grows = (after > before + 1e-4) & (after > 2.0 * np.array(theirs["equality"][2:]) + 1e-3)
    return int((ok & grows).sum())


def errors(ours: Array, theirs: Array, moving: Array) -> Array:
    """Mean error of the positions of the moving bodies at every step [m]; infinite where it is not a number."""
    if not moving.any():
        return np.zeros(len(ours))
    mean: Array = np.linalg.norm(ours[:, moving] - theirs[:, moving], axis=2).mean(axis=1)
    return np.nan_to_num(mean, nan=np.inf)


def moving_bodies(model: mujoco.MjModel) -> Array:
    """Which bodies have a degree of freedom between them and the world."""
    moving = np.zeros(model.nbody, dtype=bool)
    for body in range(1, model.nbody):
        moving[body] = moving[model.body_parentid[body]] or model.body_dofnum[body] > 0
    return moving


def compare_motion(path: Path, reference: Reference, simulation: st.Simulation) -> dict[str, Any]:
    """Half a second of motion in both."""
    model, moving = reference.model, moving_bodies(reference.model)
    theirs, ours = reference.run(), own_run(reference, simulation)

    def distance(run: dict[str, Any]) -> Array:
        return errors(run["positions"], theirs["positions"], moving)

    paths = np.linalg.norm(np.diff(theirs["positions"], axis=0), axis=2).sum(axis=0)
    travel = float(paths[moving].mean()) if moving.any() else 0.0
    bound = max(DISTANCE, TRAVEL * travel, EXTENT * float(model.stat.extent))
    error, watch = distance(ours), ours["watch"]
    worst, late = int(error.argmax()), np.nonzero(error > bound)[0]
    apart = np.linalg.norm(ours["positions"][worst] - theirs["positions"][worst], axis=1)
    row = {
        "contact": theirs["contact"],
        "soft": theirs["soft"],
        "travel": travel,
        "bound": bound,
        "error": float(error.max()),
        "leaves_at": float(late[0] * model.opt.timestep) if len(late) else None,
        "worst_body": model.body(int(np.where(moving, apart, -1.0).argmax())).name,
        "spread": max(float(distance(reference.run(PERTURBATION, seed)).max()) for seed in (1, 2)),
        "jump": watch.jump,
        "jump_time": watch.time,
        "jump_joint": watch.joint,
        "statuses": dict(Counter(ours["statuses"])),
        "equality_error": max(ours["equality"]),
        "silent_growth": silent_growth(ours, theirs),
        "their_warnings": theirs["warnings"],
        "their_time": reference.step_time(),
        "our_time": step_time(reference, simulation),
    }
    if row["error"] > bound:
        # The error of the reference's own time step.
        row["refined"] = max(float(distance(Reference(path, parts).run()).max()) for parts in REFINEMENTS)
        row["file_scheme_error"] = float(distance(own_run(reference, fresh(path, reference, scheme="file"))).max())
        row["soft_defaults_error"] = float(distance(own_run(reference, fresh(path, reference, soft_defaults=True))).max())
    if row["soft"]:
        row["exact_friction_error"] = float(distance(own_run(reference, fresh(path, reference, tangential="exact"))).max())
    return row


def fresh(path: Path, reference: Reference, soft_defaults: bool = False, **settings: Any) -> st.Simulation:
    """A simulation at its start, with settings other than the defaults."""
    simulation = st.Simulation(st.load(path, soft_defaults=soft_defaults), **settings)
    start(reference, simulation)
    return simulation


def classify(row: dict[str, Any]) -> str:
    """The class of a model: the hardest thing in it."""
    if row["bad_start"]:
        return "bad start"
    if row["equalities"]:
        return "equalities"
    if row["soft"]:
        return "soft geoms"
    return "default contact" if row["contact"] else "no contact"


def outcome(row: dict[str, Any]) -> str:
    """Whether the motion agrees, or why that is not to be judged."""
    if any(warning in ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC") for warning in row["their_warnings"]):
        return "reference unstable"
    if row["unsupported_physics"]:
        return "unsupported"
    if row["error"] <= row["bound"]:
        return "agrees"
    if row["spread"] > row["bound"]:
        return "chaotic"
    return "step too large" if row["refined"] > row["bound"] else "disagrees"


def measure(path: Path, soft_defaults: bool = False) -> dict[str, Any]:
    """All findings on one file; with soft defaults, if they are asked for."""
    row: dict[str, Any] = {"file": str(path)}
    try:
        begin = time.perf_counter()
        reference = Reference(path)
        row["their_load"] = time.perf_counter() - begin
    except (ValueError, mujoco.FatalError) as error:
        return row | {"outcome": "refused by the reference", "message": str(error)}
    model = reference.model
    row |= {
        "nv": model.nv,
        "flex": model.nflex > 0,
        "equalities": model.neq > 0,
        "integrator": mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix("mjINT_").lower(),
        "bad_start": bad_start(reference),
    }
    try:
        begin = time.perf_counter()
        ours = st.load(path, soft_defaults=soft_defaults)
        row["our_load"] = time.perf_counter() - begin
        row["unsupported"] = sorted({entry.what for entry in ours.unsupported})
        row["unsupported_physics"] = sorted({entry.what for entry in ours.unsupported if entry.physical})
        sizes = (ours.nq, ours.nv, ours.nu, ours.nbody)
        expected = (model.nq, model.nv, model.nu, model.nbody)
        if sizes != expected:
            return row | {"outcome": "other size", "message": f"nq, nv, nu, nbody = {sizes}; expected {expected}"}
        simulation = st.Simulation(ours)
        row |= dynamics_errors(reference, simulation)
        start(reference, simulation)
        reference.reset()
        row["start_error"] = float(np.abs(simulation.qpos - reference.data.qpos).max(initial=0.0))
    except st.StictionError as error:
        return row | {"outcome": "refused here", "message": str(error)}
    try:
        row |= compare_motion(path, reference, simulation)
    except st.StepError as error:
        return row | {"outcome": "step failed", "message": str(error)}
    row["class"] = classify(row)
    row["outcome"] = outcome(row)
    return row


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]).resolve())))
