#!/bin/sh
# Fuzzes every target of BUILD (preset fuzz) for SECONDS in all, on all cores, and ends with 1 at the first crash. New
# inputs that reach new code are kept in BUILD, for the next run to begin with.
set -eu
build=${1:?usage: tests/fuzz/run.sh BUILD SECONDS}
seconds=${2:?usage: tests/fuzz/run.sh BUILD SECONDS}
here=$(cd "$(dirname "$0")" && pwd)
cores=$(getconf _NPROCESSORS_ONLN)
names=$(ls "$here/corpus")
share=$((seconds / $(echo "$names" | wc -l)))
for name in $names; do
  found=$build/fuzz_found/$name
  mkdir -p "$found" "$build/fuzz_crashes"
  echo "fuzz_$name: $share s on $cores cores"
  "$build/tests/fuzz/fuzz_$name" -max_total_time="$share" -max_len=4096 -timeout=20 -rss_limit_mb=3000 \
    -fork="$cores" -artifact_prefix="$build/fuzz_crashes/${name}_" "$found" "$here/corpus/$name"
done
echo "no crash; inputs that were found are in $build/fuzz_found"
