// RUN: fusion-opt %s --relay-split-args=limit=3 | FileCheck %s
// RUN: fusion-opt %s --relay-split-args | FileCheck %s --check-prefix=WHOLE
// RUN: fusion-opt %s --relay-split-args=limit=2 --validate-passes -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: not fusion-opt %s --relay-split-args=limit=1 2>&1 | FileCheck %s --check-prefix=LIMIT

// NUMBERS: validated: relay-split-args: @seven{{.*}}(largest error 0.0e0)
// LIMIT: error: the option limit of relay-split-args must be 2 or more, found 1

// Runs of three, and runs of three of what they give. What is left over waits for the next level.
// CHECK-LABEL: func.func @seven
// CHECK-NEXT:    %[[A:.*]] = relay.concat %arg0, %arg1, %arg0 {axis = 1 : i64} {{.*}} -> tensor<2x7xf32>
// CHECK-NEXT:    %[[B:.*]] = relay.concat %arg1, %arg0, %arg1 {axis = 1 : i64} {{.*}} -> tensor<2x8xf32>
// CHECK-NEXT:    %[[C:.*]] = relay.concat %[[A]], %[[B]], %arg0 {axis = 1 : i64} {{.*}} -> tensor<2x17xf32>
// CHECK-NEXT:    return %[[C]]
// WHOLE-LABEL: func.func @seven
// WHOLE-NEXT:    relay.concat {{.*}} -> tensor<2x17xf32>
func.func @seven(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) -> tensor<2x17xf32> {
  %0 = relay.concat %x, %y, %x, %y, %x, %y, %x {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x17xf32>
  return %0 : tensor<2x17xf32>
}

// CHECK-LABEL: func.func @three
// CHECK-NEXT:    relay.concat %arg0, %arg0, %arg0
func.func @three(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relay.concat %x, %x, %x {axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
