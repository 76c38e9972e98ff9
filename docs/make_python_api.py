"""Writes docs/python.md, the pages of the Python package, from its signatures and docstrings.

Run it after a change of the package: python docs/make_python_api.py
"""

import ast
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "stiction"
PAGE = ROOT / "docs" / "python.md"
SCENES = ROOT / "docs" / "scenes.md"
"""Has the table of settings, which a test of the command keeps up to date."""
MODULES = ["viewer.py", "grip.py", "rerun_sink.py"]
"""Modules that are imported by their own names."""
FILES = ["_native.pyi", "world_builder.py", "types.py", "errors.py", *MODULES]
HEAD = """# The Python package

Made by `docs/make_python_api.py` from the package itself. Units are SI, arrays are of 64-bit floating-point
numbers unless said otherwise, and shapes stand in parentheses. [tutorial.ipynb](tutorial.ipynb) shows it at work.
"""

Definition = ast.FunctionDef | ast.ClassDef


def is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__len__", "__getitem__")


def documentation(node: ast.AST) -> str:
    text = ast.get_docstring(node) if isinstance(node, Definition) else None
    return text or ""


def signature(function: ast.FunctionDef, owner: str = "") -> str:
    arguments = ast.unparse(function.args).removeprefix("self, ").removeprefix("self")
    name = owner if function.name == "__init__" else function.name
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{name}({arguments})" + ("" if function.name == "__init__" else result)


def is_property(function: ast.FunctionDef) -> bool:
    names = {ast.unparse(decorator) for decorator in function.decorator_list}
    return "property" in names


def is_setter(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(d).endswith(".setter") for d in function.decorator_list)


def entry(head: str, text: str) -> str:
    body = textwrap.indent(text, "  ") if text else ""
    return f"- `{head}`\n" + (f"\n{body}\n" if body else "") + "\n"


def fields(node: ast.ClassDef) -> list[str]:
    """Annotated fields with the string that follows them."""
    found = []
    for place, item in enumerate(node.body):
        if isinstance(item, ast.AnnAssign) and is_public(ast.unparse(item.target)):
            after = node.body[place + 1] if place + 1 < len(node.body) else None
            says = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            text = textwrap.dedent(str(after.value.value)) if says else ""  # type: ignore[union-attr]
            found.append(entry(f"{ast.unparse(item.target)}: {ast.unparse(item.annotation)}", text))
    return found


def section(node: Definition, module: str) -> str:
    name = f"{module}{node.name}"
    if isinstance(node, ast.FunctionDef):
        return f"## {name}\n\n```python\n{signature(node)}\n```\n\n{documentation(node)}\n\n"
    text = f"## {name}\n\n{documentation(node)}\n\n" + "".join(fields(node))
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or not is_public(item.name) or is_setter(item):
            continue
        result = f": {ast.unparse(item.returns)}" if item.returns else ""
        head = f"{item.name}{result}" if is_property(item) else signature(item, node.name)
        text += entry(head, documentation(item))
    return text


def exports(tree: ast.Module) -> set[str]:
    """The names that a module gives out."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def settings() -> str:
    """The table of settings, with their names as keywords."""
    table = SCENES.read_text().split("<!-- settings -->\n")[1].split("<!-- end of settings -->")[0]
    head, line, *rows = table.splitlines()
    rows = [re.sub(r"`[^`]+`", lambda name: re.sub(r"[-.]", "_", name[0]), row, count=1) for row in rows]
    rows = [row.replace("`none`", "`None`") for row in rows]
    about = "Keywords of Simulation, rollout, compare and scenario, and keys of Simulation.settings."
    return "\n".join(["", "## Settings", "", about, "", head, line, *rows, ""])


def page() -> str:
    text = HEAD
    for name in FILES:
        tree = ast.parse((PACKAGE / name).read_text())
        module = f"stiction.{Path(name).stem}"
        apart = name in MODULES
        if apart:
            text += f"\n# {module}\n\n{ast.get_docstring(tree)}\n"
        exported = exports(tree) if apart else None
        for node in tree.body:
            if not isinstance(node, Definition) or not is_public(node.name) or node.name == "main":
                continue
            if exported is None or node.name in exported:
                text += "\n" + section(node, f"{module}." if apart else "").rstrip() + "\n"
                if node.name == "Simulation":
                    text += settings()
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
