"""Domain randomisation: masses, friction and gains drawn anew for every episode and every row of a batch.

Run it: python examples/python/randomise.py
"""

import numpy as np

import stiction as st


def crane() -> st.Model:
    """A servo that lifts a box from the ground."""
    world = st.WorldBuilder("crane", time_step=0.005)
    world.body("ground", shape="plane", fixed=True)
    world.body("box", shape="box", edges=[0.2, 0.2, 0.1], position=[0, 0, 0.05], mass=1.0)
    world.body("arm", shape="box", edges=[0.6, 0.04, 0.04], position=[0.8, 0, 0.5], mass=0.5)
    world.joint("arm", "hinge", name="hinge", axis=[0, 1, 0], anchor=[0.3, 0, 0], damping=0.2)
    world.actuator("hinge", "position", kp=60.0, kd=4.0)
    return world.build()


def main() -> None:
    model, rng = crane(), np.random.default_rng(0)

    # One episode after the other: views of all values, and attributes of one part.
    sim = st.Simulation(model)
    for episode in range(3):
        sim.reset()
        sim.body_masses[:] = model.body_masses * rng.uniform(0.7, 1.3, model.nbody)
        sim.geom_frictions[:] = rng.uniform(0.3, 0.9)
        sim.actuator("hinge").kp = rng.uniform(40.0, 80.0)
        sim.qvel[0] = 1.0  # the box slides
        sim.step(400)
        sag, way = sim.joint("hinge").qpos[0], sim.qpos[0]
        print(f"episode {episode}: the arm hangs {sag:+.4f} rad, the box slid {way:.3f} m")

    # Many at once: a row of parameters per simulation, the same bits for any number of threads.
    n = 16
    states = np.tile(np.concatenate([model.qpos0, np.zeros(model.nv)]), (n, 1))
    states[:, model.nq] = 1.0
    friction = np.linspace(0.2, 0.9, n)
    found = st.rollout(
        model,
        states,
        steps=400,
        parameters={"geom_friction": np.tile(friction[:, None], (1, model.ngeom))},
    )
    for mu, way in zip(friction, found.qpos[:, -1, 0], strict=True):
        # v²/(2 μ g), but for the last step.
        assert abs(way - 1 / (2 * mu * 9.81)) < model.time_step, (mu, way)
    print(f"{n} boxes slid from {found.qpos[:, -1, 0].min():.3f} to {found.qpos[:, -1, 0].max():.3f} m")


if __name__ == "__main__":
    main()
