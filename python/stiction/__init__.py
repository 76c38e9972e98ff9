"""Multibody simulation of robots and things that touch: exact friction, many solvers, one yardstick.

    import stiction as st

    model = st.scenario("clutter")
    simulation = st.Simulation(model)
    report = simulation.step(100)

Units are SI. Coordinates follow MuJoCo's layout: a free joint is (x, y, z, qw, qx, qy, qz) in qpos
and (velocity of the origin in the world, angular velocity in the body's frame) in qvel; a ball joint
is a quaternion and an angular velocity in the child's frame; a hinge or a slide is one number each.
"""

from stiction._native import (
    ActuatorHandle,
    BodyHandle,
    Contacts,
    Joint,
    JointHandle,
    Model,
    Problem,
    Recording,
    Simulation,
    State,
    StepReport,
    __version__,
    load,
    loads,
    rollout,
    scenario,
    scenarios,
    solve,
    solvers,
)
from stiction.errors import (
    MissingPackageError,
    ModelError,
    ModelNotFoundError,
    ProblemError,
    RecordingError,
    RecordingNotWrittenError,
    SettingError,
    SolverError,
    StateError,
    StepError,
    StictionError,
)
from stiction.types import (
    Energy,
    Guess,
    Pose,
    Residual,
    Rollout,
    Solution,
    Solver,
    SolveReport,
    Trace,
    Unsupported,
    Velocity,
    Visual,
)

__all__ = [
    "ActuatorHandle",
    "BodyHandle",
    "Contacts",
    "Energy",
    "Guess",
    "Joint",
    "JointHandle",
    "MissingPackageError",
    "Model",
    "ModelError",
    "ModelNotFoundError",
    "Pose",
    "Problem",
    "ProblemError",
    "Recording",
    "RecordingError",
    "RecordingNotWrittenError",
    "Residual",
    "Rollout",
    "SettingError",
    "Simulation",
    "Solution",
    "SolveReport",
    "Solver",
    "SolverError",
    "State",
    "StateError",
    "StepError",
    "StepReport",
    "StictionError",
    "Trace",
    "Unsupported",
    "Velocity",
    "Visual",
    "__version__",
    "load",
    "loads",
    "rollout",
    "scenario",
    "scenarios",
    "solve",
    "solvers",
]
