"""A user-defined solver: projected Gauss-Seidel in a few lines, in a simulation and on a problem."""

import numpy as np

import stiction as st


class GaussSeidel:
    """Sweeps over the contacts with a projected gradient step each; convex friction."""

    friction = "convex"

    def __init__(self, sweeps: int) -> None:
        self.sweeps = sweeps

    def solve(self, problem: st.Problem, guess: st.Guess) -> np.ndarray:
        A, J = problem.A.toarray(), problem.J.toarray()
        W = J @ np.linalg.solve(A, J.T) + np.diag(problem.R)
        free = J @ problem.free_velocity + problem.e
        widths = np.where(problem.kinds == 2, 3, 1)
        constraints = [range(start, start + width) for start, width in zip(problem.row_start, widths)]
        impulse = guess.impulse.copy()
        for _ in range(self.sweeps):
            for rows in constraints:
                velocity = W[rows] @ impulse + free[rows]
                trial = impulse.copy()
                trial[rows] -= velocity / np.linalg.norm(W[np.ix_(rows, rows)], 2)
                impulse[rows] = problem.project(trial)[rows]
        return impulse


sim = st.Simulation(st.scenario("clutter", bodies=6), solver=GaussSeidel(sweeps=30))
print(sim.step(100).residual)

problem = sim.problem()
assert problem is not None
for sweeps in [10, 100, 1000]:
    solution = st.solve(problem, GaussSeidel(sweeps))
    print(f"{sweeps:5} sweeps: violation {solution.residual.convex:.1e} m/s")
for name in ["psor", "apgd", "sap"]:
    solution = st.solve(problem, name, friction="convex")
    print(f"{name:>5}: {solution.status}, violation {solution.residual.convex:.1e} m/s")
