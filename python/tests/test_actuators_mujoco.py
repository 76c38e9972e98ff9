"""Actuators against MuJoCo at random states: lengths, rates, forces and rates of activation.

Each is a formula of a few dozen operations on numbers of similar size, so that two correct programs agree to about
1e-12 of the largest entry; the tolerance of 1e-9 leaves room for tendons that wrap surfaces.
"""

from pathlib import Path

import numpy as np
import pytest

import stiction as st
from agreement import TOLERANCE
from conftest import shared

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 .1" pos="0 0 -5" contype="0" conaffinity="0"/>
    <site name="base" pos=".1 .2 .3" euler="20 30 40"/>
    <geom name="ring" size=".05" pos=".15 .1 .1" contype="0" conaffinity="0"/><site name="in" pos=".16 .1 .11"/>
    <geom name="tube" type="cylinder" size=".06 .2" pos=".2 .5 .1" euler="30 0 10" contype="0" conaffinity="0"/>
    <site name="in2" pos=".2 .5 .1"/>
    <body name="upper"><joint name="a" axis="0 1 0" range="-90 120" limited="true" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/><site name="s1" pos=".1 0 .05" euler="10 0 30"/>
      <body name="lower" pos=".4 0 0"><joint name="b" axis="0 1 .2" range="-10 140" limited="true"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/><site name="s2" pos=".2 0 .04" euler="0 50 0"/>
        <body name="tip" pos=".3 0 0"><joint name="c" type="slide" axis="1 0 0" range="-.1 .2" limited="true"/>
          <geom type="sphere" size=".05"/><site name="s3"/></body>
      </body></body>
    <body name="ball" pos="0 1 0"><joint name="d" type="ball"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <site name="s4" pos="0 .1 .2"/></body>
  </worldbody>
  <tendon>
    <spatial name="string"><site site="base"/><site site="s1"/><site site="s2"/></spatial>
    <spatial name="ringed"><site site="base"/><geom geom="ring" sidesite="in"/><site site="s2"/></spatial>
    <spatial name="tubed"><site site="s4"/><geom geom="tube" sidesite="in2"/><site site="s3"/></spatial>
    <spatial name="over"><site site="base"/><geom geom="ring" sidesite="s4"/><site site="s3"/></spatial>
    <fixed name="sum"><joint joint="a" coef=".5"/><joint joint="c" coef="-2"/></fixed>
  </tendon>
  <actuator>%s</actuator></mujoco>"""

ACTUATORS = {
    "motor": '<motor joint="a" gear="3"/>',
    "position": '<position joint="b" kp="7" kv=".3"/>',
    "position_filtered": '<position joint="b" kp="7" kv=".3" timeconst=".05"/>',
    "position_damped": '<position joint="b" kp="7" dampratio=".8" timeconst=".05"/>',
    "velocity": '<velocity tendon="sum" kv="2" gear="-1.5"/>',
    "intvelocity": '<intvelocity joint="a" kp="9" kv=".1" actrange="-1 1"/>',
    "damper": '<damper joint="a" kv="2" ctrlrange="0 3"/>',
    "damper_on_tendon": '<damper tendon="string" kv="2" ctrlrange="0 3"/>',
    "cylinder": '<cylinder joint="c" timeconst=".3" area="2" bias=".1 -.2 -.3"/>',
    "integrator": '<general joint="a" dyntype="integrator" actlimited="true" actrange="-1 1.5" gainprm="2"/>',
    "filter_early": '<general joint="a" dyntype="filter" dynprm=".1" actearly="true" gainprm="2"/>',
    "filterexact_early": '<general tendon="sum" dyntype="filterexact" dynprm=".1" actearly="true"/>',
    "affine": '<general tendon="string" gaintype="affine" gainprm="2 3 .4" biastype="affine" biasprm="1 2 3"/>',
    "muscle": '<muscle tendon="string" lengthrange=".2 .6" force="40"/>',
    "muscle_scaled": '<muscle tendon="string" lengthrange=".2 .6" scale="90" gear="1.3"/>',
    "muscle_smooth": '<muscle joint="b" lengthrange="-.2 2.5" force="40" tausmooth=".3" timeconst=".02 .07"/>',
    "muscle_parameters": (
        '<muscle joint="b" lengthrange="-.2 2.5" force="40" range=".6 1.2" lmin=".4" lmax="1.8" vmax="2.5"'
        ' fpmax=".7" fvmax="1.4" forcerange="-25 1"/>'
    ),
    "muscle_gain_only": (
        '<general joint="b" lengthrange="-.2 2.5" gaintype="muscle" gainprm=".75 1.05 30 200 .5 1.6 1.5 1.3 1.2"'
        ' biastype="affine" biasprm=".1 -.2 -.3"/>'
    ),
    "refsite": '<motor site="s2" refsite="base" gear="1 -2 3 .4 -.5 .6"/>',
    "refsite_servo": '<position site="s2" refsite="s1" gear="1 0 0 0 0 0" kp="9" kv=".2"/>',
    "refsite_turn": '<position site="s4" refsite="s2" gear="0 0 0 1 -.5 .3" kp="9" kv=".2"/>',
    "slider_crank": '<position cranksite="s2" slidersite="base" cranklength=".9" gear="1.5" kp="7" kv=".3"/>',
    "slider_crank_too_short": '<position cranksite="s2" slidersite="s1" cranklength=".01" kp="7" kv=".3"/>',
    "ring": '<muscle tendon="ringed" lengthrange=".3 1.2" force="40"/><position tendon="tubed" kp="30" kv="1"/>',
    "side_elsewhere": '<motor tendon="over"/>',
    "ball": '<motor joint="d" gear="2 -3 4"/><position joint="d" gear="1 2 .5" kp="3" kv=".1"/>',
    "ball_in_parent": '<motor jointinparent="d" gear="2 -3 4"/><position jointinparent="d" gear="0 2 0" kp="3"/>',
    "pid": '<pid joint="a" kp="5" kv=".7"/>',
    "pid_integral": '<pid joint="b" kp="5" kv=".7" ki="2" gear="1.5"/>',
    "pid_bounded": '<pid joint="c" kp="50" dampratio=".5" ki="3" imax=".4" input="pos"/>',
    "pid_slew": '<pid tendon="sum" kp="5" kv=".2" slewmax="3" posrange="-.3 .9" forcerange="-3 2"/>',
    "pid_everything": (
        '<pid joint="a" kp="5" kv=".7" ki="2" imax=".8" slewmax="4" input="pos vel ff" velrange="-.2 .6"'
        ' ffrange="0 1" inheritrange=".9"/>'
    ),
    "pid_velocity": '<pid joint="a" kp="5" kv=".7" input="vel ff"/><pid tendon="string" input="ff" kv=".1"/>',
    "pid_general": (
        '<general joint="a" gaintype="pid" gainprm="2" dyntype="pid" dynprm=".5 2" biastype="affine"'
        ' biasprm=".3 -5 -.7" input="pos ff" ffrange="-1 1"/>'
    ),
    "pid_on_site": '<pid site="s2" refsite="s1" gear="1 0 0 0 0 0" kp="9" kv=".2" ki="4"/>',
    "dcmotor": '<dcmotor joint="a" motorconst=".5 .8" resistance="2" gear="3" saturation=".3"/>',
    "dcmotor_nominal": '<dcmotor tendon="sum" nominal="12 .5 100" ctrlrange="-1 1"/>',
    "dcmotor_controlled": (
        '<dcmotor joint="b" motorconst=".5" resistance="2" input="pos vel ff" controller="3 .5 .1 2 .4" ctrlrange="-1 1"/>'
    ),
    "dcmotor_brake": '<dcmotor joint="a" motorconst=".5" resistance="2" input="none"/><motor joint="b"/>',
    "several": (
        '<motor joint="a"/><muscle tendon="string" lengthrange=".2 .6"/><position joint="b" timeconst=".1" kp="3"/>'
        '<intvelocity joint="c" kp="5" actrange="-1 1"/>'
    ),
    "several_with_pid": (
        '<motor joint="a"/><pid joint="b" kp="3" ki="1" slewmax="9"/><motor joint="c"/>'
        '<position joint="b" timeconst=".1" kp="3"/><pid joint="c" kp="20" ki="5" input="pos"/>'
    ),
}


def states(model: "mujoco.MjModel", count: int, seed: int):
    """Random states: coordinates within their ranges, controls and activations of order one."""
    random = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    for _ in range(count):
        mujoco.mj_resetData(model, data)
        for joint in range(model.njnt):
            at, kind = model.jnt_qposadr[joint], mujoco.mjtJoint(model.jnt_type[joint])
            if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
                width = 4 if kind == mujoco.mjtJoint.mjJNT_BALL else 7
                data.qpos[at : at + width] = random.normal(size=width)
            else:
                low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-1.0, 1.0)
                data.qpos[at] = random.uniform(low, high)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = random.normal(size=model.nv)
        data.ctrl[:] = random.uniform(-0.5, 1.5, size=model.nu)
        data.act[:] = random.uniform(-0.2, 1.2, size=model.na)
        yield data


def close_enough(ours: np.ndarray, reference: np.ndarray, what: str, tolerance: float) -> None:
    scale = np.abs(reference).max(initial=1e-12)
    assert np.abs(ours - reference).max(initial=0.0) <= tolerance * scale, what


def compare(
    reference: "mujoco.MjModel", sim: st.Simulation, count: int = 5, tolerance: float = TOLERANCE
) -> None:
    assert sim.model.na == reference.na
    for data in states(reference, count, 3):
        mujoco.mj_forward(reference, data)
        sim.qpos, sim.qvel, sim.ctrl, sim.act = data.qpos, data.qvel, data.ctrl, data.act
        ours = sim.actuation()
        close_enough(ours.length, data.actuator_length, "length", tolerance)
        close_enough(ours.velocity, data.actuator_velocity, "velocity", tolerance)
        close_enough(ours.force, data.actuator_force, "force", tolerance)
        close_enough(ours.act_dot, data.act_dot, "rate of activation", tolerance)


@pytest.mark.parametrize("name", ACTUATORS)
def test_actuators_agree_with_mujoco(name: str) -> None:
    text = ARM % ACTUATORS[name]
    model = st.loads(text)
    assert not [entry for entry in model.unsupported if entry.physical]
    # MuJoCo ends the iteration for the point at which a string touches the inside of a ring at an error of 1e-6.
    tolerance = 1e-6 if name == "ring" else TOLERANCE
    compare(mujoco.MjModel.from_xml_string(text), st.Simulation(model), 20, tolerance)


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast", "RK4"])
@pytest.mark.parametrize("name", ACTUATORS)
def test_motion_with_activations_follows_mujoco(name: str, integrator: str) -> None:
    """Fifty steps: round-off grows by less than e^(λt) with λ of order 10/s, far below 1e-8."""
    flags = f'<option integrator="{integrator}"><flag constraint="disable"/></option>'
    text = (ARM % ACTUATORS[name]).replace("<worldbody>", flags + "<worldbody>", 1)
    reference = mujoco.MjModel.from_xml_string(text)
    sim = st.Simulation(st.loads(text), scheme="file")
    for data in states(reference, 3, 4):
        sim.qpos, sim.qvel, sim.ctrl, sim.act = data.qpos, data.qvel, data.ctrl, data.act
        for _ in range(50):
            mujoco.mj_step(reference, data)
        sim.step(50)
        assert np.abs(sim.act - data.act).max(initial=0.0) <= 1e-8
        assert np.abs(sim.qpos - data.qpos).max() <= 1e-8


PLUGIN = """<mujoco><option timestep="0.004"/><extension><plugin plugin="mujoco.pid"><instance name="i">%s</instance>
  </plugin></extension><worldbody><body><joint name="a" axis="0 1 0" damping=".1"/>
  <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/></body></worldbody>
  <actuator><plugin joint="a" plugin="mujoco.pid" instance="i" gear="1.5" %s/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("configuration", "attributes"),
    [
        ({"kp": 5, "kd": 0.3}, ""),
        ({"kp": 5, "ki": 3}, 'actdim="1"'),
        ({"kp": 5, "ki": 3, "kd": 0.3, "imax": 0.4}, 'actdim="1" ctrlrange="-.5 1"'),
        ({"kp": 5, "kd": 0.3, "slewmax": 3}, 'actdim="1" forcerange="-2 2"'),
        ({"kp": 5, "ki": 3, "kd": 0.3, "slewmax": 3, "imax": 2}, 'actdim="2"'),
    ],
)
def test_the_pid_plugin_agrees_with_mujoco(configuration: dict[str, float], attributes: str) -> None:
    """Forces at random states, and 200 steps: a formula of a few operations per step, and round-off that damping keeps."""
    pairs = "".join(f'<config key="{key}" value="{value}"/>' for key, value in configuration.items())
    text = PLUGIN % (pairs, attributes)
    reference, model = mujoco.MjModel.from_xml_string(text), st.loads(text)
    assert not model.unsupported
    sim = st.Simulation(model, scheme="euler")
    compare(reference, sim, 20)
    for data in states(reference, 3, 5):
        sim.reset()
        sim.qpos, sim.qvel, sim.ctrl, sim.act = data.qpos, data.qvel, data.ctrl, data.act
        for k in range(200):
            data.ctrl[:] = sim.ctrl[:] = np.sin(0.1 * k)
            mujoco.mj_step(reference, data)
            sim.step()
        assert np.abs(sim.act - data.act).max(initial=0.0) <= TOLERANCE
        assert np.abs(sim.qpos - data.qpos).max() <= TOLERANCE


