//! Operators that scan, choose, read and write at computed places, and extend, where extents are known at run time only.

use super::{Compiled, inputs};

const SIZES: [usize; 5] = [0, 1, 7, 64, 300];

/// A program of %x: f32[?, 6] and %i: f32[?, 4], of which no operator is left to reference semantics, agrees for all sizes of both.
fn agrees(result: &str, body: &str, sizes: &[[usize; 2]]) {
    let program = Compiled::of(&format!(
        "def @main(%x: Tensor[(?, 6), float32], %i: Tensor[(?, 4), float32]) -> {result} {{ {body} }}"
    ))
    .without_references();
    for [n, m] in sizes {
        program.agree(&inputs(&[("x", &[*n, 6]), ("i", &[*m, 4])]));
    }
}

fn squares() -> Vec<[usize; 2]> {
    SIZES.iter().map(|n| [*n, *n]).collect()
}

#[test]
fn the_shape_is_what_it_is() {
    let body = "(shape_of(%x, dtype=\"int64\"), shape_of(concatenate((%x, %x), axis=0), dtype=\"int64\"))";
    agrees("(Tensor[(2), int64], Tensor[(2), int64])", body, &squares());
}

#[test]
fn sums_run_along_and_across_dynamic_axes() {
    let same = "Tensor[(?, 6), float32]";
    let body =
        "(cumsum(%x, axis=0), cumsum(%x, axis=1, exclusive=True), cumprod(%x, axis=0, exclusive=True))";
    agrees(&format!("({same}, {same}, {same})"), body, &squares());
}

#[test]
fn the_greatest_are_found_in_order() {
    let body = "topk(%x, k=3, axis=0, ret_type=\"both\", dtype=\"int64\")";
    agrees("(Tensor[(3, 6), float32], Tensor[(3, 6), int64])", body, &[[3, 1], [7, 1], [64, 1], [300, 1]]);
    let body = "topk(%x, k=2, axis=1, ret_type=\"both\", is_ascend=True, dtype=\"int64\")";
    agrees("(Tensor[(?, 2), float32], Tensor[(?, 2), int64])", body, &squares());
}

#[test]
fn rows_are_taken_from_an_axis_of_any_extent() {
    let body = "take(%x, cast(multiply(%i, 6f), dtype=\"int64\"), axis=0)";
    agrees("Tensor[(?, 4, 6), float32]", body, &[[7, 3], [8, 7], [0, 0], [7, 0], [300, 64]]);
}

#[test]
fn elements_are_taken_at_places() {
    let body = "gather(%x, axis=0, cast(multiply(%i, 6f), dtype=\"int64\"))";
    agrees("Tensor[(?, 4), float32]", body, &[[7, 3], [8, 0], [64, 300]]);
}

#[test]
fn rows_are_written_at_places() {
    let indices =
        "cast(multiply(strided_slice(%i, begin=[0], end=[1], strides=[1], axes=[1]), 6f), dtype=\"int64\")";
    let updates = "concatenate((%i, strided_slice(%i, begin=[0], end=[2], strides=[1], axes=[1])), axis=1)";
    for mode in ["update", "add", "max"] {
        let body = format!("scatter_nd(%x, transpose({indices}, axes=[1, 0]), {updates}, mode=\"{mode}\")");
        agrees("Tensor[(?, 6), float32]", &body, &[[7, 3], [9, 7], [300, 64], [7, 0]]);
    }
}

#[test]
fn elements_are_written_at_places() {
    let indices = "cast(multiply(%i, 6f), dtype=\"int64\")";
    let body = format!("scatter_elements(%x, {indices}, %i, axis=0, reduction=\"add\")");
    agrees("Tensor[(?, 6), float32]", &body, &[[7, 3], [8, 7], [64, 300], [5, 0]]);
}

#[test]
fn one_is_hot() {
    let body =
        "one_hot(cast(multiply(%i, 5f), dtype=\"int64\"), 1f, 0f, depth=5, axis=-1, dtype=\"float32\")";
    agrees("Tensor[(?, 4, 5), float32]", body, &squares());
}

#[test]
fn axes_are_reversed_repeated_and_extended() {
    let same = "Tensor[(?, 6), float32]";
    agrees(same, "reverse(%x, axis=0)", &squares());
    agrees("Tensor[(?, 12), float32]", "tile(%x, reps=[3, 2])", &squares());
    agrees("Tensor[(?, 8), float32]", "nn.pad(%x, 2f, pad_width=[[1, 3], [0, 2]])", &squares());
    let edge = "nn.pad(%x, 0f, pad_width=[[2, 3], [1, 1]], pad_mode=\"edge\")";
    agrees("Tensor[(?, 8), float32]", edge, &[[1, 1], [7, 1], [64, 1]]);
}

