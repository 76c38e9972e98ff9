"""The engine of the package `stiction`. Units are SI; arrays are float64 unless said otherwise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, SupportsIndex, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stiction.types import (
    Actuation,
    Camera,
    CapturedStep,
    ComparisonDocument,
    Contact,
    Energy,
    Guess,
    Image,
    InverseKinematicsResult,
    Pose,
    RayHits,
    RecordWishes,
    Residual,
    Rollout,
    RunFigures,
    ShapeDistance,
    SoftSurface,
    Solution,
    Solver,
    Unsupported,
    Velocity,
    Visual,
)

__all__ = [
    "ActuatorHandle",
    "BodyHandle",
    "GeomHandle",
    "CableHandle",
    "Comparison",
    "ContactPatch",
    "Contacts",
    "Joint",
    "JointHandle",
    "Model",
    "Problem",
    "Recording",
    "Simulation",
    "SoftHandle",
    "State",
    "StepReport",
    "__version__",
    "_make_from_files",
    "_make_problem",
    "_make_scenario",
    "_make_state",
    "compare",
    "load",
    "load_recording",
    "loads",
    "parameters",
    "main",
    "rollout",
    "scenario",
    "scenarios",
    "solve",
    "solvers",
]

__version__: Final[str]

_Array = NDArray[np.float64]
_Indices = NDArray[np.int64]
_Path = str | PathLike[str]
_Part = str | SupportsIndex
_Value = bool | int | float | str
_View = Literal["corner", "front", "back", "left", "right", "side", "above", "top"]

def main(arguments: Sequence[str]) -> int:
    """Runs the command with its arguments, the program's name first, and returns the exit status."""

def load(
    path: _Path,
    *,
    floating_base: bool = ...,
    merge_fixed: bool = ...,
    package_paths: Sequence[_Path] = ...,
    soft_contact: bool = ...,
    soft_defaults: bool = ...,
) -> Model:
    """Reads a model from a file: MJCF (.xml), URDF (.urdf) or a native scene (.toml).

    floating_base lets the base of a URDF robot move freely; merge_fixed merges links joined by
    fixed joints; package_paths are folders that package:// names refer to; soft_contact
    lets solref and solimp of MJCF soften contacts; soft_defaults makes constraints of MJCF soft also where
    they have MuJoCo's defaults.
    """

def loads(
    text: str,
    *,
    format: Literal["mjcf", "native", "toml", "urdf"] | None = None,
    assets: Mapping[str, bytes] = ...,
    folder: _Path = ...,
    floating_base: bool = ...,
    merge_fixed: bool = ...,
    package_paths: Sequence[_Path] = ...,
    soft_contact: bool = ...,
    soft_defaults: bool = ...,
) -> Model:
    """Reads a model from text. The format is found from the text unless it is given; toml is another name of
    native, that of scenes. Further files are looked for in assets, by path as the text names them
    (folders such as meshdir included), then on disk, from folder on.
    """

def scenario(name: str, **parameters: _Value) -> Model:
    """A scenario, with its parameters and settings of the simulation by keyword; underscores stand
    for dashes.
    """

def parameters() -> dict[str, str]:
    """Names of the parameters that can be changed while a model is simulated, each with its description and
    unit: docs/parameters.md.
    """

def scenarios() -> dict[str, str]:
    """Names of the scenarios, each with its description."""

def solvers() -> dict[str, str]:
    """Names of the solvers, each with its description."""

def solve(
    problem: Problem,
    solver: str | Solver | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    friction: Literal["coulomb", "convex"] | None = None,
    guess: Solution | Guess | tuple[ArrayLike, ArrayLike] | ArrayLike | None = None,
    trace: bool = ...,
    **settings: _Value,
) -> Solution:
    """Solves a contact problem. solver is a name, or an object with a method solve(problem, guess).

    tolerance is the residual to reach, relative to the reference velocity; friction is
    "coulomb" (exact) or "convex" (relaxed), the solver's own if absent; guess is an earlier solution,
    a pair of velocities and impulses, or impulses. trace keeps the residual over iterations.
    Further keywords are parameters of the solver.
    """

def rollout(
    model: Model,
    states: State | Iterable[State] | ArrayLike,
    controls: ArrayLike | None = None,
    *,
    steps: int | None = None,
    threads: int | None = None,
    solver: str | None = None,
    time_step: float | None = None,
    on_error: Literal["raise", "nan"] = ...,
    parameters: Mapping[str, ArrayLike] | None = None,
    **settings: _Value,
) -> Rollout:
    """Simulates a batch of n initial states for t steps each.

    states is a list of State, or an array (n, nq + nv) of coordinates and velocities; with soft
    bodies perhaps (n, nq + nv + 6 nvertex), followed by positions and velocities of their vertices,
    which otherwise start as in the model; with activations perhaps (n, nq + nv + na). controls is an array (n, t, nu), or (t, nu) for all
    alike; without it, steps is the number of steps, and controls stay constant. parameters gives
    simulations parameters of their own: a dictionary from names, as of parameters(), to arrays with a
    row per simulation, such as {"body_mass": (n, nbody), "geom_friction": (n, ngeom)}. threads is the
    number of threads; if absent, that of the environment variable RAYON_NUM_THREADS, or as many as
    the process may use (processors, quota of its control group); the result is the same for any. A failed step raises an
    exception, or with on_error="nan" ends that simulation, whose further rows are NaN. Further
    keywords are settings as of Simulation. The model's controller, if there is one, is not used.
    """

def load_recording(path: _Path) -> Recording:
    """Opens a .stiction recording, or the complete part of an unfinished one (.part); notes says if
    it is incomplete.
    """

def compare(
    model: Model | _Path,
    solvers: Sequence[str],
    *,
    steps: int | None = None,
    time: float | None = None,
    time_step: float | None = None,
    time_limit: float = ...,
    threads: int | None = None,
    report: _Path | None = None,
    solver_settings: dict[str, dict[str, _Value]] | None = None,
    **settings: _Value,
) -> Comparison:
    """Runs a model with several solvers, and solves representative steps with each of them.

    model is a Model, or the name of a scenario or of a file. Each solver runs `steps` steps, or
    `time` [s], or the model's own duration, from the same initial state. time_limit [s] is the
    limit of each solver on each captured step; solver_settings are parameters of solvers, by their
    names; report is a file for the report, which ends in .html. Further keywords are settings as of
    Simulation, for all runs.
    """

