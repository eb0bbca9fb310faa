"""What the tests beside Python share: hbmscope's answers as JSON, and the list of what differs.

Each of them is called with the program to test, walks the files of $HBMSCOPE_DATA/torch (default ../shared/data next to
the checkout), and exits with 1 after saying what differs.
"""

import json
import os
import pathlib
import subprocess
import sys

HBMSCOPE = sys.argv[1]
faults = []


def expect(where, what, wanted, got):
    if wanted != got:
        faults.append(f"{where}: {what}: Python says {wanted}, hbmscope {got}")


def report(file, *options):
    top = () if "--top" in options else ("--top", "1")
    at = () if "--at" in options else ("--at", "end")
    done = subprocess.run([HBMSCOPE, "report", str(file), "--json", *top, *at, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"report {file} {' '.join(options)}: {done.stderr}")
    return json.loads(done.stdout)


def diff(*arguments):
    done = subprocess.run([HBMSCOPE, "diff", *map(str, arguments), "--json", "--top", "0"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"diff {arguments}: {done.stderr}")
    return json.loads(done.stdout)


def export(file, *options):
    done = subprocess.run([HBMSCOPE, "export", str(file), *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"export {file} {' '.join(options)}: {done.stderr}")
    return done.stdout


def real_snapshots():
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("HBMSCOPE_DATA", root / "../shared/data")) / "torch"
    files = sorted(folder.glob("*.pickle"))
    if not files:
        print(f"only made-up snapshots: no real ones in {folder}; HBMSCOPE_DATA names the folder that has them")
    return files


def finish(what):
    if faults:
        sys.exit("\n".join(faults[:40]) + f"\n{len(faults)} differences")
    print(f"{what}: no difference")
