"""Python side of recordings: display in notebooks, and files that Python libraries write."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stiction.types import Array, Pose, Visual

if TYPE_CHECKING:
    from stiction._native import Recording

FRAME_HEIGHT = 560
"""Height of a recording in a notebook [CSS pixels]."""
UNCHOSEN = (0.6, 0.6, 0.6)
"""The default grey of a shape without a colour in the model file."""
BODY_COLOURS = [
    tuple(bytes.fromhex(colour))
    for colour in "5b8db8 e3a857 79ae82 cf7369 9887b8 62b1b3 d6bf63 b78a68 8a9fb2 d08fae".split()
]
"""Colours of bodies without a colour in the model file."""


def in_frame(page: str, height: int = FRAME_HEIGHT) -> str:
    """An iframe that embeds a page in another page, such as the output of a notebook cell."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        f'style="width: 100%; height: {height}px; border: 0"></iframe>'
    )


def sink_of(path: str | PathLike[str]) -> Callable[[Recording, str | PathLike[str]], None] | None:
    """The exporter for the file name's extension, or None if the Rust library writes the format.

    Raises an error before the run if the required package is missing or the file cannot be written.
    """
    if not fspath(path).lower().endswith(".rrd"):
        return None
    from stiction import rerun_sink

    rerun_sink.check(path)
    return rerun_sink.save


def beside(path: str | PathLike[str]) -> Path:
    """Path of a temporary file in the same folder, to be renamed when it is complete."""
    path = Path(path)
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def shown(visuals: list[Visual]) -> list[Visual]:
    """The visuals to display: the visual meshes of bodies that have any, otherwise their collision
    shapes; everything of the world.
    """
    with_meshes = {visual.body for visual in visuals if not visual.collides}
    return [v for v in visuals if not v.collides or v.body == 0 or v.body not in with_meshes]


def colour_of(visual: Visual) -> tuple[int, int, int, int]:
    """Red, green, blue and opacity, each from 0 to 255; a colour per body if the model file has none.
    The HTML page of a recording uses the same colours.
    """
    colour = [int(round(255 * float(part))) for part in np.clip(visual.colour, 0, 1)]
    if visual.body > 0 and np.allclose(visual.colour[:3], UNCHOSEN, atol=1e-3):
        colour[:3] = BODY_COLOURS[(visual.body - 1) % len(BODY_COLOURS)]
    red, green, blue, opacity = colour
    return red, green, blue, opacity


def bounds(visuals: list[Visual], positions: Array, quaternions: Array) -> tuple[Array, Array]:
    """Lowest and highest corner [m], shape (3,) each, of the box around visuals on bodies at positions
    (nbody, 3) with quaternions (nbody, 4). Half spaces are ignored.
    """
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for visual in visuals:
        if visual.is_half_space:
            continue
        points = visual.vertices * visual.scale
        body = Pose(positions[visual.body], quaternions[visual.body])
        for pose in (Pose(visual.position, visual.quaternion), body):
            points = points @ pose.rotation.T + pose.position
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
    if not np.isfinite(low).all():
        low, high = np.min(positions, axis=0), np.max(positions, axis=0)
    return low, high


__all__ = ["FRAME_HEIGHT", "beside", "bounds", "colour_of", "in_frame", "shown", "sink_of"]
