// RUN: fusion-opt %s --pass-pipeline='builtin.module(convert-relay-to-te,canonicalize)' | FileCheck %s

// CHECK-LABEL: te.kernel @batch_norm(
// CHECK-DAG:   %[[EPSILON:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:       te.compute "batch_norm" axes [2, 3, 4] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index):
// CHECK-NEXT:    %[[GAMMA:.*]] = te.load %arg1[%[[C]]]
// CHECK-NEXT:    %[[VARIANCE:.*]] = te.load %arg4[%[[C]]]
// CHECK-NEXT:    %[[A:.*]] = arith.addf %[[VARIANCE]], %[[EPSILON]] : f32
// CHECK-NEXT:    %[[D:.*]] = math.sqrt %[[A]] : f32
// CHECK-NEXT:    %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[D]] : f32
// CHECK-NEXT:    %[[FACTOR:.*]] = arith.mulf %[[GAMMA]], %[[INVERSE]] : f32
// CHECK-NEXT:    %[[X:.*]] = te.load %arg0[%[[N]], %[[C]], %[[I]]]
// CHECK-NEXT:    %[[MEAN:.*]] = te.load %arg3[%[[C]]]
// CHECK-NEXT:    %[[CENTRED:.*]] = arith.subf %[[X]], %[[MEAN]] : f32
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[CENTRED]], %[[FACTOR]] : f32
// CHECK-NEXT:    %[[BETA:.*]] = te.load %arg2[%[[C]]]
// CHECK-NEXT:    arith.addf %[[SCALED]], %[[BETA]] : f32
func.func @batch_norm(%x: tensor<2x3x4xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>, %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<2x3x4xf32> attributes {relay.primitive} {
  %0 = relay.batch_norm %x, %gamma, %beta, %mean, %variance {epsilon = 0.5 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Statistics of half types are f32; the variance is taken in a second pass.
// CHECK-LABEL: te.kernel @layer_norm(
// CHECK:       te.compute "sum" axes [2] reduce [8] init [0.000000e+00 : f32]
// CHECK:       %[[MEAN:.*]] = te.compute "mean{{.*}}" axes [2] reduce [] init []
// CHECK:       } : tensor<2xf32>
// CHECK:       te.compute "sum{{.*}}" axes [2] reduce [8] init [0.000000e+00 : f32] {
// CHECK:         %[[M:.*]] = te.load %[[MEAN]]
// CHECK-NEXT:    %[[CENTRED:.*]] = arith.subf %{{.*}}, %[[M]] : f32
// CHECK-NEXT:    arith.mulf %[[CENTRED]], %[[CENTRED]] : f32
// CHECK:       te.compute "variance{{.*}}" axes [2]
// CHECK:       %[[INVERSE:.*]] = te.compute "inverse_deviation{{.*}}" axes [2]
// CHECK:         math.sqrt
// CHECK:       te.compute "layer_norm{{.*}}" axes [2, 8] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[I:.*]]: index):
// CHECK:         te.load %[[MEAN]][%[[N]]]
// CHECK:         te.load %[[INVERSE]][%[[N]]]
// CHECK:         te.load %arg1[%[[I]]]
// CHECK:         te.load %arg2[%{{.*}}]
// CHECK:         arith.truncf %{{.*}} : f32 to f16
func.func @layer_norm(%x: tensor<2x8xf16>, %gamma: tensor<8xf16>, %beta: tensor<1xf16>) -> tensor<2x8xf16> attributes {relay.primitive} {
  %0 = relay.layer_norm %x, %gamma, %beta : (tensor<2x8xf16>, tensor<8xf16>, tensor<1xf16>) -> tensor<2x8xf16>
  return %0 : tensor<2x8xf16>
}

// CHECK-LABEL: te.kernel @instance_norm(
// CHECK:       te.compute "sum" axes [2, 3] reduce [4, 5]
// CHECK:       te.compute "instance_norm{{.*}}" axes [2, 3, 4, 5] reduce [] init [] {
// CHECK-NOT:     arith.divui
// CHECK:       te.return
func.func @instance_norm(%x: tensor<2x3x4x5xf32>, %gamma: tensor<3xf32>, %beta: tensor<3xf32>) -> tensor<2x3x4x5xf32> attributes {relay.primitive} {
  %0 = relay.instance_norm %x, %gamma, %beta : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: te.kernel @group_norm(
// CHECK-DAG:   %[[C3:.*]] = arith.constant 3 : index
// CHECK:       te.compute "sum" axes [2, 2] reduce [3, 4] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[G:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index):
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[G]], %[[C3]] : index
// CHECK-NEXT:    %[[CHANNEL:.*]] = arith.addi %[[FIRST]], %[[C]] : index
// CHECK-NEXT:    te.load %arg0[%[[N]], %[[CHANNEL]], %[[I]]]
// CHECK:       te.compute "group_norm{{.*}}" axes [2, 6, 4] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index):
// CHECK-NEXT:    arith.divui %[[C]], %[[C3]] : index
func.func @group_norm(%x: tensor<2x6x4xf32>, %gamma: tensor<6xf32>, %beta: tensor<6xf32>) -> tensor<2x6x4xf32> attributes {relay.primitive} {
  %0 = relay.group_norm %x, %gamma, %beta {num_groups = 2 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return %0 : tensor<2x6x4xf32>
}

// The window of 4 channels reaches 1 back and 2 on. To the power of 3/4 is a product of roots.
// CHECK-LABEL: te.kernel @lrn(
// CHECK:       %[[PAD:.*]] = te.compute "pad" axes [1, 8, 3]
// CHECK:       te.compute "squares{{.*}}" axes [1, 5, 3] reduce [4] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index, %[[C:.*]]: index, %[[I:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    %[[CHANNEL:.*]] = arith.addi %[[C]], %[[K]] : index
// CHECK-NEXT:    %[[X:.*]] = te.load %[[PAD]][%[[N]], %[[CHANNEL]], %[[I]]]
// CHECK-NEXT:    arith.mulf %[[X]], %[[X]] : f32
// CHECK:       te.compute "lrn{{.*}}"
// CHECK-COUNT-3: math.sqrt
// CHECK-NOT:     math.powf
func.func @lrn(%x: tensor<1x5x3xf32>) -> tensor<1x5x3xf32> attributes {relay.primitive} {
  %0 = relay.lrn %x {size = 4 : i64} : (tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  return %0 : tensor<1x5x3xf32>
}

// CHECK-LABEL: te.kernel @lrn_of_another_power(
// CHECK:         math.powf
func.func @lrn_of_another_power(%x: tensor<1x5x3xf32>) -> tensor<1x5x3xf32> attributes {relay.primitive} {
  %0 = relay.lrn %x {size = 4 : i64, beta = 0.6 : f64} : (tensor<1x5x3xf32>) -> tensor<1x5x3xf32>
  return %0 : tensor<1x5x3xf32>
}

// CHECK-LABEL: te.kernel @softmax(
// CHECK:       %[[MAX:.*]] = te.compute "max" axes [2, 3] reduce [8] init [0xFF800000 : f32]
// CHECK:       %[[EXP:.*]] = te.compute "exp{{.*}}" axes [2, 8, 3] reduce [] init [] {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index, %[[K:.*]]: index, %[[J:.*]]: index):
// CHECK:         te.load %[[MAX]][%[[I]], %[[J]]]
// CHECK:         math.exp
// CHECK:       %[[SUM:.*]] = te.compute "sum{{.*}}" axes [2, 3] reduce [8] init [0.000000e+00 : f32] {
// CHECK-NEXT:  ^bb0(%[[I:.*]]: index, %[[J:.*]]: index, %[[K:.*]]: index):
// CHECK-NEXT:    te.load %[[EXP]][%[[I]], %[[K]], %[[J]]]
// CHECK:       te.compute "softmax{{.*}}" axes [2, 8, 3] reduce [] init [] {
// CHECK-DAG:     %[[E:.*]] = te.load %[[EXP]]
// CHECK-DAG:     %[[S:.*]] = te.load %[[SUM]]
// CHECK:         %[[R:.*]] = arith.divf %{{.*}}, %[[S]] : f32
// CHECK:         arith.mulf %[[E]], %[[R]] : f32
func.func @softmax(%x: tensor<2x8x3xf32>) -> tensor<2x8x3xf32> attributes {relay.primitive} {
  %0 = relay.softmax %x {axis = 1 : i64} : (tensor<2x8x3xf32>) -> tensor<2x8x3xf32>
  return %0 : tensor<2x8x3xf32>
}

// CHECK-LABEL: te.kernel @log_softmax(
// CHECK:       %[[MAX:.*]] = te.compute "max" axes [4] reduce [8]
// CHECK:       %[[SUM:.*]] = te.compute "sum{{.*}}" axes [4] reduce [8]
// CHECK:         math.exp
// CHECK:       te.compute "log_softmax{{.*}}" axes [4, 8] reduce [] init [] {
// CHECK:         %[[SHIFTED:.*]] = arith.subf
// CHECK:         %[[LOG:.*]] = math.log
// CHECK:         arith.subf %[[SHIFTED]], %[[LOG]] : f64
func.func @log_softmax(%x: tensor<4x8xf64>) -> tensor<4x8xf64> attributes {relay.primitive} {
  %0 = relay.log_softmax %x : (tensor<4x8xf64>) -> tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}
