#!/usr/bin/env python3
"""What commands say of packages of the user's Python that are missing, broken or of another version.

    packages_test.py HBMSCOPE [unittest's arguments]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "app/fleet"))
import packages

HBMSCOPE = None  # Set by main().
COMMANDS = {"duckdb": ["fleet", "store"], "mcp": ["mcp"]}


class Packages(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.python = self.folder / "python"
        self.python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # Without any package.
        self.python.chmod(0o755)

    def package(self, name, code, version):
        """One as pip installs it."""
        for folder in (name, f"{name}-{version}.dist-info"):
            (self.folder / folder).mkdir()
        (self.folder / name / "__init__.py").write_text(code)
        (self.folder / f"{name}-{version}.dist-info" / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    def said(self, command, hbmscope=None, **variables):
        done = subprocess.run([hbmscope or HBMSCOPE, *command], capture_output=True, text=True, cwd=self.folder, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, PYTHONPATH=str(self.folder), PYTHONDONTWRITEBYTECODE="1", **variables))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(done.stderr.count("hbmscope: "), 1, done.stderr)
        return done.stderr

    def test_a_package_that_is_missing(self):
        for package, command in COMMANDS.items():
            said = self.said([*command, "--python", str(self.python)])
            self.assertIn(f"has no package {package}. Run ", said)
            self.assertIn(f"-m pip install '{package}>=", said)

    def test_a_package_that_is_there_and_can_not_be_imported(self):
        for package, command in COMMANDS.items():
            self.package(package, "raise ImportError('its library is of another machine')", "1.99.7")
            said = self.said([*command, "--python", str(self.python)])
            self.assertIn(f"the package {package} 1.99.7 of the Python", said)
            self.assertIn(f"can't be imported: its library is of another machine. hbmscope needs {packages.requirement(package)}. Run ", said)

    def test_a_package_of_another_version(self):
        self.package("mcp", "", "0.9.1")
        self.assertRegex(self.said(["mcp", "--python", str(self.python)]), r"the package mcp 0\.9\.1 .* can't be imported: .*\. hbmscope needs mcp>=1\.30,<3\.")
        for version, is_known in (("1.1.2", False), ("1.1.3", True), ("2.7.0", True), ("3.0.0", False), ("3.1.dev4", False)):
            with self.subTest(version):
                for old in self.folder.glob("duckdb*"):
                    shutil.rmtree(old)
                self.package("duckdb", "class Error(Exception): pass\ndef connect(): raise Error('syntax error at or near \"=\"')", version)
                (self.folder / "store/rank/run=a").mkdir(parents=True, exist_ok=True)
                (self.folder / "store/rank/run=a/a.parquet").touch()
                said = self.said(["fleet", "store", "--python", str(self.python)])
                self.assertIn('store can\'t be read: syntax error at or near "="', said)
                self.assertEqual(f"The package duckdb is {version}, and hbmscope needs duckdb>=1.1.3,<3. Run " in said, not is_known, said)

    def test_the_default_is_the_environment_in_which_hbmscope_is_installed(self):
        environment = self.folder / "environment"
        (environment / "bin").mkdir(parents=True)
        hbmscope = shutil.copy(HBMSCOPE, environment / "bin")
        (environment / "share").mkdir()
        (environment / "share/hbmscope").symlink_to(ROOT / "app")
        path = f"{self.folder / 'path'}:/usr/bin:/bin"
        (self.folder / "path").mkdir()
        for python in (environment / "bin/python3", self.folder / "path/python3"):
            python.write_text(f"#!/bin/sh\necho $0 >{self.folder}/used\nexit 9\n")
            python.chmod(0o755)
        for is_environment, used in ((False, self.folder / "path/python3"), (True, environment / "bin/python3")):
            if is_environment:
                (environment / "pyvenv.cfg").touch()
            for command in (["fleet", "store"], ["mcp"]):
                subprocess.run([hbmscope, *command], capture_output=True, cwd=self.folder, env=dict(os.environ, PATH=path))
                self.assertEqual((self.folder / "used").read_text().strip(), str(used))

    def test_the_tests_use_both_ends_of_the_range(self):
        for package, folder in (("duckdb", "fleet"), ("mcp", "agent")):
            first, end = packages.NEEDED[package]
            oldest, newest = ((ROOT / "tests" / folder / name).read_text().strip() for name in ("requirements.txt", "newest_requirements.txt"))
            self.assertRegex(oldest, rf"^{package}=={re.escape(first)}(\.0)?$")
            self.assertTrue(newest.endswith(f",<{end}"), newest)
            for page in ("app/cli/README.md", f"app/{'fleet' if folder == 'fleet' else 'mcp'}/README.md"):
                self.assertIn(packages.requirement(package), (ROOT / page).read_text(), page)
            self.assertIn(f'["{packages.requirement(package)}"]', (ROOT / "pyproject.toml").read_text())


if __name__ == "__main__":
    HBMSCOPE = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
