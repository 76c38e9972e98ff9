"""Features of mechanisms against MuJoCo at random states: inertia of tendons, ellipsoids in fluids, force ranges of
tendons, ranges of lengths of muscles.

Mass matrices and forces are formulas of a few hundred operations, which two correct programs evaluate to about 1e-12.
"""

import numpy as np
import pytest

import stiction as st
from agreement import TOLERANCE, close

mujoco = pytest.importorskip("mujoco")

BRANCHES = """<mujoco><option timestep=".001"><flag contact="disable"/></option><worldbody>
  <site name="fixed" pos=".1 .2 .9"/>
  <body name="root"><freejoint/><geom type="box" size=".2 .1 .15"/><site name="r" pos=".1 .05 .1"/>
    <body pos=".3 0 0"><joint name="a" axis="0 1 .3"/><geom size=".1" pos=".3 0 .05"/><site name="s1" pos=".3 .1 0"/>
      <body pos=".3 0 0"><joint name="b" type="ball"/><geom size=".1" pos=".3 .1 0"/><site name="s2" pos=".2 .1 0"/></body>
    </body>
    <body pos="-.3 0 .2"><joint name="c" axis="1 1 0"/><geom size=".1" pos=".3 0 0"/><site name="s3" pos=".3 .1 0"/></body>
  </body>
  <body pos="0 3 0"><joint name="d" type="slide" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><site name="s4" pos="0 .1 0"/></body>
</worldbody><tendon>%s</tendon></mujoco>"""

TENDONS = {
    "sum": '<fixed armature=".7"><joint joint="a" coef="1"/><joint joint="c" coef="-2"/><joint joint="d" coef="3"/></fixed>',
    "branch": '<spatial armature=".7"><site site="r"/><site site="s1"/><site site="s2"/></spatial>',
    "branches": '<spatial armature=".7"><site site="s2"/><site site="s3"/><pulley divisor="2"/><site site="s3"/><site site="s4"/></spatial>',
    "world": '<spatial armature=".7"><site site="fixed"/><site site="r"/></spatial>',
    "alone": '<spatial armature=".7"><site site="fixed"/><site site="s4"/></spatial>',
}


def scatter(model: "mujoco.MjModel", data: "mujoco.MjData", random: np.random.Generator) -> None:
    """A random state near the reference configuration."""
    data.qpos[:] = model.qpos0
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv), 0.3)
    data.qvel[:] = random.normal(size=model.nv)


@pytest.mark.parametrize("name", TENDONS)
def test_mass_matrix_and_bias_forces_with_inertia_of_tendons_agree(name: str) -> None:
    text = BRANCHES % TENDONS[name]
    model = st.loads(text)
    assert not model.unsupported
    sim, reference, random = st.Simulation(model), mujoco.MjModel.from_xml_string(text), np.random.default_rng(2)
    data = mujoco.MjData(reference)
    for _ in range(5):
        scatter(reference, data, random)
        mujoco.mj_forward(reference, data)
        sim.qpos, sim.qvel = data.qpos, data.qvel
        full = np.zeros((reference.nv, reference.nv))
        mujoco.mj_fullM(reference, data, full)
        close(sim.mass_matrix(), full, "mass matrix")
        close(sim.bias_forces(), data.qfrc_bias, "bias forces")


def test_inertia_and_damping_of_actuators_agree() -> None:
    text = (BRANCHES % TENDONS["branch"].replace("<spatial", '<spatial name="t"')).replace(
        "</mujoco>",
        """<actuator><motor joint="a" gear="3" armature=".1" damping=".2"/><motor joint="b" gear="2 0 0" armature=".3"/>
        <motor joint="b" gear="1.5 2 3" damping=".4"/><motor tendon="t" gear="-2" armature=".2" damping=".3"/></actuator></mujoco>""",
    )
    model = st.loads(text)
    assert not model.unsupported
    sim, reference, random = st.Simulation(model, scheme="euler"), mujoco.MjModel.from_xml_string(text), np.random.default_rng(3)
    data = mujoco.MjData(reference)
    for _ in range(5):
        scatter(reference, data, random)
        sim.qpos, sim.qvel = data.qpos, data.qvel
        mujoco.mj_forward(reference, data)
        full = np.zeros((reference.nv, reference.nv))
        mujoco.mj_fullM(reference, data, full)
        close(sim.mass_matrix(), full, "mass matrix")
        before = data.qvel.copy()
        mujoco.mj_step(reference, data)
        sim.step()
        close(sim.qvel - before, data.qvel - before, "change of velocity")


@pytest.mark.parametrize("name", ["sum", "branch", "world", "alone"])
def test_motion_with_inertia_of_tendons_follows_mujoco(name: str) -> None:
    """A hundred steps of Euler's scheme: round-off grows by less than 1e3. The default scheme conserves energy: of
    second order with h ω below 0.01, its error over 100 steps is below 1e-4 of the kinetic energy."""
    text = (BRANCHES % TENDONS[name]).replace("<option", '<option gravity="0 0 0"')
    reference, random = mujoco.MjModel.from_xml_string(text), np.random.default_rng(4)
    data = mujoco.MjData(reference)
    scatter(reference, data, random)
    euler = st.Simulation(st.loads(text), scheme="euler")
    own = st.Simulation(st.loads(text))
    for sim in (euler, own):
        sim.qpos, sim.qvel = data.qpos, data.qvel
    before = own.energy().kinetic
    for _ in range(100):
        mujoco.mj_step(reference, data)
    euler.step(100)
    assert own.step(100).status == "ok"
    assert np.abs(euler.qpos - data.qpos).max() <= 1e-10
    assert abs(own.energy().kinetic - before) <= 1e-4 * before


