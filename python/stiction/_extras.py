"""Import of optional packages, with a clear error message if they are missing."""

from importlib import import_module
from typing import Any

from stiction.errors import MissingPackageError


def need(module: str, package: str, extra: str) -> Any:
    """Imports a module of an optional package, which is installed with an extra of this one."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingPackageError(
            f"{package} cannot be imported ({missing}); expected it to be installed: "
            f"pip install 'stiction[{extra}]'"
        ) from missing
