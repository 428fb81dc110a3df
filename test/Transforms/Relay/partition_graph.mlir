// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-annotate-target{target=npu ops=add,relu,mul},relay-merge-compiler-regions),relay-partition-graph)' | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-annotate-target{target=npu ops=add,relu,mul}),relay-partition-graph)' | FileCheck %s --check-prefix=ALONE
// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-annotate-target{target=npu ops=add,relu,mul},relay-merge-compiler-regions),relay-partition-graph)' --validate-passes -o /dev/null 2>&1 | FileCheck %s --check-prefix=NUMBERS

// NUMBERS: validated: relay-partition-graph: @main, @dead{{.*}}(largest error 0.0e0)

// The name is taken already. Weights are arguments, constants of one number stand inside.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[W:.*]] = relay.constant dense<{{\[}}1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         %[[C:.*]]:2 = call @npu_1(%arg0, %[[W]]) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT:    %[[E:.*]] = relay.exp %[[C]]#0
// CHECK-NEXT:    return %[[E]], %[[C]]#1
// ALONE-LABEL: func.func @main
// ALONE:         call @npu_1
// ALONE:         call @npu_2
// ALONE:         call @npu_3
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %w = relay.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %two = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.exp %0 : (tensor<2xf32>) -> tensor<2xf32>
  %2 = relay.mul %0, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %3 = relay.relu %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}

func.func private @npu_0(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// What nothing needs makes no function.
// CHECK-LABEL: func.func @dead
// CHECK-NOT:     call
// CHECK-NOT:     relay.compiler = "npu"}
// CHECK:       func.func private @npu_1(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-SAME:    attributes {relay.compiler = "npu", relay.global_symbol = "npu_1", relay.primitive}
// CHECK-NEXT:    %[[T:.*]] = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[A:.*]] = relay.add %arg0, %arg1 :
// CHECK-NEXT:    %[[M:.*]] = relay.mul %[[A]], %[[T]] :
// CHECK-NEXT:    %[[R:.*]] = relay.relu %[[M]] :
// CHECK-NEXT:    return %[[A]], %[[R]]
func.func @dead(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %x : tensor<2xf32>
}
