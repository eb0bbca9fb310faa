#!/usr/bin/env python3
"""Finds the commit at which the peak device memory of a command grew, and the line that holds it.

    bisection.py HBMSCOPE --good A --bad B [--repository DIR] [--more SIZE] [--emulate DEVICE] [--store STORE] [--json] -- COMMAND...

Each commit runs at most once, in a git worktree of its own. One is bad if its peak is nearer to that of B than to that of
A, or if it runs out of memory as B does and A does not. One that can't be run is skipped, and its neighbours are tried.

--more: how much the peak has to grow from A to B, 16MiB if not given. --store: also add each run to this store, named
after its commit (this Python needs DuckDB). Exit codes: 0 the commit is found, or a few of which it is one; 1 the peak did
not grow; 2 wrong usage; 4 A or B can't be run; 130 interrupted.

Not named bisect.py: Python's own `random` and `tempfile` import `bisect`, and would find this file instead.
"""

import argparse
import collections
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import measure
from commits import Refused, Repository, Worktree
from words import bytes_text, counted

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
LINES_MAX = 10
OTHER_STEPS_MIN = 16 << 20
NOT_GROWN, WRONG_USAGE, CANNOT_RUN, INTERRUPTED = 1, 2, 4, 130


class CannotRun(Exception):
    """A or B has no peak to compare with."""


def say(text):
    print(f"hbmscope: {text}", file=sys.stderr, flush=True)


def size_from_text(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text)
    if not found or found[2].upper() not in UNITS:
        raise argparse.ArgumentTypeError(f"'{text}' is no size, such as 16MiB")
    return round(float(found[1]) * UNITS[found[2].upper()])


