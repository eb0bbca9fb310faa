#!/bin/sh
# tests/gpu/run.sh STAGE...: see the README. PYTHON names the interpreter with jax or torch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v nvidia-smi >/dev/null 2>&1 || ! nvidia-smi -L >/dev/null 2>&1; then
  echo "skipped: there is no NVIDIA GPU here (nvidia-smi is missing or fails)"
  exit 0
fi
if [ -z "${HBMSCOPE_FILES:-}" ]; then
  for folder in "$here"/../../build/release/server_bundle/files; do
    [ -x "$folder/hbmscope" ] && HBMSCOPE_FILES=$folder && break
  done
fi
if [ -z "${HBMSCOPE_FILES:-}" ]; then
  echo "skipped: there is no bundle here (make bundle makes it; HBMSCOPE_FILES names its folder)"
  exit 0
fi
export HBMSCOPE_FILES OUT="${OUT:-.}"
ended=0
for stage in "$@"; do
  timeout -k 20 480 "${PYTHON:-python3}" "$here/stages.py" "$stage" || { ended=$?; echo "stage $stage ended with exit code $ended"; }
done
exit $ended
