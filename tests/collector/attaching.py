"""What tests that attach to a program share."""

import os
import unittest
from pathlib import Path

from own_folder import OwnFolderTest

YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
MAY_ATTACH = os.getuid() == 0 or not YAMA.exists() or YAMA.read_text().strip() == "0"
WHY_NOT = "yama lets only root attach here"


@unittest.skipUnless(MAY_ATTACH, WHY_NOT)
class AttachTest(OwnFolderTest):
    """Not where this user may not attach."""
