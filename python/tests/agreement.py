"""Comparison of arrays of two programs, relative to the largest entry."""

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-9


def close(ours: ArrayLike, reference: ArrayLike, what: str, tolerance: float = TOLERANCE) -> None:
    """Agreement relative to the largest entry."""
    ours, reference = np.asarray(ours), np.asarray(reference)
    assert ours.shape == reference.shape, f"{what}: {ours.shape} against {reference.shape}"
    scale = max(np.abs(reference).max(initial=0.0), 1e-12)
    error = np.abs(ours - reference).max(initial=0.0)
    assert error <= tolerance * scale, f"{what}: differs by {error:.3g}, scale {scale:.3g}"
