#!/bin/sh
# Runs a job under hbmscope, records it, and says in the job's log why it ran out of memory, if it did. The exit code is
# the job's.
#
#     run_job.sh COMMAND...
#
# The recording is HOST.hbm in HBMSCOPE_RECORDINGS (default /recordings); a pod's host has the pod's name.
set -u
hbmscope=$(dirname "$0")/hbmscope
exec 3<&0 # A job in the background would read nothing.
recording=${HBMSCOPE_RECORDINGS:-/recordings}/$(uname -n).hbm

"$hbmscope" run --no-window --no-flight --record "$recording" -- "$@" <&3 3<&- &
job=$!
# As the first process of a container a shell ignores SIGTERM, with which Kubernetes ends a pod, unless it has a trap.
trap 'kill -TERM "$job"' TERM INT
wait "$job"
code=$?
while kill -0 "$job" 2>/dev/null; do # A signal ended the wait, not the job.
  wait "$job"
  code=$?
done

if [ "$code" -ne 0 ] && [ -e "$recording" ]; then
  if reason=$("$hbmscope" explain "$recording" --fail-if 'failures>0' 2>/dev/null); then :; elif [ $? -eq 1 ]; then
    printf '%s\n' "$reason" >&2
  fi
fi
exit "$code"