@final
class Model:
    """A mechanism with its shapes, surfaces, sensors and settings. It never changes, so that any
    number of simulations and threads can share it. Made by load, loads and scenario.

    Bodies are numbered depth first; the first is the world. Coordinates follow MuJoCo's layout.
    """

    @property
    def name(self) -> str:
        """Name of the model in the file, or the name of the file or scenario."""
    @property
    def format(self) -> str:
        """Format that it was read from: "mjcf", "urdf", "native", or "scenario"."""
    @property
    def nq(self) -> int:
        """Number of coordinates."""
    @property
    def nv(self) -> int:
        """Number of velocities."""
    @property
    def nu(self) -> int:
        """Number of controls."""
    @property
    def na(self) -> int:
        """Number of activations of actuators."""
    @property
    def nbody(self) -> int:
        """Number of bodies, the world among them."""
    @property
    def njnt(self) -> int:
        """Number of joints."""
    @property
    def ngeom(self) -> int:
        """Number of shapes that can touch."""
    @property
    def nvertex(self) -> int:
        """Number of vertices of all soft bodies."""
    @property
    def soft_names(self) -> list[str]:
        """Names of the soft bodies."""
    @property
    def cable_names(self) -> list[str]:
        """Names of the cables."""
    @property
    def nsensordata(self) -> int:
        """Length of the readings of all sensors."""
    @property
    def body_names(self) -> list[str]:
        """Names of the bodies, in their order; empty for those without."""
    @property
    def joint_names(self) -> list[str]:
        """Names of the joints."""
    @property
    def geom_names(self) -> list[str]:
        """Names of the shapes that can touch."""
    @property
    def actuator_names(self) -> list[str]:
        """Names of the actuators."""
    @property
    def sensor_names(self) -> list[str]:
        """Names of the sensors."""
    @property
    def equality_names(self) -> list[str]:
        """Names of the equalities."""
    @property
    def site_names(self) -> list[str]:
        """Names of the sites."""
    @property
    def camera_names(self) -> list[str]:
        """Names of the cameras."""
    @property
    def cameras(self) -> list[Camera]:
        """The cameras: name, body, position (3,) and orientation (w, x, y, z) in the frame of the body, and vertical field of view
        [rad]. A camera looks along −z of its frame, and y is up."""
    @property
    def keyframe_names(self) -> list[str]:
        """Names of the keyframes."""
    @property
    def masses(self) -> _Array:
        """Masses of the bodies [kg], shape (nbody,). Like all arrays of a model it cannot be written: see
        Simulation.body_masses.
        """
    @property
    def actuator_biases(self) -> _Array:
        """Force without signal: b₀ + b₁ length + b₂ rate; not numbers for muscles [N, N/m, N·s/m], shape
        (nactuator, 3); cannot be written.
        """
    @property
    def actuator_force_ranges(self) -> _Array:
        """Lower and upper end of the force, before the gear; infinite without [N], shape (nactuator, 2);
        cannot be written.
        """
    @property
    def actuator_gains(self) -> _Array:
        """Force per unit of control or activation; not a number for muscles [N per unit], shape
        (nactuator,); cannot be written.
        """
    @property
    def body_coms(self) -> _Array:
        """Centre of mass in the frame of the body [m], shape (nbody, 3); cannot be written."""
    @property
    def body_inertias(self) -> _Array:
        """Rotational inertia about the centre of mass, axes of the body [kg·m²], shape (nbody, 3, 3);
        cannot be written.
        """
    @property
    def body_masses(self) -> _Array:
        """Mass; the inertia stays as it is [kg], shape (nbody,); cannot be written."""
    @property
    def geom_dissipation(self) -> _Array:
        """Dissipation time of a compliant surface [s], shape (ngeom,); cannot be written."""
    @property
    def geom_frictions(self) -> _Array:
        """Coefficient of friction, along the grain if there is one [-], shape (ngeom,); cannot be written.
        """
    @property
    def geom_restitutions(self) -> _Array:
        """Coefficient of restitution, from 0 to 1 [-], shape (ngeom,); cannot be written."""
    @property
    def geom_roll_frictions(self) -> _Array:
        """Coefficient of friction against rolling [m], shape (ngeom,); cannot be written."""
    @property
    def geom_soft_impedances(self) -> _Array:
        """MuJoCo's solimp of a soft surface; not numbers without [-, -, m, -, -], shape (ngeom, 5); cannot
        be written.
        """
    @property
    def geom_soft_references(self) -> _Array:
        """MuJoCo's solref of a soft surface; not numbers without [s, -], shape (ngeom, 2); cannot be
        written.
        """
    @property
    def geom_spin_frictions(self) -> _Array:
        """Coefficient of friction against spinning [m], shape (ngeom,); cannot be written."""
    @property
    def geom_stiffness(self) -> _Array:
        """Stiffness of the surface; infinite if it is rigid [N/m], shape (ngeom,); cannot be written.
        """
    @property
    def joint_armature(self) -> _Array:
        """Inertia added to the diagonal of the mass matrix [kg·m², kg], shape (njnt,); cannot be written.
        """
    @property
    def joint_damping(self) -> _Array:
        """Damping [N·m·s/rad, N·s/m], shape (njnt,); cannot be written."""
    @property
    def joint_friction_loss(self) -> _Array:
        """Largest force of dry friction [N·m, N], shape (njnt,); cannot be written."""
    @property
    def joint_ranges(self) -> _Array:
        """Lower and upper end; not numbers for a joint without limits [rad, m], shape (njnt, 2); cannot be
        written.
        """
    @property
    def joint_spring_references(self) -> _Array:
        """Coordinate at which the spring is at rest [rad, m], shape (njnt,); cannot be written."""
    @property
    def joint_stiffness(self) -> _Array:
        """Stiffness of the spring [N·m/rad, N/m], shape (njnt,); cannot be written."""
    @property
    def gravity(self) -> _Array:
        """Acceleration of gravity [m/s²], shape (3,)."""
    @property
    def qpos0(self) -> _Array:
        """Coordinates of the reference configuration, shape (nq,)."""
    @property
    def time_step(self) -> float:
        """Time step of the model [s]."""
    @property
    def ctrl_range(self) -> _Array:
        """Range of each control, shape (nu, 2); infinite without a range."""
    @property
    def unsupported(self) -> list[Unsupported]:
        """Unsupported features of the file: where (file and line), what, and whether they change
        the motion.
        """
    @property
    def notes(self) -> list[str]:
        """Notes of the importer."""
    @property
    def has_controller(self) -> bool:
        """Whether the model has a controller that sets inputs before each step."""
    @property
    def record_wishes(self) -> RecordWishes | None:
        """Recording options of the scene's table [record]: files, frames per second and picture
        options; None without such a table.
        """
    def inverse_weights(self) -> dict[str, _Array]:
        """Inverse inertias at the reference configuration, by which soft constraints are scaled: "body"
        [1/kg] and [1/(kg·m²)] of translation and rotation, shape (nbody, 2), "dof", shape (nv,), and
        "tendon".
        """
    def body_mass(self, body: _Part) -> float:
        """Mass of a body [kg], by name or number."""
    def body_inertia(self, body: _Part) -> _Array:
        """Rotational inertia of a body about its centre of mass [kg·m²], body axes, shape (3, 3)."""
    def body_com(self, body: _Part) -> _Array:
        """Centre of mass of a body [m], body frame, shape (3,)."""
    def body_parent(self, body: _Part) -> int:
        """Number of the parent of a body; that of the world is itself."""
    def integrate(self, qpos: ArrayLike, qvel: ArrayLike, dt: float = 1.0) -> _Array:
        """Coordinates after a motion at constant velocities for a time dt [s], q ⊕ dt v: qpos (nq,) or
        (n, nq), qvel (nv,) or (n, nv).
        """
    def difference(self, qpos1: ArrayLike, qpos2: ArrayLike) -> _Array:
        """The velocities that lead from qpos1 to qpos2 in unit time, qpos2 ⊖ qpos1: (nq,) or (n, nq) each."""
    def inverse_kinematics(
        self,
        body: _Part | None = None,
        position: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        *,
        site: _Part | None = None,
        qpos: ArrayLike | None = None,
        joints: Sequence[_Part] | None = None,
        iterations: int = 200,
        tolerance: float = 1e-6,
        damping: float = 2e-3,
        posture_gain: float = 0.0,
    ) -> InverseKinematicsResult:
        """Coordinates at which a body, or a site with site=, is at a position [m] and, if it is given, has an
        orientation (w, x, y, z): damped least squares from qpos on (default the reference configuration),
        within the ranges of the joints, which are all hinges and slides between the body and the root
        unless given. An angle counts as a fifth of a metre per radian. With posture_gain, the part of the
        way back to qpos that an iteration takes, what the pose leaves free stays near qpos.
        """
    def body_id(self, name: _Part) -> int:
        """Number of a body."""
    def joint(self, joint: _Part) -> Joint:
        """A joint by name or number."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, _memo: Any) -> Model: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Joint:
    """A joint of a model."""

    @property
    def name(self) -> str:
        """Its name, may be empty."""
    @property
    def type(self) -> str:
        """Its kind: "hinge", "slide", "ball", "free", "screw", "universal" or "planar"."""
    @property
    def body(self) -> str:
        """Name of the body that it moves."""
    @property
    def range(self) -> tuple[float, float] | None:
        """Lower and upper end of its coordinates [rad, m]; None without limits."""
    @property
    def qpos_range(self) -> slice:
        """Its place in qpos."""
    @property
    def qvel_range(self) -> slice:
        """Its place in qvel."""

@final
class Simulation:
    """A simulation of a model.

    qpos, qvel, act, ctrl, wrench, vertices and vertex_velocities are writable arrays: the next step or
    query uses their values, and a step writes its result into them. They stay valid after the
    simulation is deleted. Quaternions near unit length are normalised; others are refused. The GIL
    is released during a step; values that other threads write into qpos or qvel meanwhile are
    overwritten.

    So are the parameters that may differ from those of the model: gravity, body_masses, geom_frictions,
    joint_damping, actuator_gains and the others of parameters(). They are part of the state; a reset
    leaves them. An invalid value is refused by the next step or query, or at once by an assignment.
    """

    def __new__(
        cls,
        model: Model,
        solver: str | Solver | None = None,
        time_step: float | None = None,
        keyframe: _Part | None = None,
        **settings: _Value,
    ) -> Simulation:
        """Starts a simulation at a keyframe, by name or number, or at the initial state of the model.
        solver is a name or an object with a method solve(problem, guess); time_step [s] and all other
        settings are those of the model unless given. Further keywords are the settings of the table
        below, and those of the solver itself with the prefix "solver_" (`stiction list settings`).
        """
    @property
    def model(self) -> Model:
        """The model."""
    @property
    def qpos(self) -> _Array:
        """Coordinates [m, rad, -], shape (nq,): a view, to be read and written."""
    @qpos.setter
    def qpos(self, value: ArrayLike) -> None: ...
    @property
    def qvel(self) -> _Array:
        """Velocities [m/s, rad/s], shape (nv,): a view, to be read and written."""
    @qvel.setter
    def qvel(self, value: ArrayLike) -> None: ...
    @property
    def act(self) -> _Array:
        """Activations of the actuators that have one, shape (na,): a view, to be read and written."""
    @act.setter
    def act(self, value: ArrayLike) -> None: ...
    @property
    def ctrl(self) -> _Array:
        """Controls in the units of their actuators, shape (nu,): a view, to be read and written."""
    @ctrl.setter
    def ctrl(self, value: ArrayLike) -> None: ...
    @property
    def wrench(self) -> _Array:
        """Torque [N·m] and force [N] on each body, shape (nbody, 6), torque first, world axes, the
        force at the centre of mass: a view, to be read and written. They act until changed.
        """
    @wrench.setter
    def wrench(self, value: ArrayLike) -> None: ...
    @property
    def qfrc_applied(self) -> _Array:
        """Generalized forces [N, N·m] besides all others, shape (nv,): a view, to be read and written. They
        act until changed.
        """
    @qfrc_applied.setter
    def qfrc_applied(self, value: ArrayLike) -> None: ...
    def forward(self) -> StepReport:
        """Computes what the coming step finds, without making it: until the next step or change, qacc,
        qfrc_constraint, contacts and sensor_data are those of the present state and the coming step.
        Poses, Jacobians, mass_matrix and the like are always those of the present state.
        """
    @property
    def qacc(self) -> _Array:
        """A copy of the accelerations [m/s², rad/s²], mean over the last step, shape (nv,); after forward,
        over the coming one; zero before the first step and after a change of the state.
        """
    @property
    def qfrc_constraint(self) -> _Array:
        """A copy of the generalized forces of contacts, limits and equalities [N, N·m], mean over the last
        step (its last part if it was divided), shape (nv,); after forward, over the coming one; zero before
        the first step and after a change of the state. Dry friction is left out.
        """
    @property
    def qfrc_actuator(self) -> _Array:
        """A copy of the generalized forces of the actuators at the present state [N, N·m], shape (nv,)."""
    def raycast(
        self, origins: ArrayLike, directions: ArrayLike, exclude: _Part | None = None
    ) -> RayHits:
        """Where rays first meet a shape: origins and directions [m], world axes, shapes (n, 3) or (3,); of
        directions the length does not count. Shapes of the body exclude are passed through.
        """
    def distance(self, a: _Part, b: _Part, cutoff: float = 10.0) -> ShapeDistance:
        """The shortest segment between two shapes or bodies, by name (of a shape, else of a body), within the
        cutoff [m]; the distance is negative in penetration.
        """
    @property
    def vertices(self) -> _Array:
        """Positions of the vertices of all soft bodies in the world [m], shape (nvertex, 3): a view, to
        be read and written.
        """
    @vertices.setter
    def vertices(self, value: ArrayLike) -> None: ...
    @property
    def vertex_velocities(self) -> _Array:
        """Velocities of the vertices of all soft bodies [m/s], world axes, shape (nvertex, 3): a view,
        to be read and written.
        """
    @vertex_velocities.setter
    def vertex_velocities(self, value: ArrayLike) -> None: ...
    @property
    def actuator_biases(self) -> _Array:
        """Force without signal: b₀ + b₁ length + b₂ rate; not numbers for muscles [N, N/m, N·s/m], shape
        (nactuator, 3): a view, to be read and written.
        """
    @actuator_biases.setter
    def actuator_biases(self, value: ArrayLike) -> None: ...
    @property
    def actuator_force_ranges(self) -> _Array:
        """Lower and upper end of the force, before the gear; infinite without [N], shape (nactuator, 2): a
        view, to be read and written.
        """
    @actuator_force_ranges.setter
    def actuator_force_ranges(self, value: ArrayLike) -> None: ...
    @property
    def actuator_gains(self) -> _Array:
        """Force per unit of control or activation; not a number for muscles [N per unit], shape
        (nactuator,): a view, to be read and written.
        """
    @actuator_gains.setter
    def actuator_gains(self, value: ArrayLike) -> None: ...
    @property
    def body_coms(self) -> _Array:
        """Centre of mass in the frame of the body [m], shape (nbody, 3): a view, to be read and written.
        """
    @body_coms.setter
    def body_coms(self, value: ArrayLike) -> None: ...
    @property
    def body_inertias(self) -> _Array:
        """Rotational inertia about the centre of mass, axes of the body [kg·m²], shape (nbody, 3, 3): a
        view, to be read and written.
        """
    @body_inertias.setter
    def body_inertias(self, value: ArrayLike) -> None: ...
    @property
    def body_masses(self) -> _Array:
        """Mass; the inertia stays as it is [kg], shape (nbody,): a view, to be read and written."""
    @body_masses.setter
    def body_masses(self, value: ArrayLike) -> None: ...
    @property
    def geom_dissipation(self) -> _Array:
        """Dissipation time of a compliant surface [s], shape (ngeom,): a view, to be read and written.
        """
    @geom_dissipation.setter
    def geom_dissipation(self, value: ArrayLike) -> None: ...
    @property
    def geom_frictions(self) -> _Array:
        """Coefficient of friction, along the grain if there is one [-], shape (ngeom,): a view, to be read
        and written.
        """
    @geom_frictions.setter
    def geom_frictions(self, value: ArrayLike) -> None: ...
    @property
    def geom_restitutions(self) -> _Array:
        """Coefficient of restitution, from 0 to 1 [-], shape (ngeom,): a view, to be read and written.
        """
    @geom_restitutions.setter
    def geom_restitutions(self, value: ArrayLike) -> None: ...
    @property
    def geom_roll_frictions(self) -> _Array:
        """Coefficient of friction against rolling [m], shape (ngeom,): a view, to be read and written.
        """
    @geom_roll_frictions.setter
    def geom_roll_frictions(self, value: ArrayLike) -> None: ...
    @property
    def geom_soft_impedances(self) -> _Array:
        """MuJoCo's solimp of a soft surface; not numbers without [-, -, m, -, -], shape (ngeom, 5): a
        view, to be read and written.
        """
    @geom_soft_impedances.setter
    def geom_soft_impedances(self, value: ArrayLike) -> None: ...
    @property
    def geom_soft_references(self) -> _Array:
        """MuJoCo's solref of a soft surface; not numbers without [s, -], shape (ngeom, 2): a view, to be
        read and written.
        """
    @geom_soft_references.setter
    def geom_soft_references(self, value: ArrayLike) -> None: ...
    @property
    def geom_spin_frictions(self) -> _Array:
        """Coefficient of friction against spinning [m], shape (ngeom,): a view, to be read and written.
        """
    @geom_spin_frictions.setter
    def geom_spin_frictions(self, value: ArrayLike) -> None: ...
    @property
    def geom_stiffness(self) -> _Array:
        """Stiffness of the surface; infinite if it is rigid [N/m], shape (ngeom,): a view, to be read and
        written.
        """
    @geom_stiffness.setter
    def geom_stiffness(self, value: ArrayLike) -> None: ...
    @property
    def gravity(self) -> _Array:
        """Acceleration of gravity [m/s²], shape (3,): a view, to be read and written."""
    @gravity.setter
    def gravity(self, value: ArrayLike) -> None: ...
    @property
    def joint_armature(self) -> _Array:
        """Inertia added to the diagonal of the mass matrix [kg·m², kg], shape (njnt,): a view, to be read
        and written.
        """
    @joint_armature.setter
    def joint_armature(self, value: ArrayLike) -> None: ...
    @property
    def joint_damping(self) -> _Array:
        """Damping [N·m·s/rad, N·s/m], shape (njnt,): a view, to be read and written."""
    @joint_damping.setter
    def joint_damping(self, value: ArrayLike) -> None: ...
    @property
    def joint_friction_loss(self) -> _Array:
        """Largest force of dry friction [N·m, N], shape (njnt,): a view, to be read and written."""
    @joint_friction_loss.setter
    def joint_friction_loss(self, value: ArrayLike) -> None: ...
    @property
    def joint_ranges(self) -> _Array:
        """Lower and upper end; not numbers for a joint without limits [rad, m], shape (njnt, 2): a view,
        to be read and written.
        """
    @joint_ranges.setter
    def joint_ranges(self, value: ArrayLike) -> None: ...
    @property
    def joint_spring_references(self) -> _Array:
        """Coordinate at which the spring is at rest [rad, m], shape (njnt,): a view, to be read and
        written.
        """
    @joint_spring_references.setter
    def joint_spring_references(self, value: ArrayLike) -> None: ...
    @property
    def joint_stiffness(self) -> _Array:
        """Stiffness of the spring [N·m/rad, N/m], shape (njnt,): a view, to be read and written."""
    @joint_stiffness.setter
    def joint_stiffness(self, value: ArrayLike) -> None: ...
    @property
    def time(self) -> float:
        """Time [s]."""
    @time.setter
    def time(self, value: float) -> None: ...
    @property
    def time_step(self) -> float:
        """Time step [s]."""
    @property
    def settings(self) -> dict[str, Any]:
        """All settings by keyword, those of the solver with the prefix solver_."""
    @property
    def notes(self) -> list[str]:
        """Notes of the solver on the last step: its choices and fallbacks."""
    @property
    def controlled(self) -> bool:
        """Whether the model's controller sets inputs before each step."""
    @controlled.setter
    def controlled(self, value: bool) -> None: ...
    def step(self, n: int = 1) -> StepReport:
        """Simulates n steps. An error leaves the state before the failed step."""
    def record(
        self,
        path: _Path | Sequence[_Path] | None = None,
        *,
        fps: float | None = None,
        title: str | None = None,
    ) -> Recording:
        """Starts recording every later step with fps frames per second of simulated time; math.inf
        keeps every step; the model's own rate if absent. Steps are observed in Rust at little cost.

        The recording ends with its method stop, at the end of a with block, or when it is no longer
        referenced. The given paths are written then; that they are writable is checked at once.
        Frame times increase: after a reset, frames are skipped until the time of the last frame has
        passed.
        """
    def render(
        self, camera: str | int | Camera | None = None, width: int = 640, height: int = 480, *, samples: int = 2
    ) -> Image:
        """What a camera sees at the present state: colour, depth and segmentation. camera is the name or the
        number of a camera of the model, or a stiction.types.Camera; without one the scene is seen from a corner,
        as it was at the first picture. samples is the number of samples along the side of a pixel.
        """
    def visuals(self) -> list[Visual]:
        """Visual meshes in the frames of their bodies."""
    @property
    def contacts(self) -> Contacts:
        """The contacts of the last step."""
    def mass_matrix(self) -> _Array:
        """Mass matrix M with armature [kg, kg·m²], shape (nv, nv)."""
    def bias_forces(self) -> _Array:
        """Coriolis, centrifugal and gravity forces [N, N·m], shape (nv,): M v̇ + bias = forces."""
    def inverse_dynamics(self, qacc: ArrayLike) -> _Array:
        """Forces M a + bias [N, N·m] that go with accelerations a, shape (nv,). Springs, dampers,
        actuators and contacts take no part.
        """
    def forward_dynamics(self) -> _Array:
        """Accelerations [m/s², rad/s²], shape (nv,), under all present forces but those of contacts,
        limits, dry friction and equalities.
        """
    def actuation(self) -> Actuation:
        """Length, rate and force of the actuators at the present state, and the rates of their activations."""
    def energy(self) -> Energy:
        """Kinetic and potential energy [J]."""
    def body_pose(self, body: _Part) -> Pose:
        """Pose of a body in the world, by name or number: position [m] and quaternion (w, x, y, z)."""
    def body_poses(self) -> tuple[_Array, _Array]:
        """Poses of all bodies in the world: positions [m], shape (nbody, 3), and quaternions
        (w, x, y, z), shape (nbody, 4).
        """
    def site_pose(self, site: _Part) -> Pose:
        """Pose of a site in the world."""
    def body_velocity(self, body: _Part, point: ArrayLike | None = None) -> Velocity:
        """Velocity of a body: its angular velocity [rad/s] and the velocity [m/s] of its point at
        `point` (world, default its origin); world axes. That of a driven body is zero.
        """
    def jacobian(self, body: _Part, point: ArrayLike | None = None) -> _Array:
        """Jacobian of a body, shape (6, nv): three rows for its angular velocity, then three for the
        velocity of its point at `point` (world, default its origin); world axes.
        """
    def jacobian_dot(self, body: _Part, point: ArrayLike | None = None) -> _Array:
        """Rate of change of the Jacobian of a body at the present velocities, shape (6, nv), for its point that
        is now at point (world, default its origin), by differences of fourth order.
        """
    def site_jacobian(self, site: _Part) -> _Array:
        """Jacobian of a site, shape (6, nv): three rows for its angular velocity, three for its velocity;
        world axes.
        """
    def site_jacobian_dot(self, site: _Part) -> _Array:
        """Rate of change of the Jacobian of a site at the present velocities, shape (6, nv)."""
    def site_velocity(self, site: _Part) -> Velocity:
        """Velocity of a site: its angular velocity [rad/s] and the velocity of its origin [m/s], world axes."""
    @property
    def sensor_data(self) -> _Array:
        """A copy of the readings of all sensors, one after the other, shape (nsensordata,).
        Accelerations, forces and touch are those of the last step, the rest of the present state.
        """
    def sensor(self, sensor: _Part) -> _Array:
        """A copy of the reading of one sensor, by name or number, shape (dim,)."""
    @property
    def equality_active(self) -> list[bool]:
        """Whether each equality holds, in the order of Model.equality_names."""
    def set_equality_active(self, equality: _Part, active: bool) -> None:
        """Switches an equality on or off, by name or number."""
    def reset(self, keyframe: _Part | None = None) -> None:
        """Resets to a keyframe, by name or number, or to the initial state of the model."""
    def geom(self, geom: _Part) -> GeomHandle:
        """A shape by name or number."""
    def reset_parameters(self) -> None:
        """Sets all parameters (body_masses, geom_frictions, …) back to those of the model."""
    def inverse_weights(self) -> dict[str, _Array]:
        """Inverse inertias at the reference configuration, by which soft constraints are scaled, with the
        present masses: the keys of Model.inverse_weights.
        """
    def soft(self, soft: _Part) -> SoftHandle:
        """A soft body by name or number."""
    @property
    def softs(self) -> list[SoftHandle]:
        """The soft bodies."""
    def cable(self, cable: _Part) -> CableHandle:
        """A cable by name or number."""
    @property
    def cables(self) -> list[CableHandle]:
        """The cables."""
    def get_state(self) -> State:
        """Everything that later steps depend on: state, inputs, contacts and warm starts. Passed to
        set_state of a simulation of the same model and settings, the motion continues bit for bit.
        """
    def set_state(self, state: State) -> None:
        """Restores a state. An error leaves the simulation unchanged."""
    def state_hash(self) -> int:
        """A hash of time, coordinates and velocities: equal for equal bits."""
    def problem(self) -> Problem | None:
        """The contact problem A, b, J and laws of the next step; None without constraints. The
        model's controller, if there is one, sets its inputs first.
        """
    def joint(self, joint: _Part) -> JointHandle:
        """A joint by name or number."""
    def actuator(self, actuator: _Part) -> ActuatorHandle:
        """An actuator by name or number."""
    def body(self, body: _Part) -> BodyHandle:
        """A body by name or number."""

