#!/usr/bin/env python3
"""Holds the sources against the house rules: who may include what, how long a file may be, which folders explain themselves.

    tests/house/check_house.py [ROOT]       prints one line a breach and exits with 1 if there is any

The tables below are the design's table "folder | may include", in a form that a machine reads. A folder may always
include itself. Other libraries than the ones named are free (standard library, fmt, nlohmann-json, ...).
"""

import pathlib
import re
import sys

from throwing_calls import find_throwing_calls

# Folder -> folders whose headers it may include. The deepest folder that is listed here decides for a file.
MAY_INCLUDE = {
    "collector/wire": [],
    "collector/annotate": [],
    "collector/abi": [],
    "collector/inject": ["collector/wire", "collector/annotate", "collector/abi"],
    "collector/link": ["collector/wire"],
    "collector/source_lines": [],
    "collector/serve": ["collector/wire", "collector/link", "collector/source_lines"],
    "collector/self_serve": ["collector/wire", "collector/annotate", "collector/inject", "collector/link", "collector/serve"],
    "collector/view": ["collector/wire", "collector/link"],
    "collector/attach": ["collector/wire", "collector/serve"],
    "allocator/reference": ["collector/annotate", "collector/wire"],
    "allocator/emulated": ["allocator/reference", "collector/annotate"],
    # Loaded into other people's programs: nothing of ours but itself.
    "allocator/emulated/accounts": [],
    "allocator/emulated/cuda": ["allocator/emulated/accounts", "collector/abi"],
    "allocator/emulated/tpu": ["allocator/reference", "allocator/emulated/accounts", "collector/annotate", "collector/abi"],
    # Inside of analysis, from the ground up: each folder knows those above it in this list.
    "analysis/model": ["collector/wire", "allocator"],
    "analysis/units": ["analysis/model"],
    "analysis/heap": ["analysis/model"],
    "analysis/trace": ["analysis/model", "analysis/units", "analysis/heap", "collector/wire", "allocator/reference/interface"],
    "analysis/read": ["analysis/model", "analysis/units", "analysis/heap", "analysis/trace", "collector/wire", "allocator"],
    "analysis/query": ["analysis/model", "analysis/units", "analysis/heap", "analysis/trace", "collector/wire", "allocator"],
    "analysis/document": ["analysis/model", "analysis/units", "analysis/query"],
    "analysis/digest": ["analysis/model", "analysis/units", "analysis/trace", "analysis/query", "collector/wire"],
    "analysis/whatif": ["analysis/model", "analysis/units", "analysis/trace", "analysis/query", "allocator", "collector/wire"],
    "analysis/diagnose": ["analysis/model", "analysis/units", "analysis/trace", "analysis/query", "analysis/whatif", "collector/wire", "allocator"],
    "analysis/judge": ["analysis/model", "analysis/units", "analysis/trace", "analysis/read", "analysis/query", "analysis/whatif", "analysis/diagnose", "collector/wire", "allocator"],
    "analysis/answers": ["analysis/model", "analysis/units", "analysis/trace", "analysis/query", "analysis/whatif", "analysis/diagnose", "analysis/judge", "analysis/document", "collector/wire", "allocator"],
    "analysis/write": ["analysis/model", "analysis/units", "analysis/trace", "analysis/query", "analysis/diagnose", "analysis/document", "analysis/answers", "collector/wire"],
    "app/cli": ["analysis", "collector/link", "collector/attach", "collector/serve", "collector/view", "allocator"],
    "app/gui/sources": ["analysis", "allocator", "collector/view"],
    "app/gui/core": ["app/gui/sources", "analysis", "collector/view"],
    # gui/core returns rows of analysis, so folders that may include core may name these types; reading and writing
    # files stays behind core.
    "app/gui/look": ["app/gui/core", "app/gui/sources", "analysis/model", "analysis/units", "analysis/query", "analysis/document"],
    "app/gui/views": ["app/gui/core", "app/gui/sources", "app/gui/look", "analysis/model", "analysis/units", "analysis/query", "analysis/document", "analysis/answers"],
    "app/gui/shell": ["app/gui/core", "app/gui/sources", "app/gui/look", "app/gui/views", "analysis/model", "analysis/units", "analysis/query"],
    "app/gui/platform": ["app/gui/core", "app/gui/sources", "app/gui/look", "app/gui/shell", "analysis/model", "third_party"],
    "app/cli/parser": ["app/cli", "analysis", "allocator", "collector/view"],
    "app": ["app/cli", "app/gui/platform"],
    "app/web": ["app/gui/core", "app/gui/platform"],
    "third_party": [],
    "samples": ["allocator"],
    "tests": ["analysis", "app", "collector", "allocator", "third_party"],
}

