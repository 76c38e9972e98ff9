"""Readings of sensors against MuJoCo's, at random states."""

import numpy as np
import pytest

import stiction as st
from agreement import close

mujoco = pytest.importorskip("mujoco")

# An arm with limits and a mesh that only sensors know, a free box, a tendon, and a hidden geom.
MODEL = """
<mujoco>
  <option gravity="0.3 0 -9.81"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .2 0 0  0 .2 0  0 0 .2  .05 .05 .01"
          face="0 2 1  0 1 3  0 3 2  1 2 3"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1"/>
    <geom name="post" type="cylinder" size=".1 .4" pos="1.1 .1 .4"/>
    <geom name="dome" type="ellipsoid" size=".3 .2 .4" pos="-1 .2 .2"/>
    <geom name="hidden" size=".2" pos="0 0 1.5" rgba="1 1 1 0"/>
    <site name="room" type="box" size=".8 .7 .6" pos=".1 0 .5"/>
    <body name="upper" pos="0 0 1">
      <joint name="hip" type="ball" range="0 60" margin="0.1"/>
      <geom name="thigh" type="capsule" size=".05 .2" pos="0 0 -.2"/>
      <site name="eye" pos="0 .1 0" euler="20 30 40"/>
      <body name="lower" pos="0 0 -.5">
        <joint name="knee" axis="0 1 0" stiffness="3" armature=".1" range="-30 40" margin="0.2"/>
        <geom name="shin" type="box" size=".04 .05 .2" pos="0 0 -.2"/>
        <geom name="toe" type="mesh" mesh="wedge" pos="0 0 -.4" contype="0" conaffinity="0"/>
        <site name="tip" pos="0 0 -.4" euler="200 10 0"/>
      </body>
    </body>
    <body name="box" pos=".5 -.3 .6">
      <freejoint/>
      <geom name="crate" type="box" size=".1 .15 .2"/>
      <site name="lid" pos="0 0 .2" euler="70 0 0"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="pull" range="-.1 .3"><joint joint="knee" coef="0.7"/></fixed>
  </tendon>
  <sensor>
    <jointlimitpos name="hip limit" joint="hip"/>
    <jointlimitvel name="hip limit rate" joint="hip"/>
    <jointlimitpos name="knee limit" joint="knee"/>
    <jointlimitvel name="knee limit rate" joint="knee"/>
    <tendonlimitpos name="pull limit" tendon="pull"/>
    <tendonlimitvel name="pull limit rate" tendon="pull"/>
    <subtreecom name="com" body="upper"/>
    <subtreelinvel name="velocity" body="upper"/>
    <subtreeangmom name="momentum" body="upper"/>
    <subtreelinvel name="velocity of all" body="world"/>
    <subtreeangmom name="momentum of all" body="world"/>
    <e_potential name="potential"/>
    <e_kinetic name="kinetic"/>
    <clock name="clock"/>
    <user name="user" dim="3"/>
    <insidesite name="inside" site="room" objtype="body" objname="lower"/>
    <insidesite name="box inside" site="room" objtype="geom" objname="crate"/>
    <rangefinder name="eye" site="eye" data="dist dir origin point normal depth"/>
    <rangefinder name="tip" site="tip"/>
    <rangefinder name="lid" site="lid" data="dist normal"/>
    <distance name="shin to post" geom1="shin" geom2="post" cutoff="5"/>
    <distance name="thigh to dome" geom1="thigh" geom2="dome" cutoff="5"/>
    <fromto name="thigh to post" geom1="thigh" geom2="post" cutoff="5"/>
    <normal name="thigh from post" geom1="post" geom2="thigh" cutoff="5"/>
    <distance name="toe to crate" geom1="toe" body2="box" cutoff="5"/>
    <distance name="crate to floor" geom1="crate" geom2="floor" cutoff="5"/>
    <fromto name="nothing near" geom1="thigh" geom2="dome" cutoff="0.01"/>
  </sensor>
</mujoco>
"""


def test_sensors_of_the_present_state_agree_with_mujoco_at_random_states() -> None:
    theirs = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(theirs)
    ours = st.loads(MODEL)
    simulation = st.Simulation(ours)
    assert ours.nsensordata == theirs.nsensordata
    random = np.random.default_rng(5)
    for _ in range(50):
        data.qpos[:] = random.normal(size=theirs.nq)
        data.qpos[5:8] = [random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.4, 1.2)]
        mujoco.mj_normalizeQuat(theirs, data.qpos)
        data.qvel[:] = random.normal(size=theirs.nv)
        data.time = random.uniform(0, 9)
        mujoco.mj_forward(theirs, data)
        simulation.qpos, simulation.qvel, simulation.time = data.qpos, data.qvel, data.time
        for k in range(theirs.nsensor):
            name = theirs.sensor(k).name
            reference = data.sensordata[theirs.sensor_adr[k] :][: theirs.sensor_dim[k]]
            reading = simulation.sensor(name)
            if "to" in name or "from" in name:
                # Both programs iterate to the nearest points of curved shapes, MuJoCo until the length of
                # the segment is known to 1e-6; its ends are then known to the root of that.
                tolerance = 1e-6 if theirs.sensor_dim[k] == 1 else 1e-3
                assert reading == pytest.approx(reference, abs=tolerance), name
            else:
                close(reading, reference, name)


