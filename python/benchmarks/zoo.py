"""Public MJCF models against MuJoCo: every file of the given folders, or of well-known packages.

    python python/benchmarks/zoo.py [FOLDER…] [--jobs N] [--json FILE] [--timeout SECONDS]

Without folders: the packages of zoo_sources.py, installed or downloaded into a cache, and the robots of
STICTION_SHARED/models. Needs mujoco and stiction. Each file runs in a process
of its own, so that a crash or an endless loop is a row of the table. docs/mujoco.md says what the columns mean.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import zoo_model
from zoo_sources import cache_folder, default_folders, model_files

CLASSES = ("no contact", "default contact", "soft geoms", "equalities", "bad start")
NOT_JUDGED = ("chaotic", "step too large", "reference unstable")
PATIENCE = 20  # times the limit of CPU time
TIMEOUT_STATUS = 124  # of a process that exceeded it

# Each process is forked from one that has imported everything and started no thread.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["zoo_model"])

Row = dict[str, Any]


def watch(timeout: float) -> None:
    """Ends the process when its CPU time is used up. A limit of the system would make the clock coarse."""
    while time.process_time() < timeout:
        time.sleep(0.2)
    os._exit(TIMEOUT_STATUS)


def child(path: Path, timeout: float, soft_defaults: bool, answer: Connection) -> None:
    """Runs in a process of its own: sends the findings on one file."""
    threading.Thread(target=watch, args=(timeout,), daemon=True).start()
    # MuJoCo writes its log into the working directory and its warnings to the terminal.
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        os.chdir(folder)
        os.dup2(nowhere.fileno(), 2)
        answer.send(zoo_model.measure(path, soft_defaults))


def run_one(name: str, suite: str, path: Path, timeout: float, soft_defaults: bool) -> Row:
    """The findings on one file, measured by another process."""
    row: Row = {"name": name, "suite": suite, "file": str(path)}
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=child, args=(path, timeout, soft_defaults, sender))
    process.start()
    sender.close()
    try:
        # The limit is CPU time, so that it does not depend on what else the machine does; a process that sleeps
        # ends as well.
        if receiver.poll(PATIENCE * timeout):
            return row | receiver.recv()
        return row | {"outcome": "timeout", "message": f"not done after {PATIENCE * timeout:g} s"}
    except EOFError:
        process.join()
        if process.exitcode == TIMEOUT_STATUS:
            return row | {"outcome": "timeout", "message": f"not done after {timeout:g} s of CPU time"}
        return row | {"outcome": "crash", "message": f"exit status {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def run_all(
    models: list[tuple[str, str, Path]], jobs: int, timeout: float, out: Path | None, soft_defaults: bool = False
) -> list[Row]:
    """The findings on all files, in their order; each is written to `out` as soon as it is known."""
    rows: dict[str, Row] = {}
    stream = out.open("w", encoding="utf-8") if out else None
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(run_one, *model, timeout, soft_defaults): model for model in models}
        for done in concurrent.futures.as_completed(waiting):
            row = done.result()
            rows[str(waiting[done][2])] = row
            if stream:
                stream.write(json.dumps(row) + "\n")
                stream.flush()
            progress(len(rows), len(models), row["name"])
    if stream:
        stream.close()
    return [rows[str(path)] for _, _, path in models]


def progress(done: int, total: int, name: str) -> None:
    """A bar on the terminal; nothing if standard error is a file."""
    if sys.stderr.isatty():
        filled = 30 * done // total
        end = "\n" if done == total else ""
        print(f"\r[{'#' * filled:30}] {done}/{total} {name[:50]:50}", end=end, file=sys.stderr, flush=True)


def table(rows: list[Row]) -> str:
    """One line per model that MuJoCo loads."""
    head = f"{'model':60} {'class':15} {'outcome':18} {'M':>7} {'bias':>7} {'error':>8} {'bound':>8} {'jump':>8} {'ours':>8} {'MuJoCo':>8}  status"
    lines = [head, f"{'':76} {'':18} {'':7} {'':7} {'[mm]':>8} {'[mm]':>8} {'[m,rad]':>8} {'[µs]':>8} {'[µs]':>8}"]
    for row in rows:
        if row["outcome"] == "refused by the reference":
            continue

        def number(key: str, scale: float = 1.0, digits: str = ".3g", row: Row = row) -> str:
            return format(scale * row[key], digits) if key in row else "–"

        faults = {status: count for status, count in row.get("statuses", {}).items() if status != "ok"}
        said = ", ".join(f"{status} {count}" for status, count in faults.items())
        said = said or "; ".join(row.get("unsupported_physics", [])) or row.get("message", "")
        lines.append(
            f"{row['name'][-60:]:60} {row.get('class', '–'):15} {row['outcome']:18} {number('mass_error', digits='.0e'):>7} "
            f"{number('bias_error', digits='.0e'):>7} {number('error', 1e3):>8} {number('bound', 1e3):>8} {number('jump', digits='.0e'):>8} "
            f"{number('our_time', 1e6, '.0f'):>8} {number('their_time', 1e6, '.0f'):>8}  {' '.join(said.split())[:90]}"
        )
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    """A share in per cent with its counts."""
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def load_summary(rows: list[Row]) -> list[str]:
    """How many files load, and how many have something that is not supported."""
    loaded = [row for row in rows if row["outcome"] != "refused by the reference" and not row.get("flex")]
    refused = [row for row in loaded if row["outcome"] in ("refused here", "crash", "timeout") and "our_load" not in row]
    unsupported = [row for row in loaded if row.get("unsupported_physics")]
    return [
        f"files {len(rows)}, of which MuJoCo loads {sum(row['outcome'] != 'refused by the reference' for row in rows)}; "
        f"with flex, which are left out below: {sum(bool(row.get('flex')) for row in rows)}",
        f"load here:                       {share(len(loaded) - len(refused), len(loaded))}",
        f"physics listed as unsupported:   {share(len(unsupported), len(loaded))}",
    ]


def variants(judged: list[Row]) -> str:
    """How many agree with other settings than the defaults."""

    def agree(key: str) -> int:
        return sum(not row["unsupported_physics"] and row.get(key, row["error"]) <= row["bound"] for row in judged)

    found = [agree(key) for key in ("soft_defaults_error", "file_scheme_error", "exact_friction_error")]
    return f"with soft_defaults {found[0]}, with scheme=file {found[1]}, with tangential=exact {found[2]}"


def motion_summary(rows: list[Row]) -> list[str]:
    """Agreement of motions by class, jumps, steps with faults, times."""
    lines = []
    moved = [row for row in rows if "class" in row and not row.get("flex")]
    for kind in CLASSES:
        here = [row for row in moved if row["class"] == kind]
        judged = [row for row in here if row["outcome"] not in NOT_JUDGED]
        agrees = sum(row["outcome"] == "agrees" for row in judged)
        left = ", ".join(f"{name} {sum(row['outcome'] == name for row in here)}" for name in NOT_JUDGED)
        lines.append(f"agreement, {kind + ':':22}{share(agrees, len(judged))} ({left}; {variants(judged)})")
    other = [row for row in rows if "our_load" in row and "class" not in row and not row.get("flex")]
    jumps = [row for row in moved if row["jump"] > zoo_model.JUMP]
    steps = sum(sum(row["statuses"].values()) for row in moved)
    ok = sum(row["statuses"].get("ok", 0) for row in moved)
    lines += [
        f"not compared:                    {len(other)}",
        f"models with a jump over {zoo_model.JUMP} m or rad: {len(jumps)}; largest {max((row['jump'] for row in moved), default=0.0):.2g}",
        f"models with an error of M or bias over 1e-9: {sum(max(row['mass_error'], row['bias_error']) > 1e-9 for row in moved)}",
        f"steps that are ok:               {share(ok, steps)}",
        f"steps that are ok although the error of an equality grows: {sum(row['silent_growth'] for row in moved)}",
    ]
    ratios = sorted(row["our_time"] / row["their_time"] for row in moved if row["their_time"] > 0.0)
    if ratios:
        tenth = len(ratios) // 10
        lines.append(
            f"CPU time per step over MuJoCo's: median {statistics.median(ratios):.2f}, "
            f"tenth {ratios[tenth]:.2f}, nine tenths {ratios[-1 - tenth]:.2f}, largest {ratios[-1]:.1f}"
        )
    return lines


def main() -> None:
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders or files; default: see above")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time; times are reliable with one")
    parser.add_argument("--timeout", type=float, default=120.0, help="CPU time for one file [s]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write one JSON document per line and file")
    parser.add_argument("--cache", type=Path, default=cache_folder(), help="folder of downloaded wheels")
    parser.add_argument("--soft-defaults", action="store_true", help="load files with soft_defaults")
    parser.add_argument("--match", default="", help="take only files whose path contains this")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error("--jobs: expected at least 1")
    missing = [str(folder) for folder in options.folders if not folder.exists()]
    if missing:
        parser.error(f"no such folder: {', '.join(missing)}")
    given = {folder.name: folder.resolve() for folder in options.folders}
    models = []
    for suite, folder in (given or default_folders(options.cache)).items():
        root = folder.parent if folder.is_file() else folder
        found = [path for path in model_files(folder) if options.match in str(path)]
        models += [(f"{suite}: {path.relative_to(root).with_suffix('')}", suite, path) for path in found]
    rows = run_all(models, options.jobs, options.timeout, options.json, options.soft_defaults)
    print(table(rows))
    print("\n".join(["", *load_summary(rows), *motion_summary(rows)]))


if __name__ == "__main__":
    main()
