//! Values.

use super::agrees;
use fusion_bytecode::Instruction;
use fusion_operators::Tensor;

fn int(value: i32) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

fn float(value: f32) -> Tensor {
    Tensor::from_slice(&[], &[value]).unwrap()
}

#[test]
fn lists_are_built_mapped_and_folded() {
    let program = agrees(include_str!("lists.mlir"), &[&[float(2.5)]]);
    let count = program.functions.iter().find(|f| f.name == "count").unwrap();
    assert!(count.code.iter().any(|i| matches!(i, Instruction::TailCall { .. })));
    assert!(!count.code.iter().any(|i| matches!(i, Instruction::Call { .. })));
}

#[test]
fn closures_capture_recur_and_escape() {
    agrees(include_str!("closures.mlir"), &[&[int(2), int(3)], &[int(3), int(2)]]);
}

#[test]
fn loops_carry_data_and_cells() {
    agrees(include_str!("loops.mlir"), &[&[int(5)], &[int(0)]]);
}

#[test]
fn matches_take_nested_patterns_apart() {
    let program =
        agrees(include_str!("matches.mlir"), &[&[int(3), int(3)], &[int(2), int(4)], &[int(4), int(1)]]);
    let zip = program.functions.iter().find(|f| f.name == "zip").unwrap();
    // The tuple that is matched is never made.
    assert!(!zip.code.iter().any(|i| matches!(i, Instruction::Tuple { .. })));
}

#[test]
fn functions_that_end_in_each_other_take_constant_memory() {
    let x = Tensor::from_slice(&[4], &[1.0f32, -2.0, 3.0, -4.0]).unwrap();
    agrees(include_str!("recursion.mlir"), &[&[int(6), x.clone()], &[int(7), x.clone()], &[int(100_001), x]]);
}

#[test]
fn a_closure_that_is_only_called_is_not_made() {
    let source = "func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
      %f = relay.fn {
      ^bb0(%a: tensor<i32>):
        %0 = relay.add %a, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
        relay.yield %0 : tensor<i32>
      } : (tensor<i32>) -> tensor<i32>
      %1 = relay.apply %f(%x) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
      %2 = relay.apply %f(%1) : (tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>
      return %2 : tensor<i32>
    }";
    let program = agrees(source, &[&[int(2), int(3)]]);
    let code = || program.functions.iter().flat_map(|f| &f.code);
    assert!(!code().any(|i| matches!(i, Instruction::Closure { .. } | Instruction::Apply { .. })));
}

#[test]
fn weights_of_kernels_are_in_one_block() {
    let source = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %w = relay.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %0 = relay.expand_dims %x {axes = array<i64: 0>} : (tensor<2xf32>) -> tensor<1x2xf32>
      %1 = relay.dense %0, %w : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
      %2 = relay.squeeze %1 {axes = array<i64: 0>} : (tensor<1x2xf32>) -> tensor<2xf32>
      return %2 : tensor<2xf32>
    }
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %b = relay.constant dense<[7.0, -9.0]> : tensor<2xf32>
      %0 = relay.add %x, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = relay.call @f(%0) : (tensor<2xf32>) -> tensor<2xf32>
      %2 = relay.call @f(%1) : (tensor<2xf32>) -> tensor<2xf32>
      %3 = relay.sub %2, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %3 : tensor<2xf32>
    }";
    let program = agrees(source, &[&[Tensor::from_slice(&[2], &[1.0f32, 5.0]).unwrap()]]);
    assert_eq!((program.kernels.len(), program.constants.len()), (3, 0));
}

#[test]
fn open_extents_are_checked_and_computed() {
    let source = r#"func.func @f(%x: tensor<?x2xf32, #relay.dims<["n", ""]>>, %y: tensor<?x2xf32, #relay.dims<["n", ""]>>) -> tensor<?x2xf32, #relay.dims<["n", ""]>> {
      %0 = relay.add %x, %y : (tensor<?x2xf32, #relay.dims<["n", ""]>>, tensor<?x2xf32, #relay.dims<["n", ""]>>) -> tensor<?x2xf32, #relay.dims<["n", ""]>>
      return %0 : tensor<?x2xf32, #relay.dims<["n", ""]>>
    }
    func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
      %0 = relay.call @f(%x, %y) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
      return %0 : tensor<?x2xf32>
    }"#;
    let tensor = |rows: usize| Tensor::from_slice(&[rows, 2], &vec![1.5f32; 2 * rows]).unwrap();
    let program = agrees(source, &[&[tensor(3), tensor(3)], &[tensor(1), tensor(1)]]);
    let f = program.functions.iter().find(|f| f.name == "f").unwrap();
    assert!(matches!(f.code[0], Instruction::CheckTypes { .. }));
}
