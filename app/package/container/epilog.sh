#!/bin/sh
# Slurm's Epilog, which runs as root on each node when a job has ended: writes next to each recording of a task that ran
# out of memory why it did (NODE.STEP.RANK.why.txt), and removes the recordings of all others, unless the user keeps them.
# The exit code is always 0, since Slurm drains a node whose epilog fails.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
here=$(dirname "$0")
folder=$here/recordings/$SLURM_JOB_ID
[ -d "$folder" ] || exit 0

# The folder is the user's, who may have put anything there: nothing in it is read or written as root.
if [ "$(id -u)" -ne "$SLURM_JOB_UID" ]; then
  runuser -u "$SLURM_JOB_USER" -- "$0"
  exit 0
fi

[ "$(stat -c '%F %u' "$folder")" = "directory $SLURM_JOB_UID" ] || exit 0 # Not where another user got there first.

for recording in "$folder/$(uname -n)".*.hbm; do
  [ -e "$recording" ] || continue
  task=${recording%.hbm}
  true >"$task.why.txt" || continue # Without room for the reason, the recording stays.
  timeout 60 "$here/hbmscope" explain "$recording" --fail-if 'failures>0' >"$task.why.txt" 2>>"$task.log"
  code=$?
  [ "$code" -eq 1 ] || rm -f "$task.why.txt"
  # A recording that can't be explained stays, unless it is empty.
  if [ "$code" -eq 0 ] || timeout 60 "$here/hbmscope" report "$recording" 2>/dev/null | grep -q '^0 events'; then
    [ -e "$folder/keep" ] || rm -f "$recording"
  fi
done
rm -f "$folder/$(uname -n)".*.exports "$folder/$(uname -n)".*.new # Of tasks that were killed.
for log in "$folder/$(uname -n)".*.log; do # Of tasks that left nothing else.
  [ -e "${log%.log}.hbm" ] || rm -f "$log"
done
rmdir "$folder" 2>/dev/null
exit 0