def find(count, judge):
    """(The last good one, the first bad one) of numbers up to count - 1, which is bad; -1 is good. judge(number) is true
    for a bad one, and None for one that can't be judged; all between both answers are such."""
    good, bad, skipped = -1, count - 1, set()
    while True:
        left = [number for number in range(good + 1, bad) if number not in skipped]
        if not left:
            return good, bad
        number = min(left, key=lambda number: abs(number - (good + bad) // 2))
        verdict = judge(number)
        if verdict is None:
            skipped.add(number)
        elif verdict:
            bad = number
        else:
            good = number


class Bisection:
    def __init__(self, options, repository, folder):
        self.options, self.repository, self.folder = options, repository, folder
        self.tree = folder / "tree"
        self.runs = []
        self.trouble_with_store = None

    def run(self, worktree, commit):
        about = self.repository.describe(commit)
        recording, output = (self.folder / f"{about['short']}.{ending}" for ending in ("hbm", "log"))
        begun = time.monotonic()
        measured, exit_code = None, None
        try:
            at = worktree.check_out(commit)
        except Refused as refused:  # Such as a file of git-lfs that isn't there.
            at = None
            say(str(refused))
        if at and at.is_dir():
            emulate = ["--emulate", self.options.emulate] if self.options.emulate else []
            words = [self.options.hbmscope, "run", *emulate, "--no-window", "--no-flight", "--record", str(recording), "--", *self.options.command]
            exit_code = measure.run(words, at, output)
            measured = measure.read(self.options.hbmscope, recording, self.tree, exit_code)
        run = dict(about, exit_code=exit_code, seconds=round(time.monotonic() - begun, 1), measured=measured, recording=recording, output=output, verdict=None)
        self.runs.append(run)
        if measured:
            self.warn_of_other_files(measured)
            self.add_to_store(run)
        return run

    def warn_of_other_files(self, measured):
        others = sorted(file for file in measured.files if self.repository.top in file.parents)
        if others and len(self.runs) == 1:
            say(f"{others[0]} was used, which is in your folder, not in the commit's. An editable install does that; PYTHONPATH=. may help.")

    def add_to_store(self, run):
        if self.options.store is None:
            return
        done = subprocess.run([self.options.hbmscope, "digest", str(run["recording"]), "-o", str(self.options.store), "--run", run["short"], "--python", sys.executable], capture_output=True, text=True)
        if done.returncode != 0 and done.stderr != self.trouble_with_store:
            self.trouble_with_store = done.stderr
            say(f"{run['short']} is not in {self.options.store}: {done.stderr.strip()}")

    def report(self, run):
        measured = run["measured"]
        peak = "can't be run" if measured is None else f"peak {bytes_text(measured.peak_bytes)}" + (", out of memory" if measured.is_out_of_memory else "")
        say(f"run {len(self.runs)}: {run['short']} {run['verdict']}, {peak}, {run['seconds']:.1f} s ({run['subject']})")

    def run_end(self, worktree, commit, name):
        run = self.run(worktree, commit)
        if run["measured"] is None:
            raise CannotRun(f"{run['short']} ({name}) can't be run, so there is no peak to compare with: {reason_of(run)}")
        run["verdict"] = name
        self.report(run)
        return run

    def grown(self, good, bad):
        return bad["measured"].peak_bytes - good["measured"].peak_bytes >= self.options.more

    def is_bad(self, measured, good, bad):
        only_bad_fails = bad["measured"].is_out_of_memory and not good["measured"].is_out_of_memory
        if only_bad_fails and (measured.is_out_of_memory or not self.grown(good, bad)):
            return measured.is_out_of_memory
        return 2 * measured.peak_bytes > good["measured"].peak_bytes + bad["measured"].peak_bytes

    def answer(self, commits, good_commit, parting):
        """What --json prints."""
        with Worktree(self.repository, self.tree, commits[-1]) as worktree:
            good, bad = (self.run_end(worktree, *end) for end in ((good_commit, "good"), (commits[-1], "bad")))
            fails = bad["measured"].is_out_of_memory and not good["measured"].is_out_of_memory
            if not self.grown(good, bad) and not fails:
                return self.summary("not grown", good, bad, [])
            known = {-1: good, len(commits) - 1: bad}

            def judge(number):
                known[number] = run = self.run(worktree, commits[number])
                verdict = self.is_bad(run["measured"], good, bad) if run["measured"] else None
                run["verdict"] = {True: "bad", False: "good", None: "skipped"}[verdict]
                self.report(run)
                return verdict

            before, after = find(len(commits), judge)
        suspects = [self.repository.describe(commit) for commit in commits[before + 1 : after + 1]]
        outcome = "range" if len(suspects) > 1 else "earlier" if suspects[0]["commit"] == parting else "found"
        return self.summary(outcome, known[before], known[after], suspects)

    def summary(self, outcome, before, after, suspects):
        held, holds = before["measured"], after["measured"]
        keys = sorted(set(held.lines) | set(holds.lines), key=lambda key: (held.lines[key] - holds.lines[key], key))
        lines = [{"name": key[0], "file": key[1], "line": line_that_changed(held.places.get(key, []), holds.places.get(key, [])), "before_bytes": held.lines[key], "after_bytes": holds.lines[key]} for key in keys]
        return {
            "schema": 1,
            "outcome": outcome,
            "commits": suspects,
            "before": row_of(before),
            "after": row_of(after),
            "more_bytes": holds.peak_bytes - held.peak_bytes,
            "lines": [line for line in lines if line["before_bytes"] != line["after_bytes"]][:LINES_MAX],
            "runs": [row_of(run) for run in self.runs],
            "skipped": sum(run["verdict"] == "skipped" for run in self.runs),
            "folder": str(self.folder),
            "compare": shlex.join(["hbmscope", "diff", str(before["recording"]), str(after["recording"]), "--at", "peak"]),
        }


def line_that_changed(before, after):
    """Of a function's lines, (bytes, number) each: the largest one that holds other bytes than all before."""
    same = collections.Counter(count for count, _ in before)
    for count, number in after or before:
        if same[count] == 0:
            return number
        same[count] -= 1
    return (after or before)[0][1]


def row_of(run):
    measured = run["measured"]
    row = {key: run[key] for key in ("commit", "short", "date", "subject", "verdict", "exit_code", "seconds")}
    row["peak_bytes"] = measured.peak_bytes if measured else None
    row["is_out_of_memory"] = measured.is_out_of_memory if measured else False
    row["refused"] = measured.refused if measured else None
    row["recording"] = str(run["recording"]) if measured else None
    return row


def reason_of(run):
    if run["exit_code"] is None:
        return "it has no such folder."
    end = [line for line in run["output"].read_text(errors="replace").splitlines() if line.strip()][-5:]
    what = f"exit code {run['exit_code']}" if run["exit_code"] else "nothing was recorded"
    return "\n".join([f"{what}. The end of {run['output']}:", *(f"  {line}" for line in end), "Files that git does not track are not there; name programs outside of the repository by their full path."])


def name_of(about):
    return f"{about['short']} ({about['date']}, {about['subject']})"


def peak_text(row):
    return bytes_text(row["peak_bytes"]) + (" at the out-of-memory" if row["is_out_of_memory"] else "")


def text_of(answer, more):
    before, after = answer["before"], answer["after"]
    if answer["outcome"] == "not grown":
        return f"The peak did not grow by {bytes_text(more)} or more: {peak_text(before)} at {before['short']}, {peak_text(after)} at {after['short']}.\n"
    peaks = f"{peak_text(before)} before, {peak_text(after)} after"
    growth = f"The peak grew by {bytes_text(answer['more_bytes'])}" if answer["more_bytes"] > 0 else "The command began to run out of memory"
    if answer["outcome"] == "earlier":
        lines = [f"The peak is that of bad already at {name_of(after)}, where the history of good leaves that of bad: {bytes_text(after['peak_bytes'])}. Try an earlier commit as good."]
    elif answer["outcome"] == "found":
        lines = [f"{growth} at {name_of(after)}: {peaks}."]
    else:
        lines = [f"{growth} at one of {len(answer['commits'])} commits, of which only the last can be run: {peaks}."]
        lines += [f"  {name_of(about)}" for about in answer["commits"]]
    good, bad = answer["runs"][:2]
    whole = bad["peak_bytes"] - good["peak_bytes"]
    if whole - answer["more_bytes"] >= OTHER_STEPS_MIN:
        lines.append(f"From good to bad it grew by {bytes_text(whole)}: other commits have a part in it.")
    if answer["lines"] and answer["lines"][0]["after_bytes"] > answer["lines"][0]["before_bytes"]:
        most = answer["lines"][0]
        place = f", {most['file']}:{most['line']}" if most["file"] else ""
        lines.append(f"The line that grew the most: {most['name']}{place}, {bytes_text(most['before_bytes'])} before, {bytes_text(most['after_bytes'])} after.")
    if after["refused"] and after["refused"]["requested_bytes"] is not None:
        lines.append(f"It ran out of memory: {bytes_text(after['refused']['requested_bytes'])} requested by {after['refused']['line'] or 'an unknown line'}.")
    skipped = f", {answer['skipped']} skipped" if answer["skipped"] else ""
    lines += [f"{counted(len(answer['runs']), 'run')}{skipped}. The recordings are in {answer['folder']}; compare them:", f"  {answer['compare']}"]
    return "\n".join(lines) + "\n"


def parse(words):
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(usage="%(prog)s HBMSCOPE --good A --bad B [options] -- COMMAND...")
    parser.add_argument("hbmscope")
    parser.add_argument("--good", required=True)
    parser.add_argument("--bad", required=True)
    parser.add_argument("--repository", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--more", type=size_from_text, default=16 << 20)
    parser.add_argument("--emulate")
    parser.add_argument("--store", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words[:at])
    options.command = words[at + 1 :]
    if not options.command:
        raise Refused("there is no command. Write it after two dashes: -- python train.py")
    program = shutil.which(options.hbmscope)
    if program is None:
        raise Refused(f"{options.hbmscope} is no program.")
    options.hbmscope = str(pathlib.Path(program).absolute())
    return options


def commits_to_search(repository, good, bad):
    """And the commit at which good's history leaves bad's, if that is not good itself; it is searched, too: of two
    branches, each may have what the other lacks."""
    commits = repository.between(good, bad)
    if not commits:
        raise Refused("there is no commit to search: bad is older than good, or the same commit.")
    if not repository.is_ancestor(good, bad):
        say("good is no ancestor of bad: the first-parent history of bad is searched, from where good's leaves it.")
    parting = repository.first_parent(commits[0])
    if parting in (good, None):
        return commits, None
    return [parting, *commits], parting


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # As nohup sets it.
            signal.signal(number, interrupt)
    folder = None
    try:
        options = parse(sys.argv[1:])
        repository = Repository(options.repository.absolute())
        good, bad = repository.commit(options.good), repository.commit(options.bad)
        commits, parting = commits_to_search(repository, good, bad)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hbmscope-bisection-")).resolve()
        say(f"{counted(len(commits), 'commit')} to search, about {2 + (len(commits) - 1).bit_length()} runs")
        answer = Bisection(options, repository, folder).answer(commits, good, parting)
        sys.stdout.write(json.dumps(answer, indent=2) + "\n" if options.json else text_of(answer, options.more))
        return NOT_GROWN if answer["outcome"] == "not grown" else 0
    except Refused as refused:
        say(refused)
        return WRONG_USAGE
    except CannotRun as error:
        say(error)
        return CANNOT_RUN
    except KeyboardInterrupt:
        say("interrupted" + (f"; what was recorded is in {folder}" if folder else ""))
        return INTERRUPTED
    finally:
        if folder and not any(folder.iterdir()):
            folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
