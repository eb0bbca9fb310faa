#!/bin/sh
# Slurm's TaskProlog: records every task that has a GPU, as `hbmscope run` would. Slurm sets variables in the task's
# environment that this script prints. A task that can't be recorded runs without it: the exit code is always 0, since
# Slurm ends a task whose prolog fails.
#
# `hbmscope run` follows whatever has its environment. So it runs in the background with a command that hands out this
# environment, and that ends with the task.
PATH=/usr/bin:/bin
here=$(dirname "$0")

name_task() { # What the names of the task's files begin with.
  folder=$here/recordings/$SLURM_JOB_ID
  task=$folder/$(uname -n).${SLURM_STEP_ID:-batch}.$SLURM_PROCID
  [ "${SLURM_RESTART_COUNT:-0}" -eq 0 ] || task=$task.restart$SLURM_RESTART_COUNT # What came before a requeue stays.
}

case ${1:-} in
  name) # For taskepilog.sh.
    name_task
    echo "$task"
    exit 0
    ;;
  observe)
    "$here/hbmscope" run --no-window --no-flight --record "$2.hbm" -- "$0" hold "$2"
    rm -f "$2.exports" # taskepilog.sh waits for this.
    exit 0
    ;;
  hold)
    for name in LD_PRELOAD HBMSCOPE_OBSERVER HBMSCOPE_STACKS NVTX_INJECTION64_PATH ASAN_OPTIONS; do
      eval "value=\${$name:-}"
      [ -z "$value" ] || echo "export $name=$value"
    done >"$2.new"
    unset LD_PRELOAD # Nothing that this script starts is of interest.
    mv "$2.new" "$2.exports"
    while kill -0 "$SLURM_TASK_PID" 2>/dev/null; do sleep 0.5; done
    exit 0
    ;;
esac

[ "${HBMSCOPE_RECORD:-yes}" != no ] || exit 0
case ${CUDA_VISIBLE_DEVICES:-}${ROCR_VISIBLE_DEVICES:-} in
  '' | NoDevFiles | -1) exit 0 ;; # Slurm sets NoDevFiles where a job has no GPU.
esac
name_task
mkdir -m 700 "$folder" 2>/dev/null # Another task of the job may have made it.
[ "$(stat -c '%F %u' "$folder")" = "directory $(id -u)" ] || exit 0 # Not where another user got there first.
[ "${HBMSCOPE_RECORD:-yes}" != keep ] || : >"$folder/keep"
rm -f "$task.exports" "$task.new"

# In a session of its own, because Slurm kills the process group of this script when it ends.
setsid "$0" observe "$task" </dev/null >/dev/null 2>"$task.log" &
tries=50
until [ -e "$task.exports" ] || [ "$tries" -eq 0 ]; do
  sleep 0.1
  tries=$((tries - 1))
done
[ ! -e "$task.exports" ] || cat "$task.exports"
exit 0
