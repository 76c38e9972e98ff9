"""What controllers read and write: accelerations, forces, Jacobians, inverse kinematics, rays, distances, contacts."""

import numpy as np
import pytest
import stiction as st

ARM = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.7"/>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <inertial pos="0.01 0 0" mass="3" diaginertia="0.05 0.06 0.07"/>
      <body name="upper" pos="0 0 0.1">
        <joint name="ball" type="ball" armature="0.01"/>
        <inertial pos="0.15 0 0.02" mass="1" diaginertia="0.01 0.02 0.02"/>
        <body name="lower" pos="0.3 0 0">
          <joint name="elbow" axis="0 1 0.2" damping="0.1"/>
          <joint name="slide" type="slide" axis="1 0 0"/>
          <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.003 0.004 0.004"/>
          <site name="tip" pos="0.2 0.03 0" euler="0.1 0.2 0.3"/>
        </body>
      </body>
    </body>
    <body name="box" pos="3 0 0.1">
      <freejoint/>
      <geom name="block" type="box" size="0.1 0.1 0.1" mass="2"/>
    </body>
    <body name="ball_body" pos="3 0 0.3">
      <freejoint/>
      <geom name="top" type="sphere" size="0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="elbow" gear="3"/></actuator>
  <sensor><accelerometer name="accelerometer" site="tip"/><framepos name="place" objtype="site" objname="tip"/></sensor>
