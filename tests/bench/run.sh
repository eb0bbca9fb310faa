#!/bin/sh
# The table of `make bench`. BUILD is the folder of a release build with tests; what follows goes to compare_speed.py
# (--sizes 10k 100k, --without-pprof, --gate).
set -eu
build=${1:?usage: tests/bench/run.sh BUILD [OPTION...]}
shift
exec python3 "$(dirname "$0")/compare_speed.py" --hbmscope "$build/app/hbmscope" \
  --floor "$build/tests/bench/profile_floor" --generator "$build/tests/profiles/generate_profile" \
  --folder "$build/tests/bench/profiles" "$@"
