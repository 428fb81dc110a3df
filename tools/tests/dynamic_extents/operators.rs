//! Programs of operators, one idea each.

use super::{Compiled, inputs};

const SIZES: [usize; 5] = [0, 1, 7, 64, 1000];

#[test]
fn elementwise_operators_run_for_every_size() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 64), float32], %y: Tensor[(?, 64), float32]) -> Tensor[(?, 64), float32] {
           tanh(add(multiply(%x, %y), exp(%x)))
         }",
    )
    .without_references();
    for n in SIZES {
        program.agree(&inputs(&[("x", &[n, 64]), ("y", &[n, 64])]));
    }
}

#[test]
fn extents_of_one_broadcast_when_they_turn_out_to_be_one() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, ?), float32], %y: Tensor[(?, ?), float32]) -> Tensor[(?, ?), float32] {
           subtract(%x, %y)
         }",
    )
    .without_references();
    for (x, y) in [([3, 5], [3, 5]), ([1, 5], [4, 5]), ([4, 1], [1, 6]), ([1, 1], [1, 1]), ([0, 2], [1, 2])] {
        program.agree(&inputs(&[("x", &x), ("y", &y)]));
    }
}

#[test]
fn padding_is_read_of_data_that_is_repeated() {
    let source =
        "func.func @main(%x: tensor<?x6x?xf32, #relay.dims<[\"n\", \"\", \"m\"]>>, %w: tensor<4x6x3xf32>)
        -> tensor<?x4x?xf32, #relay.dims<[\"2*n\", \"\", \"m\"]>> {
      %0 = relay.tile %x {reps = array<i64: 2, 1, 1>} : (tensor<?x6x?xf32, #relay.dims<[\"n\", \"\", \"m\"]>>)
        -> tensor<?x6x?xf32, #relay.dims<[\"2*n\", \"\", \"m\"]>>
      %1 = relay.conv1d %0, %w {padding = array<i64: 1, 1>, strides = array<i64: 1>}
        : (tensor<?x6x?xf32, #relay.dims<[\"2*n\", \"\", \"m\"]>>, tensor<4x6x3xf32>)
        -> tensor<?x4x?xf32, #relay.dims<[\"2*n\", \"\", \"m\"]>>
      return %1 : tensor<?x4x?xf32, #relay.dims<[\"2*n\", \"\", \"m\"]>>
    }";
    let program = Compiled::of_file("program.mlir", source);
    for (n, m) in [(1, 1), (1, 2), (2, 1), (3, 33)] {
        program.agree(&inputs(&[("input_0", &[n, 6, m]), ("input_1", &[4, 6, 3])]));
    }
}

#[test]
fn channels_may_be_those_of_the_weight_by_a_name() {
    let source =
        "func.func @main(%x: tensor<?x?x?xf32, #relay.dims<[\"n\", \"n\", \"m\"]>>, %w: tensor<4x6x3xf32>)
        -> tensor<?x4x?xf32, #relay.dims<[\"n\", \"\", \"m-2\"]>> {
      %0 = relay.conv1d %x, %w {padding = array<i64: 0, 0>, strides = array<i64: 1>}
        : (tensor<?x?x?xf32, #relay.dims<[\"n\", \"n\", \"m\"]>>, tensor<4x6x3xf32>)
        -> tensor<?x4x?xf32, #relay.dims<[\"n\", \"\", \"m-2\"]>>
      return %0 : tensor<?x4x?xf32, #relay.dims<[\"n\", \"\", \"m-2\"]>>
    }";
    let program = Compiled::of_file("program.mlir", source);
    program.agree(&inputs(&[("input_0", &[6, 6, 9]), ("input_1", &[4, 6, 3])]));
    let said = program.run(&inputs(&[("input_0", &[5, 5, 9]), ("input_1", &[4, 6, 3])]));
    assert!(said.iter().all(|outcome| outcome.is_err()), "{said:?}");
}

#[test]
fn a_perceptron_is_compiled_once_for_all_batches() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(100, 64), float32], %b: Tensor[(100), float32],
                   %v: Tensor[(33, 100), float32]) -> Tensor[(?, 33), float32] {
           let %h = nn.relu(nn.bias_add(nn.dense(%x, %w, units=100), %b, axis=-1));
           nn.softmax(nn.dense(%h, %v, units=33), axis=-1)
         }",
    )
    .without_references();
    for n in [1, 3, 7, 64, 1000] {
        program.agree(&inputs(&[("x", &[n, 64]), ("w", &[100, 64]), ("b", &[100]), ("v", &[33, 100])]));
    }
}

#[test]
fn attention_is_compiled_once_for_all_lengths() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 64), float32], %q: Tensor[(64, 64), float32], %k: Tensor[(64, 64), float32],
                   %v: Tensor[(64, 64), float32], %g: Tensor[(64), float32], %b: Tensor[(64), float32])
             -> Tensor[(?, 64), float32] {
           let %h = nn.layer_norm(%x, %g, %b, axis=-1);
           let %queries = expand_dims(nn.dense(%h, %q, units=64), axis=0);
           let %keys = expand_dims(nn.dense(%h, %k, units=64), axis=0);
           let %values = expand_dims(nn.dense(%h, %v, units=64), axis=0);
           let %scores = nn.softmax(multiply(nn.batch_matmul(%queries, %keys, transpose_b=True), 0.125f), axis=-1);
           add(%x, squeeze(nn.batch_matmul(%scores, %values, transpose_b=False), axis=[0]))
         }",
    )
    .without_references();
    for n in [1, 7, 64, 200] {
        let square: &[usize] = &[64, 64];
        program.agree(&inputs(&[
            ("x", &[n, 64]),
            ("q", square),
            ("k", square),
            ("v", square),
            ("g", &[64]),
            ("b", &[64]),
        ]));
    }
}

