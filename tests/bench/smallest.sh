#!/bin/sh
# Runs each benchmark on its smallest input, so that one that no longer builds or runs is noticed. What is printed then
# says nothing about speed. BUILD is the folder of a release build with tests and benchmarks.
set -eu
build=$(cd "${1:?usage: tests/bench/smallest.sh BUILD}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
bench=$build/tests/bench
job=$build/tests/collector
hbmscope=$build/app/hbmscope
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LIBGL_ALWAYS_SOFTWARE=1 XDG_STATE_HOME="$folder/state" XDG_CONFIG_HOME="$folder/config" XDG_RUNTIME_DIR="$folder"
cd "$folder"
wrong=0
ran=0
smallest() {
  name=$1
  shift
  if [ ! -e "$1" ]; then  # Not built here: it needs a part that is switched off.
    echo "skipped $name: there is no $1"
    return
  fi
  ran=$((ran + 1))
  if "$@" >"$folder/output" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name: $*"
    tail -n 20 "$folder/output"
    wrong=$((wrong + 1))
  fi
}
observed="$hbmscope run --no-window --no-flight --record $folder/bench.hbm --"

smallest compare_speed "$here/run.sh" "$build" --sizes 10k --without-pprof
smallest trace_bench "$bench/trace_bench" 20000
smallest savings_bench "$bench/savings_bench" 20000 --lines 20
smallest address_space_bench "$bench/address_space_bench" 20000
smallest allocator_bench "$bench/allocator_bench"
smallest xspace_bench "$bench/xspace_bench" 2
smallest hlo_floor "$bench/hlo_floor"
smallest line_bench "$bench/line_bench" "$bench/libline_subject.so" 50
smallest heap_raster_bench "$bench/heap_raster_bench" 10000
smallest make_recording "$bench/make_recording" "$folder/made.hbm" 20000 1000
smallest window_bench "$bench/window_bench" "$folder/made.hbm" 20000 1000
smallest window_bench_open "$bench/window_bench" --open "$folder/made.hbm"
smallest snapshot_speed "$here/snapshot_speed.py" --hbmscope "$hbmscope" --entries 5000 --folder "$folder"
smallest log_speed "$here/log_speed.py" --hbmscope "$hbmscope" --gigabytes 0.01 --folder "$folder" --runs 1
smallest annotate_bench "$bench/annotate_bench"
# shellcheck disable=SC2086
smallest driver_bench /usr/bin/env LD_LIBRARY_PATH="$bench/bare_driver" $observed "$bench/driver_bench"
smallest pool_cost "$here/pool_cost.py" "$hbmscope" "$job/pool_job" "$job/pools/newer/xla_cuda_plugin.so" 20000
smallest storms "$here/storms.py" "$hbmscope" "$bench/storm_program" "$job/emulated_driver" "$job/fake_cupti" 2000
smallest live_rate "$here/live_rate.py" "$hbmscope" "$bench/rate_program" 100000
smallest live_viewers "$here/live_viewers.py" "$hbmscope" "$job/annotated_program" 10000 1
smallest allocation_program "$bench/allocation_program" 1000
if command -v heaptrack >/dev/null; then
  smallest vs_heaptrack "$here/vs_heaptrack.py" --trace-bench "$bench/trace_bench" --program "$bench/allocation_program" --pairs 10000
  smallest driver_vs_heaptrack "$here/driver_vs_heaptrack.py" --hbmscope "$hbmscope" --driver-bench "$bench/driver_bench" \
    --bare-driver "$bench/bare_driver" --rounds 1
fi
echo "$((ran - wrong)) passed, $wrong failed"
[ "$wrong" = 0 ]
