#!/usr/bin/env python3
"""The check of links on small trees with one broken reference each: a check that cannot fail checks nothing."""

import pathlib
import tempfile
import unittest

import check_links


class CheckLinks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("analysis/read/gzip.h", "")
        self.write("analysis/README.md", "# analysis\n\n## What it is\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def expect(self, text, *parts, file="README.md"):
        """The text as a README has exactly one breach, which says all of this; none of them: it is clean."""
        self.write(file, text)
        breaches = check_links.check(self.root)
        self.assertEqual(len(breaches), 1 if parts else 0, breaches)
        for part in parts:
            self.assertIn(part, breaches[0])

    def test_links_and_names_that_exist(self):
        self.expect("[a](analysis/README.md#what-it-is) `analysis/read/gzip.h` `analysis/read/gzip` `gzip.h` `analysis/`\n")

    def test_a_link_to_nothing(self):
        self.expect("\n[a](analysis/GONE.md)\n", "README.md:2", "analysis/GONE.md", "leads nowhere")

    def test_a_link_out_of_the_repository(self):
        self.expect("[a](../../etc/passwd)\n", "leads nowhere")

    def test_a_link_to_a_heading_that_is_not_there(self):
        self.expect("[a](analysis/README.md#what-it-was)\n", "what-it-was", "does not have")

    def test_a_heading_of_the_same_file(self):
        self.expect("# Why did it fail?\n\n[a](#why-did-it-fail)\n")

    def test_a_link_on_two_lines(self):
        self.expect("a [b\nc](analysis/GONE.md)\n", "README.md:1", "leads nowhere")

    def test_a_heading_that_is_there_twice(self):
        self.expect("# A\n\n# A\n\n[a](#a)\n", "README.md:5", "twice")

    def test_a_comment_in_code_is_no_heading(self):
        self.expect("```sh\n# once\n[a](analysis/GONE.md)\n```\n\n[a](#once)\n", "README.md:6", "does not have")

    def test_pages_of_others_are_not_looked_at(self):
        self.expect("[a](https://example.com/x) `https://example.com/x.h` `xla/service/heap.h` `../shared/data`\n")

    def test_a_path_that_is_gone(self):
        self.expect("`analysis/read/zip.h`\n", "analysis/read/zip.h", "does not exist")

    def test_a_path_from_the_readmes_own_folder(self):
        self.expect("`read/gzip.h`\n", file="analysis/README.md")

    def test_a_file_that_nobody_has(self):
        self.expect("`zip_entry.h`\n", "zip_entry.h", "no file is called")

    def test_commands_are_not_names(self):
        self.expect("    cat analysis/read/zip.h\n\n`cat analysis/read/zip.h`\n")

    def test_a_name_that_stands_for_any(self):
        self.expect("`draw_NAME.cpp` `analysis/read/NAME/row.h`\n")

    def test_history_may_name_what_is_gone(self):
        self.expect("`analysis/read/zip.h`\n", file="analysis/DECISIONS.md")


if __name__ == "__main__":
    unittest.main()
