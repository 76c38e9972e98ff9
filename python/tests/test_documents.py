"""The documentation is up to date: the tutorial runs, and the API pages match the package."""

import importlib.util
import re

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"


def test_the_tutorial_runs_from_top_to_bottom() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(DOCS / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(DOCS)}}).execute()


def test_the_pages_of_the_package_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make", DOCS / "make_python_api.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert make.PAGE.read_text() == make.page(), "run: python docs/make_python_api.py"


def test_the_page_on_parameters_lists_all_of_them_and_its_program_runs() -> None:
    text = (DOCS / "parameters.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", text, re.MULTILINE)
    names: dict[str, object] = {}
    [program] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(program, names)
    import stiction as st

    assert [name for name, _ in rows] == sorted(st.parameters())
    simulation = names["sim"]
    assert all(hasattr(simulation, array) for _, array in rows)


def test_the_program_of_the_page_for_controllers_holds_the_tip() -> None:
    names: dict[str, object] = {}
    program, picture = re.findall(r"```python\n(.*?)```", (DOCS / "controllers.md").read_text(), re.DOTALL)
    exec(program, names)
    exec(picture, names)
    assert names["image"].depth.shape == (240, 320)  # type: ignore[attr-defined]
    assert abs(names["error"]).max() < 1e-3  # type: ignore[arg-type, operator]


def test_the_program_of_the_page_on_soft_bodies_runs() -> None:
    [program] = re.findall(r"```python\n(.*?)```", (DOCS / "soft.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(program, names)
    assert names["report"].steps == 100  # type: ignore[attr-defined]
