#!/usr/bin/env python3
"""The count on a small tree: a check that cannot fail checks nothing."""

import json
import pathlib
import tempfile
import unittest

import check_build


class CheckBuild(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sources, self.build = pathlib.Path(folder.name) / "sources", pathlib.Path(folder.name) / "build"
        self.write("analysis/wide.h", "#include <fmt/format.h>\n" + "//\n" * 9)
        self.write("analysis/a.cpp", '#include "analysis/wide.h"\n')
        self.write("analysis/b.cpp", '#include "analysis/wide.h"\n\n')

    def write(self, path, text):
        file = self.sources / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def count(self, *units, output="analysis/a.o"):
        self.build.mkdir()
        commands = [{"file": str(unit), "command": f"g++ -o {output} -c {unit}"} for unit in units]
        (self.build / "compile_commands.json").write_text(json.dumps(commands))
        return sum(check_build.count(self.sources, self.build).values())

    def wide(self):
        return check_build.STANDARD_LIBRARY + check_build.HEADERS["fmt/"] + 10

    def test_headers_count_once_in_each_unit(self):
        self.assertEqual(self.count(self.sources / "analysis/a.cpp", self.sources / "analysis/b.cpp"), 2 * self.wide() + 3)

    def test_and_once_in_a_batch(self):
        files = [self.sources / "analysis" / name for name in ("a.cpp", "b.cpp")]
        batch = self.write("unity.cxx", "".join(f'#include "{file}"\n' for file in files))
        self.assertEqual(self.count(batch), self.wide() + 3 + 2)

    def test_tests_do_not_count(self):
        self.assertEqual(self.count(self.sources / "analysis/a.cpp", output="tests/a.o"), 0)


if __name__ == "__main__":
    unittest.main()
