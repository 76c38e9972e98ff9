"""Time per step of robots here and in MuJoCo, side by side in one process.

    python python/benchmarks/robots.py [FOLDER…] [--json FILE] [--chart FILE.svg] [--only TEXT] [--quick]

Without folders: the robots of STICTION_SHARED/models, and the files of gymnasium and dm_control (installed or downloaded).
Needs mujoco and stiction. Times are CPU times of one thread, both engines alternate in blocks of a few steps, and each
takes the default settings and the time step of the file. Of a folder, files whose name begins with "scene" are taken, or
all MJCF files where there is none.

Three runs per file:

standing   from the first keyframe with its controls. Steps 1 to 200 and 201 to 1,200 are timed apart. Where a robot falls
           in MuJoCo, both engines continue from MuJoCo's state every 50 steps.
random     the same with new random controls within their ranges every 20 steps; here, too, both engines continue from
           MuJoCo's state every 50 steps, so that they do the same work.
batch      many starts with random controls, st.rollout against mujoco.rollout, one thread: steps per second of CPU time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from zoo_sources import cache_folder, model_files, package_folder

import stiction as st

START, END = 200, 1200  # steps of a standing robot: the first ones, and all
BLOCK = 50  # steps that an engine takes before the other does
HOLD = 20  # steps between random controls
RANDOM_STEPS = 600
BATCH, BATCH_STEPS = 16, 100
FALLEN = 0.25  # loss of height of the first free body, relative to its height, that counts as a fall

Row = dict[str, Any]


class Pair:
    """One file in both engines."""

    def __init__(self, path: Path) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        self.ours = st.load(path)
        self.simulation = st.Simulation(self.ours)
        self.times = [0.0, 0.0]
        self.residual = 0.0
        self.faults = 0

    def reset(self) -> None:
        """Puts both at the first keyframe, or the reference configuration without one."""
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_normalizeQuat(self.model, self.data.qpos)
        self.simulation.reset(0 if self.model.nkey else None)

    def follow(self) -> None:
        """Continues here from MuJoCo's state."""
        self.simulation.qpos, self.simulation.qvel = self.data.qpos, self.data.qvel

    def control(self, values: np.ndarray) -> None:
        """Sets the controls of both."""
        self.data.ctrl[:] = values
        if self.model.nu:
            self.simulation.ctrl[:] = values

    def step(self, steps: int) -> None:
        """Steps both and adds up their times."""
        begin = time.process_time()
        mujoco.mj_step(self.model, self.data, steps)
        middle = time.process_time()
        report = self.simulation.step(steps)
        end = time.process_time()
        self.times[0] += end - middle
        self.times[1] += middle - begin
        self.residual = max(self.residual, report.residual.coulomb)
        self.faults += sum(count for status, count in report.status_counts.items() if status != "ok")

    def lap(self, steps: int) -> tuple[float, float]:
        """Times per step [s] here and in MuJoCo since the last lap."""
        ours, theirs = (spent / steps for spent in self.times)
        self.times = [0.0, 0.0]
        return ours, theirs

    def height(self) -> float | None:
        """Height of the first free body in MuJoCo [m]; None if there is none."""
        free = np.nonzero(self.model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))[0]
        return float(self.data.qpos[self.model.jnt_qposadr[free[0]] + 2]) if len(free) else None


def falls(pair: Pair) -> bool:
    """Whether the robot falls in MuJoCo, or its motion is not finite."""
    pair.reset()
    before = pair.height()
    mujoco.mj_step(pair.model, pair.data, END)
    after = pair.height()
    if before is None or after is None:
        return not np.isfinite(pair.data.qpos).all()
    return not abs(after - before) <= FALLEN * max(abs(before), 0.1)


