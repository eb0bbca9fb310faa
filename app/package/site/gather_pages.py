#!/usr/bin/env python3
"""Gathers the Markdown pages of the repository for mkdocs, with the files to which they link, and writes its navigation.

    gather_pages.py PROGRAM FOLDER      FOLDER/pages, and FOLDER/mkdocs.yml, which inherits from the one next to this file

Pages keep their paths, so relative links lead to the same places as in the repository. Two pages are made here
(made_pages.py): all commands, and the limits.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

from made_pages import commands_page, limits_page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NOT_PAGES = {"build", "shared", "__pycache__"}
# On the site; in the repository their headings are their folders.
TITLES = {
    "app/cli/README.md": "Commands by question",
    "app/package/README.md": "Packages",
    "app/package/container/README.md": "Slurm and Kubernetes",
    "app/web/README.md": "In a browser",
}
NO_SEARCH = "---\nsearch: {exclude: true}\n---\n"
NO_PAGE_OF_ITS_OWN = {"collector/wire/format_head.md"}  # FORMAT.md begins with it.

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    .*$", re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")


def pages_of(root):
    """The paths of all pages, relative to the root."""
    paths = (path.relative_to(root) for path in sorted(root.rglob("*.md")))
    return [str(path) for path in paths if not any(part in NOT_PAGES or part.startswith(".") for part in path.parts) and str(path) not in NO_PAGE_OF_ITS_OWN]


def linked_files(text):
    """The relative targets of a page's links and pictures that are not Markdown."""
    for block in (FENCED, INDENTED, CODE):
        text = block.sub("", text)
    targets = (link.partition("#")[0] for link in LINK.findall(text) if not re.match(r"[a-z]+:", link))
    return [target for target in targets if target and not target.endswith(".md")]


def title_of(text):
    return re.search(r"^# (.*)", text, re.MULTILINE).group(1)  # SKILL.md has YAML before it.


def section(pages, top, without=()):
    """The READMEs of a folder and of those below it, named by their folders: [{"Overview": ...}, {"wire": ...}, ...]."""
    below = [page for page in pages if page.startswith(top + "/") and page.endswith("/README.md") and not page.startswith((f"{top}/README", *without))]
    return [{"Overview": f"{top}/README.md"}] + [{page[len(top) + 1 : -len("/README.md")]: page} for page in below]


def navigation(pages, titles):
    stories = [page for page in pages if page.startswith("samples/stories/") and not page.endswith("README.md")]
    decisions = [page for page in pages if page.endswith("/DECISIONS.md")]
    return [
        {"Start": "README.md"},
        {"Guides": [{"Overview": "samples/guides/README.md"}] + [{titles[page]: page} for page in pages if page.startswith("samples/guides/") and not page.endswith("README.md")]},
        {"Stories": [{"Overview": "samples/stories/README.md"}] + [{titles[page]: page} for page in stories] + [{"All samples": "samples/README.md"}, {"In CI": "samples/ci/README.md"}]},
        {"Commands": [{"By question": "app/cli/README.md"}, *section(pages, "app/cli")[1:], {"All commands and options": "commands.md"}]},
        {"Install": [{"Packages": "app/package/README.md"}, {"In a browser": "app/web/README.md"}, {"Slurm and Kubernetes": "app/package/container/README.md"}]},
        {"JSON": "app/cli/JSON.md"},
        {"Agents": "app/mcp/SKILL.md"},
        {"Formats": [{"Recordings (.hbm)": "collector/wire/FORMAT.md"}, {"Readers": section(pages, "analysis/read")}, {"Wordings of logs": "analysis/read/log/WORDINGS.md"}]},
        {
            "How it works": [
                {"Collector": section(pages, "collector")},
                {"Allocators": section(pages, "allocator")},
                {"Analysis": section(pages, "analysis", ["analysis/read/"])},
                {"Program and window": section(pages, "app", ["app/cli/", "app/package/", "app/web/"])},
            ]
        },
        {"Limits": "limits.md"},
        {"Decisions": [{"Build and tests": "DECISIONS.md"}] + [{page[: -len("/DECISIONS.md")]: page} for page in decisions]},
        {"Contributing": [{"Working on hbmscope": "CONTRIBUTING.md"}, {"Tests": section(pages, "tests")}, {"Third-party code": "third_party/README.md"}]},
        {"Changelog": "CHANGELOG.md"},
    ]


def gather(root, folder, program):
    target = folder / "pages"
    if target.exists():
        shutil.rmtree(target)
    texts = {page: (root / page).read_text() for page in pages_of(root)}
    for page in TITLES.keys() & texts.keys():
        texts[page] = re.sub(r"\A# .*", f"# {TITLES[page]}", texts[page])
    made = {
        "commands.md": commands_page(subprocess.run([program, "manual-page"], capture_output=True, text=True, check=True).stdout),
        "limits.md": limits_page(texts),
    }
    for page, text in {**texts, **made}.items():
        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text((NO_SEARCH if page == "CHANGELOG.md" else "") + text)
        for linked in linked_files(text):
            source = (root / page).parent / linked
            if source.is_file():  # mkdocs complains of the others.
                (target / page).parent.joinpath(linked).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, (target / page).parent / linked)
    (target / "assets").mkdir()
    for asset in ("wide.css", "iframe-worker.js"):
        shutil.copy(HERE / asset, target / "assets")
    nav = navigation(list(texts), {page: title_of(text) for page, text in texts.items()})
    # JSON is YAML, too.
    settings = {"INHERIT": str(HERE / "mkdocs.yml"), "docs_dir": "pages", "site_dir": "../site", "nav": nav}
    (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1) + "\n")
    return texts, made, nav


if __name__ == "__main__":
    gather(ROOT, pathlib.Path(sys.argv[2]).resolve(), sys.argv[1])
