"""fetch_sdist.py against an index on this machine: mirrors, passwords, wrong files, no network."""
import functools
import hashlib
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
FILE = "some_thing-1.2.tar.gz"
CONTENT = b"the archive" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Index(http.server.SimpleHTTPRequestHandler):
    """A folder as a package index; wants a user and a password where the class says so."""

    authorization = None

    def do_GET(self):
        if self.authorization and self.headers.get("Authorization") != self.authorization:
            self.send_error(401)
        else:
            super().do_GET()

    def log_message(self, *arguments):
        pass


class FetchSdist(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        page = self.folder / "index" / "simple" / "some-thing"
        page.mkdir(parents=True)
        (page / "index.html").write_text(
            '<a href="../../files/other-1.2.tar.gz">other</a> <a href="../../files/%s#sha256=x">%s</a>' % (FILE, FILE))
        files = self.folder / "index" / "files"
        files.mkdir()
        (files / FILE).write_bytes(CONTENT)
        Index.authorization = None
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Index, directory=self.folder / "index"))
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.port = server.server_port
        self.out = self.folder / "out.tar.gz"

    def fetch(self, sha256=SHA256, **settings):
        environment = {k: v for k, v in os.environ.items() if not k.upper().startswith("PIP_")}
        environment.update(PIP_CONFIG_FILE=os.devnull, no_proxy="127.0.0.1", **settings)
        command = [sys.executable, str(SCRIPT), "some-thing", "1.2", "--sha256", sha256, "--out", str(self.out)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_mirror_named_by_the_environment(self):
        result = self.fetch(PIP_INDEX_URL="http://127.0.0.1:%d/simple" % self.port)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.out.read_bytes(), CONTENT)

    def test_mirror_with_a_password_serves_page_and_file(self):
        Index.authorization = "Basic YWRhOnNlY3JldC8x"  # ada:secret/1
        result = self.fetch(PIP_INDEX_URL="http://ada:secret%%2F1@127.0.0.1:%d/simple/" % self.port)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.out.read_bytes(), CONTENT)

    def test_extra_index_is_tried_after_the_first(self):
        result = self.fetch(PIP_INDEX_URL="http://127.0.0.1:%d/none" % self.port,
                            PIP_EXTRA_INDEX_URL="http://127.0.0.1:%d/simple" % self.port)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_local_folder_needs_no_index(self):
        result = self.fetch(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder / "index" / "files"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.out.read_bytes(), CONTENT)

    def test_wrong_file_is_refused_and_not_kept(self):
        result = self.fetch(sha256="0" * 64, PIP_INDEX_URL="http://127.0.0.1:%d/simple" % self.port)
        self.assertEqual(result.returncode, 1)
        self.assertIn("sha256 is " + SHA256, result.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["index"])

    def test_unreachable_index_is_named_without_its_password(self):
        result = self.fetch(PIP_INDEX_URL="http://ada:secret@127.0.0.1:9/simple")
        self.assertEqual(result.returncode, 1)
        self.assertIn("127.0.0.1:9/simple/some-thing/", result.stderr)
        self.assertNotIn("secret", result.stderr)


unittest.main()
