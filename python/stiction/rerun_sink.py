"""Export of recordings and simulations to the viewer rerun. Needs `pip install 'stiction[rerun]'`.

    recording.save("run.rrd")                # a file for `rerun run.rrd`

    rr.init("stiction", spawn=True)
    stiction.rerun_sink.log(recording)       # a whole recording, at once
    stiction.rerun_sink.log(sim)             # the present moment of a simulation

The entities below `root` are `bodies/NAME` with poses and meshes, `contacts` with points and force
arrows, and the scalars `residual/…`, `energy/…`, `phase/…`, `solver/…` and `penetration`; the timeline
is `simulation_time` [s].
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._extras import need
from stiction._native import Recording, Simulation
from stiction.errors import RecordingNotWrittenError
from stiction.recording import beside, bounds, colour_of, shown
from stiction.types import Array, Visual

TIMELINE = "simulation_time"
"""The timeline [s]."""
FORCE_COLOUR = (235, 110, 40)
POINT_COLOUR = (250, 210, 60)
ARROW = 0.5
"""Length of the largest force arrow, relative to the extent of the scene."""
RADIUS = 0.004
"""Radius of arrows and points, relative to the extent of the scene."""
SMALLEST = 0.1
"""Smallest extent of a scene [m]."""
GROUND = 4.0
"""Half side of the square that represents a half space, relative to the extent of the scene."""


def rerun() -> Any:
    """The module `rerun`."""
    return need("rerun", "rerun", "rerun")


def check(path: str | os.PathLike[str]) -> None:
    """Raises an error before a long run if the file cannot be written; existing files are unchanged."""
    rerun()
    temporary = beside(path)
    try:
        temporary.touch()
        temporary.unlink()
        if Path(path).is_dir():
            raise IsADirectoryError("is a folder")
    except OSError as reason:
        raise RecordingNotWrittenError(f"{os.fspath(path)}: cannot be written: {reason}") from reason


def save(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Writes a recording as an .rrd file, completely or not at all."""
    check(path)
    temporary = beside(path)
    try:
        stream = rerun().RecordingStream("stiction")
        stream.save(temporary)
        log(recording, stream)
        stream.disconnect()
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as reason:
        raise RecordingNotWrittenError(f"{os.fspath(path)}: cannot be written: {reason}") from reason
    finally:
        temporary.unlink(missing_ok=True)


def log(
    source: Recording | Simulation,
    stream: Any = None,
    *,
    root: str = "",
    meshes: bool = True,
    force_scale: float | None = None,
) -> None:
    """Sends a recording, or the present state of a simulation, to rerun.

    stream is a rerun.RecordingStream, by default the global one. root is the parent entity of all
    others. meshes=False sends no meshes: in a loop over a simulation they are needed once. force_scale
    is the length of force arrows [m/N]; by default the arrow of the largest force of a recording, or of
    the weight of a simulation's bodies, is half as long as the scene.
    """
    rr = rerun()
    root = root.strip("/")
    sender = _Sender(rr, stream, f"{root}/" if root else "", force_scale)
    if isinstance(source, Recording):
        sender.recording(source, meshes)
    else:
        sender.moment(source, meshes)


def _size(visuals: list[Visual], positions: Array, quaternions: Array) -> float:
    """Diagonal of the bounding box of the visuals [m]."""
    low, high = bounds(visuals, positions, quaternions)
    return max(float(np.linalg.norm(high - low)), SMALLEST)


