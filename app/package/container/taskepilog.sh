#!/bin/sh
# Slurm's TaskEpilog: waits until the recording of the task is complete, for ten seconds at most. Then Slurm kills what is
# left of the step; a recording that is cut off by that can be read, too.
PATH=/usr/bin:/bin
task=$("$(dirname "$0")/taskprolog.sh" name)
tries=100
while [ -e "$task.exports" ] && [ "$tries" -gt 0 ]; do
  sleep 0.1
  tries=$((tries - 1))
done
exit 0
