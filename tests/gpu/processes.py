"""Starts commands for the judge, each in a session of its own, and sees to it that none of their processes outlives it.

Every process carries the judge's token in its environment, which its children inherit whatever session they move to. So
/proc finds those that a killed group leaves behind.
"""

import os
import signal
import subprocess
import time
import uuid
from pathlib import Path
from typing import NamedTuple

VARIABLE = "HBMSCOPE_JUDGE"
PATIENCE_S = 3  # For processes that end by themselves after their command has ended, as hbmscope's do.


class Done(NamedTuple):
    """A command that has ended. `code` is None if it took too long and was killed."""

    code: int
    output: str
    errors: str


class Processes:
    def __init__(self, minutes):
        self.token = uuid.uuid4().hex
        self.leftovers = []  # Commands of processes that had to be killed although their command had ended.
        self.end = time.monotonic() + 60 * minutes
        self._begun = {}

    def seconds_left(self):
        return self.end - time.monotonic()

    def start(self, command, environment, **streams):
        """A process that runs side by side with others, until finish()."""
        environment = {**environment, VARIABLE: self.token}
        process = subprocess.Popen([str(word) for word in command], env=environment, start_new_session=True, **streams)
        self._begun[process.pid] = process
        return process

    def finish(self, process, is_expected=True):
        """Ends what is left of a command. `is_expected`: it has ended by itself, so whatever is still alive is left over."""
        self._begun.pop(process.pid, None)
        if not is_expected or self._begun:
            self._end_group(process)
        if not self._begun:
            left = self.sweep(PATIENCE_S if is_expected else 0)
            self.leftovers += left if is_expected else []

    def run(self, command, environment, seconds=90):
        try:
            process = self.start(command, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        except OSError as error:
            return Done(127, "", str(error))
        is_in_time = False
        try:
            output, errors = process.communicate(timeout=max(1, min(seconds, self.seconds_left())))
            is_in_time = True
            return Done(process.returncode, output, errors)
        except subprocess.TimeoutExpired:
            return Done(None, "", "it took too long")
        finally:
            self.finish(process, is_in_time)

    def _end_group(self, process):
        for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
            if process.poll() is not None and not is_group_alive(process.pid):
                return
            try:
                os.killpg(process.pid, number)
                process.wait(patience)
            except (ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
                pass

    def living(self):
        """Processes with the token, except this one: {pid: command}."""
        marker, found = f"{VARIABLE}={self.token}".encode(), {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if int(folder.name) == os.getpid() or marker not in (folder / "environ").read_bytes().split(b"\0"):
                    continue
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:  # It has ended, or is another user's.
                continue
            found[int(folder.name)] = command
        return found

    def sweep(self, patience):
        """Kills every process with the token that does not end by itself. Returns their commands."""
        until = time.monotonic() + patience
        while (found := self.living()) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return list(found.values())

    def close(self):
        """At the end, however it comes."""
        for process in list(self._begun.values()):
            self._end_group(process)
        self._begun.clear()
        self.sweep(0)


def is_group_alive(group):
    try:
        os.killpg(group, 0)
        return True
    except (ProcessLookupError, PermissionError):
        return False