@final
class JointHandle:
    """A joint of a simulation."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def type(self) -> str:
        """Its kind."""
    @property
    def qpos(self) -> _Array:
        """Its coordinates [rad, m, -]: a view, to be read and written."""
    @qpos.setter
    def qpos(self, value: ArrayLike) -> None: ...
    @property
    def qvel(self) -> _Array:
        """Its velocities [rad/s, m/s]: a view, to be read and written."""
    @qvel.setter
    def qvel(self, value: ArrayLike) -> None: ...
    @property
    def range(self) -> tuple[float, float] | None:
        """Lower and upper end of its coordinates [rad, m]; None without limits. Can be assigned if there are some."""
    @range.setter
    def range(self, value: ArrayLike) -> None: ...
    @property
    def armature(self) -> float:
        """Inertia added to the diagonal of the mass matrix [kg·m², kg]."""
    @armature.setter
    def armature(self, value: float) -> None: ...
    @property
    def damping(self) -> float:
        """Damping [N·m·s/rad, N·s/m]."""
    @damping.setter
    def damping(self, value: float) -> None: ...
    @property
    def friction_loss(self) -> float:
        """Largest force of dry friction [N·m, N]."""
    @friction_loss.setter
    def friction_loss(self, value: float) -> None: ...
    @property
    def spring_reference(self) -> float:
        """Coordinate at which the spring is at rest [rad, m]."""
    @spring_reference.setter
    def spring_reference(self, value: float) -> None: ...
    @property
    def stiffness(self) -> float:
        """Stiffness of the spring [N·m/rad, N/m]."""
    @stiffness.setter
    def stiffness(self, value: float) -> None: ...

@final
class ActuatorHandle:
    """An actuator of a simulation."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def ctrl(self) -> float:
        """Its control, in the unit of its law; of a servo with several controls, the first."""
    @ctrl.setter
    def ctrl(self, value: float) -> None: ...
    @property
    def control_indices(self) -> tuple[int, int]:
        """Indices of its controls in `Simulation.ctrl`: a start and an end."""
    @property
    def range(self) -> tuple[float, float] | None:
        """Lower and upper end of its control; None without limits."""
    @property
    def bias(self) -> _Array:
        """Force without signal: b₀ + b₁ length + b₂ rate; not numbers for muscles [N, N/m, N·s/m], shape
        (3,); to be assigned as a whole.
        """
    @bias.setter
    def bias(self, value: ArrayLike) -> None: ...
    @property
    def force_range(self) -> _Array:
        """Lower and upper end of the force, before the gear; infinite without [N], shape (2,); to be
        assigned as a whole.
        """
    @force_range.setter
    def force_range(self, value: ArrayLike) -> None: ...
    @property
    def gain(self) -> float:
        """Force per unit of control or activation; not a number for muscles [N per unit]."""
    @gain.setter
    def gain(self, value: float) -> None: ...
    @property
    def kp(self) -> float:
        """Stiffness of a position servo, force = kp (ctrl − length) − kd rate [N/m, N·m/rad]: its gain and
        −bias[1] at once. An error for actuators whose gain is another.
        """
    @kp.setter
    def kp(self, value: float) -> None: ...
    @property
    def kd(self) -> float:
        """Damping −bias[2] of the actuator [N·s/m, N·m·s/rad]."""
    @kd.setter
    def kd(self, value: float) -> None: ...

