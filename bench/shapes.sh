#!/usr/bin/env bash
# Times operators of shapes that are no round numbers: odd, prime, batched, grouped, strided, dilated. The first shape of each
# kind in shapes.txt is a regular one; of the others it is told what part of its rate they reach.
# shapes.sh FUSION [THREADS] [KIND...]
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
done < <(grep -v '^#' "$(dirname "$0")/shapes.txt")
