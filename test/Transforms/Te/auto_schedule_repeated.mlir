// RUN: fusion-opt %s --fusion-attach-target=name=znver4 --convert-relay-to-te --te-schedule --split-input-file | FileCheck %s

// A tensor that is repeated: its axes are parted by how often, and rows are copied as they lie. Nothing is turned round in registers.
// CHECK-LABEL: te.schedule for @repeated
// CHECK-NEXT:    %[[S:.*]] = te.stage "tile"
// CHECK-NEXT:    %[[A:.*]]:2 = te.axes %[[S]]
// CHECK-NEXT:    te.split %[[A]]#0 by 64
// CHECK-NEXT:    %{{.*}}, %[[ROW:.*]] = te.split %[[A]]#1 by 128
// CHECK-NEXT:    %{{.*}}, %[[LANES:.*]] = te.split %[[ROW]] by 16
// CHECK-NEXT:    te.vectorize %[[LANES]]
// CHECK-NEXT:  }
func.func @repeated(%x: tensor<64x128xf32>) -> tensor<128x256xf32> attributes {relay.primitive} {
  %y = relay.tile %x {reps = array<i64: 2, 2>} : (tensor<64x128xf32>) -> tensor<128x256xf32>
  return %y : tensor<128x256xf32>
}