@final
class BodyHandle:
    """A body of a simulation."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def id(self) -> int:
        """Its number."""
    @property
    def com(self) -> _Array:
        """Centre of mass in the frame of the body [m], shape (3,); to be assigned as a whole."""
    @com.setter
    def com(self, value: ArrayLike) -> None: ...
    @property
    def inertia(self) -> _Array:
        """Rotational inertia about the centre of mass, axes of the body [kg·m²], shape (3, 3); to be
        assigned as a whole.
        """
    @inertia.setter
    def inertia(self, value: ArrayLike) -> None: ...
    @property
    def mass(self) -> float:
        """Mass; the inertia stays as it is [kg]."""
    @mass.setter
    def mass(self, value: float) -> None: ...
    @property
    def driven(self) -> bool:
        """Whether its pose is prescribed by the program."""
    @property
    def pose(self) -> Pose:
        """Its pose in the world: position [m] and quaternion (w, x, y, z). Driven bodies (mocap="true"
        in MJCF) can be given one: they move there in the next step, and push what is in their way.
        """
    @pose.setter
    def pose(self, value: Pose | tuple[ArrayLike, ArrayLike]) -> None: ...
    def place(self, pose: Pose | tuple[ArrayLike, ArrayLike]) -> None:
        """Puts a driven body at a pose at once. Unlike setting pose, it does not move there during
        a step, and pushes nothing on the way.
        """
    @property
    def velocity(self) -> Velocity:
        """Its angular velocity [rad/s] and the velocity of its origin [m/s], world axes; zero for
        driven bodies.
        """
    @property
    def wrench(self) -> _Array:
        """Torque [N·m] and force [N] on it, shape (6,), torque first, world axes, the force at the
        centre of mass: a view, to be read and written.
        """
    @wrench.setter
    def wrench(self, value: ArrayLike) -> None: ...
    def apply_force(
        self, force: ArrayLike, point: ArrayLike | None = None, torque: ArrayLike | None = None
    ) -> None:
        """Adds a force [N] on its point at point [m] (default its centre of mass) and a torque [N·m], world
        axes, to its wrench, where they act until changed.
        """

@final
class GeomHandle:
    """A shape of a simulation that can touch."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def id(self) -> int:
        """Its number."""
    @property
    def body(self) -> str:
        """Name of the body that carries it."""
    @property
    def type(self) -> str:
        """Its kind: `box`, `sphere`, `capsule`, `mesh`, …"""
    @property
    def size(self) -> _Array | None:
        """Its size [m]: half edges of a box, radius of a sphere, radius and half length of a capsule or
        cylinder, radii of an ellipsoid; None for other shapes.
        """
    @property
    def pose(self) -> Pose:
        """Its pose in the world: position [m] and quaternion (w, x, y, z)."""
    @property
    def dissipation(self) -> float:
        """Dissipation time of a compliant surface [s]."""
    @dissipation.setter
    def dissipation(self, value: float) -> None: ...
    @property
    def friction(self) -> float:
        """Coefficient of friction, along the grain if there is one [-]."""
    @friction.setter
    def friction(self, value: float) -> None: ...
    @property
    def restitution(self) -> float:
        """Coefficient of restitution, from 0 to 1 [-]."""
    @restitution.setter
    def restitution(self, value: float) -> None: ...
    @property
    def roll_friction(self) -> float:
        """Coefficient of friction against rolling [m]."""
    @roll_friction.setter
    def roll_friction(self, value: float) -> None: ...
    @property
    def soft_impedance(self) -> _Array:
        """MuJoCo's solimp of a soft surface; not numbers without [-, -, m, -, -], shape (5,); to be
        assigned as a whole.
        """
    @soft_impedance.setter
    def soft_impedance(self, value: ArrayLike) -> None: ...
    @property
    def soft_reference(self) -> _Array:
        """MuJoCo's solref of a soft surface; not numbers without [s, -], shape (2,); to be assigned as a
        whole.
        """
    @soft_reference.setter
    def soft_reference(self, value: ArrayLike) -> None: ...
    @property
    def spin_friction(self) -> float:
        """Coefficient of friction against spinning [m]."""
    @spin_friction.setter
    def spin_friction(self, value: float) -> None: ...
    @property
    def stiffness(self) -> float:
        """Stiffness of the surface; infinite if it is rigid [N/m]."""
    @stiffness.setter
    def stiffness(self, value: float) -> None: ...

