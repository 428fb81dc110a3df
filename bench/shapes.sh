#!/usr/bin/env bash
# Times operators of shapes that are no round numbers: odd, prime, batched, grouped, strided, dilated. The first shape of each
# kind is a regular one; of the others it is told what part of its rate they reach. shapes.sh FUSION [THREADS] [KIND...]
set -euo pipefail

fusion=$1
threads=${2:-1}
wanted=" ${*:3} "
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# matmul M K N [BATCH]
matmul() {
  local b=${4:+${4}x}
  local a="tensor<$b${1}x${2}xf32>" w="tensor<$b${2}x${3}xf32>" y="tensor<$b${1}x${3}xf32>"
  echo "func.func @main(%x: $a, %w: $w) -> $y {
    %0 = relay.matmul %x, %w : ($a, $w) -> $y
    return %0 : $y
  }"
}

# a weight of those extents that is known when compiling: numbers of both signs
weight() {
  local n=1 i extent chunk=0000803D000000BD0000803C # 0.0625, -0.03125, 0.015625
  for extent in "$@"; do n=$((n * extent)); done
  for ((i = 0; i < 7; i++)); do chunk=$chunk$chunk; done
  echo -n 'dense<"0x'
  for ((i = 0; i <= n / 384; i++)); do echo -n $chunk; done | head -c $((8 * n))
  echo '">'
}

# dense M K N: a product with a weight that is known when compiling
dense() {
  echo "func.func @main(%x: tensor<${1}x${2}xf32>) -> tensor<${1}x${3}xf32> {
    %w = relay.constant $(weight "$2" "$3") : tensor<${2}x${3}xf32>
    %0 = relay.matmul %x, %w : (tensor<${1}x${2}xf32>, tensor<${2}x${3}xf32>) -> tensor<${1}x${3}xf32>
    return %0 : tensor<${1}x${3}xf32>
  }"
}

# extent of a result: EXTENT KERNEL STRIDE PADDING DILATION
extent() { echo $((($1 + 2 * $4 - $5 * ($2 - 1) - 1) / $3 + 1)); }

# conv BATCH CHANNELS HEIGHT WIDTH FILTERS KERNEL STRIDE GROUPS DILATION, padded to keep its size but for the stride
conv() {
  local pad=$(($9 * ($6 - 1) / 2))
  local h=$(extent "$3" "$6" "$7" $pad "$9") w=$(extent "$4" "$6" "$7" $pad "$9")
  local x="tensor<${1}x${2}x${3}x${4}xf32>" k="tensor<${5}x$(($2 / $8))x${6}x${6}xf32>" y="tensor<${1}x${5}x${h}x${w}xf32>"
  echo "func.func @main(%x: $x) -> $y {
    %w = relay.constant $(weight "$5" $(($2 / $8)) "$6" "$6") : $k
    %0 = relay.conv2d %x, %w {strides = array<i64: $7, $7>, padding = array<i64: $pad, $pad, $pad, $pad>,
                              dilation = array<i64: $9, $9>, groups = $8 : i64} : ($x, $k) -> $y
    return %0 : $y
  }"
}

# pool CHANNELS EXTENT KERNEL STRIDE
pool() {
  local pad=$(($3 / 2)) y x
  y=$(extent "$2" "$3" "$4" $pad 1)
  x="tensor<1x${1}x${2}x${2}xf32>" y="tensor<1x${1}x${y}x${y}xf32>"
  echo "func.func @main(%x: $x) -> $y {
    %0 = relay.max_pool2d %x {kernel = array<i64: $3, $3>, strides = array<i64: $4, $4>,
                              padding = array<i64: $pad, $pad, $pad, $pad>} : ($x) -> $y
    return %0 : $y
  }"
}

# one operator on a ROWS by COLUMNS tensor: softmax, tanh, transpose, sum of rows, sum of columns
softmax() { plain "relay.softmax %x {axis = -1 : i64}" "${1}x${2}" "${1}x${2}"; }
tanh() { plain "relay.tanh %x" "${1}x${2}" "${1}x${2}"; }
transpose() { plain "relay.transpose %x" "${1}x${2}" "${2}x${1}"; }
rows() { plain "relay.reduce_sum %x {axes = array<i64: 1>}" "${1}x${2}" "$1"; }
columns() { plain "relay.reduce_sum %x {axes = array<i64: 0>}" "${1}x${2}" "$2"; }
plain() {
  echo "func.func @main(%x: tensor<${2}xf32>) -> tensor<${3}xf32> {
    %0 = $1 : (tensor<${2}xf32>) -> tensor<${3}xf32>
    return %0 : tensor<${3}xf32>
  }"
}

