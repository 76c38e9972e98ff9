"""Steps: reports, release of the GIL, and unchanged state after a failure."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stiction as st
from models import BOX, BOX_MASS, GRAVITY, PENDULUM


def test_many_steps_at_once_are_as_many_steps() -> None:
    model = st.scenario("clutter", bodies=6)
    at_once, one_by_one = st.Simulation(model), st.Simulation(model)
    at_once.step(150)
    for _ in range(150):
        one_by_one.step()
    assert (at_once.qpos == one_by_one.qpos).all()
    assert at_once.state_hash() == one_by_one.state_hash()


def test_the_report_of_many_steps_is_the_worst_of_them() -> None:
    model = st.scenario("clutter", bodies=6)
    at_once, one_by_one = st.Simulation(model), st.Simulation(model)
    summary = at_once.step(100)
    reports = [one_by_one.step() for _ in range(100)]
    assert summary.steps == 100
    assert summary.residual.coulomb == max(r.residual.coulomb for r in reports)
    assert summary.iterations == max(r.iterations for r in reports)
    assert summary.total_iterations == sum(r.iterations for r in reports)
    assert summary.penetration == max(r.penetration for r in reports)
    assert summary.contacts == reports[-1].contacts
    assert summary.converged == all(r.converged for r in reports)
    assert set(summary.phases) >= {"collision", "solve"}
    assert summary.seconds == pytest.approx(sum(summary.phases.values()))


CONTRADICTION = """<mujoco><worldbody>
  <body name="box"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody><equality>
  <weld body1="box" relpose="0 0 0 1 0 0 0"/><weld body1="box" relpose="0.25 0 0 1 0 0 0"/>
