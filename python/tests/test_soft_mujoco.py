"""Soft constraints against MuJoCo itself: inverse inertias, and robots that stand.

Robots start from their first keyframe with its controls. After two seconds the height of the base agrees to 2 mm,
besides the distance by which MuJoCo's own robot still sinks in the two seconds that follow: its friction creeps.
"""

from pathlib import Path

import numpy as np
import pytest

import stiction as st
from agreement import close
from conftest import shared

mujoco = pytest.importorskip("mujoco")

# Robots that stand in MuJoCo with the controls of their first keyframe.
STANDING = [
    "anybotics_anymal_c/scene.xml",
    "anybotics_anymal_c/scene_mjx.xml",
    "google_barkour_vb/scene.xml",
    "google_barkour_vb/scene_mjx.xml",
    "iit_softfoot/scene.xml",
    "pal_talos/scene_position.xml",
    "unitree_a1/scene.xml",
    "unitree_g1/scene.xml",
]
# Height that agrees [m], and duration [s].
AGREES, DURATION = 2e-3, 2.0


def path_of(name: str) -> Path:
    folder = shared()
    path = folder / "models" / name if folder else None
    if path is None or not path.exists():
        pytest.skip("the data sets are missing; see CONTRIBUTING.md, Data sets")
    return path


@pytest.mark.parametrize("name", STANDING)
def test_inverse_inertias_are_those_of_mujoco(name: str) -> None:
    path = path_of(name)
    theirs, ours = mujoco.MjModel.from_xml_path(str(path)), st.load(path).inverse_weights()
    # Bodies without mass have no centre of mass here.
    heavy = theirs.body_mass > 0
    close(ours["body"][heavy], theirs.body_invweight0[heavy], "bodies")
    close(ours["dof"], theirs.dof_invweight0, "velocities")
    close(ours["tendon"], theirs.tendon_invweight0, "tendons")


@pytest.mark.parametrize("name", STANDING)
def test_robots_stand_as_high_as_in_mujoco(name: str) -> None:
    path = path_of(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim = st.Simulation(st.load(path), tangential="mujoco")
    sim.qpos[:], sim.ctrl[:] = data.qpos, data.ctrl
    steps = round(DURATION / model.opt.timestep)
    mujoco.mj_step(model, data, steps)
    height = data.qpos[2]
    mujoco.mj_step(model, data, steps)
    creep = abs(data.qpos[2] - height)
    report = sim.step(steps)
    assert abs(sim.qpos[2] - height) <= AGREES + creep
    assert report.status_counts["motion_not_resolved"] == 0
    assert report.status_counts["correction_not_done"] == 0


@pytest.mark.parametrize("name", STANDING)
def test_with_exact_friction_no_robot_sinks(name: str) -> None:
    path = path_of(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim = st.Simulation(st.load(path))
    sim.qpos[:], sim.ctrl[:] = data.qpos, data.ctrl
    steps = round(DURATION / model.opt.timestep)
    mujoco.mj_step(model, data, steps)
    sim.step(steps)
    # Feet that stick do not let the legs spread, as creeping ones do: the base is no lower.
    assert sim.qpos[2] >= data.qpos[2] - AGREES
