"""Robots that stand in MuJoCo stand here, at the same height, from their first keyframe.

The difference of two correct programs is that of their contacts: those with MuJoCo's default softness are rigid here, and
yield there by some tenths of a millimetre; servos hold both robots up, so that the rest does not add up. Two millimetres
is a small part of the travel of a leg, and less than a tenth of what a leg that gives way would show.
"""

from pathlib import Path

import numpy as np
import pytest

import stiction as st
from conftest import shared

mujoco = pytest.importorskip("mujoco")

DURATION = 2.0  # [s]
HEIGHT = 2e-3  # [m]

SCENES = (
    "anybotics_anymal_c/scene.xml",
    "anybotics_anymal_c/scene_mjx.xml",
    "booster_t1/scene.xml",
    "google_barkour_vb/scene.xml",
    "google_barkour_vb/scene_mjx.xml",
    "google_barkour_vb/scene_hfield_mjx.xml",
    "iit_softfoot/scene.xml",
    "pal_talos/scene_position.xml",
    "pal_tiago/scene_position.xml",
    "pal_tiago/scene_velocity.xml",
    "toddlerbot_2xc/scene_pos.xml",
    "toddlerbot_2xc/scene_mjx.xml",
    "unitree_a1/scene.xml",
    "unitree_g1/scene.xml",
    "unitree_g1/scene_mjx.xml",
)


def reference_heights(path: Path) -> tuple[float, float, float, int]:
    """Heights of the base at the start and at the end, its speed at the end, and its coordinate."""
    model = mujoco.MjModel.from_xml_path(str(path))
    # Files for other engines ask for one iteration.
    model.opt.iterations, model.opt.ls_iterations = max(model.opt.iterations, 100), max(model.opt.ls_iterations, 50)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0) if model.nkey else mujoco.mj_resetData(model, data)
    free = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    if len(free) == 0:
        pytest.skip("the base is fixed")
    at, dof = int(model.jnt_qposadr[free[0]]) + 2, int(model.jnt_dofadr[free[0]])
    start = float(data.qpos[at])
    mujoco.mj_step(model, data, round(DURATION / model.opt.timestep))
    return start, float(data.qpos[at]), float(np.abs(data.qvel[dof : dof + 6]).max()), at


@pytest.mark.parametrize("scene", SCENES)
def test_a_robot_that_stands_in_mujoco_stands_at_the_same_height(scene: str) -> None:
    folder = shared()
    path = folder and Path(folder) / "models" / scene
    if path is None or not path.exists():
        pytest.skip("needs the models of the shared data")
    start, height, speed, at = reference_heights(path)
    if height < 0.7 * start or speed > 0.2:
        pytest.skip("it does not stand in MuJoCo")
    model = st.load(path)
    sim = st.Simulation(model, keyframe=0) if model.keyframe_names else st.Simulation(model)
    report = sim.step(round(DURATION / sim.time_step))
    assert abs(sim.qpos[at] - height) <= HEIGHT, f"{1e3 * (sim.qpos[at] - height):.2f} mm; {report.status}"
