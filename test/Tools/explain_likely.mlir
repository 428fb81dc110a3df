// RUN: fusion explain %s | FileCheck %s

// A likely size may be as large as any number is: what takes longer than can be counted is as long.
// CHECK: versions of tiles
// CHECK: h=4611686018427387904 w=4611686018427387904
// CHECK: chosen
func.func @main(%x: tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>> attributes {relay.likely = [{h = 4611686018427387904, w = 4611686018427387904}]} {
  %w = relay.constant dense<0.5> : tensor<4x3x3x3xf32>
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  %1 = relay.relu %0 : (tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  return %1 : tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
}