FLUID = """<mujoco><option density="%g" viscosity="%g" wind="1 -.5 .3" gravity="0 0 0" timestep=".001"/><worldbody>
  <body><freejoint/><geom type="%s" size=".1 .23 .31" %s euler="20 30 40" pos=".1 .2 .3"/>
    <geom type="capsule" size=".05 .2" pos="-.2 0 0" fluidshape="ellipsoid"/>
    <body pos=".5 0 0"><joint axis="0 1 0"/><geom type="box" size=".1 .2 .05" pos=".2 0 0"/></body>
  </body></worldbody></mujoco>"""


@pytest.mark.parametrize("shape", ["sphere", "capsule", "cylinder", "ellipsoid", "box"])
@pytest.mark.parametrize("medium", [(1.2, 0.0), (0.0, 0.7), (900.0, 0.3)])
def test_forces_of_a_fluid_on_ellipsoids_agree(shape: str, medium: tuple[float, float]) -> None:
    """Change of velocity in one step of Euler's scheme, in which these forces are explicit. Added masses follow from a
    quadrature whose weights MuJoCo gives to eight decimals; a relative error of the weights of 1e-8 grows to 4e-8."""
    for coefficients in ("", 'fluidcoef=".3 .7 1.1 2 .6"'):
        text = FLUID % (*medium, shape, f'fluidshape="ellipsoid" {coefficients}')
        model = st.loads(text)
        assert not model.unsupported
        reference, random = mujoco.MjModel.from_xml_string(text), np.random.default_rng(5)
        data, sim = mujoco.MjData(reference), st.Simulation(model, scheme="euler")
        for _ in range(5):
            scatter(reference, data, random)
            sim.qpos, sim.qvel = data.qpos, data.qvel
            before = data.qvel.copy()
            mujoco.mj_step(reference, data)
            sim.step()
            close(sim.qvel - before, data.qvel - before, "change of velocity", 1e-7 if medium[0] else TOLERANCE)


def test_a_body_sinks_in_a_fluid_at_the_speed_at_which_drag_balances_its_weight() -> None:
    density, radius, mass, gravity = 900.0, 0.1, 30.0, 9.81
    text = (
        f'<mujoco><option density="{density}"/><worldbody><body><freejoint/>'
        f'<geom size="{radius}" mass="{mass}" fluidshape="ellipsoid" fluidcoef=".5 0 0 0 0"/></body></worldbody></mujoco>'
    )
    sim = st.Simulation(st.loads(text))
    sim.step(2000)
    # Quadratic drag c v² with c = ρ π r²/2; four seconds are 27 times the time constant v/g.
    exact = np.sqrt(mass * gravity / (0.5 * density * np.pi * radius**2))
    assert abs(sim.qvel[2] + exact) <= 1e-6 * exact


def test_the_sum_of_forces_on_a_tendon_stays_in_its_range() -> None:
    text = """<mujoco><worldbody><body><joint name="j"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
      <tendon><fixed name="t" actuatorfrcrange="-1 2"><joint joint="j" coef=".5"/></fixed></tendon>
      <actuator><motor tendon="t" gear="2"/><motor tendon="t"/><position tendon="t" kp="3" forcerange="-1 1"/></actuator></mujoco>"""
    model = st.loads(text)
    assert not model.unsupported
    reference, random = mujoco.MjModel.from_xml_string(text), np.random.default_rng(6)
    data, sim = mujoco.MjData(reference), st.Simulation(model)
    for _ in range(20):
        scatter(reference, data, random)
        data.ctrl[:] = 2.0 * random.normal(size=3)
        mujoco.mj_forward(reference, data)
        sim.qpos, sim.qvel, sim.ctrl = data.qpos, data.qvel, data.ctrl
        close(sim.actuation().force, data.actuator_force, "force")


MUSCLES = """<mujoco>%s<worldbody><site name="w" pos="0 0 .5"/>
  <body><joint name="a" axis="0 1 0" range="-60 80" limited="true" damping="1"/><geom size=".1" pos=".3 0 0"/><site name="s" pos=".2 .1 0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 .2" range="-20 30" limited="true" stiffness="5"/><geom size=".1" pos=".3 0 0"/>
      <site name="t" pos=".2 0 .1"/></body></body></worldbody>
  <tendon><spatial name="t"><site site="w"/><site site="s"/><site site="t"/></spatial>
    <fixed name="f"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
  <actuator><muscle tendon="t"/><muscle tendon="f" gear="-2"/><muscle joint="a" force="100"/></actuator></mujoco>"""


@pytest.mark.parametrize("options", ["", '<compiler><lengthrange accel="5" timestep=".005" inttotal="20" interval="1"/></compiler>'])
def test_ranges_of_lengths_of_muscles_are_those_that_mujoco_finds(options: str) -> None:
    """Forces depend on the range through normalised lengths. The same simulation gives the same range, up to
    the tolerance of the solver, 1e-6 of the range."""
    text = MUSCLES % options
    model = st.loads(text)
    assert not model.unsupported
    reference, random = mujoco.MjModel.from_xml_string(text), np.random.default_rng(7)
    data, sim = mujoco.MjData(reference), st.Simulation(model)
    for _ in range(5):
        scatter(reference, data, random)
        data.act[:] = random.uniform(0, 1, size=3)
        mujoco.mj_forward(reference, data)
        sim.qpos, sim.qvel, sim.act = data.qpos, data.qvel, data.act
        error = np.abs(sim.actuation().force - data.actuator_force).max()
        assert error <= 1e-5 * np.abs(data.actuator_force).max()