def standing(pair: Pair) -> Row:
    """Times of the first steps and of the rest."""
    fallen = falls(pair)
    pair.reset()
    pair.residual, pair.faults = 0.0, 0
    for name in ("warm_up", "start", "rest"):
        count = {"warm_up": BLOCK, "start": START, "rest": END - START}[name]
        if name == "start":
            pair.reset()
            pair.lap(1)
        for block in range(count // BLOCK):
            if fallen and block:
                pair.follow()
            pair.step(BLOCK)
        if name == "start":
            first = pair.lap(count)
    rest = pair.lap(END - START)
    return {
        "start": first,
        "rest": rest,
        "falls": fallen,
        "finite": bool(np.isfinite(pair.simulation.qpos).all()),
        "residual": pair.residual,
        "faults": pair.faults,
    }


def control_ranges(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of the controls; one around zero where a file has no range."""
    limited = model.actuator_ctrllimited.astype(bool)
    low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
    return low, np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)


def random_controls(pair: Pair) -> Row:
    """Times under random controls."""
    pair.reset()
    pair.lap(1)
    pair.residual, pair.faults = 0.0, 0
    random, (low, high) = np.random.default_rng(0), control_ranges(pair.model)
    for step in range(0, RANDOM_STEPS, HOLD):
        pair.control(random.uniform(low, high))
        if step % BLOCK < HOLD:
            if not np.isfinite(pair.data.qpos).all():
                pair.reset()
            pair.follow()
        pair.step(HOLD)
    return {"random": pair.lap(RANDOM_STEPS), "residual_random": pair.residual, "faults_random": pair.faults}


def batch(pair: Pair) -> Row:
    """Times per step of batches in one thread."""
    pair.reset()
    model, random = pair.model, np.random.default_rng(1)
    low, high = control_ranges(model)
    controls = np.repeat(random.uniform(low, high, size=(BATCH, BATCH_STEPS // HOLD, model.nu)), HOLD, axis=1)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    full = np.zeros(size)
    mujoco.mj_getState(model, pair.data, full, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states = np.repeat(np.concatenate([pair.data.qpos, pair.data.qvel])[None], BATCH, axis=0)
    theirs = timed(lambda: mujoco.rollout.rollout(model, pair.data, np.repeat(full[None], BATCH, axis=0), controls))
    ours = timed(lambda: st.rollout(pair.ours, states, controls, threads=1, on_error="nan"))
    count = BATCH * BATCH_STEPS
    return {"batch": (ours / count, theirs / count)}


def timed(work: Callable[[], object]) -> float:
    """The lesser CPU time of two runs [s]."""
    spent = []
    for _ in range(2):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return min(spent)


def measure(name: str, path: Path, quick: bool) -> Row:
    """All times of one file, or why there are none."""
    row: Row = {"name": name, "file": str(path)}
    try:
        pair = Pair(path)
    except (ValueError, mujoco.FatalError, st.StictionError) as error:
        return row | {"message": " ".join(str(error).split())[:100]}
    row |= {"nv": pair.model.nv, "unsupported": sorted({e.what for e in pair.ours.unsupported if e.physical})}
    try:
        row |= standing(pair)
        if not quick:
            row |= random_controls(pair) | batch(pair)
    except (st.StictionError, ValueError) as error:
        row["message"] = " ".join(str(error).split())[:100]
    return row


def scenes(folder: Path) -> list[Path]:
    """Files of a folder that are to be run: scenes, or all models where a folder has no scene."""
    files = list(model_files(folder))
    chosen = [path for path in files if path.name.startswith("scene")]
    return chosen or files


def default_files() -> list[tuple[str, Path]]:
    """Robots of the data sets, and files of packages."""
    found = []
    shared = os.environ.get("STICTION_SHARED")
    if shared:
        models = Path(shared) / "models"
        folders = sorted(folder for folder in models.iterdir() if folder.is_dir())
        found += [(f"{folder.name}/{path.name}", path) for folder in folders for path in scenes(folder)]
    for module in ("gymnasium", "dm_control"):
        folder = package_folder(module, module, cache_folder())
        if folder is not None:
            found += [(f"{module}/{path.relative_to(folder)}", path) for path in model_files(folder)]
    return found


RUNS = ("start", "rest", "random", "batch")


def ratio(row: Row, run: str) -> float | None:
    """Our time over that of MuJoCo."""
    return row[run][0] / row[run][1] if run in row and row[run][1] > 0 else None


def line(row: Row) -> str:
    """The line of a file in the table."""
    if "start" not in row:
        return f"{row['name'][-48:]:48} {row.get('message', '')}"
    cells = []
    for run in RUNS:
        found = ratio(row, run)
        if found is None:
            cells.append(f"{'–':>22}")
        else:
            cells.append(f"{1e6 * row[run][0]:8.1f} {1e6 * row[run][1]:7.1f} {found:5.2f}")
    falls_mark = "falls" if row["falls"] else ""
    return f"{row['name'][-48:]:48} {' '.join(cells)} {row['residual']:8.1e} {row['faults']:4} {falls_mark}"


def head() -> str:
    """Head of the table."""
    runs = " ".join(f"{run + ': ours, MuJoCo, ratio':>22}" for run in RUNS)
    return f"{'CPU time per step [µs]':48} {runs} {'residual':>8} {'not ok':>4}"


def summary(rows: list[Row]) -> str:
    """Median and worst ratio of each run."""
    lines = []
    for run in RUNS:
        found = [(value, row["name"]) for row in rows if (value := ratio(row, run)) is not None]
        if found:
            worst = max(found)
            middle = statistics.median(value for value, _ in found)
            lines.append(f"{run:8} {len(found)} files: median ratio {middle:.2f}, worst {worst[0]:.2f} ({worst[1]})")
    return "\n".join(lines)


def chart(rows: list[Row], path: Path) -> None:
    """Draws the ratios of all files, sorted, on a logarithmic axis; needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.5))
    for run in RUNS:
        values = sorted(value for row in rows if (value := ratio(row, run)) is not None)
        if values:
            axes.step(np.linspace(0, 100, len(values)), values, where="mid", label=run)
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set(yscale="log", xlabel="files [%]", ylabel="our CPU time per step / MuJoCo's")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> int:
    """Runs the benchmark; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--json", type=Path, help="file for the times of all files")
    parser.add_argument("--chart", type=Path, help="SVG file for a chart of the ratios")
    parser.add_argument("--only", default="", help="files whose name contains this text")
    parser.add_argument("--quick", action="store_true", help="standing robots only")
    arguments = parser.parse_args()
    files = [(str(path), path) for folder in arguments.folders for path in scenes(folder)] or default_files()
    files = [(name, path) for name, path in files if arguments.only in name]
    if not files:
        print("robots: no MJCF file found; expected folders, or STICTION_SHARED", file=sys.stderr)
        return 2
    rows = []
    print(head())
    for name, path in files:
        rows.append(measure(name, path, arguments.quick))
        if rows[-1].get("message") is None or "start" in rows[-1] or arguments.folders:
            print(line(rows[-1]), flush=True)
    print(f"\n{summary(rows)}")
    if arguments.json:
        finite = [{key: value for key, value in row.items() if value != math.inf} for row in rows]
        arguments.json.write_text(json.dumps(finite, indent=1) + "\n", encoding="utf-8")
    if arguments.chart:
        chart(rows, arguments.chart)
    return 0


if __name__ == "__main__":
    sys.exit(main())