</equality></mujoco>"""


def test_a_pendulum_is_ok_and_welds_that_contradict_one_another_are_not() -> None:
    report = st.Simulation(st.loads(PENDULUM)).step(100)
    assert (report.status, report.solver_status, report.faults) == ("ok", "converged", ())
    assert report.status_counts["ok"] == 100 == sum(report.status_counts.values())
    assert 0.0 <= report.energy_imbalance <= 1.0
    assert 'status="ok"' in repr(report)
    simulation = st.Simulation(st.loads(CONTRADICTION))
    for _ in range(20):
        report = simulation.step(5)
        assert report.status in ("correction_not_done", "problem_not_solved")
        assert "correction_not_done" in report.faults and report.correction_failed
        assert report.status_counts["ok"] == 0 and report.equality_error > 0.1


def test_the_status_of_many_steps_is_the_worst_and_each_step_counts_once() -> None:
    simulation = st.Simulation(st.loads(CONTRADICTION))
    bad = simulation.step(3)
    assert bad.steps == 3 == sum(bad.status_counts.values())
    assert bad.status == bad.faults[-1]


def test_zero_steps_change_nothing() -> None:
    simulation = st.Simulation(st.loads(PENDULUM))
    report = simulation.step(0)
    assert (report.steps, simulation.time) == (0, 0.0)


def test_a_box_at_rest_is_supported_by_its_contacts() -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.step(1000)
    contacts = simulation.contacts
    assert len(contacts) == 4
    assert contacts.point.shape == contacts.normal.shape == contacts.force.shape == (4, 3)
    assert contacts.gap.shape == (4,) and contacts.bodies.shape == (4, 2)
    # Normals lead from A into B, forces act on B; the box is pushed up, be it A or B.
    upward = np.where(contacts.bodies[:, 1] == 1, 1.0, -1.0) @ contacts.force[:, 2]
    assert upward == pytest.approx(BOX_MASS * GRAVITY, rel=1e-6)
    assert set(contacts.geom_names[0]) == {"floor", "cube"}
    assert set(contacts.body_names[0]) == {"world", "box"}


def test_contacts_are_a_copy() -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.step(10)
    contacts = simulation.contacts
    before = contacts.force.copy()
    simulation.qpos[2] += 1.0
    simulation.step()
    assert (contacts.force == before).all() and len(simulation.contacts) == 0


def test_other_threads_run_while_a_simulation_steps() -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=40))
    done, stamps = threading.Event(), []

    def watch() -> None:
        while not done.is_set():
            stamps.append(time.perf_counter())
            time.sleep(0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        # If the GIL were held, no time stamp could lie in the middle of a step.
        for _ in range(50):
            begin = time.perf_counter()
            simulation.step(40)
            end = time.perf_counter()
            middle = begin + 0.1 * (end - begin), end - 0.1 * (end - begin)
            if any(middle[0] < stamp < middle[1] for stamp in stamps):
                return
    finally:
        done.set()
        watcher.join()
    pytest.fail("no other thread ran during 50 rounds of steps")


def test_simulations_of_one_model_step_in_several_threads_as_in_one() -> None:
    model = st.scenario("clutter", bodies=10)
    expected = st.Simulation(model)
    expected.step(100)
    simulations = [st.Simulation(model) for _ in range(4)]
    threads = [threading.Thread(target=simulation.step, args=(100,)) for simulation in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {s.state_hash() for s in simulations} == {expected.state_hash()}


def test_a_simulation_has_one_user_at_a_time() -> None:
    class Nosy:
        def solve(self, problem: st.Problem, guess: st.Guess) -> np.ndarray:
            simulation.step()
            return guess.impulse

    simulation = st.Simulation(st.loads(BOX), solver=Nosy())
    with pytest.raises(st.StepError, match="Simulation is busy"):
        simulation.step(5)


def test_a_failed_step_leaves_the_state() -> None:
    simulation = st.Simulation(st.loads(PENDULUM), keyframe="raised")
    simulation.step(10)
    before, hash_before = simulation.qpos.copy(), simulation.state_hash()
    simulation.ctrl[0] = np.inf
    with pytest.raises(st.StateError, match="control"):
        simulation.step(3)
    assert (simulation.qpos == before).all()
    simulation.ctrl[0] = 0.0
    assert simulation.state_hash() == hash_before


def test_an_interrupt_stops_long_stepping() -> None:
    program = (
        "import stiction as st\n"
        "s = st.Simulation(st.scenario('arm'))\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    s.step(10**12)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', s.time > 0, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "stopped True\n"


def test_states_are_exact() -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=10))
    simulation.step(80)
    state = simulation.get_state()
    simulation.step(60)
    expected = simulation.get_state()
    simulation.set_state(state)
    assert simulation.time == state.time
    simulation.step(60)
    assert simulation.get_state() == expected
    other = st.Simulation(simulation.model)
    other.set_state(state)
    other.step(60)
    assert other.get_state() == expected
    assert state != expected


def test_a_state_holds_inputs() -> None:
    simulation = st.Simulation(st.loads(PENDULUM))
    simulation.ctrl[0] = 1.25
    simulation.wrench[1, 5] = 0.5
    state = simulation.get_state()
    simulation.reset()
    assert simulation.ctrl[0] == 0.0
    simulation.set_state(state)
    assert simulation.ctrl[0] == 1.25 == state.ctrl[0]
    assert simulation.wrench[1, 5] == 0.5 == state.wrench[1, 5]


def test_a_simulation_can_start_at_a_keyframe() -> None:
    simulation = st.Simulation(st.loads(PENDULUM), keyframe="raised")
    assert (simulation.qpos[0], simulation.qvel[0], simulation.ctrl[0]) == (0.5, 0.25, 1.5)
    simulation.reset()
    assert (simulation.qpos[0], simulation.ctrl[0]) == (0.0, 0.0)
    simulation.reset(0)
    assert simulation.qpos[0] == 0.5


def test_a_scenario_has_its_controller() -> None:
    model = st.scenario("quadruped-heap", robots=1)
    simulation = st.Simulation(model)
    assert model.has_controller and simulation.controlled
    simulation.step()
    assert np.abs(simulation.ctrl).max() > 0
    simulation.controlled = False
    simulation.ctrl[:] = 0
    simulation.step()
    assert (simulation.ctrl == 0).all()


def test_settings_are_those_given() -> None:
    model = st.loads(PENDULUM)
    settings = st.Simulation(model, "canal", 0.004, tolerance=1e-8, scheme="euler", sleep=True).settings
    assert settings["solver"] == "canal"
    assert settings["time_step"] == 0.004
    assert settings["tolerance"] == 1e-8
    assert settings["scheme"] == "euler"
    assert settings["sleep"] is True
