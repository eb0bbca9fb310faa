#!/bin/sh
# tests/gpu/run.sh all | CHECK ...: finds the programs that the judge needs, and starts it. See the README.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case " $* " in
*" --pretend "* | *" --list "* | *" --help "* | *" -h "*) ;;
*)
  if ! command -v nvidia-smi >/dev/null 2>&1 || ! nvidia-smi -L >/dev/null 2>&1; then
    echo "There is no NVIDIA GPU here: nvidia-smi is missing or fails. Nothing was judged; --pretend judges on the emulated device." >&2
    exit 2
  fi
  HBMSCOPE_FILES=${HBMSCOPE_FILES:-$here/../../build/release/server_bundle/files}
  if [ ! -x "$HBMSCOPE_FILES/hbmscope" ]; then
    echo "There is no bundle in $HBMSCOPE_FILES: make bundle makes it, and HBMSCOPE_FILES names another folder. Nothing was judged." >&2
    exit 2
  fi
  export HBMSCOPE_FILES
  ;;
esac
exec "${PYTHON:-python3}" "$here/judge.py" "$@"
