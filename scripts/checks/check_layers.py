"""Check the layers of the packages: `python scripts/checks/check_layers.py`.

The script reads all imports in `envs/` and `training/`, even inside functions, except imports for
type checking only. It prints the depth of the import graph. It fails if

- modules, or folders, import each other in a circle;
- a folder imports a game, or a folder that is not in a lower layer (see CONTRIBUTING.md);
- a chain of imports has more than MOST_DEPTH modules or folders;
- a folder contains more than MOST_FILES modules.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "armarl": ROOT / "envs" / "armarl",
    "armarl_training": ROOT / "training" / "armarl_training",
}
MOST_FILES = 16  # maximum number of modules in a folder, including `__init__.py`
MOST_DEPTH = {"file": 20, "folder": 12}  # maximum length of a chain of imports

Graph = Mapping[str, set[str]]


def modules() -> dict[str, Path]:
    """Return the file of every module, by dotted name."""
    found = {}
    for package, home in PACKAGES.items():
        for path in sorted(home.rglob("*.py")):
            parts = [package, *path.relative_to(home).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    known = modules()
    return {
        name: {target for target in _imports(path, known) if target != name}
        for name, path in known.items()
    }


def _imports(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    for node in _walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                target = submodule if submodule in known else node.module
                if target in known:
                    yield target


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree's nodes as `ast.walk` does, but without those inside `if TYPE_CHECKING:`."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield from _walk(child)


def room_of(module: str) -> str:
    """Return a module's folder, named as in the table in CONTRIBUTING.md."""
    package, *rest = module.split(".")
    if not rest:
        return package
    if (PACKAGES[package] / rest[0]).is_dir():
        game = [rest[1]] if rest[0] == "games" and len(rest) > 1 and _is_game(rest[1]) else []
        return ".".join([package, rest[0], *game])
    return package


def _is_game(name: str) -> bool:
    return (PACKAGES["armarl"] / "games" / name).is_dir()


def rooms(graph: Graph) -> dict[str, set[str]]:
    """Return the import graph of the folders."""
    found: dict[str, set[str]] = {}
    for name, targets in graph.items():
        room = room_of(name)
        found.setdefault(room, set()).update(room_of(target) for target in targets)
    return {room: targets - {room} for room, targets in found.items()}


def circles(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components with two or more nodes (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in graph:
        if node not in index:
            visit(node)
    return found


def longest_path(graph: Graph) -> list[str]:
    """Return the longest chain of imports, from the top down. The graph must have no circle."""
    chains: dict[str, list[str]] = {}

    def chain(node: str) -> list[str]:
        if node not in chains:
            below = [chain(target) for target in sorted(graph.get(node, ()))]
            chains[node] = [node, *max(below, key=len, default=[])]
        return chains[node]

    return max((chain(node) for node in graph), key=len)


def layers() -> dict[str, int]:
    """Return the number of each folder's row in CONTRIBUTING.md. The lowest layer has number 1."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("## Layers")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", text, re.MULTILINE)
    return {
        room.replace("/", "."): int(number)
        for number, names in rows
        for room in re.findall(r"`([\w/]+)`", names)
    }


def faults() -> Iterator[str]:
    """Yield a message for each import or folder that breaks the rules for layers."""
    graph = import_graph()
    for name, one in (("modules", graph), ("folders", rooms(graph))):
        for circle in circles(one):
            yield f"{name} import each other in a circle: {', '.join(circle)}"
    table = layers()
    for room, targets in rooms(graph).items():
        if room not in table:
            yield f"{room} is missing from the table in CONTRIBUTING.md"
            continue
        for target in sorted(targets & table.keys()):
            if table[target] >= table[room]:
                yield f"{room} (layer {table[room]}) imports {target} (layer {table[target]})"
            if target.startswith("armarl.games."):
                yield f"{room} imports {target}: only the catalogue may import a game"
    for home in PACKAGES.values():
        for folder in (home, *(path for path in home.rglob("*") if path.is_dir())):
            if (count := len(list(folder.glob("*.py")))) > MOST_FILES:
                yield f"{folder.relative_to(ROOT)} has {count} modules, more than {MOST_FILES}"
    for kind, one in (("file", graph), ("folder", rooms(graph))):
        depth = 0 if circles(one) else len(longest_path(one))
        if depth > MOST_DEPTH[kind]:
            yield f"imports by {kind} are {depth} deep, more than {MOST_DEPTH[kind]}"


def main() -> int:
    graph = import_graph()
    for kind, one in (("file", graph), ("folder", rooms(graph))):
        print(f"{len(circles(one))} circles by {kind}")
        if not circles(one):
            path = longest_path(one)
            print(f"depth by {kind}: {len(path)}: {' > '.join(path)}")
    found = list(faults())
    print("\n".join(found) or "no errors")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
