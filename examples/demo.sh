#!/usr/bin/env bash
# ResNet-50 from an ONNX file to a shared library: demo.sh FUSION, from the root of the repository.
set -euo pipefail

fusion=$1
model=data/models/resnet50

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

show "$fusion" compile $model/model.onnx -o data/resnet50.so
show "$fusion" explain data/resnet50.so
show "$fusion" run data/resnet50.so --inputs $model/input.npy --outputs data/resnet50.npz
echo "against ONNX Runtime, as recorded in test/models/expected:"
show "${PYTHON:-python3}" examples/compare.py data/resnet50.npz test/models/expected/resnet50.npz
show "$fusion" bench data/resnet50.so
