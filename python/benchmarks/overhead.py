"""What a step from Python costs over a step from Rust.

Steps one by one from Python are timed against as many steps in one call, which is a loop in Rust.
The least of several rounds is taken, so that what else the machine does counts as little as
possible.
"""

import time

import stiction as st

ROUNDS, STEPS = 30, 5000


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


if __name__ == "__main__":
    for name in ["arm", "bouncing-ball"]:
        simulation = st.Simulation(st.scenario(name))
        inside, outside = least(simulation, False), least(simulation, True)
        print(f"{name}: {inside:.3f} µs in Rust, {outside:.3f} µs from Python, {outside - inside:.3f} µs more")
