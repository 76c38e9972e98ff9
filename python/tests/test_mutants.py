"""Mutated files and absurd arguments: the answer is a value or an exception with a message, soon and with bounded
memory; never a panic or an abort.

STICTION_MUTANTS sets the number of calls of each campaign. A call follows from its number; that of the last one is in the
file `last` of the test's folder for temporary files, should the process end.
"""

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction as st
from models import BOX, PENDULUM

ROOT = Path(__file__).resolve().parents[2]
CALLS = int(os.environ.get("STICTION_MUTANTS", "100"))
LONGEST, MOST_MEMORY = 5.0, 2 << 30
"""What one call may take: seconds of the processor, bytes."""

WORDS = ["NaN", "inf", "-1", "0", "1e308", "-1e-308", "4294967295", "1e20", "", '"', "<", "/>", "[", "\0", "é", "1 2 3"]

ABSURD: list[Any] = [
    *(float("nan"), float("inf"), -1, 0, 1, 0.5, 1e308, -1e308, 1e-308, 2**31, 2**63, -(2**63), 2**70, 1j),
    *(None, True, "", "x", "é", "\0", "sap", b"\0", object(), len, [], [[]], {}, {"x": 1}, [None], [1, "x"]),
    *(np.zeros(0), np.zeros(1), np.zeros(7), np.full(7, np.nan), np.full(1, np.inf), np.full(1, 1e308)),
    *(np.zeros((0, 0)), np.zeros((3, 2)), np.ones((2, 3, 1)), np.zeros((3, 2))[::2], np.array("x"), np.array([None])),
    *(np.zeros(7, dtype=np.int8), np.zeros(7, dtype=complex), np.broadcast_to(0.0, (1 << 40, 7))),
]
"""Values that are wrong in most places, and right in few."""


def peak_memory() -> int:
    """The largest memory of the process so far, in bytes; since `reset_peak_memory` where the system has that."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(peak.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def reset_peak_memory() -> None:
    """Lets `peak_memory` forget what other tests took. On systems without it, their peak hides smaller ones."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def campaign(name: str, folder: Path, call: Callable[[np.random.Generator], Any]) -> None:
    """Makes calls, each with random numbers of its own. An exception is an answer; a panic is none."""
    last = folder / "last"
    reset_peak_memory()
    before = peak_memory()
    for k in range(CALLS):
        last.write_text(f"{name}, call {k}")
        start = time.process_time()
        try:
            call(np.random.default_rng([len(name), k]))
        except Exception as error:
            assert isinstance(error, MemoryError) or str(error), f"{name}, call {k}: {error!r} has no message"
        except BaseException as error:
            pytest.fail(f"{name}, call {k}: {error!r}")
        taken = time.process_time() - start
        assert taken <= LONGEST, f"{name}, call {k}: {taken} s"
        memory = peak_memory() - before
        assert memory <= MOST_MEMORY, f"{name}, call {k}: {memory} bytes"


def mutated(contents: bytes, random: np.random.Generator) -> bytes:
    """The bytes with some things wrong."""
    for _ in range(random.integers(1, 5)):
        low, high = sorted(int(at) for at in random.integers(0, len(contents) + 1, 2))
        piece = contents[low : min(high, low + 200)]
        word = WORDS[random.integers(len(WORDS))].encode()
        kinds = [
            contents[:low],
            contents[:low] + contents[low + len(piece) :],
            contents[:low] + word + contents[low + int(random.integers(12)) :],
            contents[:high] + piece + contents[high:],
            contents[:low] + bytes([random.integers(256)]) + contents[low + 1 :],
        ]
        contents = kinds[random.integers(len(kinds))]
    return contents


def absurd(random: np.random.Generator) -> Any:
    """A value that is wrong in most places."""
    return ABSURD[random.integers(len(ABSURD))]


def some(random: np.random.Generator, names: list[str]) -> dict[str, Any]:
    """Absurd values for some of the arguments."""
    return {name: absurd(random) for name in names if random.random() < 0.3}


TEXTS = [
    ("mjcf", PENDULUM.encode()),
    ("mjcf", BOX.encode()),
    ("mjcf", (ROOT / "examples/models/arm.xml").read_bytes()),
    ("native", (ROOT / "examples/scenes/pile.toml").read_bytes()),
    ("native", (ROOT / "examples/scenes/jelly.toml").read_bytes()),
    ("native", (ROOT / "examples/scenes/draped-cable.toml").read_bytes()),
]


