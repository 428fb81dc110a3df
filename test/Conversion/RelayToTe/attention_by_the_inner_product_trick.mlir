// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=znver4 --convert-relay-to-te | FileCheck %s
// RUN: fusion-opt %s --fusion-attach-fp-math=level=fast --fusion-attach-target=name=x86-64-v4 --convert-relay-to-te | FileCheck %s --check-prefix=PLAIN

// A processor that adds beside its multiply-adds: sides of queries, keys and values, and two products of four by turns. Weights are from 0 to 1
// and not divided.
// CHECK-LABEL: te.kernel @attention
// CHECK:         te.compute "power" axes [4, 96] reduce [32]
// CHECK:         te.compute "queries{{.*}}" axes [4, 96, 36]
// CHECK:         te.compute "keys{{.*}}" axes [4, 128, 36]
// CHECK:         te.compute "products{{.*}}" axes [4, 96, 128] reduce [6, 4]
// CHECK:         te.compute "scores{{.*}}" axes [4, 96, 128]
// CHECK:         te.compute "largest{{.*}}" axes [4, 96] reduce [128]
// CHECK:         %[[WEIGHTS:.*]] = te.compute "weights{{.*}}" axes [4, 96, 132]
// CHECK:           math.exp
// CHECK:         te.compute "own{{.*}}" axes [4, 96] reduce [22]
// CHECK-COUNT-4:   te.load %[[WEIGHTS]]
// CHECK:         te.compute "values{{.*}}" axes [4, 132, 32]
// CHECK:         te.compute "products{{.*}}" axes [4, 96, 32] reduce [22, 4]
// CHECK:         te.compute "attention{{.*}}" axes [4, 96, 32]
// PLAIN-LABEL: te.kernel @attention
// PLAIN-NOT:     "products
// PLAIN:         te.compute "values{{.*}}" axes [4, 96, 32] reduce [128]
func.func @main(%q: tensor<4x96x32xf32>, %k: tensor<4x128x32xf32>, %v: tensor<4x128x32xf32>) -> tensor<4x96x32xf32> {
  %0 = call @attention(%q, %k, %v) : (tensor<4x96x32xf32>, tensor<4x128x32xf32>, tensor<4x128x32xf32>) -> tensor<4x96x32xf32>
  return %0 : tensor<4x96x32xf32>
}
func.func private @attention(%q: tensor<4x96x32xf32>, %k: tensor<4x128x32xf32>, %v: tensor<4x128x32xf32>) -> tensor<4x96x32xf32> attributes {relay.primitive} {
  %0 = relay.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<4x96x32xf32>, tensor<4x128x32xf32>, tensor<4x128x32xf32>) -> tensor<4x96x32xf32>
  return %0 : tensor<4x96x32xf32>
}
