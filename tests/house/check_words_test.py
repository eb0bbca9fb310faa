"""check_words.py finds what it is to find, and nothing else."""

import pathlib
import tempfile
import unittest

import check_words


class CheckWords(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def found(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return check_words.check(self.root)

    def test_a_literal_with_such_a_word_is_found(self):
        found = self.found("app/cli/jobs/ps.cpp", 'int a;\nconst char* b = "the driver and who is not told";\n')
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith('app/cli/jobs/ps.cpp:2: "told"'), found)

    def test_raw_literals_are_read_too(self):
        self.assertEqual(len(self.found("app/cli/help.cpp", 'auto a = R"(\n  a thirtieth of the bytes)";\n')), 1)

    def test_comments_includes_keys_and_names_are_not_texts(self):
        source = '#include "app/beside it.h"\n// It is told.\nauto a = json["asked"]; auto b = "--beside"; auto c = "a\\"b";\n'
        self.assertEqual(self.found("analysis/a.cpp", source), [])

    def test_high_water_marks_are_a_word_of_the_field(self):
        self.assertEqual(self.found("app/a.cpp", 'auto a = "high-water marks, of each heap";'), [])
        self.assertEqual(len(self.found("app/a.cpp", 'auto a = "10 events and marks";')), 1)

    def test_outputs_of_golden_tests_are_texts_and_their_commands_are_not(self):
        golden = '$ hbmscope open a --beside b\n--- stdout\n  "asked_bytes": 3,\n12 pieces are free\n'
        self.assertEqual(len(self.found("tests/cli/golden/open.txt", golden)), 1)


unittest.main()
