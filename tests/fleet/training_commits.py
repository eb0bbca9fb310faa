"""Makes a repository of a small training program on the CUDA driver, with thirty commits: most are harmless, one breaks the
program, one lowers its memory a little, and one may hold more in a function that is new."""

import os
import re
import subprocess

MIB = 1 << 20
COMMITS = 30
BROKEN, LOWERED, PLANTED = 14, 17, 19  # Numbers of commits, the first is 0; BROKEN is the one that a bisection runs first.
WEIGHTS, ACTIVATIONS, SAVED = 256 * MIB, 128 * MIB, 6 * MIB

PROGRAM = '''\
"""Trains, in four steps."""
import ctypes

MIB = 1 << 20
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()


def begin():
    for code in (cuda.cuInit(0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)):
        if code != 0:
            raise RuntimeError(f"CUDA error {code}")


def load_weights():
    weights = ctypes.c_uint64()
    if cuda.cuMemAlloc_v2(ctypes.byref(weights), ctypes.c_size_t(256 * MIB)) != 0:
        raise MemoryError("out of memory for weights")
    return weights


def forward():
    activations = ctypes.c_uint64()
    if cuda.cuMemAlloc_v2(ctypes.byref(activations), ctypes.c_size_t(128 * MIB)) != 0:
        raise MemoryError("out of memory for activations")
    return activations


def main():
    begin()
    weights = load_weights()
    for step in range(4):
        activations = forward()
        cuda.cuMemFree_v2(activations)
    cuda.cuMemFree_v2(weights)


main()
'''
KEEP = '''\
def keep_for_later():
    kept = ctypes.c_uint64()
    if cuda.cuMemAlloc_v2(ctypes.byref(kept), ctypes.c_size_t({mib} * MIB)) != 0:
        raise MemoryError("out of memory for what is kept")
    return kept


def main():
    begin()
    kept = keep_for_later()
'''


def git(folder, *words):
    identity = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in (("NAME", "A Person"), ("EMAIL", "person@example.com"))}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    return subprocess.run(["git", "-C", folder, *words], env=environment, check=True, capture_output=True, text=True).stdout.rstrip("\n")


def harmless(program, number):
    """(Subject, program): moved lines, comments, other names of variables."""
    if number % 3 == 0:
        return f"Explain the program, part {number}", program.replace("import ctypes\n", f"# Part {number} of the explanation.\nimport ctypes\n", 1)
    if number % 3 == 1:
        return f"Call it step_{number}", re.sub(r"for step\w* in", f"for step_{number} in", program)
    first, second = program.index("def load_weights"), program.index("def forward")
    first, second = min(first, second), max(first, second)
    end = min(at for at in (program.find("def main"), program.find("def keep_for_later")) if at > 0)
    return f"Sort the functions, {number}", program[:first] + program[second:end] + program[first:second] + program[end:]


def make(folder, planted_mib=512):
    """The full hashes, the oldest first; planted_mib 0: nothing is planted."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    program, commits = PROGRAM, []
    for number in range(COMMITS):
        subject, written = f"Commit {number}", None
        if number == BROKEN:
            subject, written = "Break it", program.replace("def main():", "def main(:")
        elif number == LOWERED:
            subject, program = "Smaller weights", program.replace("256 * MIB", "250 * MIB")
        elif number == PLANTED and planted_mib:
            subject, program = "Keep what is needed later", program.replace("def main():\n    begin()\n", KEEP.format(mib=planted_mib))
        elif number > 0:
            subject, program = harmless(program, number)
        (folder / "train.py").write_text(written or program)
        git(folder, "add", "train.py")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits
