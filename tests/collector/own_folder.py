"""What tests of commands that observe share."""

import os
import tempfile
import unittest
from pathlib import Path

import own_children  # noqa: F401 - what a test leaves running is killed


class OwnFolderTest(unittest.TestCase):
    """With a folder of its own, where the recording goes, and no display to open a window on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "run.hbm")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder.name)
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(display, None)
