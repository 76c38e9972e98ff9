"""Solves problems of the built-in catalogue by the interior-point method of Clarabel.

Writes `<name>.npz` beside this file: the problem as `stiction solve <name> --save` writes it, and its
solutions with convex friction (`v_ccp`, `lam_ccp`) and with exact friction (`v_ncp`, `lam_ncp`):
    python solve_by_clarabel.py path/to/stiction
Needs the Python packages `clarabel`, `numpy` and `scipy`. The convex problem is

    minimise ½ vᵀ A v − bᵀ v + ½ zᵀ z   subject to   u = J v + e + R^½ z ∈ K*,

with K* = {0} for bilateral rows, {u ≥ 0} for unilateral ones and {u_n ≥ μ‖u_t‖} for contacts; its
multipliers are the impulses λ. Exact friction is the fixed point of the same problem with e_n raised by
μ‖u_t‖ in each contact. Both are judged here by the natural map of their own problem, in this file alone.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import clarabel
import numpy as np
from scipy import sparse

# Name, size and friction models of each problem; sizes keep the files small. On the pile the fixed-point
# iteration for exact friction does not converge.
PROBLEMS = [
    ("box-slide", None, ("ccp", "ncp")),
    ("chain", 4, ("ccp", "ncp")),
    ("sphere-pile", 14, ("ccp",)),
    ("stack", 3, ("ccp", "ncp")),
]
# Accepted residual of the natural map relative to the largest velocity without impulses.
ACCEPTED = 1e-7


def read(path):
    """Arrays of a problem file, matrices assembled."""
    x = dict(np.load(path))
    n, m = int(x["n"]), int(x["m"])
    x["A"] = sparse.csr_matrix((x["A_data"], x["A_indices"], x["A_indptr"]), (n, n)).tocsc()
    x["J"] = sparse.csr_matrix((x["J_data"], x["J_indices"], x["J_indptr"]), (m, n))
    return x


def solve_convex(x, shift):
    """Velocities and impulses with `shift` [m/s] added to e."""
    n, m = int(x["n"]), int(x["m"])
    rows, order, scales, cones = [], [], [], []
    for kind, start, mu in zip(x["kinds"], x["row_start"], x["mu"]):
        dim = 3 if kind == 2 else 1
        order += range(start, start + dim)
        scales += [1.0, mu, mu] if kind == 2 else [1.0]
        if kind == 0:
            cones.append(clarabel.ZeroConeT(1))
        elif kind == 1:
            cones.append(clarabel.NonnegativeConeT(1))
        else:
            cones.append(clarabel.SecondOrderConeT(3))
    scale = sparse.diags(scales)
    J, e, root = x["J"][order], (x["e"] + shift)[order], np.sqrt(x["R"][order])
    G = sparse.hstack([J, sparse.diags(root)])
    P = sparse.block_diag([x["A"], sparse.eye(m)], format="csc")
    q = np.concatenate([-x["b"], np.zeros(m)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-14
    settings.max_iter = 200
    constraint = sparse.csc_matrix(-scale @ G)
    solution = clarabel.DefaultSolver(
        sparse.triu(P, format="csc"), q, constraint, np.asarray(scale @ e), cones, settings
    ).solve()
    v, z = np.array(solution.x[:n]), np.array(solution.z)
    impulse = np.zeros(m)
    impulse[order] = np.array(scales) * z
    return v, impulse


def natural_map(x, v, impulse, exact):
    """Largest residual of momentum and laws [m/s], with a step of the size of each constraint's W."""
    A, J = x["A"], x["J"]
    lu = sparse.linalg.splu(A)
    momentum = np.abs(v - lu.solve(x["b"] + J.T @ impulse)).max()
    u = J @ v + x["e"] + x["R"] * impulse
    W = J @ lu.solve(J.T.toarray()) + np.diag(x["R"])
    worst = momentum
    for kind, start, mu in zip(x["kinds"], x["row_start"], x["mu"]):
        rows = slice(start, start + (3 if kind == 2 else 1))
        c, r = u[rows].copy(), impulse[rows]
        step = np.trace(W[rows, rows]) / len(c)
        if kind == 2 and exact:
            c[0] += mu * np.hypot(c[1], c[2])
        y = r - c / step
        if kind == 1:
            y = np.maximum(y, 0.0)
        elif kind == 2:
            t = np.hypot(y[1], y[2])
            if mu * t <= -y[0]:
                y = np.zeros(3)
            elif t > mu * y[0]:
                normal = (y[0] + mu * t) / (1 + mu * mu)
                y = np.array([normal, mu * normal * y[1] / t, mu * normal * y[2] / t])
        worst = max(worst, step * np.abs(r - y).max())
    return worst


def solve_exact(x):
    """Fixed point of the convex problem shifted by the friction cone's own slip."""
    shift = np.zeros(int(x["m"]))
    contacts = [(s, mu) for k, s, mu in zip(x["kinds"], x["row_start"], x["mu"]) if k == 2]
    for _ in range(300):
        v, impulse = solve_convex(x, shift)
        u = x["J"] @ v + x["e"] + x["R"] * impulse
        after = np.zeros_like(shift)
        for start, mu in contacts:
            after[start] = mu * np.hypot(u[start + 1], u[start + 2])
        change = np.abs(after - shift).max()
        shift = after
        if change <= 1e-12:
            break
    return solve_convex(x, shift)


def main():
    here = Path(__file__).resolve().parent
    for name, size, models in PROBLEMS:
        path = here / f"{name}.npz"
        option = [] if size is None else ["--size", str(size)]
        command = [sys.argv[1], "solve", name, *option, "--save", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        x = read(path)
        reference = np.abs(x["J"] @ sparse.linalg.spsolve(x["A"], x["b"]) + x["e"]).max()
        stored = dict(np.load(path))
        for suffix in models:
            v, impulse = solve_convex(x, 0.0) if suffix == "ccp" else solve_exact(x)
            residual = natural_map(x, v, impulse, suffix == "ncp") / reference
            print(f"{name:12} {suffix} {x['n']} velocities {x['m']} rows, residual {residual:.1e}")
            assert residual <= ACCEPTED, "not accurate enough to be a reference"
            stored |= {f"v_{suffix}": v, f"lam_{suffix}": impulse}
        np.savez(path, **stored)
    print(*(f"{p} {version(p)}" for p in ("clarabel", "numpy", "scipy")))


if __name__ == "__main__":
    main()
