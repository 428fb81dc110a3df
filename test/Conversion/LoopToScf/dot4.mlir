// RUN: fusion-opt %s --convert-loop-to-scf="dot4=vpdpbusd vector-bytes=64" | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: fusion-opt %s --convert-loop-to-scf="dot4=vpmaddwd vector-bytes=64" | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: fusion-opt %s --convert-loop-to-scf="dot4=sdot" | FileCheck %s --check-prefixes=CHECK,ARM
// RUN: fusion-opt %s --convert-loop-to-scf | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: not fusion-opt %s --convert-loop-to-scf=dot4=vpmaddubsw 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: has no conversion for dot4=vpmaddubsw; it is one of vpdpbusd, sdot, vpmaddwd

// Four bytes from an index on are a word, and vectors of these the next ones.
// CHECK-LABEL: func.func @load(
// CHECK-SAME:    %[[X:.*]]: memref<64xi8>, %[[I:.*]]: index)
// CHECK:         %[[FOUR:.*]] = vector.load %[[X]][%[[I]]] : memref<64xi8>, vector<4xi8>
// CHECK:         %[[ONE:.*]] = vector.bitcast %[[FOUR]] : vector<4xi8> to vector<1xi32>
// CHECK:         vector.extract %[[ONE]][0] : i32 from vector<1xi32>
// CHECK:         %[[ALL:.*]] = vector.load %[[X]][%[[I]]] : memref<64xi8>, vector<16xi8>
// CHECK:         vector.bitcast %[[ALL]] : vector<16xi8> to vector<4xi32>
func.func @load(%x: memref<64xi8>, %i: index) -> (i32, vector<4xi32>) {
  %0 = loop.load_packed %x[%i] : memref<64xi8> -> i32
  %1 = loop.load_packed %x[%i] : memref<64xi8> -> vector<4xi32>
  return %0, %1 : i32, vector<4xi32>
}

// CHECK-LABEL: func.func @unsigned_by_signed(
// VNNI-SAME:     %[[C:[^:]*]]: vector<4xi32>, %[[A:[^:]*]]: vector<4xi32>, %[[B:[^:]*]]: vector<4xi32>)
// VNNI-DAG:      %[[X:.*]] = vector.bitcast %[[A]] : vector<4xi32> to vector<16xi8>
// VNNI-DAG:      %[[Y:.*]] = vector.bitcast %[[B]] : vector<4xi32> to vector<16xi8>
// VNNI:          llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.128"(%[[C]], %[[X]], %[[Y]])
// WORDS-COUNT-2: llvm.call_intrinsic "llvm.x86.sse2.pmadd.wd"
// ARM:           llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// ARM:           arith.xori
// ARM:           llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// NONE-COUNT-4:  arith.muli
func.func @unsigned_by_signed(%c: vector<4xi32>, %a: vector<4xi32>, %b: vector<4xi32>) -> vector<4xi32> {
  %0 = loop.dot4add %c, unsigned %a, %b : vector<4xi32>
  return %0 : vector<4xi32>
}

// The sign of the first operand is changed, and what that adds taken off.
// CHECK-LABEL: func.func @signed_by_signed(
// VNNI:          %[[MORE:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VNNI:          arith.xori
// VNNI:          %[[ALL:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VNNI:          arith.subi %[[ALL]], %[[MORE]]
// WORDS-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
func.func @signed_by_signed(%c: vector<16xi32>, %a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xi32> {
  %0 = loop.dot4add %c, %a, %b : vector<16xi32>
  return %0 : vector<16xi32>
}

// Lanes are filled up to a register's half or quarter.
// CHECK-LABEL: func.func @odd(
// VNNI-COUNT-3:  vector.shuffle {{.*}}[0, 1, 2, 3, 4, 4, 4, 4] : vector<5xi32>, vector<5xi32>
// VNNI:          llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// VNNI:          vector.shuffle {{.*}}[0, 1, 2, 3, 4] : vector<8xi32>, vector<8xi32>
func.func @odd(%c: vector<5xi32>, %a: vector<5xi32>, %b: vector<5xi32>) -> vector<5xi32> {
  %0 = loop.dot4add %c, unsigned %a, %b : vector<5xi32>
  return %0 : vector<5xi32>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-NOT:     llvm.call_intrinsic
// CHECK:         return
func.func @scalar(%c: i32, %a: i32, %b: i32) -> i32 {
  %0 = loop.dot4add %c, unsigned %a, unsigned %b : i32
  return %0 : i32
}