class _Sender:
    """Sends entities below a root to a stream."""

    def __init__(self, rr: Any, stream: Any, root: str, force_scale: float | None) -> None:
        self.rr, self.stream, self.root, self.force_scale = rr, stream, root, force_scale

    def body(self, names: Sequence[str], index: int) -> str:
        """The entity of a body; the world is the parent entity of all bodies."""
        if index == 0:
            return f"{self.root}bodies"
        unique = names[index] if names.count(names[index]) == 1 else f"{names[index]} {index}"
        part = self.rr.escape_entity_path_part(unique or f"body {index}")
        return f"{self.root}bodies/{part}"

    def always(self, entity: str, *what: Any) -> None:
        self.rr.log(entity, *what, static=True, recording=self.stream)

    def columns(self, entity: str, time: Array, columns: Any) -> None:
        index = self.rr.TimeColumn(TIMELINE, duration=time)
        self.rr.send_columns(entity, [index], columns, recording=self.stream)

    def visuals(self, visuals: list[Visual], names: Sequence[str], size: float) -> None:
        """Meshes, each in the frame of its body."""
        rr = self.rr
        self.always(self.root.rstrip("/") or "/", rr.ViewCoordinates.RIGHT_HAND_Z_UP)
        for k, visual in enumerate(visuals):
            vertices, triangles, scale = visual.vertices, visual.triangles, visual.scale
            normals: NDArray[np.float32] | None = visual.normals
            if visual.is_half_space:
                corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]
                vertices = np.array(corners, np.float32) * np.float32(GROUND * size)
                triangles = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
                normals, scale = None, np.ones(3)
            mesh = rr.Mesh3D(
                vertex_positions=vertices,
                triangle_indices=triangles,
                vertex_normals=normals,
                albedo_factor=colour_of(visual),
            )
            transform = rr.Transform3D(
                translation=visual.position,
                quaternion=rr.Quaternion(xyzw=visual.quaternion[[1, 2, 3, 0]]),
                scale=scale,
            )
            name = rr.escape_entity_path_part(f"{visual.name} {k}".strip())
            self.always(f"{self.body(names, visual.body)}/visual/{name}", mesh, transform)

    def soft_surface(
        self,
        name: str,
        time: Array,
        vertices: NDArray[np.float32],
        triangles: NDArray[Any],
        colour: NDArray[np.float32] | None,
    ) -> None:
        """The surface of a soft body: vertices (t, n, 3) over time; triangles and colour once."""
        rr = self.rr
        entity = f"{self.root}soft/{rr.escape_entity_path_part(name)}"
        if colour is not None:
            albedo = [round(255 * float(part)) for part in colour]
            corners = triangles.astype(np.uint32)
            self.always(entity, rr.Mesh3D.from_fields(triangle_indices=corners, albedo_factor=albedo))
        columns = rr.Mesh3D.columns(vertex_positions=vertices.reshape(-1, 3))
        self.columns(entity, time, columns.partition([vertices.shape[1]] * len(time)))

    def contacts(
        self, time: Array, lengths: Array | list[int], point: Array, force: Array, scale: float, size: float
    ) -> None:
        """Contact points and force arrows; lengths are the numbers of contacts per time."""
        rr = self.rr
        entity = f"{self.root}contacts"
        self.always(f"{entity}/points", rr.Points3D.from_fields(colors=[POINT_COLOUR], radii=[RADIUS * size]))
        self.always(f"{entity}/forces", rr.Arrows3D.from_fields(colors=[FORCE_COLOUR], radii=[RADIUS * size / 2]))
        self.columns(
            f"{entity}/points", time, rr.Points3D.columns(positions=point).partition(lengths)
        )
        arrows = rr.Arrows3D.columns(vectors=force * scale, origins=point)
        self.columns(f"{entity}/forces", time, arrows.partition(lengths))

    def scalars(self, time: Array, scalars: dict[str, Array]) -> None:
        for name, values in scalars.items():
            columns = self.rr.Scalars.columns(scalars=np.asarray(values, np.float64))
            self.columns(f"{self.root}{name}", time, columns)

    def recording(self, recording: Recording, meshes: bool) -> None:
        """All frames."""
        rr, arrays, names = self.rr, recording.to_arrays(), recording.body_names
        time, visuals = arrays["time"], shown(recording.visuals())
        size = _size(visuals, arrays["rest_position"], arrays["rest_rotation"])
        if meshes:
            self.visuals(visuals, names, size)
        moving = set(arrays["moving"].tolist())
        for index in range(1, len(names)):
            if index not in moving:
                pose = self.pose(arrays["rest_position"][index], arrays["rest_rotation"][index])
                self.always(self.body(names, index), pose)
        for k, index in enumerate(arrays["moving"]):
            columns = rr.Transform3D.columns(
                translation=arrays["position"][:, k],
                quaternion=arrays["rotation"][:, k][:, [1, 2, 3, 0]],
            )
            self.columns(self.body(names, int(index)), time, columns)
        for k, surface in enumerate(recording.soft_surfaces()):
            vertices = arrays["soft_position"][:, surface.start : surface.end]
            colour = surface.colour if meshes else None
            name = surface.name or f"soft {k}"
            self.soft_surface(name, time, vertices, surface.triangles, colour)
        force = arrays["contact_force"]
        strongest = float(np.linalg.norm(force, axis=1).max()) if len(force) else 0.0
        scale = self.scale(strongest, size)
        lengths = np.diff(arrays["contact_start"])
        self.contacts(time, lengths, arrays["contact_point"], force, scale, size)
        scalars = {
            f"residual/{name}": arrays[f"residual_{name}"]
            for name in ("momentum", "coulomb", "convex")
        }
        scalars |= self.energies(arrays["energy_kinetic"], arrays["energy_potential"])
        for k, name in enumerate(arrays["phase_names"]):
            scalars[f"phase/{name}"] = arrays["phase_time"][:, k]
        scalars |= {f"solver/{name}": arrays[name] for name in ("iterations", "status", "contacts")}
        scalars["step/flags"] = arrays["step_flags"]
        scalars["penetration"] = arrays["penetration"]
        self.scalars(time, scalars)

    def moment(self, sim: Simulation, meshes: bool) -> None:
        """The present state, and the contacts of the last step."""
        model = sim.model
        names, time = model.body_names, np.array([sim.time])
        position, rotation = sim.body_poses()
        visuals = shown(sim.visuals()) if meshes or self.force_scale is None else []
        size = _size(visuals, position, rotation)
        if meshes:
            self.visuals(visuals, names, size)
        for index in range(1, len(names)):
            columns = self.rr.Transform3D.columns(
                translation=position[index : index + 1],
                quaternion=rotation[index : index + 1, [1, 2, 3, 0]],
            )
            self.columns(self.body(names, index), time, columns)
        for soft in sim.softs:
            on_surface, corners = np.unique(soft.triangles, return_inverse=True)
            name, triangles = soft.name or f"soft {soft.id}", corners.reshape(-1, 3)
            vertices = soft.vertices[on_surface][None].astype(np.float32)
            self.soft_surface(name, time, vertices, triangles, soft.colour if meshes else None)
        contacts = sim.contacts
        mass = float(model.masses.sum()) + sum(soft.mass for soft in sim.softs)
        weight = float(mass * np.linalg.norm(model.gravity))
        scale = self.scale(weight, size)
        self.contacts(time, [len(contacts)], contacts.point, contacts.force, scale, size)
        energy = sim.energy()
        scalars = self.energies(np.array([energy.kinetic]), np.array([energy.potential]))
        deepest = -float(contacts.gap.min()) if len(contacts) else 0.0
        self.scalars(time, scalars | {"penetration": np.array([max(deepest, 0.0)])})

    def energies(self, kinetic: Array, potential: Array) -> dict[str, Array]:
        return {
            "energy/kinetic": kinetic,
            "energy/potential": potential,
            "energy/total": kinetic + potential,
        }

    def pose(self, position: Array, rotation: Array) -> Any:
        quaternion = self.rr.Quaternion(xyzw=rotation[[1, 2, 3, 0]])
        return self.rr.Transform3D(translation=position, quaternion=quaternion)

    def scale(self, strongest: float, size: float) -> float:
        """Length of force arrows [m/N]."""
        if self.force_scale is not None:
            return self.force_scale
        return ARROW * size / strongest if strongest > 0 else 0.0


__all__ = ["TIMELINE", "check", "log", "save"]
