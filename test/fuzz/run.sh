#!/bin/sh
# Builds a fuzz target, FUSION_FUZZ (onnx or relay_text), and runs it: run.sh [SECONDS [FILE...]]. See README.md.
set -eu
cd "$(dirname "$0")"
seconds=${1:-300}
[ $# -eq 0 ] || shift
name=${FUSION_FUZZ:-onnx}
tests=${FUSION_ONNX_TESTS:-../../data/python/onnx/backend/test/data}
host=$(rustc -vV | sed -n 's/^host: //p')

# As cargo-fuzz has it without a sanitizer. With --target, build scripts stay without.
counters="-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS="--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
  -Cllvm-args=-sanitizer-coverage-level=4 $counters -Cllvm-args=-sanitizer-coverage-trace-compares" \
  cargo build --release --bin "$name" --target "$host"
program=target/$host/release/$name
[ $# -eq 0 ] || exec "$program" "$@"

corpus=target/corpus
[ "$name" = onnx ] || corpus=target/corpus-$name
mkdir -p "$corpus" target/failures
if [ "$name" = relay_text ]; then
  cp ../Translate/*.relay ../Translate/errors/*.relay ../../examples/relay/*.relay "$corpus"
elif [ -d "$tests" ]; then
  find "$tests" -name model.onnx -size -8k | while read -r model; do
    cp "$model" "target/corpus/$(basename "$(dirname "$model")")"
  done
fi
exec "$program" "$corpus" -max_len=8192 -timeout=20 -rss_limit_mb=4096 -artifact_prefix=target/failures/ \
  -max_total_time="$seconds"
