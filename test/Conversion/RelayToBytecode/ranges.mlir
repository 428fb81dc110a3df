// RUN: fusion-opt %s --relay-outline-kernels | FileCheck %s

// Kernels know what @main knows of the sizes of its names. A closure's names are its own.
// CHECK:       relay.fn
// CHECK:         call @kernel_1
// CHECK:         call @kernel_0
// CHECK:       func.func private @kernel_0(
// CHECK-SAME:    relay.likely = [{n = 64 : i64}]
// CHECK-SAME:    relay.ranges = {n = {least = 1 : i64, most = 64 : i64}}
// CHECK:       func.func private @kernel_1(
// CHECK-NOT:     relay.ranges
// CHECK:       }
func.func @main(%x: tensor<?xf32, #relay.dims<["n"]>>) -> ((tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>) attributes {relay.ranges = {n = {least = 1, most = 64}}, relay.likely = [{n = 64}]} {
  %f = relay.fn {
  ^bb0(%y: tensor<?xf32, #relay.dims<["n"]>>):
    %1 = relay.neg %y : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
    relay.yield %1 : tensor<?xf32, #relay.dims<["n"]>>
  } : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  %0 = relay.relu %x : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>
  return %f, %0 : (tensor<?xf32, #relay.dims<["n"]>>) -> tensor<?xf32, #relay.dims<["n"]>>, tensor<?xf32, #relay.dims<["n"]>>
}
