"""What can go wrong. Every message says where, what was found and what was expected."""


class StictionError(Exception):
    """Anything that Stiction refuses or cannot do."""


class MissingPackageError(StictionError, ImportError):
    """A package that only a part of this one needs is not installed."""


class ModelError(StictionError, ValueError):
    """A model cannot be made, or has no part of the name asked for."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """A model file does not exist."""


class ProblemError(StictionError, ValueError):
    """A contact problem cannot be made from what was given."""


class RecordingError(StictionError, ValueError):
    """A recording cannot be made or written in the way asked for."""


class RecordingNotFoundError(RecordingError, FileNotFoundError):
    """A recording does not exist."""


class RecordingNotWrittenError(RecordingError, OSError):
    """A recording cannot be written to the place asked for."""


class SettingError(StictionError, ValueError):
    """A setting is not known, or its value cannot be."""


class SolverError(StictionError, ValueError):
    """A solver is not known, or answered with something that is no answer."""


class StepError(StictionError, RuntimeError):
    """A step could not be made. The state is as it was before it."""


class StateError(StepError, ValueError):
    """A state or an input does not belong to the model: wrong length, not finite, no rotation."""


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
