#!/usr/bin/env python3
"""Checks what the Markdown files refer to: every relative link, with its heading, and every file named in backticks.

    tests/house/check_links.py [ROOT]       prints one line for each broken reference and exits with 1 if there is any

A name in backticks counts as a file of the repository if it begins with a folder of the repository, as in
`analysis/read/read_control.h`, or, without a folder, if it ends as our sources do, as in `read_control.h`: that one may
lie anywhere. NAME in it stands for any name. CHANGELOG.md and DECISIONS.md tell history and may name files that are
gone; only their links are checked.
"""

import pathlib
import re
import sys

NOT_OURS = {"build", "shared", "__pycache__"}
HISTORY = {"CHANGELOG.md", "DECISIONS.md"}
SOURCE = re.compile(r"[\w-]+\.(h|cpp|c|inc|md|cmake)$")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+/?$")

BLOCK = re.compile(r"^```.*?^```|^    [^\n]*", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#+\s+(.*)$")


def markdown_of(root):
    for path in sorted(root.rglob("*.md")):
        parts = path.relative_to(root).parts
        if not any(part in NOT_OURS or part.startswith(".") for part in parts):
            yield path


def anchor_of(heading):
    """As GitHub makes it: lower case, spaces become hyphens, punctuation goes."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def without_blocks(text):
    """The text without blocks of code, with as many lines."""
    return BLOCK.sub(lambda found: "\n" * found.group(0).count("\n"), text)


def anchors_of(path):
    """Of headings that stand once: GitHub and mkdocs number the others differently."""
    lines = without_blocks(path.read_text()).splitlines()
    anchors = [anchor_of(found.group(1)) for line in lines if (found := HEADING.match(line))]
    return {anchor for anchor in anchors if anchors.count(anchor) == 1}


def check_link(root, path, link):
    if re.match(r"[a-z]+:", link):
        return None
    target, _, anchor = link.partition("#")
    file = (path.parent / target).resolve() if target else path
    if not file.exists() or not file.is_relative_to(root.resolve()):
        return f"the link {link} leads nowhere"
    if anchor and file.suffix == ".md" and anchor not in anchors_of(file):
        return f"the link {link} names a heading that {file.relative_to(root.resolve())} does not have, or has twice"
    return None


def check_name(root, path, name, names):
    if "NAME" in name:
        return None
    if PATH.match(name):
        first = name.split("/")[0]
        places = [place for place in (root, path.parent) if (place / first).is_dir()]
        places = [place for place in places if (place / name).resolve().is_relative_to(root.resolve())]
        if NOT_OURS & set(name.split("/")) or not places:
            return None
        # `analysis/query/top` is short for top.h and top.cpp.
        if any((place / (name + end)).exists() for place in places for end in ("", ".h", ".cpp")):
            return None
        return f"`{name}` does not exist"
    if SOURCE.match(name) and name not in names:
        return f"no file is called `{name}`"
    return None


def blank(found):
    return " " * len(found.group(0))


def check(root):
    """All broken references, a line each."""
    root = pathlib.Path(root)
    names = {path.name for path in root.rglob("*") if not any(part in NOT_OURS for part in path.relative_to(root).parts)}
    breaches = []
    for path in markdown_of(root):
        text = without_blocks(path.read_text())
        wrong = [(found.start(), check_link(root, path, found.group(1))) for found in LINK.finditer(CODE.sub(blank, text))]
        if path.name not in HISTORY:
            wrong += [(found.start(), check_name(root, path, found.group(1), names)) for found in CODE.finditer(text)]
        wrong = sorted((text.count("\n", 0, place) + 1, breach) for place, breach in wrong if breach)
        breaches += [f"{path.relative_to(root)}:{number}: {breach}" for number, breach in wrong]
    return breaches


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
    breaches = check(root)
    for breach in breaches:
        print(breach)
    if not breaches:
        print(f"{sum(1 for _ in markdown_of(root))} Markdown files refer only to what exists")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
