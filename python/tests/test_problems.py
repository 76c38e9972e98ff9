"""Contact problems: from arrays and files, to arrays, solutions and residuals."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import stiction as st

# A particle of mass m that slides at speed s along x on a floor, over one step of h:
# rows of the contact are normal (z), then x and y.
MASS, FRICTION, SPEED, FALL = 2.0, 0.3, 1.5, 9.81 * 0.01
A = MASS * np.eye(3)
B = MASS * np.array([SPEED, 0.0, -FALL])
J = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def particle() -> st.Problem:
    return st.Problem(A, B, J, mu=FRICTION)


def test_a_sliding_particle_loses_mu_times_its_weight() -> None:
    solution = st.solve(particle(), tolerance=1e-12, friction="coulomb")
    assert solution.converged and solution.residual.momentum <= 1e-12
    assert solution.velocity == pytest.approx([SPEED - FRICTION * FALL, 0, 0], abs=1e-11)
    assert solution.impulse == pytest.approx(MASS * FALL * np.array([1, -FRICTION, 0]), abs=1e-11)


def test_a_particle_under_relaxed_friction_takes_off() -> None:
    solution = st.solve(particle(), "sap", tolerance=1e-10, friction="convex")
    # Nearest point of the cone: λ_n/m = (μ s + g h)/(1 + μ²), and v_z = μ times the speed left.
    normal = (FRICTION * SPEED + FALL) / (1 + FRICTION**2)
    speed = SPEED - FRICTION * normal
    assert solution.velocity == pytest.approx([speed, 0, FRICTION * speed], abs=1e-8)


@pytest.mark.parametrize("name", st.solvers())
def test_every_solver_agrees_where_the_particle_sticks(name: str) -> None:
    problem = st.Problem(A, MASS * np.array([0.01, 0.0, -FALL]), J, mu=FRICTION)
    solution = st.solve(problem, name, tolerance=1e-8)
    assert solution.converged, solution.report
    assert solution.report.solver == name
    # Violations are at most the tolerance times the reference velocity; momentum likewise.
    assert np.abs(solution.velocity).max() <= 1e-6


def test_dense_and_sparse_arrays_make_the_same_problem() -> None:
    dense = particle()
    sparse = st.Problem(scipy.sparse.csc_array(A), B, scipy.sparse.coo_array(J), mu=[FRICTION])
    one, other = st.solve(dense, tolerance=1e-10), st.solve(sparse, tolerance=1e-10)
    assert (one.velocity == other.velocity).all() and (one.impulse == other.impulse).all()


def test_arrays_come_back_as_they_were_given() -> None:
    # Velocities of two particles, interleaved: the library may sort them by subsystem.
    order = np.array([0, 2, 4, 1, 3, 5])
    whole_A = np.zeros((6, 6))
    whole_A[np.ix_(order[:3], order[:3])] = A
    whole_A[np.ix_(order[3:], order[3:])] = 5 * A
    whole_B = np.zeros(6)
    whole_B[order[:3]], whole_B[order[3:]] = B, 5 * B
    whole_J = np.zeros((6, 6))
    whole_J[:3, order[:3]], whole_J[3:, order[3:]] = J, J
    problem = st.Problem(whole_A, whole_B, whole_J, mu=FRICTION, blocks=[order[:3], order[3:]])
    assert (problem.A.toarray() == whole_A).all() and (problem.J.toarray() == whole_J).all()
    assert (problem.b == whole_B).all() and (problem.dofs, problem.rows) == (6, 6)
    solution = st.solve(problem, tolerance=1e-12)
    expected = [SPEED - FRICTION * FALL, 0, 0]
    assert solution.velocity[order[:3]] == pytest.approx(expected, abs=1e-11)
    assert solution.velocity[order[3:]] == pytest.approx(expected, abs=1e-11)
    assert problem.velocity_of(solution.impulse) == pytest.approx(solution.velocity, abs=1e-11)
    assert problem.free_velocity == pytest.approx(np.linalg.solve(whole_A, whole_B))


def test_each_kind_has_its_law() -> None:
    # Three unit masses on a line: bilateral, unilateral, and bounded by 0.1 N s.
    problem = st.Problem(
        np.eye(3),
        [1.0, -1.0, 1.0],
        np.eye(3),
        kinds=["bilateral", "unilateral", "bounded"],
        limits=([-np.inf, 0, -0.1], [np.inf, 0, 0.1]),
    )
    assert problem.kinds.tolist() == [0, 1, 3] and problem.row_start.tolist() == [0, 1, 2]
    solution = st.solve(problem, tolerance=1e-10)
    assert solution.velocity == pytest.approx([0, 0, 0.9], abs=1e-8)
    assert problem.project([5.0, -1.0, 0.5]).tolist() == [5.0, 0.0, 0.1]


def test_a_bias_and_a_compliance_shift_the_law() -> None:
    # u = v + e + R λ = 0 with v = b + λ for a unit mass: λ = −(b + e)/(1 + R).
    problem = st.Problem([[1.0]], [0.5], [[1.0]], kinds=[0], e=[0.25], R=[2.0])
    solution = st.solve(problem, tolerance=1e-10)
    assert solution.impulse == pytest.approx([-0.25], abs=1e-9)


def test_the_nearest_impulse_of_a_cone() -> None:
    problem = particle()
    assert problem.project([1.0, 0.1, 0.0]).tolist() == [1.0, 0.1, 0.0]
    assert problem.project([-1.0, 0.1, 0.0]).tolist() == [0.0, 0.0, 0.0]
    n = (FRICTION * 2.0 + 1.0) / (1 + FRICTION**2)
    assert problem.project([1.0, 0.0, 2.0]) == pytest.approx([n, 0, FRICTION * n])


def test_the_residual_measure_is_the_same_for_all_solvers() -> None:
    problem = particle()
    solution = st.solve(problem, tolerance=1e-10)
    assert problem.residual(solution.impulse, solution.velocity) == solution.residual
    assert problem.residual(solution.impulse).coulomb <= 1e-9
    assert problem.residual(np.zeros(3)).coulomb > 0.01


def test_a_guess_that_solves_the_problem_needs_no_iterations() -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=8))
    simulation.step(100)
    problem = simulation.problem()
    assert problem is not None
    first = st.solve(problem, "subadmm", tolerance=1e-8)
    for guess in [first, (first.velocity, first.impulse), first.impulse]:
        again = st.solve(problem, "subadmm", tolerance=1e-6, guess=guess)
        assert again.converged and again.iterations <= first.iterations // 2


def test_a_trace_ends_at_the_residual() -> None:
    solution = st.solve(particle(), "psor", tolerance=1e-8, trace=True)
    trace = solution.report.trace
    assert trace is not None
    assert len(trace.iteration) == len(trace.residual) == len(trace.seconds) > 0
    assert trace.residual[-1] <= 1e-8
    assert st.solve(particle()).report.trace is None


def test_the_iteration_limit_is_a_status_and_no_error() -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=20))
    simulation.step(60)
    problem = simulation.problem()
    assert problem is not None
    solution = st.solve(problem, "psor", tolerance=1e-12, max_iterations=1)
    assert solution.status in ("iteration_limit", "stalled") and not solution.converged


def test_a_file_holds_the_same_problem(tmp_path: Path) -> None:
    simulation = st.Simulation(st.scenario("clutter", bodies=8))
    simulation.step(100)
    problem = simulation.problem()
    assert problem is not None and problem.contacts > 0
    path = tmp_path / "problem.npz"
    problem.save(path)
    back = st.Problem.load(path)
    assert (back.A != problem.A).nnz == 0 and (back.J != problem.J).nnz == 0
    assert (back.b == problem.b).all() and (back.e == problem.e).all()
    assert np.load(path)["b"].tolist() == problem.b.tolist()


def test_free_flight_has_no_contact_problem() -> None:
    assert st.Simulation(st.scenario("arm")).problem() is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"A": np.eye(2)}, "expected"),
        ({"b": [1.0]}, "b"),
        ({"b": [1.0, np.nan, 0.0]}, "finite"),
        ({"J": np.ones((2, 3))}, "multiple of 3"),
        ({"mu": [0.1, 0.2]}, "mu"),
        ({"mu": -0.1}, "friction"),
        ({"kinds": ["contct"]}, "contact"),
        ({"kinds": [7]}, "kinds"),
        ({"A": -np.eye(3)}, "positive definite"),
        ({"A": np.array([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]])}, "symmetric"),
        ({"A": "matrix"}, "matrix"),
        ({"e": [1.0]}, "e"),
        ({"R": [-1.0, 0.0, 0.0]}, "compliance"),
        ({"blocks": [[0, 1]]}, "velocity"),
    ],
)
def test_invalid_arrays_are_rejected(arguments: dict[str, object], message: str) -> None:
    given = {"A": A, "b": B, "J": J, "mu": FRICTION, **arguments}
    with pytest.raises((st.ProblemError, st.StateError), match=message):
        st.Problem(**given)  # type: ignore[arg-type]


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(st.SolverError, match="expected one of"):
        st.solve(particle(), "magic")
    with pytest.raises(st.SolverError, match="no setting"):
        st.solve(particle(), "alm", temperature=3)
    with pytest.raises(st.SettingError, match="coulomb or convex"):
        st.solve(particle(), friction="sticky")  # type: ignore[arg-type]
    with pytest.raises(st.SettingError, match="> 0"):
        st.solve(particle(), tolerance=0.0)
    with pytest.raises(st.SolverError, match="convex|coulomb"):
        st.solve(particle(), "apgd", friction="coulomb")
    with pytest.raises(st.ProblemError, match="expected 3"):
        st.solve(particle(), guess=[1.0])
    with pytest.raises(st.ProblemError):
        st.Problem.load("no-such-file.npz")


def test_golden_problems_have_golden_solutions(data_sets: Path, tmp_path: Path) -> None:
    files = sorted((data_sets / "problems" / "golden").glob("*.npz"))
    assert files
    for path in files:
        problem = st.Problem.load(path)
        arrays = np.load(path)
        solution = st.solve(problem, tolerance=1e-10, friction="coulomb")
        assert solution.converged, path.name
        # The references are exact to 2e-15; accurate solvers are compared to 1e-8.
        assert np.abs(solution.velocity - arrays["v_ncp"]).max() <= 1e-8, path.name
        assert problem.residual(arrays["lam_ncp"], arrays["v_ncp"]).coulomb <= 1e-12, path.name
        assert (problem.b == arrays["b"]).all() and (problem.e == arrays["e"]).all()
        copied = tmp_path / path.name
        problem.save(copied)
        saved = np.load(copied)
        for key in arrays.files:
            assert (saved[key] == arrays[key]).all(), (path.name, key)


def test_problems_of_other_simulators_load(data_sets: Path) -> None:
    path = data_sets / "problems" / "fclib" / "Capsules-i100-889__sym.h5"
    problem = st.Problem.load(path)
    assert problem.contacts > 0 and problem.rows == 3 * problem.contacts
