"""Exceptions. Every message says where, what was found and what was expected."""


class StictionError(Exception):
    """Base class of all errors of this package."""


class MissingPackageError(StictionError, ImportError):
    """An optional package is not installed."""


class ModelError(StictionError, ValueError):
    """A model is invalid, or has no element of the requested name."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """A model file does not exist."""


class ProblemError(StictionError, ValueError):
    """The arrays or the file of a contact problem are invalid."""


class RecordingError(StictionError, ValueError):
    """A recording cannot be made or written as requested."""


class RecordingNotFoundError(RecordingError, FileNotFoundError):
    """A recording does not exist."""


class RecordingNotWrittenError(RecordingError, OSError):
    """A recording cannot be written to the given path."""


class SettingError(StictionError, ValueError):
    """A setting is unknown, or its value is invalid."""


class SolverError(StictionError, ValueError):
    """A solver is unknown, or returned an invalid result."""


class StepError(StictionError, RuntimeError):
    """A step failed. The state is unchanged."""


class StateError(StepError, ValueError):
    """A state or an input does not fit the model: wrong length, not finite, not a unit quaternion."""


__all__ = [
    "MissingPackageError",
    "ModelError",
    "ModelNotFoundError",
    "ProblemError",
    "RecordingError",
    "RecordingNotFoundError",
    "RecordingNotWrittenError",
    "SettingError",
    "SolverError",
    "StateError",
    "StepError",
    "StictionError",
]
