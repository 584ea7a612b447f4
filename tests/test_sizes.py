"""Sizes of the source: arguments of functions, and their lines."""

import ast

from tests.source_code import EXPERIMENTS, LIBRARY, ROOT, tree_of

MANY = {
    "hopfield/attention/blockwise.py:attend_blockwise": 12,
    "hopfield/attention/core.py:attend": 9,
    "hopfield/attention/core.py:decompose": 9,
    "hopfield/attention/fewer_keys.py:attend_locally": 10,
    "hopfield/attention/fewer_keys.py:attend_low_rank": 9,
    "hopfield/attention/fewer_keys.py:attend_truncated": 10,
    "hopfield/attention/gradients.py:attention_gradients": 10,
    "hopfield/attention/heads.py:attend_heads": 10,
    "hopfield/attention/heads.py:multi_head": 11,
    "hopfield/attention/heads.py:multi_head_parts": 10,
    "hopfield/attention/verification.py:verify_gradients": 12,
    "hopfield/dynamics/heat_bath.py:glauber": 9,
    "hopfield/dynamics/langevin.py:langevin": 8,
    "hopfield/fisher/_programs.py:solved_by_cg": 8,
    "hopfield/fisher/building.py:fisher": 9,
    "hopfield/layers/association.py:read": 8,
    "hopfield/layers/attention_function.py:AttentionFunction.__call__": 14,
    "hopfield/layers/attention.py:HopfieldAttention.__call__": 13,
    "hopfield/layers/attention.py:HopfieldAttention.__init__": 31,
    "hopfield/layers/blocks.py:DecoderBlock.__call__": 11,
    "hopfield/layers/blocks.py:EncoderBlock.__call__": 9,
    "hopfield/layers/energy.py:EnergyTransformerBlock.__init__": 11,
    "hopfield/layers/imports/hopfield_layers.py:from_hopfield_layers": 9,
    "hopfield/optim/kronecker.py:diagonal_fisher": 11,
    "hopfield/optim/kronecker.py:kronecker_natural_gradient": 12,
    "hopfield/optim/natural.py:natural_gradient": 14,
}
"""Functions of more than seven arguments, most of attention and of Flax's layers: a list that gets shorter."""


def test_functions_take_at_most_seven_arguments():
    found = {}
    kernels = [path for path in LIBRARY if path.parent.name == "triton_programs"]  # they take each pointer and length
    for path in {*LIBRARY, *EXPERIMENTS} - {*kernels}:
        for parent in ast.walk(tree_of(path)):
            for node in ast.iter_child_nodes(parent):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    given = node.args
                    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                    name = f"{parent.name}.{node.name}" if isinstance(parent, ast.ClassDef) else node.name
                    count = len([name for name in names if name not in ("self", "cls")])
                    place = f"{path.relative_to(ROOT).as_posix()}:{name}"
                    found[place] = max(count, found.get(place, 0))
    assert {place: count for place, count in found.items() if count > 7} == MANY


def test_functions_have_at_most_40_lines_besides_their_docstring():
    found = set()
    for path in (*LIBRARY, *EXPERIMENTS):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0] if ast.get_docstring(node) is None else node.body[min(1, len(node.body) - 1)]
                above = node.body[0].lineno - node.lineno
                if above + (node.end_lineno or 0) - first.lineno + 1 > 40:
                    found.add(f"{path.stem}.{node.name}")
    assert found <= {"attention.__init__"}  # the arguments of Flax's layer, each handed on