def test_a_pid_servo_follows_mujoco_for_two_hundred_steps() -> None:
    """Euler steps of one joint with setpoint, rate and force that change in every step."""
    servo = '<pid joint="a" kp="9" kv=".7" ki="8" imax=".2" slewmax="2" input="pos vel ff"/>'
    flags = '<option integrator="Euler"><flag constraint="disable"/></option><worldbody>'
    text = (ARM % servo).replace("<worldbody>", flags, 1)
    reference, model = mujoco.MjModel.from_xml_string(text), st.loads(text)
    data, sim = mujoco.MjData(reference), st.Simulation(model, scheme="euler")
    assert model.nu == 3 and sim.ctrl.shape == (3,) and model.ctrl_range.shape == (3, 2)
    for k in range(200):
        data.ctrl[:] = sim.ctrl[:] = [np.sign(np.sin(0.05 * k)), np.cos(0.2 * k), 0.3 * np.sin(0.4 * k)]
        mujoco.mj_step(reference, data)
        sim.step()
    assert np.abs(sim.act - data.act).max() <= TOLERANCE
    assert np.abs(sim.qpos - data.qpos).max() <= TOLERANCE


def test_the_default_scheme_is_of_second_order_with_pid_servos() -> None:
    """Against MuJoCo's RK4 at a step whose error is far below those compared. Limited rates of setpoints are left out: MuJoCo
    reads the setpoint at the end of the step, with an error of first order."""
    servo = '<pid joint="a" kp="9" kv=".2" ki="8"/><pid joint="b" kp="5" kv=".3" ki="4" input="pos"/>'
    text = (ARM % servo).replace("<worldbody>", '<option integrator="RK4"/><worldbody>', 1)
    reference = mujoco.MjModel.from_xml_string(text)
    reference.opt.timestep = 1e-4
    start = np.array([0.3, 0.8, 0.05]), np.array([1.0, -2.0, 0.1]), [0.9, 0.4, 1.4]
    data = mujoco.MjData(reference)
    data.qpos[:3], data.qvel[:3], data.ctrl[:] = start
    data.act[-1] = 0.8
    for _ in range(500):
        mujoco.mj_step(reference, data)
    errors = []
    for step in (0.005, 0.0025, 0.00125):
        sim = st.Simulation(st.loads(text), time_step=step)
        sim.qpos[:3], sim.qvel[:3], sim.ctrl[:] = start
        sim.act[-1] = 0.8
        sim.step(round(0.05 / step))
        errors.append(np.abs(sim.qpos - data.qpos).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.9).all(), (errors, orders)


