#!/usr/bin/env bash
# Times the programs in bench/operators: operators.sh FUSION [THREADS]
set -euo pipefail

fusion=$1
threads=${2:-1}
printf '%-24s %12s %12s %12s\n' "$threads thread(s)" 'median ms' GFLOP/s GB/s
for program in "$(dirname "$0")"/operators/*.mlir; do
  "$fusion" bench "$program" --threads "$threads" | awk -v name="$(basename "$program" .mlir)" '
    $1 == "median" { ms = $2 * ($3 == "s" ? 1000 : $3 == "us" ? 0.001 : 1) }
    $1 == "GFLOP/s" { flops = $2 }
    $1 == "GB/s" { bytes = $2 }
    END { printf "%-24s %12.3f %12s %12s\n", name, ms, flops, bytes }'
done