# KIND RATE PROGRAM ARGUMENTS, the regular shape of a kind first
cases() {
  cat <<'END'
matmul      GFLOP/s matmul 512 512 512
matmul      GFLOP/s matmul 511 513 509
matmul      GFLOP/s matmul 509 1021 257
matmul      GFLOP/s matmul 33 512 512
matmul      GFLOP/s matmul 512 512 33
matmul      GFLOP/s matmul 512 33 512
matmul      GFLOP/s matmul 127 127 127
matmul      GFLOP/s matmul 64 64 64 16
matmul      GFLOP/s matmul 61 67 71 16
dense       GFLOP/s dense 128 768 3072
dense       GFLOP/s dense 127 769 3067
dense       GFLOP/s dense 8 768 3072
dense       GFLOP/s dense 5 773 3067
dense       GFLOP/s dense 1 769 3067
conv3x3     GFLOP/s conv 1 64 56 56 64 3 1 1 1
conv3x3     GFLOP/s conv 1 61 53 59 67 3 1 1 1
conv3x3     GFLOP/s conv 4 64 28 28 64 3 1 1 1
conv3x3     GFLOP/s conv 3 64 7 7 64 3 1 1 1
strided     GFLOP/s conv 1 64 56 56 128 3 2 1 1
strided     GFLOP/s conv 1 61 55 57 131 3 2 1 1
strided     GFLOP/s conv 2 64 56 56 128 3 3 1 1
strided     GFLOP/s conv 1 64 56 56 128 5 2 1 1
strided     GFLOP/s conv 1 64 56 56 128 3 1 1 2
strided     GFLOP/s conv 1 64 55 55 128 3 1 1 3
grouped     GFLOP/s conv 1 128 28 28 128 3 1 1 1
grouped     GFLOP/s conv 1 128 28 28 128 3 1 2 1
grouped     GFLOP/s conv 1 128 28 28 128 3 1 4 1
grouped     GFLOP/s conv 1 128 28 28 128 3 1 32 1
grouped     GFLOP/s conv 1 122 27 29 61 3 2 61 1
pointwise   GFLOP/s conv 1 64 56 56 256 1 1 1 1
pointwise   GFLOP/s conv 1 61 53 59 251 1 1 1 1
pointwise   GFLOP/s conv 1 64 56 56 256 1 2 1 1
pointwise   GFLOP/s conv 8 256 7 7 256 1 1 1 1
depthwise   GB/s    conv 1 32 112 112 32 3 1 32 1
depthwise   GB/s    conv 1 96 112 112 96 3 2 96 1
depthwise   GB/s    conv 1 97 55 59 97 3 1 97 1
depthwise   GB/s    conv 1 384 14 14 384 3 1 384 1
depthwise   GB/s    conv 1 960 7 7 960 3 1 960 1
depthwise   GB/s    conv 1 576 14 14 576 3 2 576 1
depthwise   GB/s    conv 1 128 28 28 128 5 1 128 1
depthwise   GB/s    conv 1 128 28 28 128 7 1 128 1
depthwise   GB/s    conv 1 128 28 28 128 3 1 128 2
depthwise   GB/s    conv 4 64 28 28 64 3 1 64 1
depthwise   GB/s    conv 1 64 28 28 128 3 1 64 1
pool        GB/s    pool 64 112 3 2
pool        GB/s    pool 61 111 3 2
pool        GB/s    pool 64 56 3 1
pool        GB/s    pool 192 27 5 1
softmax     GB/s    softmax 128 1024
softmax     GB/s    softmax 131 1021
softmax     GB/s    softmax 1024 100
softmax     GB/s    softmax 4096 17
softmax     GB/s    softmax 2 65537
tanh        GB/s    tanh 1024 256
tanh        GB/s    tanh 1021 257
tanh        GB/s    tanh 1 100003
transpose   GB/s    transpose 512 512
transpose   GB/s    transpose 509 521
transpose   GB/s    transpose 3 100003
transpose   GB/s    transpose 4096 7
sum         GB/s    rows 512 512
sum         GB/s    rows 509 521
sum         GB/s    rows 100003 3
sum         GB/s    rows 2 100003
sum         GB/s    columns 512 512
sum         GB/s    columns 509 521
sum         GB/s    columns 100003 3
sum         GB/s    columns 3 100003
END
}

printf '%-40s %12s %20s %12s\n' "$threads thread(s)" 'median ms' rate 'of regular'
last= regular=1
while read -r kind unit program arguments; do
  [[ $wanted == "  " || $wanted == *" $kind "* ]] || continue
  # shellcheck disable=SC2086 # the arguments are words
  $program $arguments > "$scratch/program.mlir"
  read -r ms rate < <("$fusion" bench "$scratch/program.mlir" --threads "$threads" | awk -v unit="$unit" '
    $1 == "median" { ms = $2 * ($3 == "s" ? 1000 : $3 == "us" ? 0.001 : 1) }
    $1 == unit { rate = $2 }
    END { print ms, rate }')
  [[ $kind == "$last" ]] || regular=$rate
  last=$kind
  printf '%-40s %12s %20s %12s\n' "$program $arguments" "$(printf %.4f "$ms")" "$rate $unit" \
    "$(awk -v a="$rate" -v b="$regular" 'BEGIN { printf "%.2f", a / b }')"
done < <(cases)
