"""Writes bowls.csv: where the arm of bowls.toml has its joints, by plain trigonometry.

Each bowl is taken at the rim that is nearest to the arm, with the fingers along its wall, lifted, and let
go above the pile; the cube comes last. Run it as `python examples/scenes/bowls_waypoints.py`.
"""

import math
from pathlib import Path

SHOULDER, UPPER, FORE, HAND = 0.195, 0.3, 0.24, 0.105  # of arm.xml: height, lengths, wrist to grasp [m]
WALL = math.radians(41.0)  # of bowls.xml: from the vertical
GRIP_RADIUS, GRIP_HEIGHT = 0.0702, 0.0552  # middle of the wall where it is held [m]
SPACING = 0.020  # of nested bowls [m]
OPEN, CLOSED = 0.016, -0.01  # of the grip [m]

PILE = (0.36, 0.55)  # distance from the arm [m] and yaw [rad]
BOWLS = [(0.36, 1.15), (0.36, -0.55), (0.36, 1.75), (0.36, -1.15)]
CUBE = (0.35, 0.0)


def joints(distance: float, height: float, yaw: float, lean: float) -> list[float]:
    """Joints that bring the grasp to a place, with the hand pointing down but for its lean outwards."""
    pitch = math.pi - lean
    x = distance - HAND * math.sin(pitch)
    z = height - HAND * math.cos(pitch) - SHOULDER
    reach = math.hypot(x, z)
    elbow = math.acos((reach**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE))
    shoulder = math.atan2(x, z) - math.atan2(FORE * math.sin(elbow), UPPER + FORE * math.cos(elbow))
    return [yaw, shoulder, elbow, pitch - shoulder - elbow]


def main() -> None:
    rows: list[list[float]] = []
    time = 0.0

    def go(seconds: float, place: list[float], roll: float, grip: float) -> None:
        nonlocal time
        time += seconds
        rows.append([time, *place, roll, grip])

    def rim(where: tuple[float, float], lift: float, along: float = 0.0) -> list[float]:
        """At the near rim of a bowl that stands there, away from it along its wall."""
        distance = where[0] - GRIP_RADIUS - along * math.sin(WALL)
        return joints(distance, GRIP_HEIGHT + lift + along * math.cos(WALL), where[1], WALL)

    roll = math.pi / 2
    go(0.0, rim(PILE, 0.15), roll, OPEN)
    for count, bowl in enumerate(BOWLS, start=1):
        pile = SPACING * count + 0.004
        go(0.7, rim(bowl, 0.0, 0.06), roll, OPEN)
        go(0.35, rim(bowl, 0.0), roll, OPEN)
        go(0.25, rim(bowl, 0.0), roll, CLOSED)
        go(0.45, rim(bowl, 0.13), roll, CLOSED)
        go(0.7, rim(PILE, 0.13), roll, CLOSED)
        go(0.5, rim(PILE, pile), roll, CLOSED)
        go(0.15, rim(PILE, pile), roll, OPEN)
        go(0.35, rim(PILE, pile, 0.06), roll, OPEN)
    go(0.4, joints(PILE[0], 0.25, PILE[1], 0.0), roll, 0.03)
    go(0.6, joints(CUBE[0], 0.12, CUBE[1], 0.0), 0.0, 0.03)
    go(0.4, joints(CUBE[0], 0.025, CUBE[1], 0.0), 0.0, 0.03)
    go(0.2, joints(CUBE[0], 0.025, CUBE[1], 0.0), 0.0, CLOSED)
    go(0.4, joints(CUBE[0], 0.22, CUBE[1], 0.0), 0.0, CLOSED)
    go(0.7, joints(PILE[0], 0.24, PILE[1], 0.0), 0.0, CLOSED)
    go(0.2, joints(PILE[0], 0.18, PILE[1], 0.0), 0.0, CLOSED)
    go(0.15, joints(PILE[0], 0.18, PILE[1], 0.0), 0.0, 0.035)
    go(0.6, joints(0.28, 0.32, PILE[1], 0.3), 0.0, 0.035)
    lines = ["# time [s], yaw, shoulder, elbow, wrist, roll [rad], grip [m]"]
    lines += [", ".join(f"{value:.4f}" for value in row) for row in rows]
    Path(__file__).with_name("bowls.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
