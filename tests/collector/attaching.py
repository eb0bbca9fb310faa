"""What tests that attach to a program share."""

import os
import tempfile
import unittest
from pathlib import Path

YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
MAY_ATTACH = os.getuid() == 0 or not YAMA.exists() or YAMA.read_text().strip() == "0"
WHY_NOT = "yama lets only root attach here"


@unittest.skipUnless(MAY_ATTACH, WHY_NOT)
class AttachTest(unittest.TestCase):
    """With a folder of its own, where the recording goes, and no display to open a window on."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.recording = str(self.folder / "attached.hbm")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=folder.name)
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(display, None)