@final
class SoftHandle:
    """A soft body of a simulation: n vertices, k tetrahedra, m triangles of its surface."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def id(self) -> int:
        """Its number."""
    @property
    def material(self) -> str:
        """Name of its material."""
    @property
    def mass(self) -> float:
        """Its mass [kg]."""
    @property
    def colour(self) -> NDArray[np.float32]:
        """Red, green, blue and opacity, each from 0 to 1, shape (4,)."""
    @property
    def vertices(self) -> _Array:
        """Positions of its vertices in the world [m], shape (n, 3): a view, to be read and written."""
    @vertices.setter
    def vertices(self, value: ArrayLike) -> None: ...
    @property
    def velocities(self) -> _Array:
        """Velocities of its vertices [m/s], world axes, shape (n, 3): a view, to be read and
        written.
        """
    @velocities.setter
    def velocities(self, value: ArrayLike) -> None: ...
    @property
    def rest(self) -> _Array:
        """Positions of its vertices without stress [m], where it was built, shape (n, 3)."""
    @property
    def triangles(self) -> NDArray[np.uint32]:
        """Triangles of its surface: three of its vertices each, counter-clockwise seen from outside,
        shape (m, 3).
        """
    @property
    def tetrahedra(self) -> NDArray[np.uint32]:
        """Its tetrahedra: four of its vertices each, shape (k, 4)."""
    @property
    def fixed(self) -> NDArray[np.uint32]:
        """Numbers of its vertices that never move, shape (f,)."""
    @property
    def centre_of_mass(self) -> _Array:
        """Its centre of mass [m], shape (3,)."""
    @property
    def energy(self) -> Energy:
        """Its kinetic energy, and its elastic energy with that of its weight [J]."""
    @property
    def elastic_energy(self) -> float:
        """The energy of its deformation [J]."""

@final
class CableHandle:
    """A cable of a simulation. Its n segments are bodies."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def id(self) -> int:
        """Its number."""
    @property
    def bodies(self) -> list[int]:
        """Numbers of the bodies that are its segments, from the first end to the last."""
    @property
    def body_names(self) -> list[str]:
        """Names of the bodies that are its segments."""
    @property
    def radius(self) -> float:
        """Radius [m]."""
    @property
    def segment_length(self) -> float:
        """Length of a segment [m]."""
    @property
    def positions(self) -> _Array:
        """Middles of its segments in the world [m], shape (n, 3)."""
    @property
    def ends(self) -> _Array:
        """Its two ends in the world [m], shape (2, 3)."""

