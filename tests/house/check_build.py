#!/usr/bin/env python3
"""Checks how many lines the compiler reads for the product: what moves with the build's CPU seconds, and is the same on
every machine.

    check_build.py SOURCES BUILD

For each file that BUILD's compile_commands.json compiles of the product, a batch of many files in most cases: the lines of
all our files in it, each once, and those of the standard library and of third-party headers by the table below. More files
in a batch, fewer wide headers and less code lower the sum."""

import json
import pathlib
import re
import sys

# Lines after preprocessing with g++ 12; of the standard library what the others don't have in common.
STANDARD_LIBRARY = 20_000  # Of every unit in C++.
HEADERS = {
    "nlohmann/json.hpp": 70_000, "CLI/CLI.hpp": 55_000, "google/protobuf": 55_000, "fmt/": 27_000, "re2/re2.h": 20_000, "filesystem": 20_000,
    "regex": 35_000, "thread": 15_000, "tl/expected.hpp": 10_000, "functional": 9_000, "chrono": 12_000,
}
PRODUCT = ("allocator", "analysis", "app", "collector")
LIMIT = 9_400_000
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


class Lines:
    def __init__(self, sources):
        self.sources = sources
        self.files = {}  # The lines of a file, and what it includes.

    def file(self, path):
        if path not in self.files:
            text = path.read_text(errors="replace") if path.is_file() else ""
            self.files[path] = text.count("\n"), INCLUDE.findall(text)
        return self.files[path]

    def of_unit(self, unit):
        """Of a file with all that it includes."""
        seen, headers, waiting, lines = {unit}, set(), [unit], 0
        while waiting:
            here = waiting.pop()
            own, included = self.file(here)
            lines += own
            for quoted, angled in included:
                headers.update(prefix for prefix in HEADERS if angled.startswith(prefix))
                path = self.sources / quoted  # A batch names its files by absolute paths.
                if quoted and path.is_relative_to(self.sources) and path not in seen:
                    seen.add(path)
                    waiting.append(path)
        is_cpp = unit.suffix != ".c"
        return lines + (STANDARD_LIBRARY + sum(HEADERS[header] for header in headers) if is_cpp else 0)


def units_of(sources, build):
    for command in json.loads((build / "compile_commands.json").read_text()):
        if command["command"].rpartition(" -o ")[2].partition("/")[0] in PRODUCT:
            yield pathlib.Path(command["file"])


def count(sources, build):
    lines = Lines(sources)
    return {unit: lines.of_unit(unit) for unit in units_of(sources, build)}


def main(sources, build):
    units = count(pathlib.Path(sources).resolve(), pathlib.Path(build).resolve())
    total, largest = sum(units.values()), max(units, key=units.get)
    print(f"The compiler reads {total:,} lines in {len(units)} units; the largest is {largest.parent.name}/{largest.name} of "
          f"{largest.parent.parent.name} with {units[largest]:,}. The limit is {LIMIT:,}.")
    return total > LIMIT


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
