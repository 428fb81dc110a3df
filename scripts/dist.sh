#!/usr/bin/env bash
# Makes a tarball that may be unpacked anywhere, and a Debian package: dist.sh BUILT OUTPUT
#
# LLVM and MLIR are in the programs. What a package needs besides are the libraries that the programs name, and a C compiler, which
# links compiled models.
set -euo pipefail
cd "$(dirname "$0")/.."

built=$1
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
machine=$(uname -m)
name=fusion-$version-linux-$machine
mkdir -p "$2"
output=$(cd "$2" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

DESTDIR= scripts/install.sh "$built" "$scratch/$name" > /dev/null
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$scratch" -czf "$output/$name.tar.gz" "$name"
echo "$output/$name.tar.gz"

if ! command -v dpkg-deb > /dev/null; then
  echo "dpkg-deb is not installed: no Debian package is made"
  exit
fi
# The packages of the shared libraries that the programs are linked with.
needed() {
  ldd "$scratch/$name/bin/fusion" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | while read -r library; do
    { dpkg-query -S "$library" || dpkg-query -S "/usr$library"; } 2> /dev/null | sed 's/:.*//'
  done | sort -u | paste -sd, | sed 's/,/, /g'
}
root=$scratch/deb
mkdir -p "$root/DEBIAN" "$root/usr"
cp -r "$scratch/$name/." "$root/usr/"
mv "$root/usr/share/doc/fusion/LICENSE" "$root/usr/share/doc/fusion/copyright"
cat > "$root/DEBIAN/control" << CONTROL
Package: fusion-compiler
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: fusion <fusion@localhost>
Depends: $(needed)
Section: devel
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: deep-learning compiler on MLIR
 Compiles ONNX models and programs in the relay language to shared libraries
 with a C interface. LLVM and MLIR are linked into the programs.
CONTROL
# Each .deb compresses as the tarball does; xz takes minutes for some percent.
deb=$output/fusion-compiler_${version}_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group -Zgzip --build "$root" "$deb" > /dev/null
echo "$deb"
sed -n 's/^Depends: /it depends on /p' "$root/DEBIAN/control"