@final
class StepReport:
    """Report on one or several steps. Over several steps, residual, iterations, status and penetration
    are the worst of them, times are sums, and the rest is that of the last step.
    """

    @property
    def steps(self) -> int:
        """Number of steps."""
    @property
    def status(self) -> str:
        """Worst status of a whole step: "ok", "softened", "geometry_uncertain", "motion_not_resolved",
        "correction_not_done" or "problem_not_solved", from the best to the worst (docs/status.md).
        """
    @property
    def status_counts(self) -> dict[str, int]:
        """Number of steps of each status; they add up to `steps`."""
    @property
    def faults(self) -> tuple[str, ...]:
        """All faults of the steps, the worst last; empty if every step is "ok"."""
    @property
    def solver_status(self) -> str:
        """Worst status of the contact problems: "converged", "iteration_limit", "stalled" or "failed"."""
    @property
    def converged(self) -> bool:
        """Whether every step reached the tolerance without softening."""
    @property
    def friction(self) -> str:
        """The friction model that was solved for: "coulomb" or "convex"."""
    @property
    def residual(self) -> Residual:
        """Residuals, measured on the contact problems."""
    @property
    def iterations(self) -> int:
        """Most iterations of the solver in one step."""
    @property
    def total_iterations(self) -> int:
        """Iterations of the solver in all steps."""
    @property
    def unconverged(self) -> int:
        """Steps that did not reach the tolerance, or whose constraints had to be softened."""
    @property
    def contacts(self) -> int:
        """Points of contact in the last step, also those still apart."""
    @property
    def rows(self) -> int:
        """Rows of the last step's contact problem."""
    @property
    def penetration(self) -> float:
        """Deepest penetration [m]."""
    @property
    def limit_error(self) -> float:
        """Largest violation of a joint or tendon limit [m, rad]."""
    @property
    def equality_error(self) -> float:
        """Largest position error of an equality [m, rad]."""
    @property
    def start_errors(self) -> dict[str, float]:
        """Constraints that the state violated when it was set from outside: numbers of `overlaps`, `limits` and
        `equalities`, and the largest `depth` [m], and `beyond` and `open` [m, rad]; empty if none.
        """
    @property
    def softened(self) -> bool:
        """Whether a problem had no solution and was solved with softened constraints."""
    @property
    def unresolved(self) -> bool:
        """Whether something moved faster than the time step resolves, or energy came from nowhere."""
    @property
    def correction_failed(self) -> bool:
        """Whether position errors could not be removed in a step."""
    @property
    def uncertain_contacts(self) -> int:
        """Largest number of contacts in a step whose depth is not known to its tolerance."""
    @property
    def divided_steps(self) -> int:
        """Number of steps that were computed in parts, because their motion was not resolved at once."""
    @property
    def energy_imbalance(self) -> float:
        """Largest energy without cause of a tree in a step, relative to what the scheme explains [-]:
        above one the motion is not resolved.
        """
    @property
    def parts(self) -> int:
        """Largest number of parts in which a step was computed; one unless its motion was not resolved at once."""
    @property
    def reproducible(self) -> bool:
        """Whether another run has the same bits: not if solves have a time budget."""
    @property
    def inverted(self) -> int:
        """Largest number of inverted elements of soft bodies after one step."""
    @property
    def asleep(self) -> int:
        """Bodies that are asleep."""
    @property
    def phases(self) -> dict[str, float]:
        """Time of each phase of the step [s]."""
    @property
    def seconds(self) -> float:
        """Time of all steps [s]."""

