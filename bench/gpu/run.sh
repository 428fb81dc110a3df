#!/bin/sh
# Kernels on a GPU, in three ways:
#   bench/gpu/run.sh --build [--target nvidia:sm_90a] [--only GLOB]      here: compiles all cases into bench/gpu/kit
#   bench/gpu/run.sh --run --out DIR [--resume] [--only GLOB] [...]      there: runs the kit (drive.py --help)
#   bench/gpu/run.sh --dry-run [--out DIR]                               here: all of it on emulated kernels of small sizes
set -e
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
mode=$1
[ $# -gt 0 ] && shift
case $mode in
  --build) exec "$python" "$here/build.py" "$@" "$here/kit" ;;
  --run)
    if [ ! -f "$here/kit/manifest.json" ]; then
      echo "There is no kit in $here/kit; make one with bench/gpu/run.sh --build on a machine with the compiler." >&2
      exit 1
    fi
    exec "$python" "$here/kit/drive.py" "$@" ;;
  --dry-run)
    kit=$(mktemp -d)
    trap 'rm -rf "$kit"' EXIT
    "$python" "$here/build.py" --emulate --small --nodes "${NODES:-120}" "$kit/kit"
    "$python" "$kit/kit/drive.py" --out "$kit/out" "$@"
    cat "$kit/out/table.md" ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 1 ;;
esac
