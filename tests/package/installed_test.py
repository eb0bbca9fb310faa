#!/usr/bin/env python3
"""An installed hbmscope finds what belongs to it, and what a package brings beside the programs is well-formed.

    installed_test.py FOLDER        with bin, lib and share, as cmake --install makes them
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv[1]).resolve()
HBMSCOPE = FOLDER / "bin" / "hbmscope"
SHARE = FOLDER / "share"


def output(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


def offered_by_bash(*words):
    script = (SHARE / "bash-completion/completions/hbmscope").read_text()
    line = " ".join(f"'{word}'" for word in ("hbmscope", *words))
    return output("bash", "-c", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _hbmscope; printf '%s\\n' \"${{COMPREPLY[@]}}\"", cwd="/").splitlines()


class Installed(unittest.TestCase):
    def test_it_says_what_it_has(self):
        lines = output(HBMSCOPE, "--version").splitlines()
        self.assertRegex(lines[0], r"^hbmscope \d+\.\d+\.\d+( \(commit [0-9a-f]{8}(, changed)?\))?$")
        for part in ("recording of jobs", "emulated GPUs", "emulated TPUs"):
            self.assertIn(part, lines[1])
        self.assertIn("SIL Open Font License", (SHARE / "doc/hbmscope/copyright").read_text())

    def test_links_of_its_pages_lead_to_its_pages(self):
        pages = sorted((SHARE / "doc/hbmscope").rglob("*.md"))
        self.assertGreater(len(pages), 20)
        for page in pages:
            for link in re.findall(r"\]\((?![a-z]+:)([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)):
                self.assertTrue((page.parent / link).exists() or link.startswith("../../tests/"), f"{page}: {link}")

    def test_a_job_runs_on_its_emulated_device(self):
        with tempfile.TemporaryDirectory() as folder:
            recording = os.path.join(folder, "r.hbm")
            driver = "import ctypes; d = ctypes.CDLL('libcuda.so.1'); d.cuInit(0); c = ctypes.c_void_p(); d.cuCtxCreate_v2(ctypes.byref(c), 0, 0); p = ctypes.c_uint64(); d.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(1 << 30))"
            output(HBMSCOPE, "run", "--emulate", "h100", "--no-window", "--no-flight", "--record", recording, "--", "/usr/bin/env", "-S", sys.executable, "-c", driver)
            self.assertIn("1.00 GiB", output(HBMSCOPE, "report", recording, "--at", "peak"))

    def test_bash_completes(self):
        self.assertEqual(offered_by_bash("repo"), ["report"])
        self.assertIn("explain", offered_by_bash(""))
        self.assertEqual(offered_by_bash("tpu", "fi"), ["fit"])
        self.assertEqual(offered_by_bash("report", "--fail"), ["--fail-if"])
        self.assertIn("/usr", offered_by_bash("report", "/us"))
        self.assertEqual(offered_by_bash("--vers"), ["--version"])
        self.assertNotIn("demo-job", offered_by_bash("demo"))
        self.assertEqual(offered_by_bash("report", "--by", "li"), ["line"])
        self.assertIn("h100-80", offered_by_bash("run", "--emulate", "h1"))
        self.assertEqual(offered_by_bash("run", "--values", ""), ["worst", "zeros"])
        self.assertEqual(offered_by_bash("report", "--at", "p"), ["peak"])
        self.assertEqual(offered_by_bash("export", "--to", "p"), ["pprof", "perfetto", "parquet", "prometheus"])
        self.assertEqual(offered_by_bash("open", "--theme", "d"), ["dark"])
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a b.prof").write_text("")
            self.assertEqual(offered_by_bash("report", f"{folder}/a"), [f"{folder}/a b.prof"])
            self.assertEqual(offered_by_bash("run", "--", f"{folder}/a"), [f"{folder}/a b.prof"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes(self):
        script = SHARE / "fish/vendor_completions.d/hbmscope.fish"
        offered = output("fish", "--no-config", "-c", f"source {script}; complete -C 'hbmscope tpu fi'; complete -C 'hbmscope report --fail'")
        self.assertIn("fit\t", offered)
        self.assertIn("--fail-if\t", offered)
        offered = output("fish", "--no-config", "-c", f"source {script}; complete -C 'hbmscope tpu run --'; complete -C 'hbmscope tpu fit fi'")
        self.assertIn("--json", offered)
        self.assertNotIn("--emulate", offered)
        self.assertNotIn("fit\t", offered)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_completion(self):
        script = SHARE / "zsh/site-functions/_hbmscope"
        output("zsh", "-f", "-n", script)
        self.assertEqual(output("zsh", "-f", "-c", f"compdef() {{ print $2 $1 }}; source {script}"), "hbmscope _hbmscope\n")

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_the_manual_page_is_well_formed(self):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", SHARE / "man/man1/hbmscope.1"], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        page = re.sub(".\x08", "", done.stdout)  # Bold letters are struck twice.
        self.assertTrue("--fail-if CONDITION" in page and "FILE " in page and "--beside" not in page)

    @unittest.skipUnless(shutil.which("desktop-file-validate"), "desktop-file-validate is not installed")
    def test_the_desktop_entry_is_well_formed(self):
        self.assertEqual(output("desktop-file-validate", SHARE / "applications/hbmscope.desktop"), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