def test_the_default_scheme_is_of_second_order_with_servos() -> None:
    """Against MuJoCo's RK4 at a step whose error is 1e-8 of those compared."""
    servo = '<position joint="a" kp="9" kv=".2" forcerange="-30 30"/><velocity joint="b" kv=".3"/>'
    text = (ARM % servo).replace("<worldbody>", '<option integrator="RK4"/><worldbody>', 1)
    reference = mujoco.MjModel.from_xml_string(text)
    reference.opt.timestep = 1e-4
    start = np.array([0.3, 0.8, 0.05]), np.array([1.0, -2.0, 0.1])
    data = mujoco.MjData(reference)
    data.qpos[:3], data.qvel[:3], data.ctrl[:] = *start, [0.9, 0.4]
    for _ in range(500):
        mujoco.mj_step(reference, data)
    errors = []
    for step in (0.005, 0.0025, 0.00125):
        sim = st.Simulation(st.loads(text), time_step=step)
        sim.qpos[:3], sim.qvel[:3], sim.ctrl[:] = *start, [0.9, 0.4]
        sim.step(round(0.05 / step))
        errors.append(np.abs(sim.qpos - data.qpos).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.9).all(), (errors, orders)


def test_a_model_without_integrator_has_no_scheme_of_its_file() -> None:
    with pytest.raises(st.SettingError, match="integrator"):
        st.Simulation(st.scenario("bouncing-ball"), scheme="file")


