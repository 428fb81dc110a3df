#!/usr/bin/env bash
# The demo where the onnx package cannot be fetched: a small classifier in MLIR. demo.sh FUSION, from the root.
set -euo pipefail

fusion=$1
here=examples/offline

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

echo "The onnx package cannot be fetched, so this is the demo of a small classifier instead of ResNet-50."
mkdir -p data
show "$fusion" compile $here/mlp.mlir -o data/mlp.so
show "$fusion" explain data/mlp.so
show "$fusion" run data/mlp.so --inputs $here/x.npy | tee data/mlp.txt
# The numbers in the brackets are the output; expected.txt has what they should be.
sed -n 's/.*\[\(.*\)\].*/\1/p' data/mlp.txt | tail -n 1 | tr -d ',' | awk '
  NR == FNR { expected = $0; next }
  {
    count = split(expected, e, " "); worst = count == NF ? 0 : 1
    for (i = 1; i <= count; i++) { d = $i - e[i]; if (d < 0) d = -d; if (d > worst) worst = d }
    printf "largest error %.2e\n", worst; exit !(worst < 1e-5)
  }' $here/expected.txt -
show "$fusion" bench data/mlp.so
