"""Overhead of a step from Python over a step in Rust, and overhead of recording.

Single steps from Python are compared with the same number of steps in one call, which is a loop in
Rust; the minimum of several rounds is reported. Runs with and without recording are timed in pairs, one
right after the other, and the median of the pairs is reported. Times are CPU times, to reduce the
influence of other processes.
"""

import statistics
import time

import stiction as st

ROUNDS, STEPS = 30, 5000
PAIRS, FRAMES_PER_SECOND, BODIES, SECONDS = 21, 60.0, 40, 5.0


def least(simulation: st.Simulation, one_by_one: bool) -> float:
    """Time per step [µs]."""
    best = float("inf")
    for _ in range(ROUNDS):
        simulation.reset()
        step = simulation.step
        begin = time.process_time()
        if one_by_one:
            for _ in range(STEPS):
                step()
        else:
            step(STEPS)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / STEPS


def clutter(record: bool) -> float:
    """CPU time per step [µs] of one run of the clutter scene, from beginning to end."""
    simulation = st.Simulation(st.scenario("clutter", bodies=BODIES))
    steps = round(SECONDS / simulation.model.time_step)
    begin = time.process_time()
    recording = simulation.record(fps=FRAMES_PER_SECOND) if record else None
    for _ in range(steps):
        simulation.step()
    spent = time.process_time() - begin
    assert recording is None or recording.frames > 1
    return 1e6 * spent / steps


def recording_cost() -> tuple[float, float]:
    """Median CPU time per step without recording [µs], and the median share that it costs more."""
    clutter(True)
    pairs = []
    for k in range(PAIRS):
        # Whoever goes first changes, so that it does not matter.
        first = clutter(k % 2 == 1)
        second = clutter(k % 2 == 0)
        pairs.append((first, second) if k % 2 == 0 else (second, first))
    without = statistics.median(alone for alone, _ in pairs)
    return without, statistics.median(watched / alone for alone, watched in pairs) - 1


if __name__ == "__main__":
    for name in ["arm", "bouncing-ball"]:
        simulation = st.Simulation(st.scenario(name))
        inside, outside = least(simulation, False), least(simulation, True)
        print(f"{name}: {inside:.3f} µs in Rust, {outside:.3f} µs from Python, {outside - inside:.3f} µs more")
    without, share = recording_cost()
    print(
        f"clutter, {BODIES} bodies: {without:.1f} µs per step; recorded at {FRAMES_PER_SECOND:.0f} frames per second "
        f"{100 * share:+.1f} %"
    )
