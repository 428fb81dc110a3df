#!/bin/sh
# Builds the ONNX fuzz target and runs it: run.sh [SECONDS [FILE...]]. See README.md.
set -eu
cd "$(dirname "$0")"
seconds=${1:-300}
[ $# -eq 0 ] || shift
tests=${FUSION_ONNX_TESTS:-../../data/python/onnx/backend/test/data}
host=$(rustc -vV | sed -n 's/^host: //p')

# As cargo-fuzz has it without a sanitizer. With --target, build scripts stay without.
counters="-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS="--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
  -Cllvm-args=-sanitizer-coverage-level=4 $counters -Cllvm-args=-sanitizer-coverage-trace-compares" \
  cargo build --release --target "$host"
program=target/$host/release/onnx
[ $# -eq 0 ] || exec "$program" "$@"

mkdir -p target/corpus target/failures
if [ -d "$tests" ]; then
  find "$tests" -name model.onnx -size -8k | while read -r model; do
    cp "$model" "target/corpus/$(basename "$(dirname "$model")")"
  done
fi
exec "$program" target/corpus -max_len=8192 -timeout=20 -rss_limit_mb=4096 -artifact_prefix=target/failures/ \
  -max_total_time="$seconds"
