"""Dynamics of `examples/scenes/models/arm.urdf` in a few states, by Pinocchio.

Writes the text that stands beside this file under the same name:
    python arm_pinocchio.py > arm_pinocchio.txt
Needs the Python package `pin`.
"""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pinocchio as pin

MODEL = Path(__file__).resolve().parents[2] / "examples" / "scenes" / "models" / "arm.urdf"
STATES = [  # angles [rad], rates [rad/s]
    ((0.0, 0.0), (0.0, 0.0)),
    ((0.3, -1.1), (0.7, -0.4)),
    ((-2.1, 0.9), (-1.5, 2.5)),
    ((1.4, 2.2), (3.0, -3.0)),
]


def main():
    model = pin.buildModelFromUrdf(str(MODEL))
    data = model.createData()
    flange = model.getFrameId("flange")

    def write(word, numbers):
        print(word, *(repr(float(x)) for x in np.ravel(numbers)))

    print("# Dynamics of examples/scenes/models/arm.urdf by Pinocchio.")
    print("# Generator: arm_pinocchio.py, in this directory.")
    print(f"# Versions: pin {version('pin')}, python {sys.version_info.major}.{sys.version_info.minor}.")
    print("# Tolerance: round-off of some hundred operations on numbers of order one: 1e-12.")
    print("# q [rad]; v [rad/s]; mass: joint-space inertia, row by row [kg m2]; bias: Coriolis and")
    print("# gravity forces [N m]; flange: position [m] of the frame `flange`")
    for q, v in STATES:
        q, v = np.array(q), np.array(v)
        mass = pin.crba(model, data, q)
        write("q", q)
        write("v", v)
        write("mass", np.triu(mass) + np.triu(mass, 1).T)
        write("bias", pin.nonLinearEffects(model, data, q, v))
        pin.framesForwardKinematics(model, data, q)
        write("flange", data.oMf[flange].translation)


if __name__ == "__main__":
    main()
