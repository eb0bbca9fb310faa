#!/bin/sh
# Makes sure that the distribution's packages are there. Usage: install_packages.sh [window] [tests] [package] [fuzz] [web] [spark] [cross] [browser] [desktop] [style]
# Installs what is missing when it may; otherwise it names the packages and stops. Does nothing, quickly, when all is there.
# With --libraries first it only names those that are linked and their headers.
set -eu

packages="g++ cmake ninja-build pkg-config protobuf-compiler python3"
libraries="libdeflate-dev zlib1g-dev libprotobuf-dev libre2-dev libfmt-dev libcli11-dev nlohmann-json3-dev libexpected-dev libzstd-dev
  liblzma-dev libbz2-dev libsqlite3-dev libxxhash-dev libdw-dev"
is_list=""
[ "${1:-}" = --libraries ] && is_list=yes && shift
for part in "$@"; do
  case $part in
    window)
      packages="$packages python3-pip ca-certificates libegl1 libgl1 libgl1-mesa-dri"
      libraries="$libraries libx11-dev libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev libxext-dev libwayland-dev
        wayland-protocols libxkbcommon-dev" ;;
    tests) packages="$packages libgtest-dev golang-go musl-tools python3-pytest python3-venv" ;;
    fuzz) packages="$packages clang libclang-rt-dev" ;;
    web) packages="$packages emscripten node-acorn unicode-data perl make tcl" ;;
    spark) packages="$packages default-jre-headless" ;;
    browser) packages="$packages python3-venv chromium" ;;  # Ubuntu has it as a snap only.
    desktop) packages="$packages xvfb xdotool" ;;
    style) packages="$packages clang clang-tidy clang-format" ;;
    cross) packages="$packages g++-aarch64-linux-gnu qemu-user-static mmdebstrap" ;;
    package) packages="$packages python3-venv python3-pip binutils" ;;
    *) echo "install_packages.sh: unknown part '$part'" >&2; exit 2 ;;
  esac
done
if [ -n "$is_list" ]; then
  echo $libraries
  exit 0
fi
packages="$packages $libraries"

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "This system has no apt; the build needs what these Debian packages hold:" $packages
  exit 0
fi

missing=""
# One call for all of them: it prints those that are installed and complains of the others.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null | sed -n 's/ installed$//p' || true)
for package in $packages; do
  case "
$installed
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo"
else
  echo "These packages are missing. Install them, then run make again:" >&2
  echo "  sudo apt-get install$missing" >&2
  exit 1
fi
echo "Installing:$missing"
$as_root apt-get update -qq
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