# The owner of a header -> (a pattern for its include, the folders that may include it).
TOOLKITS = {
    "Dear ImGui": (r"(imgui|imcmd|imstb|misc/cpp/imgui|portable_file_dialogs|ImGuiFileDialog)", ["app/gui/look", "app/gui/views", "app/gui/shell", "app/gui/platform", "app/web", "tests/gui", "tests/bench"]),
    "ImPlot": (r"implot", ["app/gui/look", "app/gui/views", "app/gui/platform", "tests/gui"]),
    "an ImGui back end": (r"imgui_impl_", ["app/gui/platform", "tests/gui"]),
    "GLFW": (r"GLFW/", ["app/gui/platform", "tests/gui", "tests/bench"]),
    "OpenGL or EGL": (r"(GL|GLES\d?|EGL|KHR|glad|GL3)/|gl3w|glew", ["app/gui/platform", "third_party/web", "tests/gui", "tests/bench"]),
    "X11 or Wayland": (r"(X11|wayland)", ["app/gui/platform", "tests/gui"]),
    "protobuf": (r"google/protobuf|[^>\"]*\.pb\.h", ["analysis/write", "tests"]),
    "CUPTI, CUDA, PJRT or NVTX": (r"(cupti|cuda|nvml|nvToolsExt|nvtx3/|xla/pjrt|pjrt_c_api)", ["collector/abi", "collector/inject", "allocator/emulated/cuda"]),
    "libdw": (r"(elfutils/|dwarf\.h|libelf\.h|gelf\.h)", ["collector/source_lines"]),
    "GoogleTest": (r"(gtest|gmock)/", ["tests"]),
    "a test engine": (r"imgui_te_", ["tests/gui"]),
    "CLI11": (r"CLI/", ["app/cli/parser"]),
}
# In these folders only files of that name may include a toolkit, so that the rest can be tested without a window.
DRAWS_ONLY_IN = {"app/gui/views": "draw_"}
# A header that only Linux has; analysis and the window are for Mac users too.
LINUX_ONLY = re.compile(
    r"(linux/|asm/|sys/(epoll|eventfd|inotify|memfd|prctl|sendfile|signalfd|sysinfo|timerfd|syscall|auxv)\.h|link\.h|elf\.h|malloc\.h|features\.h)"
)
NO_LINUX_IN = ["analysis", "app/gui"]

# Features that one of the supported compilers can't compile.
NOT_EVERYWHERE = {
    r"\bstd::(ranges|views)::": "clang 14, with which fuzzers are built, can't compile it with the library of g++ 12",
}

# A job must not fail to start because a path can't be looked at: no call of std::filesystem throws here.
NOTHING_THROWS_IN = ["app", "analysis", "collector", "allocator"]