def test_activations_start_from_keyframes_and_survive_copies_of_the_state() -> None:
    text = (ARM % ACTUATORS["several"]).replace(
        "</mujoco>", '<keyframe><key name="k" act=".3 .2 -.4"/></keyframe></mujoco>'
    )
    model = st.loads(text)
    sim = st.Simulation(model, keyframe="k")
    assert sim.act.tolist() == [0.3, 0.2, -0.4]
    sim.ctrl = [0.1, 0.9, 0.4, 0.2]
    state = sim.get_state()
    assert state.act.tolist() == [0.3, 0.2, -0.4]
    sim.step(10)
    found = st.rollout(model, [state], steps=10)
    assert np.array_equal(found.act[0, -1], sim.act)
    row = np.concatenate([state.qpos, state.qvel, state.act])[None]
    again = st.rollout(model, row, np.tile(sim.ctrl, (10, 1)))
    assert np.allclose(again.act, found.act, rtol=0, atol=1e-15)
    with pytest.raises(st.StateError, match="activation"):
        sim.act[0] = np.nan
        sim.step()


def test_seven_hundred_muscles_agree_with_mujoco() -> None:
    folder = shared()
    path = folder and Path(folder) / "models" / "ms_human_700" / "MS-Human-700.xml"
    if path is None or not path.exists():
        pytest.skip("the model ms_human_700 is not there")
    compare(mujoco.MjModel.from_xml_path(str(path)), st.Simulation(st.load(path)), 3)


