"""Motion of `examples/models/arm.xml` for one second under MuJoCo's Euler integrator, without contact.

Writes the text that stands beside this file under the same name:
    python arm_mujoco.py > arm_mujoco.txt
Needs the Python package `mujoco`. The servos move shoulder, elbow and wrist in their common plane, so
that the coupling of the fingers, which MuJoCo models as a soft constraint, has nothing to do; the cube
falls and spins from a height from which it does not reach the table.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import mujoco
import numpy as np

MODEL = Path(__file__).resolve().parents[2] / "examples" / "models" / "arm.xml"
STEPS, EVERY = 500, 50

Q0 = [0, 0.3, 1.0, 0.8, 0, 0.02, 0.02, 2, 0, 6, 1, 0, 0, 0]  # [rad, m, -]
V0 = [0, 0, 0, 0, 0, 0, 0, 0.5, -0.2, 0.1, 1.0, -2.0, 0.5]  # [rad/s, m/s]
CONTROL = [0, 0.6, 0.7, 1.2, 0, 0.02]  # [rad, m]


def main():
    model = mujoco.MjModel.from_xml_path(str(MODEL))
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.ctrl = Q0, V0, CONTROL

    def write(word, numbers):
        print(word, *(repr(float(x)) for x in numbers))

    print("# Motion of examples/models/arm.xml under MuJoCo's Euler integrator, without contact.")
    print("# Generator: arm_mujoco.py, in this directory.")
    print(f"# Versions: mujoco {version('mujoco')}, python {sys.version_info.major}.{sys.version_info.minor}.")
    print("# Tolerance: both programs evaluate the same formula; errors are round-off, of relative size")
    print("# 1e-16 per operation, thousands of operations per step, 500 steps, not amplified by damped")
    print("# servos: 1e-9 of radians and metres.")
    print("# time_step [s]; q0, v0, control at the start; then after each 50 steps")
    print("# q: coordinates [rad, m], quaternion of the cube w x y z; v: velocities [rad/s, m/s]")
    write("time_step", [model.opt.timestep])
    write("q0", data.qpos)
    write("v0", data.qvel)
    write("control", data.ctrl)
    for step in range(1, STEPS + 1):
        mujoco.mj_step(model, data)
        assert data.ncon == 0, f"contact in step {step}"
        assert np.abs(data.qfrc_constraint).max() <= 1e-12, "a constraint takes part"
        if step % EVERY == 0:
            write("q", data.qpos)
            write("v", data.qvel)


if __name__ == "__main__":
    main()
