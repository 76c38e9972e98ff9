"""What can go wrong. Every message says where, what was found and what was expected."""


class StictionError(Exception):
    """Anything that Stiction refuses or cannot do."""


class ModelError(StictionError, ValueError):
    """A model cannot be made, or has no part of the name asked for."""


class ModelNotFoundError(ModelError, FileNotFoundError):
    """A model file does not exist."""


class ProblemError(StictionError, ValueError):
    """A contact problem cannot be made from what was given."""


class SettingError(StictionError, ValueError):
    """A setting is not known, or its value cannot be."""


class SolverError(StictionError, ValueError):
    """A solver is not known, or answered with something that is no answer."""


class StepError(StictionError, RuntimeError):
    """A step could not be made. The state is as it was before it."""


class StateError(StepError, ValueError):
    """A state or an input does not belong to the model: wrong length, not finite, no rotation."""


__all__ = [
    "ModelError",
    "ModelNotFoundError",
    "ProblemError",
    "SettingError",
    "SolverError",
    "StateError",
    "StepError",
    "StictionError",
]
