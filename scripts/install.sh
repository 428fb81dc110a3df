#!/usr/bin/env bash
# Copies the programs that are built: install.sh BUILT PREFIX, below DESTDIR where that is set
set -euo pipefail
cd "$(dirname "$0")/.."

built=$1
to="${DESTDIR:-}$2"
programs=(fusion fusion-opt fusion-translate fusion-reduce fusion-lsp-server)

for program in "${programs[@]}"; do
  if [ ! -x "$built/$program" ]; then
    echo "error: $built/$program is not built; run make build first" >&2
    exit 1
  fi
done
install -d "$to/bin" "$to/include" "$to/share/doc/fusion"
for program in "${programs[@]}"; do
  # Debug line tables are most of a program; symbols are no use without them.
  strip --strip-all -o "$to/bin/$program.new" "$built/$program"
  chmod 755 "$to/bin/$program.new"
  mv "$to/bin/$program.new" "$to/bin/$program"
done
install -m 644 runtime/include/fusion.h "$to/include/fusion.h"
install -m 644 LICENSE README.md CHANGELOG.md "$to/share/doc/fusion/"
echo "installed in $to"
