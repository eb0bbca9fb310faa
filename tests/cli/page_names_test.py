#!/usr/bin/env python3
"""Every command that a page names in its text, a table or a block exists, with each of its options.

    page_names_test.py PROGRAM

What the pages of guides and stories show with its output is run, too (pages_test.py); this is about the rest, which may need
a GPU, a framework, or a server.
"""
import functools
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"^ *```[a-z]*\n(.*?)^ *```$|(?<!`)`([^`\n]+)`(?!`)", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:^|\s|\()hbmscope ([a-z-].*)")


@functools.cache
def help_of(program, *words):
    """Of a command, or None: a word that is none is a file, of which `open` says its help."""
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
    name = " ".join(["hbmscope", *words])
    return done.stdout if re.search(rf"^Usage: {re.escape(name)} ", done.stdout, re.MULTILINE) else None


def commands_of(text):
    for block, span in CODE.findall(text):
        for line in block.replace("\\\n", " ").splitlines() or [span]:
            for command in re.split(r"\|\||&&|[|;]", line.removeprefix("$ ")):
                if named := NAMED.search(command):
                    yield named[1]


def words_of(command):
    try:
        words = shlex.split(command, comments=True)
    except ValueError:  # Shortened: "...".
        words = command.split()
    return words[: words.index("--")] if "--" in words else words  # What follows is the job's.


def fault_of(program, command):
    rest, name = words_of(command), []
    while rest and re.fullmatch("[a-z]+", rest[0]) and help_of(program, *name, rest[0]):
        name.append(rest.pop(0))
    if not name and rest and re.fullmatch("[a-z-]*[a-z]", rest[0]) and not rest[0].startswith("-"):
        return f"there is no command {rest[0]}"
    if not name and rest and not rest[0].startswith("-"):
        name = ["open"]
    options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", help_of(program, *name)))
    unknown = [word for word in rest if re.match("--?[a-z]", word) and re.match(r"[\w-]+", word)[0] not in options]
    return f"there is no option {unknown[0]}" if unknown else None


def main():
    program = sys.argv[1]
    pages = [ROOT / "README.md", *sorted(ROOT.glob("samples/**/*.md")), *sorted(ROOT.glob("app/**/*.md"))]
    named = [(page, command) for page in pages for command in commands_of(page.read_text())]
    faults = [f"{page.relative_to(ROOT)}: {fault}: hbmscope {command}" for page, command in named if (fault := fault_of(program, command))]
    print("\n".join(faults))
    print(f"{len(pages)} pages, {len(named)} commands, {len(faults)} name what there isn't")
    sys.exit(1 if faults or not named else 0)


if __name__ == "__main__":
    main()
