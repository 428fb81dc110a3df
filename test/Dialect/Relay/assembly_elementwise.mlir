// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK-NEXT:    relay.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.less %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT:    relay.is_nan %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
// CHECK-NEXT:    relay.where %arg2, %arg0, %arg1 : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    relay.cast %arg0 {dtype = ui8} : (tensor<2x3xf32>) -> tensor<2x3xui8>
// CHECK-NEXT:    relay.clip %arg0 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @elementwise(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %c: tensor<i1>) {
  %0 = relay.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.less %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %3 = relay.is_nan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %4 = relay.where %c, %x, %y : (tensor<i1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = relay.cast %x {dtype = ui8} : (tensor<2x3xf32>) -> tensor<2x3xui8>
  %6 = relay.clip %x {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @elementwise_1
// CHECK-NEXT:    relay.neg %arg0 : (tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["n", ""]>>
// CHECK-NEXT:    relay.mul %arg1, %arg0 : (tensor<?x3xf32>, tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32>
func.func @elementwise_1(%n: tensor<?x3xf32, #relay.dims<["n", ""]>>, %a: tensor<?x3xf32>) {
  %0 = relay.neg %n : (tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32, #relay.dims<["n", ""]>>
  %1 = relay.mul %a, %n : (tensor<?x3xf32>, tensor<?x3xf32, #relay.dims<["n", ""]>>) -> tensor<?x3xf32>
  return
}