def test_mutated_models_are_read_or_refused(tmp_path: Path) -> None:
    def call(random: np.random.Generator) -> None:
        kind, contents = TEXTS[random.integers(len(TEXTS))]
        contents = mutated(contents, random)
        if random.random() < 0.5:
            path = tmp_path / f"model.{'xml' if kind == 'mjcf' else 'toml'}"
            path.write_bytes(contents)
            model = st.load(path)
        else:
            model = st.loads(contents.decode(errors="replace"), format=kind)  # type: ignore[arg-type]
        st.Simulation(model).step(2)

    campaign("models", tmp_path, call)


def test_mutated_recordings_are_read_or_refused(tmp_path: Path) -> None:
    simulation = st.Simulation(st.loads(BOX))
    whole = tmp_path / "whole.stiction"
    with simulation.record(whole, fps=500):
        simulation.step(20)
    contents = whole.read_bytes()
    path = tmp_path / "mutant.stiction"

    def call(random: np.random.Generator) -> None:
        path.write_bytes(mutated(contents, random))
        recording = st.load_recording(path)
        recording.save(tmp_path / "again.html")

    campaign("recordings", tmp_path, call)


def test_simulations_take_or_refuse_absurd_values(tmp_path: Path) -> None:
    arrays = ["qpos", "qvel", "act", "ctrl", "wrench", "vertices", "vertex_velocities", "time", "controlled"]
    settings = ["solver", "time_step", "keyframe", "tolerance", "max_iterations", "sleep", "scheme", "friction_model"]
    settings += ["stabilisation_slop", "stabilisation_max_speed", "solver_growth", "relinearisations", "rigid"]
    models = [st.loads(PENDULUM), st.loads(BOX), st.scenario("arm")]
    states = [st.Simulation(model).get_state() for model in models]

    def call(random: np.random.Generator) -> None:
        model = models[random.integers(3)]
        given = some(random, settings) if random.random() < 0.3 else {}
        simulation = st.Simulation(model, **given)
        if random.random() < 0.3:
            simulation.set_state(states[random.integers(3)])
        name = arrays[random.integers(len(arrays))]
        value = absurd(random)
        if random.random() < 0.5:
            setattr(simulation, name, value)
        else:
            getattr(simulation, name)[...] = value
        simulation.step(2)
        simulation.energy()
        simulation.inverse_dynamics(absurd(random))
        simulation.jacobian(absurd(random), absurd(random))

    campaign("simulations", tmp_path, call)


def test_rollouts_take_or_refuse_absurd_arguments(tmp_path: Path) -> None:
    names = ["threads", "solver", "time_step", "on_error", "tolerance", "sleep"]
    model = st.loads(PENDULUM)
    state = st.Simulation(model).get_state()
    right: list[Any] = [state, [state, state], np.zeros((3, 2))]

    def call(random: np.random.Generator) -> None:
        states = right[random.integers(3)] if random.random() < 0.7 else absurd(random)
        controls = np.zeros((4, 1)) if random.random() < 0.3 else absurd(random)
        long = [3, 0, -1, 1 << 40, 1 << 62, 1 << 70, "x", None, float("nan")]
        steps: Any = long[random.integers(len(long))]
        if random.random() < 0.5:
            st.rollout(model, states, controls, **some(random, names))
        else:
            st.rollout(model, states, steps=steps, **some(random, names))

    campaign("rollouts", tmp_path, call)


def test_solves_take_or_refuse_absurd_arguments(tmp_path: Path) -> None:
    simulation = st.Simulation(st.loads(BOX))
    simulation.step(60)
    problem = simulation.problem()
    assert problem is not None
    names = ["solver", "tolerance", "friction", "guess", "trace", "omega", "growth"]

    def call(random: np.random.Generator) -> None:
        st.solve(problem, max_iterations=50, **some(random, names))

    campaign("solves", tmp_path, call)


def test_scenarios_take_or_refuse_absurd_parameters(tmp_path: Path) -> None:
    names = ["incline", "arm", "bouncing-ball", "cradle", "rolling-sphere", "stack", "x", "", "\0"]
    parameters = ["friction", "bend", "restitution", "angle", "released", "balls", "levels", "tolerance", "solver"]

    def call(random: np.random.Generator) -> None:
        model = st.scenario(names[random.integers(len(names))], **some(random, parameters[int(random.integers(9)) :]))
        st.Simulation(model).step(2)

    campaign("scenarios", tmp_path, call)
