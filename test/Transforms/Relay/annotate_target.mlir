// RUN: fusion-opt %s --pass-pipeline='builtin.module(func.func(relay-annotate-target{target=npu ops=conv2d,relu},relay-annotate-target{target=dsp ops=relu,exp}))' | FileCheck %s
// RUN: not fusion-opt %s --relay-annotate-target='target=npu ops=relu,swish' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fusion-opt %s --relay-annotate-target='target=my-npu ops=relu' 2>&1 | FileCheck %s --check-prefix=NAME

// UNKNOWN: error: the option ops of relay-annotate-target must have names of operators such as conv2d, found "swish"
// NAME: error: the option target of relay-annotate-target must be an identifier of C, found "my-npu"

// The first generator wins. What the program names itself stays, and kernels are left alone.
// CHECK-LABEL: func.func @main
// CHECK:         relay.conv2d {{.*}} {relay.compiler = "npu"}
// CHECK-NEXT:    relay.relu {{.*}} {relay.compiler = "npu"}
// CHECK-NEXT:    relay.exp {{.*}} {relay.compiler = "dsp"}
// CHECK-NEXT:    relay.relu {{.*}} {relay.compiler = "own"}
// CHECK-NEXT:    relay.tanh
// CHECK-NOT:     relay.compiler
func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = relay.conv2d %x, %w : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>
  %1 = relay.relu %0 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %2 = relay.exp %1 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %3 = relay.relu %2 {relay.compiler = "own"} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %4 = relay.tanh %3 : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %5 = func.call @kernel(%4) : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %5 : tensor<1x4x6x6xf32>
}
func.func private @kernel(%x: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> attributes {relay.primitive} {
  %0 = relay.relu %x : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}
