"""Shapes with a name: each is defined once."""

import ast

from tests.source_code import LIBRARY, ROOT, tree_of


def aliases(path) -> set[tuple[str, str]]:
    """Names and texts of the assignments at the top of a module."""
    nodes = [node for node in tree_of(path).body if isinstance(node, ast.Assign)]
    return {(ast.unparse(target), ast.unparse(node.value)) for node in nodes for target in node.targets}


def test_no_module_defines_a_shared_shape_anew():
    home = ROOT / "hopfield" / "_shapes.py"
    shared = aliases(home)
    assert ("State", "Float[Array, 'N']") in shared
    again = {path.relative_to(ROOT).as_posix(): aliases(path) & shared for path in LIBRARY if path != home}
    assert not {path: found for path, found in again.items() if found}
