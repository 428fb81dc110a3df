// RUN: fusion-opt %s --relay-optimize --validate-passes | FileCheck %s

// Random numbers of carts: sums and products of integers wrap around, also those of constants that rules put together.
// CHECK:     relay.constant dense<-1083573575> : tensor<i32>
// CHECK:     relay.constant dense<-1624324474> : tensor<i32>
func.func @random(%x: tensor<8xi32>) -> tensor<8xi32> {
  %a = relay.constant dense<1664525> : tensor<i32>
  %c = relay.constant dense<1013904223> : tensor<i32>
  %m0 = relay.mul %x, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s0 = relay.add %m0, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m1 = relay.mul %s0, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s1 = relay.add %m1, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m2 = relay.mul %s1, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s2 = relay.add %m2, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m3 = relay.mul %s2, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s3 = relay.add %m3, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m4 = relay.mul %s3, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s4 = relay.add %m4, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %m5 = relay.mul %s4, %a : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %s5 = relay.add %m5, %c : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %s5 : tensor<8xi32>
}
