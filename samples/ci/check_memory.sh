#!/bin/sh
# Dry runs a training step on an emulated device, with no GPU, and compares it with the same step of another version.
#
#   check_memory.sh DEVICE 'CONDITION' COMMAND [BASELINE_FOLDER]
#
# For example: check_memory.sh h100 'margin<4GiB' 'python train.py --steps 3' main
#
# memory.md gets a report for people, now.hbm and before.hbm the recordings. Exit codes: 0 all is well; 1 it doesn't fit,
# CONDITION is true, or it needs 2 % more (MEMORY_GROWTH) than in BASELINE_FOLDER; 2 or 3 there is no answer.
set -u
device=$1 condition=$2 command=$3 baseline=${4:-}
growth=${MEMORY_GROWTH:-2%}

record() {  # RECORDING [OPTIONS...]: in the current folder
  recording=$1
  shift
  rm -f "$recording"
  hbmscope run --emulate "$device" --no-window --no-flight --record "$recording" "$@" -- sh -c "$command"
}

here=$(pwd)
code=0
record "$here/now.hbm" --fail-if "$condition" >verdict.txt || code=$?
{
  echo "### Device memory on an emulated $device"
  echo
  echo '```'
  cat verdict.txt
  [ "$code" = 0 ] || [ ! -f now.hbm ] || hbmscope explain now.hbm
  echo '```'
} >memory.md
cat verdict.txt
case $code in 0) ;; 2 | 3) exit "$code" ;; *) exit 1 ;; esac
[ -n "$baseline" ] || exit 0

(cd "$baseline" && record "$here/before.hbm" >"$here/before.txt") || {
  echo "The other version does not run, so nothing is compared." | tee -a memory.md
  exit 0
}
hbmscope diff before.hbm now.hbm --at peak --fail-if "growth>$growth" >diff.txt 2>why.txt || code=$?
{
  echo
  echo "<details><summary>Compared with the other version</summary>"
  echo
  echo '```'
  cat diff.txt why.txt
  echo '```'
  echo "</details>"
} >>memory.md
cat diff.txt why.txt
exit "$code"