#[test]
fn transposed_convolutions_take_any_number_of_images() {
    for attributes in
        ["strides=[2, 2], padding=[1, 1, 1, 1]", "strides=[1, 1]", "strides=[1, 1], dilation=[2, 2]"]
    {
        let program = Compiled::of(&format!(
            "def @main(%x: Tensor[(?, 3, 5, 4), float32], %w: Tensor[(3, 2, 3, 3), float32]) -> Tensor[(?, 2, ?, ?), float32] {{
               nn.relu(nn.conv2d_transpose(%x, %w, channels=2, kernel_size=[3, 3], {attributes}))
             }}"
        ))
        .without_references();
        for n in [1, 3, 8] {
            program.agree(&inputs(&[("x", &[n, 3, 5, 4]), ("w", &[3, 2, 3, 3])]));
        }
    }
    let program = Compiled::of(
        "def @main(%x: Tensor[(?, 3, 1, 1), float32], %w: Tensor[(3, 2, 4, 4), float32]) -> Tensor[(?, 2, 4, 4), float32] {
           nn.conv2d_transpose(%x, %w, channels=2, kernel_size=[4, 4])
         }",
    )
    .without_references();
    for n in [1, 3, 8] {
        program.agree(&inputs(&[("x", &[n, 3, 1, 1]), ("w", &[3, 2, 4, 4])]));
    }
}

#[test]
fn transposed_convolutions_take_images_of_any_extents() {
    for (channels, groups, attributes) in [
        (2, 1, "strides=[2, 2], padding=[1, 1, 1, 1], output_padding=[1, 0]"),
        (2, 1, "strides=[3, 1], padding=[0, 2, 1, 0]"),
        (4, 2, "strides=[1, 1], padding=[1, 0, 0, 1]"),
        (2, 1, "strides=[2, 3], padding=[2, 0, 1, 1], dilation=[2, 3]"),
    ] {
        let (data, filters) = (2 * groups, channels / groups);
        let program = Compiled::of(&format!(
            "def @main(%x: Tensor[(?, {data}, ?, ?), float32], %w: Tensor[({data}, {filters}, 3, 2), float32])
                 -> Tensor[(?, {channels}, ?, ?), float32] {{
               nn.relu(nn.conv2d_transpose(%x, %w, channels={channels}, kernel_size=[3, 2], groups={groups}, {attributes}))
             }}"
        ))
        .without_references();
        for (n, height, width) in [(1, 5, 5), (2, 1, 4), (1, 17, 9)] {
            program.agree(&inputs(&[("x", &[n, data, height, width]), ("w", &[data, filters, 3, 2])]));
        }
    }
}

#[test]
fn windows_slide_over_images_of_any_extents() {
    for attributes in ["padding=[1, 1, 1, 1], strides=[2, 1]", "padding=[0, 2, 1, 0]", "dilation=[2, 1]"] {
        let program = Compiled::of(&format!(
            "def @main(%x: Tensor[(?, 2, ?, ?), float32], %w: Tensor[(4, 2, 3, 3), float32]) -> Tensor[(?, 4, ?, ?), float32] {{
               nn.relu(nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], {attributes}))
             }}"
        ))
        .without_references();
        for (n, height, width) in [(1, 5, 5), (2, 9, 4), (1, 33, 17)] {
            program.agree(&inputs(&[("x", &[n, 2, height, width]), ("w", &[4, 2, 3, 3])]));
        }
    }
    for ceil in ["False", "True"] {
        let window = format!("pool_size=[3, 2], strides=[2, 3], padding=[1, 0, 1, 1], ceil_mode={ceil}");
        let program = Compiled::of(&format!(
            "def @main(%x: Tensor[(2, 3, ?, ?), float32])
                 -> (Tensor[(2, 3, ?, ?), float32], Tensor[(2, 3, ?, ?), float32], Tensor[(2, 3, ?, ?), float32]) {{
               (nn.max_pool2d(%x, {window}), nn.avg_pool2d(%x, {window}), nn.avg_pool2d(%x, {window}, count_include_pad=True))
             }}"
        ))
        .without_references();
        for (height, width) in [(2, 2), (5, 7), (4, 6), (20, 33)] {
            program.agree(&inputs(&[("x", &[2, 3, height, width])]));
        }
    }
}

#[test]
fn images_of_any_extents_are_sampled() {
    for how in ["method = \"linear\"", "coordinates = \"asymmetric\", rounding = \"floor\""] {
        let program = Compiled::of_file(
            "program.mlir",
            &format!(
                "func.func @main(%x: tensor<?x?xf32> {{relay.name = \"x\"}}) -> tensor<6x8xf32> {{
                   %0 = relay.resize %x {{{how}, scales = array<f64: 1.5, 2.0>, size = array<i64: 6, 8>}} : (tensor<?x?xf32>) -> tensor<6x8xf32>
                   return %0 : tensor<6x8xf32>
                 }}"
            ),
        )
        .without_references();
        for shape in [[4, 4], [1, 1], [3, 9]] {
            program.agree(&inputs(&[("x", &shape)]));
        }
    }
}
