#!/usr/bin/env python3
"""Runs the commands that a page shows, and compares what they print with what the page says.

    pages_test.py PROGRAM FOLDER              compares
    pages_test.py PROGRAM FOLDER --rewrite    writes what the program prints now, and the pictures; a person reads the difference

Of each FOLDER/*.md the blocks that begin with ```console are run: "$ " begins a command, and what follows is all that it
prints. A line "..." stands for any lines, and "..." in a line for any text. Commands run in an empty folder in which `samples`
is that of the repository and `hbmscope` is PROGRAM. A picture that a command makes is compared only in its size.
"""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def parts_of(block):
    """Pairs of a command and the lines that it prints."""
    parts = []
    for line in block.splitlines():
        if line.startswith("$ "):
            parts.append((line[2:], []))
        else:
            parts[-1][1].append(line)
    return parts


def pattern_of(lines):
    pattern = ""
    for line in lines:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("...")) + r" *\n"
    return re.compile(pattern)


class Page:
    def __init__(self, page, program):
        self.page = page
        self.program = program
        self.faults = []

    def run(self, command, folder):
        environment = {"PATH": f"{folder}/.bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "HOME": folder, "XDG_RUNTIME_DIR": f"{folder}/.run"}
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, timeout=120)
        return (done.stdout + done.stderr).decode("utf-8", "backslashreplace")

    def check(self, rewrite):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(ROOT / "samples", f"{folder}/samples")
            os.mkdir(f"{folder}/.bin")
            os.mkdir(f"{folder}/.run", 0o700)
            os.symlink(self.program, f"{folder}/.bin/hbmscope")
            text = BLOCK.sub(lambda found: self.block(found.group(1), folder), self.page.read_text())
            self.pictures(folder, rewrite)
        if rewrite:
            self.page.write_text(text)
        return self.faults

    def block(self, block, folder):
        written = "```console\n"
        for command, lines in parts_of(block):
            printed = self.run(command, folder)
            is_said = pattern_of(lines).fullmatch(printed) is not None
            if not is_said:
                want, got = [line.rstrip() for line in lines], [line.rstrip() for line in printed.splitlines()]
                self.faults.append(f"{self.page.name}: $ {command}\n" + "\n".join(difflib.unified_diff(want, got, "the page", "the program", lineterm="")))
            kept = lines if is_said else [line.rstrip() for line in printed.splitlines()]
            written += f"$ {command}\n" + "".join(line.rstrip() + "\n" for line in kept)
        return written + "```"

    def pictures(self, folder, rewrite):
        for made in sorted(pathlib.Path(folder).glob("*.png")):
            kept = self.page.parent / made.name
            if rewrite:
                shutil.copy(made, kept)
            elif not kept.exists() or made.read_bytes()[16:24] != kept.read_bytes()[16:24]:
                self.faults.append(f"{self.page.name}: {made.name} has another size than the page's, or the page has none")


def main():
    program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    pages = sorted(folder.glob("*.md"))
    commands = sum(len(parts_of(block)) for page in pages for block in BLOCK.findall(page.read_text()))
    faults = [fault for page in pages for fault in Page(page, program).check("--rewrite" in sys.argv)]
    print("\n\n".join(faults))
    print(f"{len(pages)} pages, {commands} commands, {len(faults)} differ")
    sys.exit(1 if not commands or (faults and "--rewrite" not in sys.argv) else 0)


if __name__ == "__main__":
    main()
