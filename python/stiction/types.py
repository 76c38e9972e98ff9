"""Small result types: poses, velocities, energies, residuals, solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from stiction._native import Problem

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """Pose of a frame in the world."""

    position: Array
    """Origin [m], shape (3,)."""
    quaternion: Array
    """Rotation from the frame to the world as (w, x, y, z), shape (4,)."""

    @property
    def rotation(self) -> Array:
        """Rotation from the frame to the world, shape (3, 3)."""
        w, x, y, z = self.quaternion
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )

    @property
    def matrix(self) -> Array:
        """Homogeneous transformation from the frame to the world, shape (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation
        matrix[:3, 3] = self.position
        return matrix


class Velocity(NamedTuple):
    """Velocity of a body, world axes."""

    angular: Array
    """Angular velocity [rad/s], shape (3,)."""
    linear: Array
    """Velocity of the given point of the body [m/s], shape (3,)."""


class Actuation(NamedTuple):
    """Actuators at one state."""

    length: Array
    """Lengths of the transmissions, gears included [m or rad], shape (n,), one per actuator."""
    velocity: Array
    """Rates of the lengths [m/s or rad/s], shape (n,)."""
    force: Array
    """Forces before the gears, within their ranges [N or N·m], shape (n,)."""
    act_dot: Array
    """Rates of the activations [1/s], shape (na,)."""


class Contact(NamedTuple):
    """A contact of the last step."""

    point: Array
    """Position in the world [m], shape (3,)."""
    normal: Array
    """Unit normal from A into B, world axes, shape (3,)."""
    gap: float
    """Distance along the normal [m], negative in penetration."""
    force: Array
    """Force on B, its opposite on A, mean over the step, world axes [N], shape (3,)."""
    torque: Array
    """Torque on B of spinning and rolling friction, world axes [N·m], shape (3,)."""
    velocity: Array
    """Velocity of B relative to A after the step, world axes [m/s], shape (3,)."""
    bodies: tuple[int, int]
    """Numbers of the bodies A and B; -1 for a side that is soft."""
    geoms: tuple[int, int]
    """Numbers of the shapes A and B; -1 for a side that is soft."""
    body_names: tuple[str, str]
    """Names of the bodies A and B, soft or not."""
    geom_names: tuple[str, str]
    """Names of the shapes A and B; empty for a side that is soft."""


class InverseKinematicsResult(NamedTuple):
    """Coordinates that bring a frame to a pose, as far as they do."""

    qpos: Array
    """All coordinates of the model, shape (nq,)."""
    distance: float
    """Distance that is left [m]."""
    angle: float
    """Angle that is left [rad]; NaN if no orientation was given."""
    iterations: int
    """How often the coordinates were changed."""
    converged: bool
    """Whether the tolerance was reached."""


class RayHits(NamedTuple):
    """Where n rays first meet a shape."""

    distance: Array
    """Distances from the origins [m], shape (n,); infinite for rays that meet nothing."""
    point: Array
    """Points in the world [m], shape (n, 3); NaN without one."""
    normal: Array
    """Outward normals of the surfaces, world axes, shape (n, 3); NaN without one."""
    geom: NDArray[np.int64]
    """Numbers of the shapes, shape (n,); -1 for none, or for a shape that only rays meet."""


class ShapeDistance(NamedTuple):
    """The shortest segment between two shapes or bodies."""

    distance: float
    """Its length [m], negative in penetration; the cutoff if there is none within it."""
    point_a: Array
    """Its end on the first side in the world [m], shape (3,); NaN without one."""
    point_b: Array
    """Its end on the second side [m], shape (3,); NaN without one."""
    normal: Array
    """Unit normal from the first side to the second, world axes, shape (3,); NaN without one."""


class Camera(NamedTuple):
    """A camera of a model file."""

    name: str
    """Its name, may be empty."""
    body: str
    """Name of the body that carries it."""
    position: Array
    """Position in the frame of the body [m], shape (3,)."""
    orientation: Array
    """Orientation in the frame of the body as a quaternion (w, x, y, z), shape (4,)."""
    field_of_view: float
    """Vertical field of view [rad]."""


class Image(NamedTuple):
    """What a camera sees, row by row from the top."""

    rgb: NDArray[np.uint8]
    """Colours, shape (height, width, 3)."""
    depth: NDArray[np.float32]
    """Distances along the axis of the camera [m], shape (height, width); infinite where nothing is seen."""
    body: NDArray[np.int32]
    """Numbers of the bodies, shape (height, width); 0 is the world, -1 nothing; soft bodies follow the others."""
    geom: NDArray[np.int32]
    """Numbers of the geoms, shape (height, width); visual shapes of the model follow them, then soft bodies; -1 for nothing."""


class Energy(NamedTuple):
    """Energy of a mechanism [J]."""

    kinetic: float
    potential: float
    """Of gravity, springs and deformation."""

    @property
    def total(self) -> float:
        """The sum."""
        return self.kinetic + self.potential


class Residual(NamedTuple):
    """Violation of the equations of a contact problem, measured on the problem itself."""

    momentum: float
    """Relative error of momentum [-]."""
    coulomb: float
    """Largest violation of the constraint laws with exact friction [m/s]."""
    convex: float
    """Largest violation of the constraint laws with convex (relaxed) friction [m/s]."""
    natural_map: float
    """Natural map of the contacts with unit step, relative to the free velocities [-]."""
    reference_velocity: float
    """The velocity to which tolerances are relative [m/s]."""


class Trace(NamedTuple):
    """Convergence history of a solver: one entry per measured iterate."""

    iteration: NDArray[np.int64]
    """Iterations done, in the unit of the solver."""
    seconds: Array
    """Time taken by the solver [s]."""
    residual: Array
    """Violation of the laws relative to the reference velocity [-]."""
    momentum: Array
    """Relative error of momentum [-]."""
    slack: Array
    """Contact residual of [Lee25, Sec. VII] [N·s]."""
    cost: Array
    """Cost of the convex model [J] [Castro22, Eq. (24)]."""
    complementarity: Array
    """Complementarity slackness, relative to the cost [-] [Castro22, Eq. (33)]."""


class SolveReport(NamedTuple):
    """Report of a solve."""

    solver: str
    friction: str
    """The friction model of the solve: "coulomb" or "convex"."""
    status: str
    """"converged", "iteration_limit", "stalled" or "failed", as measured."""
    iterations: int
    """Iterations, in the unit of the solver."""
    residual: Residual
    seconds: float
    """Time taken by the solver [s]."""
    trace: Trace | None
    """Residuals over iterations, if requested."""
    notes: list[str]
    """Messages of the solver, such as the choice of a method or a fallback."""


class Solution(NamedTuple):
    """Solution of a contact problem, in the order of the problem's arrays."""

    velocity: Array
    """v [m/s], shape (n,)."""
    impulse: Array
    """Impulses [N s], shape (m,)."""
    report: SolveReport

    @property
    def status(self) -> str:
        """How the solve ended: "converged", "iteration_limit", "stalled" or "failed"."""
        return self.report.status

    @property
    def converged(self) -> bool:
        """Whether the measured residual meets the tolerance."""
        return self.report.status == "converged"

    @property
    def iterations(self) -> int:
        """Iterations, in the unit of the solver."""
        return self.report.iterations

    @property
    def residual(self) -> Residual:
        """Residual of the solution, measured on the problem."""
        return self.report.residual


class Guess(NamedTuple):
    """Initial guess of a solver."""

    velocity: Array
    """v [m/s], shape (n,)."""
    impulse: Array
    """Impulses [N s], shape (m,)."""


class Rollout(NamedTuple):
    """Trajectories of a batch of n simulations over t steps. Row k is the state after step k + 1."""

    time: Array
    """Time [s], shape (n, t)."""
    qpos: Array
    """Coordinates [m, rad, -], shape (n, t, nq)."""
    qvel: Array
    """Velocities [m/s, rad/s], shape (n, t, nv)."""
    sensor_data: Array
    """Readings of the sensors, shape (n, t, nsensordata)."""
    unconverged: NDArray[np.int64]
    """Number of steps that did not meet the tolerance, shape (n,)."""
    failed: NDArray[np.int64]
    """Index of the step that failed, counted from 0, or -1, shape (n,)."""
    vertices: Array
    """Positions of the vertices of soft bodies [m], shape (n, t, nvertex, 3)."""
    vertex_velocities: Array
    """Velocities of the vertices of soft bodies [m/s], shape (n, t, nvertex, 3)."""
    act: Array
    """Activations of actuators, shape (n, t, na)."""


class Unsupported(NamedTuple):
    """An element or attribute of a model file that the importer does not support."""

    where: str
    """File and line."""
    what: str
    physical: bool
    """Whether it changes the motion."""


class Visual(NamedTuple):
    """A mesh fixed to a body, for display."""

    body: int
    """Number of the body to which it is fixed; 0 is the world."""
    name: str
    """Name of the shape, may be empty."""
    vertices: NDArray[np.float32]
    """Vertices before scale and pose, shape (n, 3); empty for the half space z <= 0, which is unbounded.
    Visuals with the same mesh share this array.
    """
    normals: NDArray[np.float32]
    """Unit normals at the vertices, before scale and pose, shape (n, 3)."""
    triangles: NDArray[np.uint32]
    """Three vertices each, counter-clockwise seen from outside, shape (m, 3)."""
    position: Array
    """Position in the frame of the body [m], shape (3,)."""
    quaternion: Array
    """Rotation to the frame of the body as (w, x, y, z), shape (4,)."""
    scale: Array
    """Scale along the axes of the mesh, shape (3,): m = position + rotation (scale vertex)."""
    colour: NDArray[np.float32]
    """Red, green, blue and opacity, each from 0 to 1, shape (4,)."""
    collides: bool
    """Whether it is a collision shape; otherwise it is for display only."""

    @property
    def is_half_space(self) -> bool:
        """Whether it is the half space z <= 0."""
        return len(self.vertices) == 0


class SoftSurface(NamedTuple):
    """The surface of a soft body in a recording."""

    name: str
    """Name of the soft body, may be empty."""
    start: int
    """Its first vertex among those of all surfaces."""
    end: int
    """One after its last vertex."""
    triangles: NDArray[np.uint32]
    """Three of its own vertices each, counted from start, counter-clockwise seen from outside, shape
    (m, 3).
    """
    colour: NDArray[np.float32]
    """Red, green, blue and opacity, each from 0 to 1, shape (4,)."""


class RecordWishes(NamedTuple):
    """Output files of a scene: its table [record]."""

    files: list[str]
    """Names of files, for Simulation.record."""
    fps: float | None
    """Frames per second of simulated time, the default of Simulation.record."""
    picture: str | None
    """Camera and style of pictures, in the syntax of `--picture` of the command."""


class Spread(TypedDict):
    """Mean and largest over the steps of a run; None if not finite."""

    mean: float | None
    max: float | None


class Verdict(TypedDict):
    """Result of a scene's physical check."""

    passed: bool
    skipped: bool
    detail: str


class RunResiduals(TypedDict, total=False):
    """Residuals over the steps of a run."""

    momentum: Spread
    coulomb: Spread
    convex: Spread
    own: Spread
    """In the friction model of the solver [m/s]."""


class RunFigures(TypedDict, total=False):
    """One solver of a comparison: the figures of its run, or "error" with the reason why there are none."""

    solver: str
    friction_model: str
    finished: bool
    error: str
    target: str
    steps: int
    time_step: float
    simulated_seconds: float
    wall_seconds: float
    cpu_seconds: float | None
    realtime_factor: float | None
    microseconds_per_step: dict[str, float | None]
    """Mean, p50, p99, max and the mean of each phase."""
    contacts: Spread
    iterations: Spread
    residual: RunResiduals
    step_status: dict[str, int]
    """Number of steps of each status."""
    unconverged_steps: int
    unresolved_steps: int
    """Steps in which something moved faster than the time step resolves."""
    inverted_elements: int
    """Largest number of inverted elements of soft bodies after one step."""
    penetration: dict[str, float]
    """Deepest penetration of all steps ("max") and of the last step ("final") [m]."""
    energy: dict[str, float]
    """Energy at the start ("initial") and at the end ("final") [J], and the largest energy without cause
    of a step relative to what the scheme explains ("imbalance") [-]."""
    check: Verdict
    state_hash: str
    notes: list[str]
    apart: float | None
    """Mean distance of the bodies, and of the surface vertices of soft bodies, from those of the reference
    run at the end [m]."""


class TraceColumns(TypedDict):
    """Convergence history of a solver, in columns."""

    iteration: list[int]
    seconds: list[float]
    residual: list[float]
    """Violation of the laws relative to the reference velocity [-]."""
    momentum: list[float]
    slack: list[float]
    """Contact residual of [Lee25, Sec. VII] [N·s]."""
    cost: list[float]
    """Cost of the convex model [J] [Castro22, Eq. (24)]."""
    complementarity: list[float]
    """Complementarity slackness, relative to the cost [-] [Castro22, Eq. (33)]."""


class Answer(TypedDict, total=False):
    """Result of a solver on a captured step, or "error" with the reason why there is none."""

    solver: str
    error: str
    friction_model: str
    status: str
    iterations: int
    residual: dict[str, float]
    wall_seconds: float
    trace: TraceColumns


class CapturedStep(TypedDict):
    """A step whose contact problem every solver solved from a cold start."""

    step: int
    """Its number, from one."""
    reason: str
    """Why it was chosen: "impact", "median" or "rest"."""
    contacts: int
    rows: int
    dofs: int
    reference_velocity: float
    answers: list[Answer]


class ComparisonDocument(TypedDict):
    """All figures of a comparison, as `stiction compare --json` prints them."""

    target: str
    steps: int
    time_step: float
    tolerance: float
    reference: str | None
    stopped: bool
    solvers: list[RunFigures]
    captured: list[CapturedStep]
    command: str
    threads: int


class Solver(Protocol):
    """A solver written in Python."""

    def solve(self, problem: Problem, guess: Guess) -> ArrayLike | tuple[ArrayLike, ArrayLike]:
        """Impulses [N s], shape (m,), or velocities [m/s] and impulses."""
        ...


__all__ = [
    "Actuation",
    "Answer",
    "Array",
    "CapturedStep",
    "ComparisonDocument",
    "Energy",
    "Guess",
    "Pose",
    "RecordWishes",
    "Residual",
    "Rollout",
    "RunFigures",
    "RunResiduals",
    "SoftSurface",
    "Solution",
    "SolveReport",
    "Solver",
    "Spread",
    "Trace",
    "TraceColumns",
    "Unsupported",
    "Velocity",
    "Verdict",
    "Visual",
]
