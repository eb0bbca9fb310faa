#!/bin/sh
# Fuzzes every target of BUILD (preset fuzz) for SECONDS in all, on all cores, and ends with 1 at the first crash; with 0
# seconds each target only reads its corpus. New
# inputs that reach new code are kept in BUILD, for the next run to begin with.
set -eu
build=${1:?usage: tests/fuzz/run.sh BUILD SECONDS}
seconds=${2:?usage: tests/fuzz/run.sh BUILD SECONDS}
here=$(cd "$(dirname "$0")" && pwd)
cores=$(getconf _NPROCESSORS_ONLN)
names=$(ls "$here/corpus")
share=$((seconds / $(echo "$names" | wc -l)))
for name in $names; do
  if [ "$seconds" = 0 ]; then
    "$build/tests/fuzz/fuzz_$name" -runs=0 -rss_limit_mb=3000 "$here/corpus/$name" >"$build/fuzz.log" 2>&1 || { cat "$build/fuzz.log"; exit 1; }
    continue
  fi
  found=$build/fuzz_found/$name
  mkdir -p "$found" "$build/fuzz_crashes"
  echo "fuzz_$name: $share s on $cores cores"
  "$build/tests/fuzz/fuzz_$name" -max_total_time="$share" -max_len=4096 -timeout=20 -rss_limit_mb=3000 \
    -fork="$cores" -artifact_prefix="$build/fuzz_crashes/${name}_" "$found" "$here/corpus/$name"
done
if [ "$seconds" = 0 ]; then
  echo "no crash: $(echo "$names" | wc -l) targets over their corpora"
else
  echo "no crash; inputs that were found are in $build/fuzz_found"
fi
