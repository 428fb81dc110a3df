// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,te.kernel(canonicalize))' | FileCheck %s

// Floats out of range become the nearest integer, and what is no number 0. A bound that the floats have is chosen among them.
// CHECK-LABEL: te.kernel @to_ui8(
// CHECK:        %[[X:.*]] = te.load
// CHECK-NEXT:   %[[LOW:.*]] = arith.cmpf olt, %[[X]], %cst
// CHECK-NEXT:   %[[A:.*]] = arith.select %[[LOW]], %cst{{.*}}, %[[X]] : f32
// CHECK-NEXT:   %[[HIGH:.*]] = arith.cmpf oge, %[[X]], %cst
// CHECK-NEXT:   %[[B:.*]] = arith.select %[[HIGH]], %cst{{.*}}, %[[A]] : f32
// CHECK-NEXT:   %[[IS:.*]] = arith.cmpf oeq, %[[B]], %[[B]] : f32
// CHECK-NEXT:   %[[C:.*]] = arith.select %[[IS]], %[[B]], %cst{{.*}} : f32
// CHECK-NEXT:   %[[I:.*]] = arith.fptoui %[[C]] : f32 to i8
// CHECK-NEXT:   te.yield %[[I]]
func.func @to_ui8(%x: tensor<8xf32>) -> tensor<8xui8> attributes {relay.primitive} {
  %y = relay.cast %x {dtype = ui8} : (tensor<8xf32>) -> tensor<8xui8>
  return %y : tensor<8xui8>
}

// f32 has no 2^31 - 1: what is above is chosen among the integers.
// CHECK-LABEL: te.kernel @to_i32(
// CHECK:        %[[HIGH:.*]] = arith.cmpf oge
// CHECK:        %[[I:.*]] = arith.fptosi
// CHECK-NEXT:   %[[Y:.*]] = arith.select %[[HIGH]], %c2147483647_i32, %[[I]] : i32
// CHECK-NEXT:   te.yield %[[Y]]
func.func @to_i32(%x: tensor<8xf32>) -> tensor<8xi32> attributes {relay.primitive} {
  %y = relay.cast %x {dtype = i32} : (tensor<8xf32>) -> tensor<8xi32>
  return %y : tensor<8xi32>
}

// f64 has it.
// CHECK-LABEL: te.kernel @from_f64(
// CHECK:        %[[I:.*]] = arith.fptosi
// CHECK-NEXT:   te.yield %[[I]]
func.func @from_f64(%x: tensor<8xf64>) -> tensor<8xi32> attributes {relay.primitive} {
  %y = relay.cast %x {dtype = i32} : (tensor<8xf64>) -> tensor<8xi32>
  return %y : tensor<8xi32>
}
