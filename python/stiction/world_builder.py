"""Worlds built in Python: bodies, shapes, joints, actuators, soft bodies, cables and files, put together by name.

A WorldBuilder writes a scene, the text that docs/scenes.md describes, and reads it: names and numbers are checked
there, and the scene can be kept as a file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from stiction._native import Model, loads
from stiction.errors import ModelError

__all__ = ["WorldBuilder"]


class WorldBuilder:
    """Collects the parts of a world; build makes a Model of them.

    Each method adds a part and returns its name, by which others refer to it. Keywords are the keys of scenes
    (docs/scenes.md), with underscores for dashes and lengths of whole things, not of halves:

        world = WorldBuilder(gravity=[0, 0, -9.81], time_step=0.005)
        world.body("ground", shape="plane", fixed=True)
        world.body("box", shape="box", edges=[0.2, 0.2, 0.1], position=[0, 0, 0.2], mass=1.0)
        model = world.build()

    Keywords of the builder itself are settings of the simulation.
    """

    def __init__(self, name: str = "world", *, gravity: Any = None, **settings: Any) -> None:
        self._name = name
        self._tables: list[tuple[str, dict[str, Any]]] = []
        self._files: dict[str, bytes] = {}
        self._parts: dict[str, list[dict[str, Any]]] = {}
        scene: dict[str, Any] = {"name": name}
        if gravity is not None:
            scene["gravity"] = gravity
        self._tables.append(("[scene]", scene))
        if settings:
            self._tables.append(("[step]", dict(settings)))

    def surface(self, name: str, **keys: Any) -> str:
        """A surface that bodies can name: friction, restitution, stiffness, …"""
        return self._add("surface", name, keys)

    def body(self, name: str, **keys: Any) -> str:
        """A body with its shape, position, orientation, mass or density; free, unless it is fixed, driven, welded to its
        parent or on joints.
        """
        return self._add("body", name, keys)

    def shape(self, body: str, shape: str, **keys: Any) -> None:
        """One more shape of a body, with a pose, surface, colour and density of its own. The body must have no shape=."""
        self._attach("body", body, "part", {"shape": shape, **keys})

    def joint(self, body: str, kind: str, *, name: str | None = None, **keys: Any) -> str:
        """A joint that lets a body move relative to its parent: hinge, slide, ball, screw or planar, with axis, anchor, range,
        damping, …
        """
        return self._add("joint", body if name is None else name, {"body": body, "kind": kind, **keys})

    def actuator(self, joint: str, kind: str = "motor", *, name: str | None = None, **keys: Any) -> str:
        """An actuator on a joint: motor, position (kp, kd) or velocity (kd), with gear, control_range, force_range."""
        return self._add("actuator", joint if name is None else name, {"joint": joint, "kind": kind, **keys})

    def soft(self, name: str, mesh: str, **keys: Any) -> str:
        """A soft body: a mesh of tetrahedra with material, position, …"""
        return self._add("soft", name, {"mesh": mesh, **keys})

    def attach(self, soft: str, body: str, where: Mapping[str, Any] | list[int]) -> None:
        """Attaches the vertices of a region of a soft body to a body."""
        self._attach("soft", soft, "attach", {"body": body, "where": where})

    def cable(self, name: str, **keys: Any) -> str:
        """A cable along a path, or from start along direction with a length; first and last hold its ends."""
        return self._add("cable", name, keys)

    def model(self, name: str, file: str | PathLike[str], **keys: Any) -> str:
        """A model from a file, MJCF or URDF, or what add_file gave that name: its parts are called name/part."""
        return self._add("model", name, {"file": fspath(file), **keys})

    def add_file(self, file: str, content: str | bytes) -> str:
        """A file in memory that model, meshes and height fields can name."""
        self._files[file] = content.encode() if isinstance(content, str) else content
        return file

    def equality(self, kind: str, **keys: Any) -> None:
        """An equality: connect, distance, weld or joint."""
        self._tables.append(("[[equality]]", {"kind": kind, **keys}))

    def exclude(self, a: str, b: str) -> None:
        """Lets two bodies pass through one another."""
        self._tables.append(("[[exclude]]", {"bodies": [a, b]}))

    def to_toml(self) -> str:
        """The world as a scene, for a file that ends in .toml."""
        text = []
        for head, table in self._tables:
            lines = [head, *(_line(key, value) for key, value in table.items())]
            for part in self._parts.get(f"{head} {table.get('name')}", []):
                part = dict(part)
                lines += ["", part.pop(""), *(_line(key, value) for key, value in part.items())]
            text.append("\n".join(lines))
        return "\n\n".join(text) + "\n"

    def build(self, *, folder: str | PathLike[str] = "") -> Model:
        """Makes the model. Files are looked for among those of add_file, then from folder on."""
        return loads(self.to_toml(), format="native", assets=self._files, folder=fspath(folder))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the scene, and the files of add_file beside it."""
        place = Path(path)
        if place.suffix != ".toml":
            raise ModelError(f"{place}: expected a name that ends in .toml")
        for name, content in self._files.items():
            (place.parent / name).parent.mkdir(parents=True, exist_ok=True)
            (place.parent / name).write_bytes(content)
        place.write_text(self.to_toml(), encoding="utf-8")

    def _add(self, kind: str, name: str, keys: Mapping[str, Any]) -> str:
        if not isinstance(name, str) or not name:
            raise ModelError(f"{kind}: name = {name!r}; expected a text")
        head = f"[[{kind}]]"
        if any(other == head and table["name"] == name for other, table in self._tables):
            raise ModelError(f'two of {kind} are called "{name}"; expected different names')
        self._tables.append((head, {"name": name, **keys}))
        return name

    def _attach(self, kind: str, owner: str, part: str, keys: dict[str, Any]) -> None:
        head = f"[[{kind}]]"
        if not any(other == head and table["name"] == owner for other, table in self._tables):
            known = [table["name"] for other, table in self._tables if other == head]
            listed = ", ".join(known) or "none yet"
            raise ModelError(f'no {kind} is called "{owner}"; expected one of: {listed}')
        self._parts.setdefault(f"{head} {owner}", []).append({"": f"[[{kind}.{part}]]", **keys})

    def __repr__(self) -> str:
        return f'WorldBuilder("{self._name}", {len(self._tables)} tables)'


def _line(key: str, value: Any) -> str:
    return f"{key.replace('_', '-')} = {_value(key, value)}"


def _value(key: str, value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return str(value)
    if isinstance(value, str | PathLike):
        return _text(fspath(value))
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_text(str(k).replace('_', '-'))} = {_value(key, v)}" for k, v in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(key, item) for item in value)}]"
    found = type(value).__name__
    raise ModelError(f"{key}: found a {found}; expected a number, a text, a list or a dictionary")


def _text(text: str) -> str:
    """A basic string of TOML."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(escapes.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text) + '"'
