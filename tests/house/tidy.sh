#!/bin/sh
# clang-tidy over all of our own sources, as many at a time as there are cores. BUILD is a folder that CMake configured
# with the preset tidy: its compile_commands.json says how each file is compiled.
#
#   tests/house/tidy.sh BUILD [PART_OF_PATH...]     only files whose path contains one of the parts
set -eu
build=${1:?usage: tests/house/tidy.sh BUILD [PART_OF_PATH...]}
shift
tidy=$(command -v clang-tidy || command -v clang-tidy-14 || true)
if [ -z "$tidy" ]; then
  echo "clang-tidy is missing (Debian: apt-get install clang-tidy)" >&2
  exit 3
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
# Third-party sources are in the database too and are not ours to mend; generated ones neither.
python3 - "$build/compile_commands.json" "$root" "$@" <<'EOF' |
import json, os, sys
database, root, parts = sys.argv[1], sys.argv[2], sys.argv[3:]
build = os.path.dirname(os.path.realpath(database)) + os.sep
for path in sorted({os.path.realpath(os.path.join(e["directory"], e["file"])) for e in json.load(open(database))}):
    relative = os.path.relpath(path, root)
    ours = relative.split(os.sep)[0] in ("analysis", "app", "allocator", "collector", "tests")
    if ours and not path.startswith(build) and (not parts or any(part in relative for part in parts)):
        print(path, end="\0")
EOF
  xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" "$tidy" -p "$build" --quiet
echo "clang-tidy has nothing to say"
