"""Models, states, problems and solutions can be pickled and are the same afterwards."""

import copy
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import stiction as st
from models import BOX, PENDULUM


def test_a_scenario_is_the_same_after_a_round_trip() -> None:
    model = st.scenario("clutter", bodies=5)
    back = pickle.loads(pickle.dumps(model))
    assert back == model and hash(back) == hash(model)
    assert back != st.scenario("clutter", bodies=6)
    one, other = st.Simulation(model), st.Simulation(back)
    one.step(50)
    other.step(50)
    assert one.state_hash() == other.state_hash()


def test_a_pickled_model_does_not_need_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "part.xml").write_text(PENDULUM)
    (folder / "whole.xml").write_text('<mujoco model="whole"><include file="part.xml"/></mujoco>')
    model = st.load(folder / "whole.xml")
    packed = pickle.dumps(model)
    shutil.rmtree(folder)
    back = pickle.loads(packed)
    assert back == model and back.joint_names == ["swing"]


def test_a_text_is_the_same_after_a_round_trip() -> None:
    model = st.loads(BOX)
    assert pickle.loads(pickle.dumps(model)) == model == st.loads(BOX)
    assert model != st.loads(PENDULUM)
    assert copy.copy(model) == copy.deepcopy(model) == model


def test_text_finds_further_files_in_memory() -> None:
    text = '<mujoco model="whole"><include file="parts/part.xml"/></mujoco>'
    model = st.loads(text, assets={"parts/part.xml": PENDULUM.encode()})
    assert model.joint_names == ["swing"]
    assert pickle.loads(pickle.dumps(model)) == model


def test_text_finds_further_files_on_disk(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(PENDULUM)
    model = st.loads('<mujoco><include file="part.xml"/></mujoco>', folder=tmp_path)
    assert model.joint_names == ["swing"]


def test_a_state_continues_bit_for_bit_in_another_process(tmp_path: Path) -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=8))
    simulation.step(60)
    path = tmp_path / "packed"
    path.write_bytes(pickle.dumps((simulation.model, simulation.get_state())))
    program = (
        "import pickle, sys, stiction as st\n"
        "model, state = pickle.load(open(sys.argv[1], 'rb'))\n"
        "simulation = st.Simulation(model)\n"
        "simulation.set_state(state)\n"
        "simulation.step(40)\n"
        "print(simulation.state_hash())\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    simulation.step(40)
    assert int(found.stdout) == simulation.state_hash()


def test_problems_and_solutions_are_the_same_after_a_round_trip() -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=8))
    simulation.step(100)
    problem = simulation.problem()
    assert problem is not None
    back = pickle.loads(pickle.dumps(problem))
    assert (problem.A != back.A).nnz == 0 and (problem.J != back.J).nnz == 0
    for name in ["b", "e", "R", "mu", "kinds", "row_start"]:
        assert (getattr(problem, name) == getattr(back, name)).all()
    solution = st.solve(problem)
    again = pickle.loads(pickle.dumps(solution))
    assert (again.velocity == solution.velocity).all()
    assert again.report == solution.report
    assert np.abs(st.solve(back, tolerance=1e-10).velocity - solution.velocity).max() <= 1e-5