@final
class ContactPatch:
    """A patch over which two shapes touch, of which at least one is compliant, in the last step."""

    @property
    def geoms(self) -> tuple[int, int]:
        """Numbers of the shapes A and B."""
    @property
    def geom_names(self) -> tuple[str, str]:
        """Names of the shapes A and B."""
    @property
    def body_names(self) -> tuple[str, str]:
        """Names of the bodies A and B."""
    @property
    def bodies(self) -> tuple[int, int]:
        """Numbers of the bodies A and B."""
    @property
    def area(self) -> float:
        """Area [m²]."""
    @property
    def centre(self) -> _Array:
        """Centre of pressure in the world [m], shape (3,)."""
    @property
    def force(self) -> _Array:
        """Force on B, its opposite on A, mean over the step, world axes [N], shape (3,)."""
    @property
    def moment(self) -> _Array:
        """Moment of the forces on B about the centre of pressure, world axes [N·m], shape (3,)."""
    @property
    def pressure(self) -> float:
        """Largest mean pressure of a polygon [Pa]."""
    @property
    def polygons(self) -> int:
        """Number of polygons."""

@final
class Contacts:
    """The contacts of the last step, n of them, with the forces that the solver used. It is a copy:
    the next step does not change it.
    """

    @property
    def point(self) -> _Array:
        """Positions in the world [m], shape (n, 3)."""
    @property
    def normal(self) -> _Array:
        """Unit normals from A into B, world axes, shape (n, 3)."""
    @property
    def gap(self) -> _Array:
        """Distances along the normals [m], negative in penetration, shape (n,)."""
    @property
    def force(self) -> _Array:
        """Forces on B, their opposites on A, mean over the step, world axes [N], shape (n, 3)."""
    @property
    def torque(self) -> _Array:
        """Torques on B of spinning and rolling friction, their opposites on A, world axes [N·m],
        shape (n, 3).
        """
    @property
    def area(self) -> _Array:
        """Areas of the polygons of patches for which the contacts stand [m²]; zero for contacts at
        points, shape (n,).
        """
    @property
    def patches(self) -> list[ContactPatch]:
        """The patches of compliant shapes: the contacts with an area, summed up per pair of shapes."""
    @property
    def velocity(self) -> _Array:
        """Velocities of B relative to A after the step, world axes [m/s], shape (n, 3)."""
    @property
    def bodies(self) -> _Indices:
        """Numbers of the bodies A and B, shape (n, 2); -1 for a side that is soft."""
    @property
    def geoms(self) -> _Indices:
        """Numbers of the shapes A and B, shape (n, 2); -1 for a side that is soft."""
    @property
    def softs(self) -> _Indices:
        """Numbers of the soft bodies A and B, shape (n, 2); -1 for a side that is rigid."""
    @property
    def body_names(self) -> list[tuple[str, str]]:
        """Names of the bodies A and B of each contact, soft or not."""
    @property
    def geom_names(self) -> list[tuple[str, str]]:
        """Names of the shapes A and B of each contact; empty for a side that is soft."""
    def filter(self, a: _Part, b: _Part | None = None) -> Contacts:
        """The contacts between two parts, or with one: bodies, shapes or soft bodies by name, or bodies by
        number. A name of a body and of a shape stands for both.
        """
    def force_between(self, a: _Part, b: _Part) -> _Array:
        """The sum of the forces that a exerts on b through their contacts, world axes [N], shape (3,):
        bodies, shapes or soft bodies by name, or bodies by number.
        """
    @overload
    def __getitem__(self, which: SupportsIndex, /) -> Contact:
        """A contact by its number, or several by a slice, a mask or numbers. Contacts can be iterated."""
    @overload
    def __getitem__(self, which: slice | ArrayLike, /) -> Contacts: ...
    def __iter__(self) -> Iterator[Contact]: ...
    def __len__(self) -> int: ...

@final
class Recording:
    """A recorded run: poses, contacts with their forces, residuals, energies and
    times, frame by frame. Made by Simulation.record, which says how to use it, or by load_recording.

    Poses are those at the time of a frame; contacts and forces are those of the step that led to it.
    A frame stands for all steps since the last one: residuals, penetration and iterations are the
    worst of these, times their means.
    """

    @property
    def title(self) -> str:
        """Title of the recording."""
    @property
    def solver(self) -> str:
        """The solver."""
    @property
    def time_step(self) -> float:
        """Time step of the simulation [s]."""
    @property
    def frames(self) -> int:
        """Number of frames so far."""
    @property
    def body_names(self) -> list[str]:
        """Names of the bodies, the world first."""
    @property
    def active(self) -> bool:
        """Whether steps are still observed."""
    @property
    def notes(self) -> list[str]:
        """Notes: visual meshes that could not be read, and missing frames of an incomplete file."""
    def visuals(self) -> list[Visual]:
        """Visual meshes in the frames of their bodies."""
    def soft_surfaces(self) -> list[SoftSurface]:
        """The surfaces of soft bodies, whose vertices are rows of the column soft_position."""
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """A copy of all columns, by name. With t frames, b bodies that move and c contacts in all
        frames:

        time (t,) [s]; position (t, b, 3) [m] and rotation (t, b, 4), quaternions (w, x, y, z), of
        bodies `moving` (b,); rest_position (nbody, 3) [m] and rest_rotation (nbody, 4) of all bodies
        at the first frame; body_names (nbody,); soft_position (t, s, 3) [m], 32-bit, of the vertices
        of all soft surfaces, as soft_surfaces tells.

        contact_bodies (c, 2), contact_shapes (c, 2), contact_point (c, 3) [m], contact_normal (c, 3)
        from A into B, contact_force (c, 3) on B [N], contact_gap (c,) [m]; those of frame k are
        contact_start[k]:contact_start[k + 1].

        steps (t,); residual_momentum (t,) [-], residual_coulomb and residual_convex (t,) [m/s];
        iterations (t,); status (t,): 0 converged, 1 iteration limit, 2 stalled, 3 failed; step_flags (t,):
        faults of the steps, 1 softened, 2 geometry uncertain, 4 motion not resolved, 8 correction not
        done, 16 problem not solved, added up, 0 if all are ok; softened (t,); penetration (t,) [m]; equality_error (t,) [m, rad]; energy_kinetic and
        energy_potential (t,) [J]; phase_time (t, p) [s] of the phases phase_names (p,); contacts
        (t,); asleep (t,).
        """
    def html(self) -> str:
        """The recording as a self-contained HTML page."""
    def save(
        self,
        path: _Path,
        *,
        size: tuple[int, int] | None = None,
        time: float | None = None,
        forces: bool = ...,
        view: _View | None = None,
        azimuth: float | None = None,
        elevation: float | None = None,
        look_at: Sequence[float] | None = None,
        distance: float | None = None,
        zoom: float | None = None,
    ) -> None:
        """Writes the frames recorded so far; the file name extension selects the format: .html is a
        page for any browser, .glb a scene for Blender and others, .png, .gif and .mp4 are pictures,
        .npz and .parquet columns, .rrd a recording of rerun, .stiction all of it for
        load_recording.

        The keywords are options of pictures, see picture.
        """
    def picture(
        self,
        *,
        size: tuple[int, int] | None = None,
        time: float | None = None,
        forces: bool = ...,
        view: _View | None = None,
        azimuth: float | None = None,
        elevation: float | None = None,
        look_at: Sequence[float] | None = None,
        distance: float | None = None,
        zoom: float | None = None,
    ) -> NDArray[np.uint8]:
        """A picture: red, green and blue, shape (height, width, 3), bytes.

        size is (width, height) [px]; time [s] is the moment, the last frame if absent; forces draws
        contact forces. The camera stands in direction azimuth [degrees], about z from x, and
        elevation [degrees] above the ground, or as view says: "corner", "front", "back", "left",
        "right", "side", "above" or "top". It looks at a point [m] from a distance [m], both such
        that all is seen if absent, and zoom times closer.
        """
    def stop(self) -> None:
        """Stops the recording and writes the files that it was started with, if any. The frames
        stay available. Stopping twice does nothing.
        """
    def __enter__(self) -> Recording: ...
    def __exit__(self, *_exception: object) -> None:
        """Stops the recording, also after an exception."""
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Comparison:
    """Comparison of several solvers on one model: a document with all figures, and a report with
    plots and the motion side by side. Made by compare.
    """

    @property
    def document(self) -> ComparisonDocument:
        """All figures, as `stiction compare --json` prints them: a dictionary with the keys "solvers",
        one entry per solver with the figures of its run, and "captured", one entry per step that
        every solver solved, with solutions and convergence histories.
        """
    @property
    def target(self) -> str:
        """Name of the model."""
    @property
    def reference(self) -> str | None:
        """The first solver that finished the run, whose steps were captured; None if there is none."""
    @property
    def solvers(self) -> dict[str, RunFigures]:
        """Figures of the runs, by solver: the entries "solvers" of the document."""
    @property
    def captured(self) -> list[CapturedStep]:
        """The steps that every solver solved from a cold start: the entries "captured" of the
        document.
        """
    def html(self) -> str:
        """The report as a self-contained HTML page."""
    def save(self, path: _Path) -> None:
        """Writes the report to a file that ends in .html."""
    def _repr_html_(self) -> str: ...