CONTACTS = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 1"/>
    <site name="left" size=".5" pos="-1 0 0"/>
    <body name="a" pos="-1 0 .1">
      <freejoint/><geom name="first" size=".1" mass="2"/>
    </body>
    <body name="b" pos="1 .3 .2">
      <freejoint/><geom name="second" size=".2" mass="3"/>
      <body name="c" pos="0 0 .5"><geom name="third" size=".2" mass="1"/></body>
    </body>
  </worldbody>
  <sensor>
    <contact name="all" num="3" reduce="maxforce" data="found force torque dist pos normal tangent"/>
    <contact name="one" geom1="first" data="found force pos normal tangent"/>
    <contact name="two" geom1="floor" geom2="second" data="found force normal"/>
    <contact name="subtree" subtree2="b" data="found force normal"/>
    <contact name="body" body1="c" data="found force normal"/>
    <contact name="here" site="left" num="2" data="found force pos"/>
    <contact name="net" reduce="netforce" data="found force torque pos normal tangent"/>
    <contact name="net of b" body1="b" reduce="netforce" data="force"/>
  </sensor>
</mujoco>
"""


def test_contact_sensors_agree_with_mujoco_on_balls_at_rest() -> None:
    theirs = mujoco.MjModel.from_xml_string(CONTACTS)
    data = mujoco.MjData(theirs)
    for _ in range(3000):
        mujoco.mj_step(theirs, data)
    ours = st.loads(CONTACTS)
    simulation = st.Simulation(ours)
    for _ in range(20):
        simulation.step()
    assert ours.nsensordata == theirs.nsensordata
    for k in range(theirs.nsensor):
        name = theirs.sensor(k).name
        reference = data.sensordata[theirs.sensor_adr[k] :][: theirs.sensor_dim[k]]
        # MuJoCo's contacts yield by less than 0.1 mm under these weights, and its balls have almost
        # come to rest; forces are those of the weights.
        assert simulation.sensor(name) == pytest.approx(reference, abs=5e-3), name


LIMITED = """<mujoco><option timestep="0.002" integrator="Euler"/><worldbody>
  <body><joint name="j" type="slide" axis="0 0 1" range="-.01 .5" limited="true"/><geom size=".1" mass="1"/></body>
  <body pos="1 0 0"><joint name="k" type="slide" axis="0 0 1"/><geom size=".1" mass="2"/></body>
  <body pos="2 0 0"><joint name="ball" type="ball" range="0 20" limited="true"/>
    <geom size=".1" mass="1" pos=".3 0 0"/></body></worldbody>
  <tendon><fixed name="t" range="-.01 .3" limited="true"><joint joint="k" coef="2"/></fixed></tendon>
  <actuator><motor tendon="t" gear="3"/><position tendon="t" kp="2" kv=".1"/></actuator>
  <sensor><jointlimitfrc joint="j"/><jointlimitfrc joint="ball"/><tendonlimitfrc tendon="t"/>
    <tendonactuatorfrc tendon="t"/></sensor></mujoco>"""


def test_forces_of_limits_and_of_actuators_on_tendons_agree_with_mujoco() -> None:
    """Readings of every step of a fall into the limits with MuJoCo's soft law. Its solver stops at a relative error of
    1e-8, and the forces in the impacts are hundreds of newtons."""
    reference = mujoco.MjModel.from_xml_string(LIMITED)
    data = mujoco.MjData(reference)
    sim = st.Simulation(st.loads(LIMITED, soft_defaults=True), scheme="euler")
    data.ctrl[:] = sim.ctrl[:] = [0.5, 0.2]
    largest = np.zeros(4)
    for _ in range(500):
        mujoco.mj_step(reference, data)
        sim.step()
        largest = np.maximum(largest, data.sensordata)
        assert np.abs(sim.sensor_data - data.sensordata).max() <= 1e-4
    assert (largest > 0.9).all()


def test_cameras_are_those_of_mujoco() -> None:
    text = """<mujoco><compiler angle="radian"/><worldbody><camera name="far" pos="1 2 3" fovy="30"/>
      <body name="b" pos="0 0 1"><freejoint/><geom size=".1"/><frame pos="0 1 0" euler="0 0 .3">
        <camera name="near" pos=".1 .2 .3" xyaxes="0 1 0 0 0 1"/><camera/></frame></body></worldbody></mujoco>"""
    reference, model = mujoco.MjModel.from_xml_string(text), st.loads(text)
    assert model.camera_names == ["far", "near", ""]
    for index, camera in enumerate(model.cameras):
        assert camera.body == (reference.body(reference.cam_bodyid[index]).name)
        assert np.abs(camera.position - reference.cam_pos[index]).max() <= 1e-14
        turn = camera.orientation * np.sign(camera.orientation @ reference.cam_quat[index])
        assert np.abs(turn - reference.cam_quat[index]).max() <= 1e-14
        assert abs(np.degrees(camera.field_of_view) - reference.cam_fovy[index]) <= 1e-13