LINES_MAX = 500
NO_SUCH_FOLDERS = {"util", "utils", "common", "misc", "helpers"}
OUR_ROOTS = {"analysis", "app", "allocator", "collector", "tests", "third_party", "samples"}
CODE = {".h", ".hpp", ".cpp", ".c", ".cc"}
SOURCES = CODE | {".py", ".go", ".sh", ".cmake", ".proto"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def is_within(path, folder):
    return path == folder or path.startswith(folder + "/")


def owner_of(folder):
    """The deepest row of the table that this folder belongs to."""
    rows = [row for row in MAY_INCLUDE if is_within(folder, row)]
    return max(rows, key=len) if rows else None


def sources_of(root):
    for top in sorted(OUR_ROOTS):
        if not (root / top).is_dir():
            continue
        for path in sorted((root / top).rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and path.suffix in SOURCES and "__pycache__" not in relative.parts:
                yield relative


def check_own_include(folder, header, root):
    """`header` is written with quotes. Returns what is wrong with it, or nothing."""
    if header.endswith(".pb.h"):
        return None  # Generated into the build folder; a toolkit by the table above.
    if header.split("/")[0] not in OUR_ROOTS:
        return f'"{header}" is not written from the root of the repository (others\' headers take < >)'
    generated = header.startswith("third_party/")
    if not generated and not (root / header).is_file():
        return f'"{header}" does not exist'
    owner = owner_of(folder)
    if owner is None:
        return f"{folder} is in no row of the table 'folder | may include'"
    allowed = [owner, *MAY_INCLUDE[owner]]
    if any(is_within(header, row) for row in allowed if row != "app"):
        return None
    if "app" in allowed and is_within(header, "app") and (owner == "tests" or header.count("/") == 1):
        return None
    return f'{owner} may not include "{header}"'


def check_toolkits(relative, header):
    folder = relative.parent.as_posix()
    for name, (pattern, folders) in TOOLKITS.items():
        if not re.match(pattern, header):
            continue
        if not any(is_within(folder, row) for row in folders):
            return f"{folder} may not include {name} ({header}); only {', '.join(folders)} may"
        for row, prefix in DRAWS_ONLY_IN.items():
            if is_within(folder, row) and not relative.name.startswith(prefix):
                return f"in {row} only {prefix}* files may include {name} ({header})"
    if LINUX_ONLY.match(header) and any(is_within(folder, row) for row in NO_LINUX_IN):
        return f"{folder} may not include {header}, which only Linux has"
    return None


def check_code(root, relative, text):
    folder = relative.parent.as_posix()
    if any(is_within(folder, row) for row in NOTHING_THROWS_IN):
        for number, why in find_throwing_calls(text):
            yield f"{relative}:{number}: {why}: give it a std::error_code that is declared in this file"
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, why in NOT_EVERYWHERE.items():
            if found := re.search(pattern, line):
                yield f"{relative}:{number}: {found.group()} is not for every compiler: {why}"
        include = INCLUDE.match(line)
        if include is None:
            continue
        bracket, header = include.groups()
        wrong = check_toolkits(relative, header)
        if wrong is None and bracket == '"':
            wrong = check_own_include(folder, header, root)
        if wrong is None and bracket == "<" and header.split("/")[0] in OUR_ROOTS and (root / header).exists():
            wrong = f"our own <{header}> takes quotes"
        if wrong:
            yield f"{relative}:{number}: {wrong}"


def check(root):
    """All breaches, a line each."""
    root = pathlib.Path(root)
    breaches = []
    folders = set()
    for relative in sources_of(root):
        folders.add(relative.parent)
        text = (root / relative).read_text(errors="replace")
        lines = text.count("\n")
        if lines > LINES_MAX and not text.startswith("// Made by "):
            breaches.append(f"{relative}: {lines} lines, more than {LINES_MAX}; which two things does it do?")
        if relative.suffix in CODE:
            breaches.extend(check_code(root, relative, text))
    for folder in sorted(folders | {parent for folder in folders for parent in folder.parents if parent.parts}):
        if folder.name in NO_SUCH_FOLDERS:
            breaches.append(f"{folder}: no folder is called {folder.name}; name it after what it does")
        readme = root / folder / "README.md"
        # A leaf needs no README: the folder above it and its headers say what it is.
        is_leaf = len(folder.parts) > 1 and not any(folder in other.parents for other in folders)
        if not readme.is_file():
            if not is_leaf:
                breaches.append(f"{folder}: has no README.md (what it is, owns, may use, where to start reading)")
        elif len(readme.read_text().splitlines()) < 3:
            breaches.append(f"{folder}/README.md: says too little")
    return breaches


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    breaches = check(root)
    for breach in breaches:
        print(breach)
    if not breaches:
        print(f"{sum(1 for _ in sources_of(root))} source files keep the house rules")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
