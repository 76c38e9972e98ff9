"""Soft constraints against MuJoCo itself: inverse inertias, and robots that stand.

Robots start from their first keyframe with its controls. After two seconds the height of the base agrees to 2 mm,
besides the distance by which MuJoCo's own robot still sinks in the two seconds that follow: its friction creeps.
"""

import re
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
    close(ours["body"], theirs.body_invweight0, "bodies")
    close(ours["dof"], theirs.dof_invweight0, "velocities")
    close(ours["tendon"], theirs.tendon_invweight0, "tendons")


@pytest.mark.parametrize("name", [*STANDING, "google_barkour_vb/scene_hfield_mjx.xml", "toddlerbot_2xc/scene_pos.xml"])
def test_robots_stand_as_high_as_in_mujoco(name: str) -> None:
    path = path_of(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    # Files for other engines ask for one iteration; heights are those of the solution.
    model.opt.iterations, model.opt.ls_iterations = max(model.opt.iterations, 100), max(model.opt.ls_iterations, 50)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim = st.Simulation(st.load(path))
    sim.qpos[:], sim.ctrl[:] = data.qpos, data.ctrl
    steps = round(DURATION / model.opt.timestep)
    mujoco.mj_step(model, data, steps)
    report = sim.step(steps)
    assert abs(sim.qpos[2] - data.qpos[2]) <= AGREES
    assert report.status_counts["motion_not_resolved"] == 0
    assert report.status_counts["correction_not_done"] == 0


@pytest.mark.parametrize("name", STANDING)
def test_with_exact_friction_no_robot_sinks(name: str) -> None:
    path = path_of(name)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    sim = st.Simulation(st.load(path), tangential="exact")
    sim.qpos[:], sim.ctrl[:] = data.qpos, data.ctrl
    steps = round(DURATION / model.opt.timestep)
    mujoco.mj_step(model, data, steps)
    sim.step(steps)
    # Feet that stick do not let the legs spread, as creeping ones do: the base is no lower.
    assert sim.qpos[2] >= data.qpos[2] - AGREES


# Small mechanisms with soft constraints, and what they are.
MECHANISMS = {
    "limit": """<body pos='0 0 1'><joint name='a' range='-20 40' solreflimit='0.05 0.7'
        solimplimit='0.2 0.95 0.05' axis='0 1 0'/><geom type='capsule' size='.05' fromto='0 0 0 .5 0 0'/>
        <body pos='.5 0 0'><joint type='slide' axis='1 0 0' range='-.1 .1' solreflimit='-400 -10'/>
        <geom size='.1'/></body></body>""",
    "friction": """<body pos='0 0 1'><joint axis='0 1 0' frictionloss='6' solreffriction='0.1 1'
        solimpfriction='0.5 0.9 0.001'/><geom type='capsule' size='.05' fromto='0 0 0 .5 0 0' mass='3'/></body>""",
    "joint": """<body pos='0 0 1'><joint name='a' axis='0 1 0'/><geom type='capsule' size='.05'
        fromto='0 0 0 .5 0 0'/></body><body pos='0 1 1'><joint name='b' axis='0 1 0'/><geom type='capsule'
        size='.03' fromto='0 0 0 .4 0 0'/></body>""",
    "connect": """<body name='a' pos='0 0 1'><joint axis='0 1 0'/><geom type='capsule' size='.05'
        fromto='0 0 0 .5 0 0'/></body><body name='b' pos='1 0 1'><joint axis='0 1 0'/><geom type='capsule'
        size='.03' fromto='0 0 0 -.5 0 0'/></body>""",
    "weld": """<body name='a' mocap='true' pos='0 0 1'/><body name='b' pos='0.1 0 1'><freejoint/>
        <geom type='box' size='.1 .2 .05' pos='.05 0 0'/></body>""",
    "anchored weld": """<body name='a' pos='0 0 1'><joint type='ball'/><geom type='box' size='.1 .2 .3' pos='.1 .2 0'/>
        <body name='c' pos='.3 .1 0'><joint axis='0 1 0'/><geom type='box' size='.1 .05 .03' pos='.1 0 0'/></body></body>
        <body name='b' pos='.5 0 1' euler='10 40 70'><freejoint/><geom type='box' size='.1 .2 .05'/></body>""",
}
EQUALITIES = {
    "joint": "<joint joint1='a' joint2='b' polycoef='0.1 0.5 0.2 0 0' solref='0.1 0.8' solimp='0.5 0.9 0.01'/>",
    "connect": "<connect body1='a' body2='b' anchor='.5 0 0' solref='0.05 1' solimp='0.3 0.9 0.02'/>",
    "weld": "<weld body1='a' body2='b' torquescale='0.4'/>",
    "anchored weld": """<weld body1='c' body2='b' anchor='.1 .2 .3' relpose='.2 0 0 1 0 0 0' solref='0.1 1'
        solimp='0.4 0.9 0.05'/>""",
}


@pytest.mark.parametrize("refsafe", ["enable", "disable"])
def test_limits_stiffer_than_two_steps_follow_refsafe(refsafe: str) -> None:
    # A time constant of 1.6 steps: raised to two steps, or taken as it is.
    text = f"""<mujoco><option timestep='0.005' tolerance='1e-14' iterations='100'>
        <flag contact='disable' refsafe='{refsafe}'/></option><worldbody><body pos='0 0 1'>
        <joint axis='0 1 0' range='-20 10' solreflimit='0.008 1' solimplimit='0.5 0.9 0.05'/>
        <geom type='capsule' size='.05' fromto='0 0 0 .5 0 0'/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    sim = st.Simulation(st.loads(text), scheme="euler", tolerance=1e-12)
    for step in range(100):
        mujoco.mj_step(model, data)
        sim.step()
        # One row, solved to round-off.
        assert np.abs(sim.qpos - data.qpos).max() <= 1e-8, f"step {step}"
    assert data.qpos[0] > np.deg2rad(10)


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_soft_constraints_move_as_in_mujoco(name: str) -> None:
    text = f"""<mujoco><option timestep='0.002' tolerance='1e-14' iterations='100'><flag contact='disable'/></option>
        <worldbody>{MECHANISMS[name]}</worldbody><equality>{EQUALITIES.get(name, "")}</equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    sim = st.Simulation(st.loads(text), scheme="euler", tolerance=1e-12)
    if model.nmocap:
        data.mocap_pos[0] += [0.05, 0.02, -0.03]
        sim.body("a").pose = (data.mocap_pos[0], [1.0, 0.0, 0.0, 0.0])
    for step in range(250):
        mujoco.mj_step(model, data)
        sim.step()
        # Both solve a problem of a few rows to round-off.
        assert np.abs(sim.qpos - data.qpos).max() <= 1e-8, f"step {step}"
    assert np.abs(data.qpos - model.qpos0).max() > 1e-3


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_with_soft_defaults_constraints_without_values_of_their_own_move_as_in_mujoco(name: str) -> None:
    text = f"""<mujoco><option timestep='0.002' tolerance='1e-14' iterations='100'><flag contact='disable'/></option>
        <worldbody>{MECHANISMS[name]}</worldbody><equality>{EQUALITIES.get(name, "")}</equality></mujoco>"""
    text = re.sub(r"sol(ref|imp)\w*='[^']*'", "", text)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    sim = st.Simulation(st.loads(text, soft_defaults=True), scheme="euler", tolerance=1e-12)
    for step in range(250):
        mujoco.mj_step(model, data)
        sim.step()
        # Both solve a problem of a few rows to round-off.
        assert np.abs(sim.qpos - data.qpos).max() <= 1e-8, f"step {step}"


def test_with_soft_defaults_a_ball_sinks_and_rests_as_deep_as_in_mujoco() -> None:
    """At rest the depth solves k d² r/(1 − d) = g; the solver's tolerance is far below."""
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .12"><freejoint/><geom size=".1"/></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data, sims = mujoco.MjData(model), [st.Simulation(st.loads(text, soft_defaults=soft)) for soft in (True, False)]
    mujoco.mj_step(model, data, 1000)
    for sim in sims:
        sim.step(1000)
    assert data.qpos[2] < 0.1 - 1e-4
    assert abs(sims[0].qpos[2] - data.qpos[2]) <= 1e-6
    assert abs(sims[1].qpos[2] - 0.1) <= 2e-5


def test_a_start_far_beyond_the_limit_of_a_ball_joint_comes_back_as_fast_as_in_mujoco() -> None:
    """Steps of 20 ms are computed in parts here; the law has the time constant of two whole steps in both programs. The turn
    of 0.3 rad per step is resolved to its square by MuJoCo's scheme, hence 20 %."""
    text = """<mujoco><option timestep=".02"><flag contact="disable"/></option><default><joint damping=".25" stiffness=".1"/></default>
      <worldbody><body><joint type="ball" range="0 35" limited="true"/><geom type="box" pos=".1 .2 .3" size=".1 .2 .3"/></body>
      </worldbody><keyframe><key qpos=".86617615 .60111501 .70807258 .02058449"/></keyframe></mujoco>"""
    reference = mujoco.MjModel.from_xml_string(text)
    data, sim = mujoco.MjData(reference), st.Simulation(st.loads(text), keyframe=0)
    mujoco.mj_resetDataKeyframe(reference, data, 0)
    mujoco.mj_normalizeQuat(reference, data.qpos)
    for _ in range(10):
        mujoco.mj_step(reference, data)
        sim.step()
        assert np.linalg.norm(sim.qvel) <= 1.2 * max(np.linalg.norm(data.qvel), 10.0)
    assert np.linalg.norm(sim.qvel - data.qvel) <= 0.3 * np.linalg.norm(data.qvel)
