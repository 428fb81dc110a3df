// RUN: fusion explain %s | FileCheck %s

// Each version of a tile that stays has a row, with what one run of it takes; how often it runs depends on the sizes.
// CHECK: kernel_0{{ .*}}conv2d + relu
// CHECK: kernel_0_tile_0_1x16x16{{.*}}by size{{.*}}conv2d + relu
// Those that no likely size gains by are named with the others.
// CHECK: kernel_0_tile_0: conv2d + relu
// CHECK: 1x16x16{{.*}}others do not serve all sizes
// CHECK: 1x8x8{{.*}} us  -
// CHECK: 16 {{.*}} us  -
func.func @main(%x: tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>> {
  %w = relay.constant dense<0.5> : tensor<4x3x3x3xf32>
  %0 = relay.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x?x?xf32, #relay.dims<["", "", "h", "w"]>>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  %1 = relay.relu %0 : (tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>) -> tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
  return %1 : tensor<1x4x?x?xf32, #relay.dims<["", "", "h", "w"]>>
}
