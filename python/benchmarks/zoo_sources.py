"""Folders with MJCF files: packages that are installed, or whose wheels are downloaded and unpacked."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

PACKAGES = {
    "brax": "brax",
    "dm_control": "dm_control",
    "dm_robotics.moma": "dm-robotics-moma",
    "dm_robotics.panda": "dm-robotics-panda",
    "fancy_gym": "fancy-gym",
    "gym_aloha": "gym-aloha",
    "gym_xarm": "gym-xarm",
    "gymnasium": "gymnasium",
    "gymnasium_robotics": "gymnasium-robotics",
    "judo": "judo-rai",
    "metaworld": "metaworld",
    "mjlab": "mjlab",
    "mo_gymnasium": "mo-gymnasium",
    "mujoco.mjx": "mujoco-mjx",
    "mujoco_playground": "playground",
    "mujoco_warp": "mujoco-warp",
    "myo_sim": "myo_sim",
    "myosuite": "myosuite",
    "robohive": "robohive",
    "robopianist": "robopianist",
    "robosuite": "robosuite",
    "safety_gymnasium": "safety-gymnasium",
}
"""Names of the modules, each with the name of its distribution."""

# Roots of files that are no MJCF: models of other formats, and lists that other files include.
OTHER_ROOTS = ("<robot", "<mujocoinclude")


def cache_folder() -> Path:
    """Where wheels are kept: the user's cache."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "stiction" / "zoo"


def package_folder(module: str, distribution: str, cache: Path) -> Path | None:
    """The folder of a package: installed, else from its wheel in the cache, else downloaded; None without."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # of the package around it
        spec = None
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    stem = distribution.replace("-", "_")
    wheels = sorted(cache.glob(f"{stem}-*.whl"))
    if not wheels:
        cache.mkdir(parents=True, exist_ok=True)
        # Their dependencies are many and heavy, and the files need none of them.
        arguments = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(cache), distribution]
        if subprocess.run([sys.executable, *arguments], check=False).returncode != 0:
            return None
        wheels = sorted(cache.glob(f"{stem}-*.whl"))
    if not wheels:
        return None
    folder = cache / "unpacked" / stem
    if not folder.exists():
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(folder)
    return folder


def default_folders(cache: Path) -> dict[str, Path]:
    """Suites by name, each with its folder: the packages above, and the robots of the data sets."""
    folders = {}
    for module, distribution in PACKAGES.items():
        folder = package_folder(module, distribution, cache)
        if folder is None:
            print(f"{distribution}: neither installed nor downloaded, left out", file=sys.stderr)
        else:
            folders[module] = folder
    shared = os.environ.get("STICTION_SHARED")
    if shared:
        folders["models"] = Path(shared) / "models"
    return folders


def model_files(folder: Path) -> Iterator[Path]:
    """Files below a folder, or the file itself, that may be MJCF models."""
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*.xml"))
    for path in paths:
        start = path.read_text(encoding="utf-8", errors="replace")
        if not any(root in start for root in OTHER_ROOTS):
            yield path
