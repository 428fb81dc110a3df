#!/usr/bin/env bash
# Installs what building needs, unless it is there: install-deps.sh LLVM_PREFIX
set -euo pipefail

prefix=$1
packages=(
  g++ python3-pip
  llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools liblld-22-dev clang-22 libclang-22-dev libpolly-22-dev
  libzstd-dev zlib1g-dev libxml2-dev
)
# Without these, the tests of code for AArch64 say so and pass.
for_aarch64=(qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross)

if [ "$prefix" != /usr/lib/llvm-22 ]; then
  if [ ! -x "$prefix/bin/mlir-tblgen" ]; then
    echo "error: there is no MLIR in $prefix: bin/mlir-tblgen is missing" >&2
    exit 1
  fi
  exit
fi

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]
}

missing=()
missing_for_aarch64=()
if command -v dpkg-query > /dev/null; then
  for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  for package in "${for_aarch64[@]}"; do
    is_installed "$package" || missing_for_aarch64+=("$package")
  done
elif [ ! -x "$prefix/bin/mlir-tblgen" ]; then
  echo "error: LLVM and MLIR 22 are not in $prefix; install them and run make LLVM_PREFIX=/where/they/are" >&2
  exit 1
fi

if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ]; then
    echo "error: some packages are missing; install them with" >&2
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
fi

if [ ${#missing_for_aarch64[@]} -gt 0 ]; then
  export DEBIAN_FRONTEND=noninteractive
  install() { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; }
  if [ "$(id -u)" != 0 ] || ! install "${missing_for_aarch64[@]}" > /dev/null 2>&1; then
    echo "code for AArch64 is not tested: ${missing_for_aarch64[*]} cannot be installed" >&2
  fi
fi

if ! command -v cargo > /dev/null; then
  echo "error: cargo is missing; see https://rustup.rs" >&2
  exit 1
fi
for component in rustfmt clippy; do
  if ! "cargo-${component/rustfmt/fmt}" --version > /dev/null 2>&1 && command -v rustup > /dev/null; then
    rustup --quiet component add "$component" || echo "$component cannot be installed" >&2
  fi
done
