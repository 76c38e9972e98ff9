"""Delayed controls and sensors against MuJoCo: samples are read by the same rules, so that only round-off differs."""

import pickle

import numpy as np
import pytest

import stiction as st
from agreement import TOLERANCE

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco><option timestep="0.004" integrator="Euler"><flag contact="disable"/></option><worldbody>
  <body><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
    <site name="s" pos=".2 0 0"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 .2" damping=".05"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body></worldbody>
  <actuator>%s</actuator><sensor>%s</sensor></mujoco>"""

MOTORS = '<motor joint="a"/><position joint="b" kp="3" kv=".1"/>'
SENSORS = '<jointpos joint="a" %s/><gyro site="s" %s/><jointvel joint="b"/>'
SAMPLES = {
    "only_samples": 'nsample="3"',
    "delay": 'nsample="5" delay=".02"',
    "short_delay": 'nsample="5" delay=".001"',
    "long_delay": 'nsample="3" delay=".05"',
    "between": 'nsample="6" delay=".0135"',
    "linear": 'nsample="6" delay=".0135" interp="linear"',
    "cubic": 'nsample="6" delay=".0135" interp="cubic"',
    "cubic_at_the_end": 'nsample="4" delay=".0135" interp="cubic"',
    "period": 'nsample="4" interval=".01"',
    "period_and_phase": 'nsample="4" interval=".0107 -.0033"',
    "period_and_delay": 'nsample="4" interval=".0107 -.0033" delay=".015"',
    "period_and_delay_linear": 'nsample="4" interval=".0107" delay=".015" interp="linear"',
}


def pair(text: str) -> tuple["mujoco.MjModel", "mujoco.MjData", st.Simulation]:
    model = st.loads(text)
    assert not [entry for entry in model.unsupported if entry.physical]
    reference = mujoco.MjModel.from_xml_string(text)
    return reference, mujoco.MjData(reference), st.Simulation(model, scheme="euler")


def controls(k: int, count: int) -> np.ndarray:
    return np.sin(0.3 * k + np.arange(count)) + (k % 7 > 3)


@pytest.mark.parametrize("name", SAMPLES)
def test_delayed_sensors_read_what_mujoco_reads(name: str) -> None:
    samples = SAMPLES[name]
    reference, data, sim = pair(MODEL % (MOTORS, SENSORS % (samples, samples)))
    for k in range(60):
        data.ctrl[:] = sim.ctrl[:] = controls(k, 2)
        mujoco.mj_forward(reference, data)
        assert np.abs(sim.sensor_data - data.sensordata).max() <= TOLERANCE, (name, k)
        mujoco.mj_step(reference, data)
        sim.step()


@pytest.mark.parametrize("name", [name for name in SAMPLES if "period" not in name])
def test_delayed_controls_act_when_those_of_mujoco_act(name: str) -> None:
    samples = SAMPLES[name]
    actuators = (
        f'<motor joint="a" {samples} ctrlrange="-1 .9"/>'
        f'<pid joint="b" kp="3" kv=".1" ki="2" slewmax="9" input="pos vel ff" {samples}/><motor joint="a" gear=".1"/>'
    )
    reference, data, sim = pair(MODEL % (actuators, SENSORS % ("", "")))
    for k in range(100):
        data.ctrl[:] = sim.ctrl[:] = controls(k, 5)
        mujoco.mj_forward(reference, data)
        assert np.abs(sim.actuation().force - data.actuator_force).max() <= TOLERANCE, (name, k)
        mujoco.mj_step(reference, data)
        sim.step()
    assert np.abs(sim.qpos - data.qpos).max() <= TOLERANCE
    assert np.abs(sim.act - data.act).max() <= TOLERANCE


def test_samples_are_part_of_the_state_and_begin_again_with_a_reset() -> None:
    samples = 'nsample="6" delay=".0135" interp="linear"'
    motor = f'<motor joint="a" {samples}/>'
    model = st.loads(MODEL % (motor, SENSORS % (samples, 'nsample="4" interval=".01"')))
    sim = st.Simulation(model)

    def run(simulation: st.Simulation, start: int) -> list[np.ndarray]:
        readings = []
        for k in range(start, start + 20):
            simulation.ctrl[:] = controls(k, 1)
            simulation.step()
            readings.append(np.concatenate([simulation.sensor_data, simulation.qpos]))
        return readings

    first = run(sim, 0)
    state = pickle.loads(pickle.dumps(sim.get_state()))
    rest = run(sim, 20)
    other = st.Simulation(model)
    other.set_state(state)
    assert np.array_equal(run(other, 20), rest)
    other.reset()
    assert np.array_equal(run(other, 0), first)


def test_delays_need_samples() -> None:
    for samples in ['delay=".1"', 'interval=".1"', 'nsample="-1"', 'nsample="2" delay="-1"', 'nsample="2" interval=".1 -.2"']:
        with pytest.raises(st.ModelError):
            st.loads(MODEL % (MOTORS, SENSORS % (samples, "")))
    with pytest.raises(st.ModelError):
        st.loads(MODEL % ('<motor joint="a" delay=".1"/>', ""))
