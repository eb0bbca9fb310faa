"""The commits of a repository, and a folder of their own to run them in.

Git keeps a worktree apart from the user's: their files, index and branches stay as they are. Hooks don't run.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess


class Refused(Exception):
    """Wrong usage; the text says what to do."""


@contextlib.contextmanager
def undisturbed():
    """Ctrl+C has to wait, in this process and in those that it starts: git leaves no half of a worktree then."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def plain_environment():
    """Without what git sets for its hooks: it names another folder than the one given."""
    return {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")}


def git(folder, *words):
    done = subprocess.run(["git", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *words], env=plain_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise Refused(f"git {words[0]}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout.rstrip("\n")


class Repository:
    def __init__(self, folder):
        if shutil.which("git") is None:
            raise Refused("git is not installed.")
        try:
            self.top = pathlib.Path(git(folder, "rev-parse", "--show-toplevel"))
            self.prefix = git(folder, "rev-parse", "--show-prefix")  # Of the folder in it: commands run in the same one.
        except Refused as refused:
            raise Refused(f"{folder} is not in a git repository. Name its folder with --repository.") from refused

    def commit(self, name):
        try:
            return git(self.top, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except Refused as refused:
            raise Refused(f"{self.top} has no commit {name}.") from refused

    def is_ancestor(self, older, newer):
        return git(self.top, "rev-list", "--max-count=1", older, f"^{newer}") == ""

    def between(self, good, bad):
        """The first-parent history of bad without what good has, the oldest first."""
        return git(self.top, "rev-list", "--first-parent", "--reverse", f"{good}..{bad}").split()

    def first_parent(self, commit):
        return (git(self.top, "rev-list", "--parents", "--max-count=1", commit).split()[1:2] or [None])[0]

    def describe(self, commit):
        short, date, subject = git(self.top, "show", "--no-patch", "--format=%h%x00%as%x00%s", commit).split("\0")
        return {"commit": commit, "short": short, "date": date, "subject": subject}


class Worktree:
    """A folder for one commit after the other; it is gone at the end, however that comes."""

    def __init__(self, repository, folder, commit):
        self.repository, self.folder, self.commit = repository, folder, commit

    def __enter__(self):
        with undisturbed():
            try:
                git(self.repository.top, "worktree", "add", "--quiet", "--detach", "--no-checkout", str(self.folder), self.commit)
            except Refused:
                self.remove()
                raise
        return self

    def __exit__(self, *error):
        with undisturbed():
            self.remove()

    def remove(self):
        with contextlib.suppress(Refused):
            git(self.repository.top, "worktree", "remove", "--force", "--force", str(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)

    def check_out(self, commit):
        """Nothing of the commit before stays: Python would take its compiled files for those of this one."""
        with undisturbed():
            git(self.folder, "checkout", "--quiet", "--force", "--detach", commit)
            git(self.folder, "clean", "-ffdxq")
        return self.folder / self.repository.prefix
