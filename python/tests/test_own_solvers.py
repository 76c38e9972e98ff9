"""Solvers written in Python: the same interface and the same residual measure."""

from typing import Any

import numpy as np
import pytest

import stiction as st
from models import BOX


class House:
    """Calls a built-in solver."""

    def __init__(self, name: str) -> None:
        self.name, self.calls = name, 0

    def solve(self, problem: st.Problem, guess: st.Guess) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        solution = st.solve(problem, self.name, guess=guess)
        return solution.velocity, solution.impulse


class ProjectedGradient:
    """Projected gradient descent on the impulses, relaxed friction."""

    friction = "convex"

    def solve(self, problem: st.Problem, guess: st.Guess) -> np.ndarray:
        A, J = problem.A.toarray(), problem.J.toarray()
        W = J @ np.linalg.solve(A, J.T) + np.diag(problem.R)
        free = J @ problem.free_velocity + problem.e
        step, impulse = 1 / np.linalg.norm(W, 2), guess.impulse
        for _ in range(5000):
            impulse = problem.project(impulse - step * (W @ impulse + free))
        return impulse


@pytest.fixture(scope="module")
def problem() -> st.Problem:
    simulation = st.Simulation(st.scenario("clutter", bodies=5))
    simulation.step(100)
    found = simulation.problem()
    assert found is not None
    return found


def test_a_solver_that_calls_a_built_in_one_returns_its_solution(problem: st.Problem) -> None:
    own, house = st.solve(problem, House("alm")), st.solve(problem, "alm")
    assert (own.velocity == house.velocity).all() and (own.impulse == house.impulse).all()
    assert own.residual == house.residual and own.status == house.status
    assert own.report.solver == "python"


def test_a_solver_in_twelve_lines_is_measured_like_any_other(problem: st.Problem) -> None:
    own = st.solve(problem, ProjectedGradient(), tolerance=1e-4)
    assert own.converged and own.report.friction == "convex"
    assert own.residual == problem.residual(own.impulse, own.velocity)
    # Only impulses were returned: momentum is exact by construction.
    assert own.residual.momentum <= 1e-12
    # Of all admissible impulses, those of the solution minimize
    # ½ λᵀ W λ + λᵀ (J v* + e); the built-in solver may be better, but not worse, than its tolerance.
    house = st.solve(problem, "apgd", tolerance=1e-10, friction="convex")
    A, J = problem.A.toarray(), problem.J.toarray()
    free = J @ problem.free_velocity + problem.e

    def work(impulse: np.ndarray) -> float:
        push = J.T @ impulse
        compliant = impulse @ (problem.R * impulse)
        return float(0.5 * (push @ np.linalg.solve(A, push) + compliant) + impulse @ free)

    least = work(house.impulse)
    assert least - 1e-9 * abs(least) <= work(own.impulse) <= least + 1e-4 * abs(least)


def test_a_wrong_solution_is_not_reported_as_converged(problem: st.Problem) -> None:
    class Lazy:
        def solve(self, problem: st.Problem, guess: st.Guess) -> np.ndarray:
            return np.zeros(problem.rows)

    solution = st.solve(problem, Lazy())
    assert solution.status == "stalled" and solution.residual.coulomb > 1e-3


def test_a_simulation_steps_with_a_python_solver_as_with_a_built_in_one() -> None:
    model = st.scenario("clutter", bodies=6)
    solver = House("alm")
    own, house = st.Simulation(model, solver), st.Simulation(model, "alm")
    report = own.step(60)
    house.step(60)
    assert solver.calls > 0 and report.converged
    assert (own.qpos == house.qpos).all()


def test_an_exception_is_passed_on_and_the_state_is_unchanged(problem: st.Problem) -> None:
    class Broken:
        def solve(self, problem: st.Problem, guess: st.Guess) -> np.ndarray:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        st.solve(problem, Broken())
    simulation = st.Simulation(st.loads(BOX), solver=Broken())
    before = simulation.get_state()
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            simulation.step(5)
    assert simulation.get_state() == before and simulation.time == 0.0


@pytest.mark.parametrize(
    "answer", [None, "impulses", [1.0], np.full(3, np.nan), (np.zeros(1), np.zeros(1))]
)
def test_an_invalid_result_is_rejected(problem: st.Problem, answer: Any) -> None:
    class Odd:
        def solve(self, problem: st.Problem, guess: st.Guess) -> Any:
            return answer

    with pytest.raises(st.SolverError, match="return value of Odd"):
        st.solve(problem, Odd())
