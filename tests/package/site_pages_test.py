#!/usr/bin/env python3
"""The pages for `make site`, without mkdocs: each page has a place in the navigation, and each link of the gathered pages
leads to a page, a heading or a file that was gathered.

    site_pages_test.py HBMSCOPE
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "app" / "package" / "site"), str(ROOT / "tests" / "house")]
from check_links import CODE, LINK, blank, check_link, without_blocks  # noqa: E402
from gather_pages import gather, linked_files, navigation, pages_of  # noqa: E402
from made_pages import sentences, with_links_of  # noqa: E402

HBMSCOPE = sys.argv[1]


def places(nav):
    """The pages that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in places(part)]


def broken_links(root):
    broken = []
    for path in sorted(root.rglob("*.md")):
        text = CODE.sub(blank, without_blocks(path.read_text()))
        broken += [f"{path.relative_to(root)}: {wrong}" for link in LINK.findall(text) if (wrong := check_link(root, path, link))]
    return broken


def lists_without_an_empty_line(text):
    """mkdocs takes such a list for a part of the paragraph, GitHub does not."""
    return re.findall(r"^(?![-*|#> ]|\d+\. ).+\n(?:[-*]|\d+\.) .*$", without_blocks(text), re.MULTILINE)


class SitePages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.texts, cls.made, cls.nav = gather(ROOT, cls.folder, HBMSCOPE)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_each_page_has_one_place_in_the_navigation(self):
        self.assertEqual(sorted(places(self.nav)), sorted({**self.texts, **self.made}))

    def test_a_page_in_a_new_folder_has_none(self):
        nav = navigation([*self.texts, "elsewhere/README.md"], {page: page for page in self.texts})
        self.assertNotIn("elsewhere/README.md", places(nav))

    def test_each_link_leads_somewhere(self):
        self.assertEqual(broken_links(self.folder / "pages"), [])

    def test_a_link_to_a_file_that_was_not_gathered(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.md").write_text("[picture](samples/window.png)\n")
            self.assertEqual(len(broken_links(pathlib.Path(folder).resolve())), 1)

    def test_linked_files_are_gathered(self):
        self.assertEqual(linked_files("![a](b.png) [c](d.md#e) [f](https://g.h/i) `[j](k)`\n\n    [l](m)\n"), ["b.png"])
        self.assertTrue((self.folder / "pages/samples/window.png").is_file())

    def test_lists_begin_after_an_empty_line(self):
        self.assertEqual({page: wrong for page, text in self.texts.items() if (wrong := lists_without_an_empty_line(text))}, {})
        self.assertEqual(len(lists_without_an_empty_line("Not emulated:\n- code\n- values\n")), 1)

    def test_the_reference_has_all_commands_and_options(self):
        reference = self.made["commands.md"]
        said = subprocess.run([HBMSCOPE, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+) {3,}[A-Z]", said, re.MULTILINE)
        self.assertGreater(len(commands), 15)
        for command in commands:
            self.assertIn(f"\n## {command}\n", reference)
        run = reference[reference.index("\n## run\n") :].split("\n## ")[1]
        said = subprocess.run([HBMSCOPE, "run", "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"^  (--[a-z-]+)", said, re.MULTILINE):
            self.assertRegex(run, rf"\n`{option}( [^`]*)?`\n:   ")
        self.assertNotIn("\\-", reference)

    def test_the_limits_name_their_pages(self):
        self.assertIn("](app/cli/remote/README.md#slurm-and-kubernetes): Not tried on a cluster", self.made["limits.md"])
        self.assertEqual(list(sentences("# A\n\nB c. Not\nyet seen.\n")), [("A", "B c."), ("A", "Not yet seen.")])
        self.assertEqual(with_links_of("a/b/README.md", "[c](../D.md#e) [f](#g)"), "[c](a/D.md#e) [f](a/b/README.md#g)")

    def test_build_folders_have_no_pages(self):
        self.assertFalse([page for page in pages_of(ROOT) if page.startswith("build")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