@final
class State:
    """All of a simulation that later steps depend on, to the bit: time, coordinates, velocities,
    activations, inputs, contacts and warm starts. Made by Simulation.get_state. It never changes.
    """

    @property
    def time(self) -> float:
        """Time [s]."""
    @property
    def qpos(self) -> _Array:
        """A copy of the coordinates [m, rad, -], shape (nq,)."""
    @property
    def qvel(self) -> _Array:
        """A copy of the velocities [m/s, rad/s], shape (nv,)."""
    @property
    def act(self) -> _Array:
        """A copy of the activations of actuators, shape (na,)."""
    @property
    def vertices(self) -> _Array:
        """A copy of the positions of the vertices of all soft bodies [m], shape (nvertex, 3)."""
    @property
    def vertex_velocities(self) -> _Array:
        """A copy of the velocities of the vertices of all soft bodies [m/s], shape (nvertex, 3)."""
    @property
    def ctrl(self) -> _Array:
        """A copy of the controls, shape (nu,)."""
    @property
    def wrench(self) -> _Array:
        """A copy of the wrenches [N·m, N], shape (nbody, 6)."""
    @property
    def qfrc_applied(self) -> _Array:
        """A copy of the generalized forces [N, N·m], shape (nv,)."""
    @property
    def parameters(self) -> dict[str, _Array]:
        """The parameters that were changed since the model was loaded, by name, with all their values; the
        arrays cannot be written.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Problem:
    """A contact problem A v = b + Jᵀ λ, u = J v + e + R λ, with a law between u and λ for each
    constraint.

    n velocities v [m/s], m rows; A (n, n) symmetric and positive definite [kg]; b (n,) [N·s];
    J (m, n); λ (m,) [N·s]; e (m,) [m/s]; R (m,) [1/kg]. Rows of a contact are ordered normal,
    tangent, tangent.
    """

    def __new__(
        cls,
        A: Any,
        b: ArrayLike,
        J: Any,
        mu: ArrayLike | None = None,
        kinds: Iterable[int | str] | None = None,
        e: ArrayLike | None = None,
        R: ArrayLike | None = None,
        blocks: Sequence[Sequence[int]] | None = None,
        *,
        row_start: Sequence[int] | None = None,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        name: str = ...,
    ) -> Problem:
        """A problem from arrays: A and J dense, or sparse with a method tocsr.

        kinds says what each constraint is: "contact" (three rows), "unilateral", "bilateral" or
        "bounded" (one row each), or their numbers 2, 1, 0, 3; all contacts if absent. mu is the
        coefficient of friction of each constraint, or one for all; none if absent. row_start is the
        first row of each constraint; one after the other if absent. limits are the two arrays of
        impulses [N·s], per constraint, between which bounded constraints hold. blocks are lists of
        velocities that A does not couple with others; found if absent.
        """
    @staticmethod
    def load(path: _Path, *, symmetrise: bool = ...) -> Problem:
        """Reads a problem: .npz, or FCLIB .h5 and .hdf5. symmetrise replaces an asymmetric matrix of
        an FCLIB file by its symmetric part.
        """
    def save(self, path: _Path) -> None:
        """Writes the problem as an .npz archive that numpy.load opens too."""
    @property
    def name(self) -> str:
        """Its name."""
    @property
    def dofs(self) -> int:
        """Number n of velocities."""
    @property
    def rows(self) -> int:
        """Number m of rows."""
    @property
    def contacts(self) -> int:
        """Number of contacts with friction."""
    @property
    def A(self) -> Any:
        """A [kg], shape (n, n): a scipy.sparse.csr_array if SciPy is there, else dense."""
    @property
    def J(self) -> Any:
        """J, shape (m, n): a scipy.sparse.csr_array if SciPy is there, else dense."""
    @property
    def b(self) -> _Array:
        """b [N·s], shape (n,)."""
    @property
    def e(self) -> _Array:
        """Bias e [m/s], shape (m,)."""
    @property
    def R(self) -> _Array:
        """Compliance R [1/kg], shape (m,)."""
    @property
    def mu(self) -> _Array:
        """Coefficient of friction of each constraint [-]."""
    @property
    def kinds(self) -> _Indices:
        """Kind of each constraint: 0 bilateral, 1 unilateral, 2 contact, 3 bounded."""
    @property
    def row_start(self) -> _Indices:
        """First row of each constraint."""
    @property
    def extra(self) -> dict[str, NDArray[Any]]:
        """Further arrays of the file: reference solutions, time step, structure."""
    @property
    def free_velocity(self) -> _Array:
        """A⁻¹ b [m/s], shape (n,): the motion without constraints."""
    def velocity_of(self, impulse: ArrayLike) -> _Array:
        """A⁻¹ (b + Jᵀ λ) [m/s], shape (n,): the velocity that impulses λ [N·s] cause."""
    def project(self, impulse: ArrayLike) -> _Array:
        """The nearest impulses [N·s], shape (m,), that satisfy the laws: within the friction cone of a
        contact, not negative at a stop, within the limits of a bounded constraint.
        """
    def residual(self, impulse: ArrayLike, velocity: ArrayLike | None = None) -> Residual:
        """Residuals of impulses λ and velocities; the velocities that the impulses cause if absent.
        """
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

def _make_scenario(name: str, set: Sequence[tuple[str, str]]) -> Model: ...
def _make_from_files(
    files: Mapping[str, bytes],
    path: _Path,
    options: tuple[bool, bool, Sequence[_Path], bool, bool],
) -> Model: ...
def _make_state(bytes: bytes) -> State: ...
def _make_problem(
    name: str,
    arrays: dict[str, NDArray[Any]],
    blocks: tuple[Sequence[int], Sequence[int]] | None,
    extra: dict[str, NDArray[Any]],
) -> Problem: ...