</mujoco>
"""
CHAIN = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="a"><joint name="q1" axis="0 0 1"/><geom size="0.05" mass="1"/>
      <body name="b" pos="0.5 0 0"><joint name="q2" axis="0 0 1" range="0.1 2" limited="true"/><geom size="0.05" mass="1"/>
        <body name="c" pos="0.4 0 0"><joint name="q3" axis="0 1 0"/><geom size="0.05" mass="1"/>
          <site name="tip" pos="0.2 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def moving(seed: int = 1) -> st.Simulation:
    sim = st.Simulation(st.loads(ARM))
    rng = np.random.default_rng(seed)
    sim.qpos[:] = sim.model.integrate(sim.qpos, 0.3 * rng.normal(size=sim.model.nv))
    sim.qvel[:] = rng.normal(size=sim.model.nv)
    return sim


def test_integrate_and_difference_are_inverse_also_in_batches():
    m = st.loads(ARM)
    rng = np.random.default_rng(0)
    v = rng.normal(size=(7, m.nv))
    q = m.integrate(m.qpos0, v, 0.5)
    assert q.shape == (7, m.nq)
    # Rotations of less than half a turn: round-off of exponential and logarithm.
    assert np.allclose(m.difference(m.qpos0, q), 0.5 * v, rtol=0, atol=1e-14)
    assert np.array_equal(m.integrate(m.qpos0, v[3], 0.5), q[3])
    assert np.allclose(m.integrate(q, m.difference(q, np.tile(m.qpos0, (7, 1)))), m.qpos0, atol=1e-14)
    with pytest.raises(st.StateError, match=r"qvel has shape \[3\]; expected \(23,\) or \(n, 23\)"):
        m.integrate(m.qpos0, np.zeros(3))
    with pytest.raises(st.StateError, match="qvel has 2 rows; expected 7, or one"):
        m.integrate(q, np.zeros((2, m.nv)))


def test_jacobians_of_sites_and_their_rates_are_derivatives_along_the_motion():
    sim = moving()
    J, rate = sim.site_jacobian("tip"), sim.site_jacobian_dot("tip")
    velocity = sim.site_velocity("tip")
    assert np.allclose(J @ sim.qvel, np.concatenate(velocity), rtol=0, atol=1e-13)
    q, h = sim.qpos.copy(), 1e-4
    ends = []
    for step in (-h, h):
        sim.qpos[:] = sim.model.integrate(q, sim.qvel, step)
        ends.append((sim.site_jacobian("tip"), sim.site_pose("tip").position, sim.jacobian("lower", sim.site_pose("tip").position)))
    # Central differences: an error of h² times third derivatives of order ten.
    assert np.allclose((ends[1][0] - ends[0][0]) / (2 * h), rate, rtol=0, atol=100 * h**2)
    assert np.allclose((ends[1][1] - ends[0][1]) / (2 * h), velocity.linear, rtol=0, atol=100 * h**2)
    assert np.allclose(ends[0][0], ends[0][2], rtol=0, atol=1e-14)
    assert not sim.site_jacobian_dot("tip") @ np.zeros(sim.model.nv) @ np.zeros(6)
    sim.qvel[:] = 0
    assert not sim.jacobian_dot("lower").any()


def test_jacobians_and_their_rates_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    sim = moving()
    m = mujoco.MjModel.from_xml_string(ARM)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = sim.qpos, sim.qvel
    mujoco.mj_forward(m, d)
    body, site = m.body("lower").id, m.site("tip").id
    p, r = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    mujoco.mj_jacSite(m, d, p, r, site)
    assert np.allclose(sim.site_jacobian("tip"), np.vstack([r, p]), rtol=0, atol=1e-13)
    mujoco.mj_jacDot(m, d, p, r, d.site_xpos[site], body)
    # Differences of fourth order with a step of a thousandth: both errors are below 1e-11 of the rates, of order one.
    assert np.allclose(sim.site_jacobian_dot("tip"), np.vstack([r, p]), rtol=0, atol=1e-10)
    q = np.zeros(m.nq)
    q[:] = sim.qpos
    mujoco.mj_integratePos(m, q, sim.qvel.copy(), 0.1)
    assert np.allclose(sim.model.integrate(sim.qpos, sim.qvel, 0.1), q, rtol=0, atol=1e-14)
    v = np.zeros(m.nv)
    mujoco.mj_differentiatePos(m, v, 0.1, sim.qpos.copy(), q)
    assert np.allclose(sim.model.difference(sim.qpos, q) / 0.1, v, rtol=0, atol=1e-12)


def test_forward_shows_the_coming_step_and_changes_nothing():
    one, two = moving(), moving()
    one.ctrl[:] = two.ctrl[:] = 0.4
    one.forward()
    before = one.get_state()
    found = one.qacc.copy(), one.qfrc_constraint.copy(), one.contacts.force, one.sensor("accelerometer")
    place = one.sensor("place")
    assert np.allclose(place, two.site_pose("tip").position, atol=1e-15), "positions are the present ones"
    assert one.get_state() == before == two.get_state()
    one.step()
    two.step()
    assert np.array_equal(one.qpos, two.qpos)
    for a, b in zip(found, (two.qacc, two.qfrc_constraint, two.contacts.force, two.sensor("accelerometer"))):
        assert np.array_equal(a, b)
    two.qvel[:] = 0
    assert not two.qacc.any() and not two.qfrc_constraint.any()
    one.step(20)
    two.set_state(before)
    two.forward()
    two.forward()
    two.step(21)
    assert np.array_equal(one.qpos, two.qpos)


def test_applied_forces_and_accelerations_satisfy_the_equation_of_motion():
    mujoco = pytest.importorskip("mujoco")
    sim = moving()
    rng = np.random.default_rng(5)
    tau = rng.normal(size=sim.model.nv)
    sim.qfrc_applied[:] = tau
    sim.ctrl[:] = 0.7
    smooth = sim.forward_dynamics()
    m = mujoco.MjModel.from_xml_string(ARM)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.ctrl[:], d.qfrc_applied[:] = sim.qpos, sim.qvel, 0.7, tau
    mujoco.mj_forward(m, d)
    # Two solutions of the same system of a condition of about a thousand.
    assert np.allclose(smooth, d.qacc, rtol=0, atol=1e-10)
    assert np.allclose(sim.qfrc_actuator, d.qfrc_actuator, rtol=0, atol=1e-13)
    # Without contact on the arm the next step's mean acceleration differs by a step's change of forces.
    sim.forward()
    assert np.allclose(sim.qacc[:11], smooth[:11], rtol=0.1, atol=0.5)
    state = sim.get_state()
    assert np.array_equal(state.qfrc_applied, tau)
    sim.qfrc_applied = 0.0
    sim.set_state(state)
    assert np.array_equal(sim.qfrc_applied, tau)
    sim.reset()
    assert not sim.qfrc_applied.any()


def test_a_generalized_force_accelerates_a_coordinate_by_its_inertia():
    sim = st.Simulation(st.loads("""<mujoco><option gravity="0 0 0" timestep="0.01"/><worldbody><body>
      <joint name="x" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body></worldbody></mujoco>"""))
    sim.qfrc_applied[0] = 3.0
    sim.step(100)
    assert sim.qvel[0] == pytest.approx(1.5, rel=1e-12)
    assert sim.qacc[0] == pytest.approx(1.5, rel=1e-9)


def test_a_force_at_a_point_is_that_force_with_its_moment():
    sim = st.Simulation(st.loads(ARM))
    lower = sim.body("lower")
    point = sim.site_pose("tip").position
    force, torque = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    lower.apply_force(force, point, torque)
    J = sim.site_jacobian("tip")
    # The power of the force at the point and of the torque, for any motion.
    wrench = sim.wrench[lower.id]
    com = sim.body_pose("lower").position + sim.body_pose("lower").rotation @ sim.model.body_com("lower")
    at_com = sim.jacobian("lower", com)
    assert np.allclose(at_com.T @ wrench, J.T @ np.concatenate([torque, force]), rtol=0, atol=1e-13)
    lower.apply_force(force)
    assert np.allclose(sim.wrench[lower.id][3:], 2 * force)


def test_contacts_are_iterated_indexed_and_filtered_and_forces_between_parts_balance_weights():
    sim = st.Simulation(st.loads(ARM))
    sim.qpos[2] = 50.0
    sim.step(400)
    contacts = sim.contacts
    assert len(list(contacts)) == len(contacts) == 5
    first = contacts[0]
    assert isinstance(first, st.Contact)
    assert np.array_equal(first.point, contacts.point[0]) and contacts[-1].gap == contacts.gap[-1]
    assert len(contacts[1:3]) == 2 and len(contacts[contacts.force[:, 2] > 1e9]) == 0
    with pytest.raises(IndexError, match="contact 9: there are 5"):
        contacts[9]
    assert len(contacts.filter("box", "floor")) == 4 == len(contacts.filter("floor"))
    assert {c.geom_names for c in contacts.filter("ball_body")} <= {("block", "top"), ("top", "block")}
    g = 9.81
    # Resting bodies: the residual of the solver, 1e-6 of the impulses.
    assert np.allclose(contacts.force_between("floor", "box"), [0, 0, 3 * g], rtol=0, atol=1e-3)
    assert np.allclose(contacts.force_between("block", "top"), [0, 0, g], rtol=0, atol=1e-3)
    assert np.array_equal(contacts.force_between("top", "block"), -contacts.force_between("block", "top"))
    # The generalized force on the ball is that of its contact.
    assert sim.qfrc_constraint[-4] == pytest.approx(g, abs=1e-3)
    with pytest.raises(st.ModelError, match='no body is called "nothing"'):
        contacts.filter("nothing")


def test_rays_and_distances_are_those_of_the_shapes():
    sim = st.Simulation(st.loads(ARM))
    hits = sim.raycast([[3, 0, 5], [0.3, 0.2, 5], [0, 0, 5]], [[0, 0, -2], [0, 0, -1], [0, 0, 1]])
    # From above: the ball's top at 0.4, the floor at 0; upwards nothing.
    assert np.allclose(hits.distance, [4.6, 5.0, np.inf], rtol=0, atol=1e-13)
    assert [sim.model.geom_names[k] if k >= 0 else "" for k in hits.geom] == ["top", "floor", ""]
    assert np.allclose(hits.normal[:2], [0, 0, 1]) and np.isnan(hits.point[2]).all()
    assert sim.raycast([3, 0, 5], [0, 0, -1], exclude="ball_body").distance[0] == pytest.approx(4.8)
    sim.qpos[-5] = 1.0  # the ball's height
    found = sim.distance("block", "top")
    assert found.distance == pytest.approx(0.7, abs=1e-12)
    assert np.allclose(found.point_a, [3, 0, 0.2], atol=1e-9) and np.allclose(found.point_b, [3, 0, 0.9], atol=1e-9)
    assert sim.distance("top", "box").normal == pytest.approx([0, 0, -1])
    assert sim.distance("block", "top", cutoff=0.5).distance == 0.5
    with pytest.raises(st.StateError, match=r"directions\[0\] has length 0"):
        sim.raycast([0, 0, 1], [0, 0, 0])
    with pytest.raises(st.StateError, match=r"origins has shape \[2\]"):
        sim.raycast([0, 0], [0, 0, 1])


def test_inverse_kinematics_reaches_poses_within_the_ranges():
    m = st.loads(CHAIN)
    sim = st.Simulation(m)
    sim.qpos[:] = [0.4, 0.9, -0.3]
    goal = sim.site_pose("tip")
    found = m.inverse_kinematics(site="tip", position=goal.position, quaternion=goal.quaternion)
    assert found.converged and found.distance <= 1e-6 and found.angle <= 1e-5
    sim.qpos[:] = found.qpos
    assert np.allclose(sim.site_pose("tip").position, goal.position, rtol=0, atol=1e-6)
    by_place = m.inverse_kinematics(site="tip", position=goal.position, qpos=[0.0, 0.5, 0.0])
    assert by_place.converged and np.isnan(by_place.angle)
    # Out of reach: as near as the length of the arm permits, and within the ranges.
    far = m.inverse_kinematics(site="tip", position=[1.2, 0, 0], qpos=[0.0, 0.5, 0.0], iterations=2000)
    assert not far.converged and 0.1 <= far.qpos[1] <= 2.0
    straight = np.hypot(0.5 + 0.6 * np.cos(0.1), 0.6 * np.sin(0.1))
    assert far.distance == pytest.approx(1.2 - straight, abs=1e-6)
    only = m.inverse_kinematics(site="tip", position=goal.position, joints=["q1"])
    assert only.qpos[2] == 0.0 and not only.converged
    with pytest.raises(st.ModelError, match="expected a body or a site"):
        m.inverse_kinematics(position=[0, 0, 0])
    with pytest.raises(st.SettingError, match="damping = -1"):
        m.inverse_kinematics("c", [0, 0, 0], damping=-1)