#[test]
fn reductions_over_open_and_known_axes() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, ?, 5), float32])
             -> (Tensor[(?, 5), float32], Tensor[(?, ?), float32], Tensor[(?, 1, 5), float32], float32) {
           (sum(%x, axis=[1]), max(%x, axis=[2]), mean(%x, axis=[1], keepdims=True), sum(%x))
         }",
    )
    .without_references();
    for (n, m) in [(1, 1), (2, 17), (40, 3)] {
        program.agree(&inputs(&[("x", &[n, m, 5])]));
    }
}

#[test]
fn elements_move() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 6), float32], %y: Tensor[(?, 6), float32])
             -> (Tensor[(6, ?), float32], Tensor[(?, 6), float32], Tensor[(?, 2, 3), float32], Tensor[(?, 4), float32],
                 Tensor[(?, 6), float32]) {
           (transpose(%x, axes=[1, 0]), concatenate((%x, %y), axis=0), reshape(%x, newshape=[-1, 2, 3]),
            strided_slice(%x, begin=[0, 1], end=[2147483647, 5], strides=[1, 1]),
            strided_slice(%y, begin=[1, 0], end=[-2, 6], strides=[2, 1]))
         }",
    )
    .without_references();
    for (n, m) in [(1, 1), (5, 2), (16, 33)] {
        program.agree(&inputs(&[("x", &[n, 6]), ("y", &[m, 6])]));
    }
}

#[test]
fn kernels_of_known_and_open_extents_stand_side_by_side() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(8, 8), float32]) -> Tensor[(?, 8), float32] {
           let %total = sum(%x, axis=[0]);
           let %scaled = nn.relu(nn.dense(expand_dims(%total, axis=0), %w, units=8));
           add(%x, %scaled)
         }",
    )
    .without_references();
    for n in [1, 9] {
        program.agree(&inputs(&[("x", &[n, 8]), ("w", &[8, 8])]));
    }
}

#[test]
fn functions_of_named_extents_are_compiled_once() {
    let program = Compiled::of(
        "def @norm(%x: Tensor[(n, 4), float32], %y: Tensor[(n, 4), float32]) -> Tensor[(n, 4), float32] {
           divide(%x, add(abs(%y), 1f))
         }
         def @main(%x: Tensor[(?, 4), float32], %y: Tensor[(?, 4), float32]) -> (Tensor[(?, 4), float32], Tensor[(?, 4), float32]) {
           (@norm(%x, %x), @norm(%y, %y))
         }",
    )
    .without_references();
    assert_eq!(program.bytecode.program.functions.iter().filter(|f| f.name == "norm").count(), 1);
    for (n, m) in [(1, 2), (13, 4)] {
        program.agree(&inputs(&[("x", &[n, 4]), ("y", &[m, 4])]));
    }
}

#[test]
fn tensors_grow_in_a_recursion() {
    let program = Compiled::of(
        "def @grow(%n: int32, %x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {
           if (less_equal(%n, 0)) { %x } else { @grow(subtract(%n, 1), concatenate((%x, multiply(%x, 2f)), axis=0)) }
         }
         def @main(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] { @grow(4, %x) }",
    )
    .without_references();
    program.agree(&inputs(&[("x", &[3, 2])]));
}

#[test]
fn a_convolutional_net_is_compiled_once_for_all_batches() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 3, 11, 9), float32], %w: Tensor[(8, 3, 3, 3), float32], %g: Tensor[(8), float32],
                   %v: Tensor[(5, 4, 3, 1), float32]) -> (Tensor[(?, 5, 4, 5), float32], Tensor[(?, 8, 1, 1), float32]) {
           let %h = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
           let %n = nn.relu(nn.bias_add(%h, %g, axis=1));
           let %p = nn.max_pool2d(%n, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
           let %y = nn.conv2d(split(%p, indices_or_sections=2, axis=1).0, %v, channels=5, kernel_size=[3, 1]);
           (%y, nn.global_avg_pool2d(nn.avg_pool2d(%n, pool_size=[2, 2], padding=[1, 0, 0, 1])))
         }",
    )
    .without_references();
    for n in [1, 2, 7] {
        let given: [(&str, &[usize]); 4] =
            [("x", &[n, 3, 11, 9]), ("w", &[8, 3, 3, 3]), ("g", &[8]), ("v", &[5, 4, 3, 1])];
        program.agree(&inputs(&given));
    }
}

#[test]
fn images_of_any_extents_are_normalized() {
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 4, ?, ?), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32])
             -> (Tensor[(?, 4, ?, ?), float32], Tensor[(?, 4, 1, 1), float32], Tensor[(?, 8, ?, ?), float32]) {
           let %n = nn.instance_norm(%x, %g, %b, epsilon=1e-5f);
           (%n, nn.global_max_pool2d(%x), nn.pad(tile(%x, reps=[1, 1, 1, 1]), 0f, pad_width=[[0, 0], [1, 3], [0, 0], [0, 0]]))
         }",
    )
    .without_references();
    for (n, h, w) in [(1, 1, 1), (3, 5, 2), (2, 16, 17)] {
        program.agree(&inputs(&[("x", &[n, 4, h, w]), ("g", &[4]), ("b", &[4])]));
    }
}
