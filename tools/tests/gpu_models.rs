//! What becomes one launch of a GPU, and ONNX backend tests with emulated kernels: some of each kind of operator and type. `make
//! check-gpus` runs all of them.

use crate::common::GPUS;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fusion(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fusion")).args(args).env("FUSION_CACHE", "0").output().unwrap()
}

/// The launches of a program on a GPU.
fn launches(text: &str, gpu: &str) -> Vec<serde_json::Value> {
    let directory = tempfile::tempdir().unwrap();
    let model = directory.path().join("m.mlir");
    fs::write(&model, text).unwrap();
    let output = fusion(&["explain", model.to_str().unwrap(), "--targets", gpu, "--json"]);
    assert!(output.status.success(), "{text}\n{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let kernels = report[0]["kernels"].as_array().unwrap().clone();
    kernels.iter().flat_map(|kernel| kernel["launches"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_softmax_of_a_vector_is_one_launch() {
    for gpu in ["nvidia:sm_80", "amd:gfx942"] {
        let text = "func.func @main(%x: tensor<1x1000xf32>) -> tensor<1x1000xf32> {
               %0 = relay.softmax %x : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
               return %0 : tensor<1x1000xf32>
             }";
        let launches = launches(text, gpu);
        assert_eq!(launches.len(), 1, "{gpu}: {launches:?}");
        assert!(launches[0]["shared_bytes"].as_u64().unwrap() >= 4000, "{gpu}: {launches:?}");
    }
}

#[test]
fn an_elementwise_loop_is_one_launch_that_keeps_its_state_in_registers() {
    let text = "func.func @main(%x: tensor<5000xf32>) -> tensor<5000xf32> {
           %end = relay.constant dense<100> : tensor<i64>
           %start = relay.constant dense<0> : tensor<i64>
           %one = relay.constant dense<1> : tensor<i64>
           %r:2 = relay.while(%start, %x) {
           ^bb0(%i: tensor<i64>, %a: tensor<5000xf32>):
             %0 = relay.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
             relay.yield %0 : tensor<i1>
           } do {
           ^bb0(%i: tensor<i64>, %a: tensor<5000xf32>):
             %0 = relay.sin %a : (tensor<5000xf32>) -> tensor<5000xf32>
             %1 = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
             relay.yield %1, %0 : tensor<i64>, tensor<5000xf32>
           } : (tensor<i64>, tensor<5000xf32>) -> (tensor<i64>, tensor<5000xf32>)
           return %r#1 : tensor<5000xf32>
         }";
    let launches = launches(text, "amd:gfx942");
    assert_eq!(launches.len(), 1, "{launches:?}");
    assert_eq!(launches[0]["spilled_bytes"], 0, "{launches:?}");
}

#[test]
fn attention_keeps_no_scores_in_memory() {
    let text = "func.func @main(%q: tensor<64x512x64xf32>, %k: tensor<64x512x64xf32>, %v: tensor<64x512x64xf32>)
                    -> tensor<64x512x64xf32> {
           %0 = relay.attention %q, %k, %v {scale = 0.125 : f64}
               : (tensor<64x512x64xf32>, tensor<64x512x64xf32>, tensor<64x512x64xf32>) -> tensor<64x512x64xf32>
           return %0 : tensor<64x512x64xf32>
         }";
    for gpu in GPUS.iter() {
        let launches = launches(text, gpu);
        assert_eq!(launches.len(), 1, "{gpu}: {launches:?}");
        // PTX says nothing of registers without NVIDIA's assembler.
        if gpu.starts_with("amd") {
            assert_eq!(launches[0]["spilled_bytes"], 0, "{gpu}: {launches:?}");
        }
    }
}

#[test]
fn large_products_and_attention_spill_nothing() {
    let product = |dtype: &str| {
        let ty = format!("tensor<4096x4096x{dtype}>");
        format!(
            "func.func @main(%x: {ty}, %w: {ty}) -> {ty} {{
               %0 = relay.matmul %x, %w : ({ty}, {ty}) -> {ty}
               return %0 : {ty}
             }}"
        )
    };
    let attention = |width: u64| {
        let ty = format!("tensor<4x16x4096x{width}xf16>");
        format!(
            "func.func @main(%q: {ty}, %k: {ty}, %v: {ty}) -> {ty} {{
               %0 = relay.attention %q, %k, %v {{scale = 0.125 : f64}} : ({ty}, {ty}, {ty}) -> {ty}
               return %0 : {ty}
             }}"
        )
    };
    for text in [product("f32"), product("f16"), attention(64), attention(128)] {
        for gpu in GPUS.iter() {
            for launch in launches(&text, gpu) {
                let spilled = launch["spilled_bytes"].as_u64();
                // NVIDIA's registers are known where its assembler is found.
                assert!(
                    spilled == Some(0) || (gpu.starts_with("nvidia") && spilled.is_none()),
                    "{gpu}: {launch}"
                );
            }
        }
    }
}

/// The onnx package's tests, where `make` has fetched them.
fn backend_tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/python/onnx/backend/test/data/node")
}

#[test]
fn some_backend_tests_hold_on_each_gpu() {
    const NAMES: [&str; 20] = [
        "acosh",
        "argmax_keepdims_example",
        "averagepool_3d_default",
        "batchnorm_epsilon",
        "bitshift_right_uint16",
        "cast_FLOAT16_to_DOUBLE",
        "conv_with_strides_padding",
        "cumsum_2d_axis_0",
        "div_int8",
        "einsum_batch_matmul",
        "gather_elements_negative_indices",
        "instancenorm_example",
        "logsoftmax_large_number",
        "mod_mixed_sign_float64",
        "pow_types_int64_float32",
        "reduce_log_sum_exp_do_not_keepdims_random",
        "resize_upsample_scales_linear",
        "scatternd_add",
        "top_k_smallest",
        "tril_neg",
    ];
    let all = backend_tests();
    if !all.is_dir() {
        eprintln!("there are no backend tests in {}: `make models` fetches them", all.display());
        return;
    }
    // Some of the tests on each of the GPUs, other ones on each.
    for (first, gpu) in GPUS.iter().enumerate() {
        let chosen: Vec<&str> = NAMES.iter().copied().skip(first).step_by(GPUS.len()).collect();
        let directories: Vec<String> =
            chosen.iter().map(|name| all.join(format!("test_{name}")).display().to_string()).collect();
        let mut args = vec!["onnx-test", "--target", gpu, "--emulate"];
        args.extend(directories.iter().map(String::as_str));
        let output = fusion(&args);
        let said = String::from_utf8_lossy(&output.stdout);
        let wanted = format!("{} passed, 0 failed, 0 unsupported", chosen.len());
        assert!(said.contains(&wanted), "{gpu}: {output:?}");
    }
}