ADHESION = """<mujoco><option gravity="0 0 -9.81"/><worldbody><geom type="plane" size="2 2 .1" solref=".01 1"/>
  <body name="box" pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
  <actuator><adhesion body="box" ctrlrange="0 1" gain="30"/></actuator>
  <sensor><touch name="t" site="foot"/></sensor></mujoco>""".replace(
    '<freejoint/>', '<freejoint/><site name="foot" type="box" size=".2 .2 .2"/>'
)


@pytest.mark.parametrize("control", [0.0, 0.5, 1.0])
def test_adhesion_adds_to_the_load_of_contacts(control: float) -> None:
    """At rest the contacts of the box carry its weight and the adhesion: a static balance, to round-off of the
    solvers."""
    sim = st.Simulation(st.loads(ADHESION))
    sim.ctrl = [control]
    sim.step(300)
    assert sim.sensor_data[0] == pytest.approx(2.0 * 9.81 + 30.0 * control, rel=1e-5)
    # Held from above with two thirds of the sum it stays, with more it does not.
    sim.body("box").wrench = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81 + 30.0 * control - 1.0]
    sim.step(100)
    assert abs(sim.qpos[2] - 0.1) < 1e-3
    sim.body("box").wrench = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81 + 30.0 * control + 5.0]
    sim.step(100)
    assert sim.qpos[2] > 0.11


def test_quaternions_of_any_length_are_normalised() -> None:
    text = ARM % ACTUATORS["motor"]
    sim = st.Simulation(st.loads(text))
    sim.joint("d").qpos = [0.0, 3.0, 0.0, 4.0]
    sim.step(0)
    assert sim.joint("d").qpos.tolist() == [0.0, 0.6, 0.0, 0.8]
    sim.joint("d").qpos = 0.0
    sim.step()
    assert np.allclose(np.linalg.norm(sim.joint("d").qpos), 1.0, rtol=0, atol=1e-12)
