#!/usr/bin/env python3
"""Refuses words that no user of a profiler would understand at once, in what the program prints and shows.

    tests/house/check_words.py [ROOT]       prints one line for each, and exits with 1 if there is any

Looks at string literals of the sources and at the outputs of the golden tests; not at comments, keys or names (a literal
without a space).
"""

import pathlib
import re
import sys

# Refused words -> what to write instead.
WORDS = {
    r"\b(told|tells)\b": "reported, reports; or unknown",
    r"\basked\b": "requested",
    r"\bbeside\b": "side by side, compared with, next to",
    r"\bwhat is other\b": "differences from the file",
    r"\b(other than )?as written\b": "unmodified",
    r"\b(worked|working|works) out\b": "computed",
    r"\bfits up to\b": "largest free block",
    r"\bpieces?\b": "block, free block",
    r"\bscattered\b": "fragmented",
    r"\bby whom\b": "allocated by",
    r"\bown (code|line)\b": "your code",
    r"(?<!high-water )\bmarks\b": "markers",
    r"\bin its way\b": "blocking allocations",
    r"\bturn(ed|s)? (it |the [a-z ]+)?round\b": "invert",
    r"\bthirtieth\b": "30x smaller",
}
# (File, what it says) -> why that is right there.
ALLOWED = {
    ("app/gui/views/side_by_side/row.h", "beside"): "the earlier key of a view, which scripts use",
    ("analysis/query/file_names.cpp", "told"): "what recordings of before say",
    ("analysis/read/pickle/machine.cpp", "marks"): "an opcode of Python's pickles",
    ("tests/cli/golden/report.txt", "scattered"): "a value of the key `verdict` in JSON, which stays",
    ("analysis/query/attached_facts.cpp", "told"): "what recordings of before say, which is read and not printed",
}
FOLDERS = ["app", "analysis", "allocator", "collector"]
GOLDEN = "tests/cli/golden"

TOKEN = re.compile(
    r'R"(?P<mark>[A-Za-z_]*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)


def literals(source):
    """(Line, text) of each string literal."""
    for found in TOKEN.finditer(source):
        text = found.group("raw") if found.group("raw") is not None else found.group("text")
        if text is not None and "\nimport " not in text:  # Not a Python program.
            yield source.count("\n", 0, found.start()) + 1, text


def outputs(golden):
    """(Line, text) of all that the commands of a golden file print; without keys and single words of JSON and CSV."""
    for number, line in enumerate(golden.splitlines(), 1):
        if not line.startswith("$ "):
            yield number, re.sub(r'"[^" ]*"|(?<=,)[^, ]*(?=,)', "", line)


def wrong_words(text):
    for pattern, better in WORDS.items():
        for found in re.finditer(pattern, text, re.IGNORECASE):
            yield found.group(), better


def check(root):
    """All places, a line each."""
    root = pathlib.Path(root)
    places = []

    def look(path, lines, is_source):
        relative = path.relative_to(root).as_posix()
        for number, text in lines:
            if is_source and " " not in text.strip():
                continue
            for word, better in wrong_words(text):
                if not any(relative == file and allowed in word for file, allowed in ALLOWED):
                    shown = " ".join(text.split())
                    places.append(f'{relative}:{number}: "{word}" (write: {better}) in: {shown[:120]}')

    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                look(path, literals(re.sub(r"(?m)^\s*#\s*include.*$", "", path.read_text(errors="replace"))), True)
    for path in sorted((root / GOLDEN).glob("*.txt")):
        look(path, outputs(path.read_text(errors="replace")), False)
    return places


def main():
    places = check(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    for place in places:
        print(place)
    print(f"{len(places)} places to write in plain English" if places else "all texts keep to the words")
    sys.exit(1 if places else 0)


if __name__ == "__main__":
    main()
