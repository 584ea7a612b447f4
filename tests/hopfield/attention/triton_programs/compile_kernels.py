"""Kernels of attention compiled for devices of the compute capabilities that are given, one line for each.

python tests/hopfield/attention/triton_programs/compile_kernels.py 80 90
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from hopfield.attention.triton_programs import cut
from hopfield.dynamics.triton_programs import events

HALF = {"Q", "K", "V", "OUTPUT", "SLOPE", "DQ", "DK", "DV"}
INDEX = {"LENGTH", "LIST", "COUNT"}
FIXED = {"HEADS": 8, "GROUP": 1, "T": 4096, "S": 4096, "D": 64, "BD": 64, "W": 64, "BW": 64, "BT": 64, "SCALE": 0.0625}
FIXED |= {"RATE": 0.5, "E": 2.0, "TOTAL": 2.0, "LEFT": -1, "RIGHT": -1, "EDGE": False, "STEPS": 24, "REST": 1e-2}
FIXED |= {"GIVEN": 0.0, "SLOPES": True, "TILTED": False}


def of_attention(name: str, kind: str, capability: int):
    """Kernel of 4096 queries and keys of width 64, entmax 1.5."""
    function, fixed = getattr(cut, name), FIXED | {"BS": 64 if kind == "bf16" else 32}
    fixed["PRECISION"] = "ieee" if kind == "bf16" else "tf32x3"
    kinds = {n: "*i32" if n in INDEX else f"*{kind}" if n in HALF else "*fp32" for n in function.arg_names}
    return compiled(function, fixed, kinds, capability, 4)


def of_dynamics(words: int, neurons: int, capability: int):
    """Kernel of asynchronous dynamics: couplings as numbers, or in so many words."""
    fixed = {"N": neurons, "BN": 1 << (neurons - 1).bit_length(), "EACH": 32, "LOW": neurons.bit_length()}
    fixed |= {"RANDOM": True, "WORDS": words, "SIZE": words * neurons or neurons**2}
    kinds = dict.fromkeys(events.settle.arg_names, "*fp32") | {"FREE": "*i8", "LIMIT": "*i32", "COUNT": "*i32"}
    kinds |= {"KEY": "*u32", "MATRIX": "*u32" if words else "*fp32"}
    return compiled(events.settle, fixed, kinds, capability, min(32, max(4, fixed["BN"] // 512)))


def compiled(function, fixed: dict, kinds: dict, capability: int, warps: int):
    """A kernel with what is fixed in it and the kinds of its pointers."""
    signature = {n: "constexpr" if n in fixed else kinds[n] for n in function.arg_names}
    places = {n: (i,) for i, n in enumerate(function.arg_names)}
    constants = {places[n]: fixed[n] for n in function.arg_names if n in fixed}
    aligned = {places[n]: [["tt.divisibility", 16]] for n in function.arg_names if n not in fixed}
    source = ASTSource(fn=function, signature=signature, constexprs=constants, attrs=aligned)
    options = {"num_warps": warps, "num_stages": 2}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def registers(ptx: str) -> str:
    """Registers and bytes spilled, as Triton's ptxas tells of a program."""
    ptxas, target = shutil.which("ptxas") or triton.knobs.nvidia.ptxas.path, re.search(r"\.target (sm_\w+)", ptx)[1]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.ptx").write_text(ptx)
        run = [ptxas, "-v", "-arch", target, f"{folder}/a.ptx", "-o", f"{folder}/a.cubin"]
        told = subprocess.run(run, capture_output=True, text=True).stderr
    return ", ".join(re.findall(r"Used \d+ registers|\d+ bytes spill stores", told))


if __name__ == "__main__":
    for capability in map(int, sys.argv[1:]):
        for kind in ("bf16", "fp32"):
            for name in ("search", "read", "queries_slope", "keys_slope"):
                program = of_attention(name, kind, capability)
                told = f"shared {program.metadata.shared}, {registers(program.asm['ptx'])}"
                sys.stdout.write(f"sm_{capability} {kind} {name}: {told}\n")
        for words, neurons in ((0, 2000), (72, 16_000)):
            program = of_dynamics(words, neurons, capability)
            told = f"shared {program.metadata.shared}, {registers(program.asm['ptx'])}"
            sys.stdout.write(f"sm_{capability} settle, {neurons} neurons, {words} words: {told}\n")
