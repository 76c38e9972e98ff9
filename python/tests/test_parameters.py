"""Parameters of a simulation that are changed while it runs: masses, friction, gains and the like."""

import pickle

import numpy as np
import pytest
import stiction as st

BOX = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="{floor}"/>
    <body name="box" pos="0 0 0.1">
      <freejoint/>
      <inertial pos="0 0 0" mass="{mass}" diaginertia="0.01 0.01 0.01"/>
      <geom name="block" type="box" size="0.1 0.1 0.1" friction="{friction}"/>
    </body>
    <body name="arm" pos="2 0 1">
      <joint name="hinge" type="hinge" axis="0 1 0" damping="{damping}" range="-1 1" limited="true"/>
      <joint name="turn" type="hinge" axis="0 0 1" damping="1"/>
      <inertial pos="0.2 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="hinge" kp="{kp}" kv="2"/>
    <muscle name="muscle" joint="turn" lengthrange="0.1 1"/>
  </actuator>
</mujoco>
"""
NUMBERS = {"floor": 0.4, "mass": 1.0, "friction": 0.4, "damping": 0.5, "kp": 30.0}


def model(**changed: float) -> st.Model:
    return st.loads(BOX.format(**(NUMBERS | changed)))


def settle(sim: st.Simulation, steps: int = 300) -> np.ndarray:
    sim.actuator("servo").ctrl = 0.3
    sim.body("box").wrench[3] = 6.0
    sim.step(steps)
    return np.concatenate([sim.qpos, sim.qvel])


def test_changed_parameters_are_those_of_a_model_with_the_changed_text_to_the_bit():
    for change, text in [
        (lambda sim: setattr(sim.body("box"), "mass", 2.5), {"mass": 2.5}),
        (lambda sim: setattr(sim.geom("block"), "friction", 0.9), {"friction": 0.9}),
        (lambda sim: setattr(sim.joint("hinge"), "damping", 3.0), {"damping": 3.0}),
        (lambda sim: setattr(sim.actuator("servo"), "kp", 80.0), {"kp": 80.0}),
        (lambda sim: sim.geom_frictions.__setitem__(slice(None), 0.1), {"friction": 0.1, "floor": 0.1}),
        (lambda sim: setattr(sim, "body_masses", [0.0, 3.0, 1.0]), {"mass": 3.0}),
    ]:
        sim = st.Simulation(model())
        change(sim)
        found, plain = settle(sim), settle(st.Simulation(model()))
        assert np.array_equal(found, settle(st.Simulation(model(**text)))), text
        assert not np.array_equal(found, plain), text


def test_a_box_of_changed_mass_accelerates_by_force_over_mass():
    sim = st.Simulation(st.loads(BOX.format(**NUMBERS)))
    sim.gravity[:] = 0.0
    sim.qpos[2] = 3.0
    sim.body("box").mass = 4.0
    sim.body("box").wrench[3] = 6.0
    sim.step(500)
    # One second at 1.5 m/s²; round-off of five hundred sums.
    assert sim.qvel[0] == pytest.approx(1.5, rel=1e-12)


def test_a_slide_stops_after_v_squared_over_twice_mu_g_with_the_changed_friction():
    for mu in (0.2, 0.5):
        sim = st.Simulation(model(), combine="geometric")
        sim.geom_frictions = mu
        sim.qvel[0] = 1.0
        sim.step(int(1.2 / (mu * 9.81 * sim.time_step)))
        # The path is exact but for that of the last, shorter step.
        assert sim.qpos[0] == pytest.approx(1 / (2 * mu * 9.81), abs=sim.time_step)


def test_gains_and_stiffness_change_the_equilibrium():
    sim = st.Simulation(model(damping=5.0))
    sim.gravity = 0.0
    servo = sim.actuator("servo")
    assert (servo.gain, servo.kp, servo.kd) == (30.0, 30.0, 2.0)
    assert servo.bias.tolist() == [0.0, -30.0, -2.0]
    servo.ctrl = 0.4
    servo.gain = 15.0  # force = 15 ctrl − 30 q
    sim.step(3000)
    # Six seconds of a decay of 4.3/s or faster.
    assert sim.joint("hinge").qpos[0] == pytest.approx(0.2, abs=1e-9)
    with pytest.raises(st.ModelError, match="expected a position servo"):
        servo.kp = 3.0
    servo.gain = 30.0
    servo.kp, servo.kd = 60.0, 1.0
    assert servo.bias.tolist() == [0.0, -60.0, -1.0]
    sim.joint("hinge").stiffness = 60.0  # 60 (ctrl − q) − 60 q
    sim.step(3000)
    assert sim.joint("hinge").qpos[0] == pytest.approx(0.2, abs=1e-9)
    sim.reset()
    sim.joint("hinge").range = (-1.0, 0.1)
    servo.ctrl = 0.4
    assert sim.joint("hinge").range == (-1.0, 0.1)
    sim.step(3000)
    assert sim.joint("hinge").qpos[0] == pytest.approx(0.1, abs=1e-4)


def test_arrays_and_handles_show_the_same_numbers_and_the_model_keeps_its_own():
    m = model()
    sim, other = st.Simulation(m), st.Simulation(m)
    masses = sim.body_masses
    assert masses is sim.body_masses and masses.shape == (m.nbody,)
    sim.body("box").mass = 2.0
    assert masses.tolist() == [0.0, 2.0, 1.0]
    masses[1] = 3.0
    assert sim.body("box").mass == 3.0
    assert (other.body("box").mass, m.body_mass("box"), m.body_masses[1]) == (1.0, 1.0, 1.0)
    sim.body("box").inertia = np.diag([0.02, 0.02, 0.03])
    assert sim.body_inertias[1, 2, 2] == 0.03
    sim.reset()
    assert sim.body("box").mass == 3.0, "a reset is one of the state"
    sim.reset_parameters()
    assert masses.tolist() == m.masses.tolist() and sim.get_state().parameters == {}


def test_what_has_no_effect_is_read_only():
    m = model()
    for array in (m.masses, m.body_masses, m.gravity, m.qpos0, m.ctrl_range, m.geom_frictions,
                  m.body_com("arm"), m.body_inertia("box"), m.inverse_weights()["dof"]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 99
    with pytest.raises(AttributeError):
        m.body_masses = 1.0
    sim = st.Simulation(m)
    with pytest.raises(ValueError, match="read-only"):
        sim.body("arm").com[0] = 1.0


def test_wrong_values_say_what_was_found_and_change_nothing():
    sim = st.Simulation(model())
    for owner, name, value, says in [
        (sim.body("box"), "mass", -1.0, 'body "box": mass = -1 kg; expected a finite number > 0'),
        (sim.body("box"), "mass", np.nan, 'body "box": mass = NaN kg'),
        (sim.body("world"), "mass", 1.0, "expected 0: the model gives this body no mass"),
        (sim.body("box"), "mass", [1.0, 2.0], r"mass has shape \(2,\); expected \(\)"),
        (sim.body("box"), "com", 1.0, r"com has shape \(\); expected \(3,\)"),
        (sim.geom("floor"), "friction", -0.1, 'shape "floor": friction = -0.1'),
        (sim.geom("block"), "restitution", 2.0, "expected a number between 0 and 1"),
        (sim.joint("hinge"), "damping", np.inf, 'joint "hinge": damping = inf'),
        (sim.joint("hinge"), "range", (1.0, 0.0), "lower end of the range = 1"),
        (sim.joint("turn"), "range", (0.0, 1.0), "the model gives this joint no limits"),
        (sim.actuator("muscle"), "gain", 2.0, "the curves of a muscle are fixed"),
        (sim, "body_masses", [0.0, 1.0, -2.0], 'body "arm": mass = -2 kg'),
    ]:
        before = sim.get_state()
        with pytest.raises(st.StateError, match=says):
            setattr(owner, name, value)
        assert sim.get_state() == before
    with pytest.raises(st.ModelError, match='no geom is called "foot"; expected one of: floor, block'):
        sim.geom("foot")
    sim.body_masses[1] = -3.0
    with pytest.raises(st.StateError, match='body "box": mass = -3 kg'):
        sim.step()
    sim.body_masses[1] = 1.0
    sim.step()


def test_parameters_are_part_of_states_and_pickles():
    m = model()
    sim = st.Simulation(m)
    sim.body("box").mass = 2.0
    sim.geom_frictions[:] = 0.2
    settle(sim, 50)
    state = pickle.loads(pickle.dumps(sim.get_state()))
    assert state == sim.get_state()
    assert state.parameters["geom_friction"].tolist() == [0.2, 0.2]
    assert state.parameters["body_mass"].tolist() == [0.0, 2.0, 1.0]
    other = st.Simulation(m)
    plain = other.get_state()
    frictions = other.geom_frictions
    other.set_state(state)
    assert frictions.tolist() == [0.2, 0.2]
    assert np.array_equal(settle(sim, 50), settle(other, 50))
    other.set_state(plain)
    assert frictions.tolist() == [0.4, 0.4]
    assert np.array_equal(settle(other), settle(st.Simulation(m)))


def test_rollouts_take_parameters_per_row_whatever_the_threads():
    m = model()
    n = 5
    rng = np.random.default_rng(3)
    masses = np.array([0.0, 1.0, 1.0]) * rng.uniform(0.5, 2.0, (n, 1))
    friction = rng.uniform(0.1, 0.8, (n, m.ngeom))
    gravity = np.array([0.0, 0.0, -9.81]) * rng.uniform(0.5, 1.5, (n, 1))
    states = np.tile(np.concatenate([m.qpos0, [1.0], np.zeros(m.nv - 1)]), (n, 1))
    parameters = {"body_mass": masses, "friction": friction, "gravity": gravity}
    runs = [
        st.rollout(m, states, steps=100, threads=threads, parameters=parameters)
        for threads in (1, 2)
    ]
    assert np.array_equal(runs[0].qpos, runs[1].qpos)
    for k in range(n):
        sim = st.Simulation(m)
        sim.qvel[0] = 1.0
        sim.ctrl[:] = 0.0
        sim.body_masses, sim.geom_frictions, sim.gravity = masses[k], friction[k], gravity[k]
        sim.step(100)
        assert np.array_equal(sim.qpos, runs[0].qpos[k, -1])
    for name, values, says in [
        ("body_mass", masses[:, 1:], r'parameters\["body_mass"\] has shape \(5, 2\); expected \(5, 3\)'),
        ("body_mass", -masses, r'parameters\["body_mass"\]\[0\]: body "box": mass = -'),
        ("weight", masses, 'parameter "weight"; expected one of: actuator_bias'),
        ("stiffness", masses, 'parameter "stiffness"; expected one of'),
    ]:
        with pytest.raises(st.StateError, match=says):
            st.rollout(m, states, steps=1, parameters={name: values})


def test_inverse_weights_follow_masses_as_after_mj_setconst():
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(BOX.format(**NUMBERS))
    data = mujoco.MjData(theirs)
    sim = st.Simulation(model())
    old = theirs.body_invweight0.copy()
    theirs.body_mass[1:] *= 2.0
    sim.body_masses[1:] *= 2.0
    # Without mj_setConst MuJoCo keeps those of the masses before.
    assert np.array_equal(theirs.body_invweight0, old)
    mujoco.mj_setConst(theirs, data)
    found = sim.inverse_weights()
    # Two factorizations of the same matrices of at most six rows.
    assert np.allclose(found["body"], theirs.body_invweight0, rtol=1e-12, atol=0)
    assert np.allclose(found["dof"], theirs.dof_invweight0, rtol=1e-12, atol=0)
