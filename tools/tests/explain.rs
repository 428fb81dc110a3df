//! `fusion explain` and `fusion ablate` on a small model: what is told of its kernels and why.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn model() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/offline/mlp.mlir")
}

/// Runs a command on the model in a directory.
fn fusion(directory: &Path, command: &str, args: &[&str]) -> Output {
    let mut fusion = Command::new(env!("CARGO_BIN_EXE_fusion"));
    let cache = directory.join("cache");
    fusion
        .arg(command)
        .arg(model())
        .args(args)
        .current_dir(directory)
        .env("FUSION_CACHE", cache)
        .output()
        .unwrap()
}

fn printed(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What is told of the model in `m.mlir` of a directory.
fn explain(directory: &Path, args: &[&str]) -> String {
    let mut fusion = Command::new(env!("CARGO_BIN_EXE_fusion"));
    fusion.args(["explain", "m.mlir"]).args(args).current_dir(directory);
    printed(fusion.env("FUSION_CACHE", directory.join("cache")).output().unwrap())
}

fn complaint(output: Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn kernels_have_predictions_measurements_and_sources() {
    let directory = tempfile::tempdir().unwrap();
    let json = printed(fusion(directory.path(), "explain", &["--json", "--measure"]));
    let report: Value = serde_json::from_str(&json).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    assert!(!kernels.is_empty());
    for kernel in kernels {
        for number in ["predicted_s", "measured_s", "roofline", "bytes", "flops"] {
            assert!(kernel[number].as_f64().unwrap() > 0.0, "{number} of {kernel}");
        }
        assert!(kernel["sources"][0].as_str().unwrap().contains("mlp.mlir:"), "{kernel}");
    }
    let totals = &report["totals"];
    assert_eq!(totals["kernels"], kernels.len());
    assert!(totals["kernels_before"].as_u64().unwrap() > kernels.len() as u64);
    assert!(totals["bound_s"].as_f64().unwrap() <= totals["predicted_s"].as_f64().unwrap());
    assert!(totals["model_s"].as_f64().unwrap() > 0.0);
    assert!(!report["remarks"]["blocks"][0]["remarks"].as_array().unwrap().is_empty());
}

#[test]
fn remarks_are_found_by_value() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let report: Value = serde_json::from_str(&printed(fusion(here, "explain", &["--json"]))).unwrap();
    let block = &report["remarks"]["blocks"][0];
    let values = |remark: &Value| {
        let values = remark["values"].as_array().unwrap();
        values.iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for remark in block["remarks"].as_array().unwrap() {
        let values = values(remark);
        let text = printed(fusion(here, "explain", &["--why", &values[0]]));
        assert!(text.contains(remark["reason"].as_str().unwrap()), "{text}");
    }
    let (first, last) = ("#0", format!("#{}", report["kernels"].as_array().unwrap().len() - 1));
    let text = printed(fusion(here, "explain", &["--why-not", &format!("{first},{last}")]));
    assert!(text.contains("the kernels from one to the other:\n  #0 fused_"), "{text}");
    let text = printed(fusion(here, "explain", &["--why", "mlp.mlir:19:8"]));
    assert!(text.starts_with("mlp.mlir:19:8 is in #0 fused_"), "{text}");
    let text = printed(fusion(here, "explain", &["--why", "%0"]));
    assert!(text.starts_with("%0 is in #0 fused_"), "{text}");
    let text = printed(fusion(here, "explain", &["--why-not", "#0,#0"]));
    assert!(text.starts_with("#0 and #0 are in one kernel: #0 fused_"), "{text}");

    let answer: Value =
        serde_json::from_str(&printed(fusion(here, "explain", &["--json", "--why", "#0"]))).unwrap();
    let found = &answer["blocks"][0];
    assert_eq!(found["kernels"], json!([{"number": 0, "name": report["kernels"][0]["name"]}]));
    let about_first = |remark: &&Value| remark["places"].as_array().unwrap().contains(&json!(0));
    let wanted = block["remarks"].as_array().unwrap().iter().filter(about_first).count();
    assert_eq!(found["remarks"].as_array().unwrap().len(), wanted);
    let pair = format!("{first},{last}");
    let answer = printed(fusion(here, "explain", &["--json", "--why-not", &pair]));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let path = answer["blocks"][0]["path"].as_array().unwrap();
    assert_eq!(
        (&path[0]["number"], path.last().unwrap()["name"].as_str()),
        (&json!(0), report["kernels"].as_array().unwrap().last().unwrap()["name"].as_str())
    );

    let name = report["kernels"][0]["name"].as_str().unwrap();
    let said = complaint(fusion(here, "explain", &["--why", &format!("{name}x")]));
    let wanted = format!(
        "error: there is no value or kernel \"{name}x\" in this model; the nearest names are {name}, "
    );
    assert!(said.starts_with(&wanted), "{said}");
    let said = complaint(fusion(here, "explain", &["--why", "#0", "--strategy", "relay"]));
    let wanted = "error: there are no remarks to explain: the strategy relay does not decide by cost; xla and egraph do\n";
    assert_eq!(said, wanted);
}

#[test]
fn a_proof_names_the_rules() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let source = "func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = relay.transpose %x : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = relay.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = relay.transpose %1 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}";
    fs::write(here.join("m.mlir"), source).unwrap();
    let text = explain(here, &["--proof", "m.mlir:4:8"]);
    assert!(text.contains("(transpose {} (tanh {} (transpose {} x0)))"), "{text}");
    assert!(text.contains("= (tanh {} x0)    by elementwise-of-transpose"), "{text}");
    let answer: Value = serde_json::from_str(&explain(here, &["--proof", "m.mlir:4:8", "--json"])).unwrap();
    let steps = answer["proofs"][0]["steps"].as_array().unwrap();
    assert_eq!(
        (&answer["value"], &steps[1]["rule"]),
        (&json!("m.mlir:4:8"), &json!("elementwise-of-transpose"))
    );
}

#[test]
fn the_body_of_a_loop_kernel_is_explained() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let source = "func.func @main(%x0: tensor<64xf32>) -> tensor<64xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %n = relay.constant dense<100> : tensor<i64>
  %r:2 = relay.while(%zero, %x0) {
  ^bb0(%i: tensor<i64>, %x: tensor<64xf32>):
    %more = relay.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    relay.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %x: tensor<64xf32>):
    %one = relay.constant dense<1> : tensor<i64>
    %six = relay.constant dense<6.0> : tensor<f32>
    %half = relay.constant dense<0.5> : tensor<f32>
    %next = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.tanh %x : (tensor<64xf32>) -> tensor<64xf32>
    %a = relay.mul %t, %six : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    %b = relay.mul %a, %half : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    relay.yield %next, %b : tensor<i64>, tensor<64xf32>
  } : (tensor<i64>, tensor<64xf32>) -> (tensor<i64>, tensor<64xf32>)
  return %r#1 : tensor<64xf32>
}";
    fs::write(here.join("m.mlir"), source).unwrap();
    let proof = explain(here, &["--proof", "m.mlir:16:10"]);
    assert!(proof.contains("is computed by another form than the source has"), "{proof}");
    assert!(proof.contains("by mul-constants"), "{proof}");
    let together = explain(here, &["--why-not", "m.mlir:14:10,m.mlir:16:10"]);
    assert!(together.contains("loop_0"), "{together}");
}

#[test]
fn orders_of_images_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    // A convolution that reads channels last as they lie; its result is wanted in both orders, so that a change of order is left.
    let source = "func.func @main(%x: tensor<1x16x16x32xf32>, %w: tensor<64x32x3x3xf32>) -> (tensor<1x64x8x8xf32>, tensor<1x8x8x64xf32>) {
  %0 = relay.transpose %x {axes = array<i64: 0, 3, 1, 2>} : (tensor<1x16x16x32xf32>) -> tensor<1x32x16x16xf32>
  %1 = relay.conv2d %0, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<1x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x8x8xf32>
  %2 = relay.transpose %1 {axes = array<i64: 0, 2, 3, 1>} : (tensor<1x64x8x8xf32>) -> tensor<1x8x8x64xf32>
  return %1, %2 : tensor<1x64x8x8xf32>, tensor<1x8x8x64xf32>
}";
    fs::write(here.join("m.mlir"), source).unwrap();
    let text = explain(here, &[]);
    assert!(text.contains("  NHWC, OIHW -> NCHW  layout_conv2d  "), "{text}");
    assert!(
        text.contains("\nimages     1 change of order is left, of 16.38 kB, 1 as a kernel of its own\n"),
        "{text}"
    );
    let text = explain(here, &["--why", "#0"]);
    assert!(
        text.contains("algebra: windows-of-order\n") && text.contains("\n  orders  reads NHWC, gives NCHW\n"),
        "{text}"
    );

    let report: Value = serde_json::from_str(&explain(here, &["--json", "--html", "m.html"])).unwrap();
    assert_eq!(report["kernels"][0]["orders"], json!({"reads": ["NHWC", "OIHW"], "writes": ["NCHW"]}));
    assert_eq!(report["totals"]["conversions"], json!({"count": 1, "alone": 1, "bytes": 16384}));
    let kernels = &report["remarks"]["blocks"][0]["kernels"];
    assert_eq!(
        (&kernels[0]["reads"][0]["order"], &kernels[0]["writes"][0]["order"]),
        (&json!("NHWC"), &json!("NCHW"))
    );
    let left = json!({"value": "m.mlir:4:8", "from": "NCHW", "to": "NHWC", "bytes": 16384.0});
    assert_eq!((&kernels[0]["conversions"], &kernels[1]["conversions"]), (&Value::Null, &json!([left])));
    let page = fs::read_to_string(here.join("m.html")).unwrap();
    for part in [
        "<td>NHWC, OIHW -&gt; NCHW</td>",
        "16x16x32xf32&gt;, NHWC",
        "windows-of-order, NHWC -&gt; NCHW",
        "changes of the order of images",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_chain_that_is_parted_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let ty = "tensor<65536xf32>";
    let tanh = |i: usize| format!("%{} = relay.tanh %{i} : ({ty}) -> {ty}\n", i + 1);
    let chain: String = (0..16).map(tanh).collect();
    let source = format!("func.func @main(%0: {ty}) -> {ty} {{\n{chain}return %16 : {ty}\n}}");
    fs::write(here.join("m.mlir"), source.replace("%0", "%x")).unwrap();
    let text = explain(here, &["--why", "#0"]);
    assert!(text.contains("operations in it wait for each other, and a core looks 70 ahead"), "{text}");
    assert!(text.contains("rejected  fusion: compute where it is used"), "{text}");
}

#[test]
fn programs_of_functions_tell_their_remarks_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/relay/lstm.relay");
    let explain = |args: &[&str]| {
        let mut fusion = Command::new(env!("CARGO_BIN_EXE_fusion"));
        fusion.arg("explain").arg(&program).args(args).current_dir(here);
        printed(fusion.env("FUSION_CACHE", here.join("cache")).output().unwrap())
    };
    let report: Value = serde_json::from_str(&explain(&["--json"])).unwrap();
    let blocks = report["remarks"]["blocks"].as_array().unwrap();
    assert!(blocks.len() > 1, "a block for each part of the program: {blocks:?}");
    let named = |block: &Value| block["kernels"].as_array().unwrap().len();
    assert_eq!(blocks.iter().map(named).sum::<usize>(), report["kernels"].as_array().unwrap().len());
    assert!(report["kernels"].as_array().unwrap().iter().all(|k| !k["at"].is_null()), "{report}");
    assert!(explain(&["--why", "#0"]).contains("accepted  fusion"));
}

#[test]
fn a_page_needs_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    printed(fusion(directory.path(), "explain", &["--html", "report.html"]));
    let page = fs::read_to_string(directory.path().join("report.html")).unwrap();
    for part in ["<svg", "id=\"remarks\"", "class=\"roof\"", "#0 fused_"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!["href=", "src=", "@import", "url("].iter().any(|outside| page.contains(outside)));
}

#[test]
fn strategies_and_families_are_chosen_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let kernels = |args: &[&str]| {
        let json = printed(fusion(here, "explain", &[&["--json"], args].concat()));
        let report: Value = serde_json::from_str(&json).unwrap();
        report["kernels"].as_array().unwrap().len()
    };
    assert!(kernels(&["--strategy", "none"]) > kernels(&["--strategy", "relay"]));
    assert!(kernels(&["--rules-off", "algebra,joining"]) > 0);
    let said = complaint(fusion(here, "explain", &["--strategy", "tvm"]));
    assert!(said.contains("the strategies are none, relay, xla, egraph"), "{said}");
    let said = complaint(fusion(here, "compile", &["--rules-off", "algebra,magic"]));
    assert!(said.contains("'magic'") && said.contains("the families are algebra, axes, "), "{said}");
}

#[test]
fn all_ways_give_the_same_outputs() {
    let directory = tempfile::tempdir().unwrap();
    let json = printed(fusion(directory.path(), "ablate", &["--json", "--budget", "0.003"]));
    let ablation: Value = serde_json::from_str(&json).unwrap();
    let ways = ablation["ways"].as_array().unwrap();
    let names: Vec<&str> = ways.iter().map(|way| way["what"].as_str().unwrap()).collect();
    assert_eq!((names[0], names[1]), ("all on", "algebra off"));
    assert!(
        names.ends_with(&["joining off", "loops off", "strategy none", "strategy relay", "strategy xla"]),
        "{names:?}"
    );
    for way in ways {
        assert!(way["error"].as_f64().unwrap() < 1e-5 && way["measured_s"].as_f64().unwrap() > 0.0, "{way}");
    }
    let text = printed(fusion(directory.path(), "ablate", &["--budget", "0.003"]));
    assert!(text.contains("\nall on ") && text.contains("= all on"), "{text}");
}

/// A dense layer of any batch, whose weights take a while to read.
const DENSE: &str = r#"
func.func @main(%x: tensor<?x256xf32, #relay.dims<["n", ""]>>) -> tensor<?x1024xf32, #relay.dims<["n", ""]>> attributes {relay.likely = [{n = 1}, {n = 64}]} {
  %w = relay.constant dense<0.125> : tensor<1024x256xf32>
  %0 = relay.dense %x, %w : (tensor<?x256xf32, #relay.dims<["n", ""]>>, tensor<1024x256xf32>) -> tensor<?x1024xf32, #relay.dims<["n", ""]>>
  return %0 : tensor<?x1024xf32, #relay.dims<["n", ""]>>
}"#;

/// For a processor of which one version does not pay.
const VERSIONS: &[&str] = &["--json", "--target", "cpu:x86-64-v3"];

#[test]
fn versions_of_tiles_are_told_with_what_likely_sizes_take() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("m.mlir"), DENSE).unwrap();
    let text = explain(directory.path(), &[]);
    for wanted in [
        "versions of tiles, with what each likely size takes",
        "kernel_0_tile_0: dense\n",
        "n=1 ",
        "n=64",
        "\nchosen ",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    let report: Value = serde_json::from_str(&explain(directory.path(), VERSIONS)).unwrap();
    let tile = &report["tiles"][0];
    assert_eq!(tile["likely"].as_array().unwrap().len(), 2);
    let versions = tile["versions"].as_array().unwrap();
    let stay: Vec<&Value> = versions.iter().filter(|version| version["stays"] == true).collect();
    assert!((1..=4).contains(&stay.len()) && stay.len() < versions.len(), "{tile}");
    // What stays is what kernels there are.
    let told = report["kernels"].as_array().unwrap();
    let named = |name: &str| told.iter().any(|kernel| kernel["name"] == name);
    for version in versions {
        let name = format!("kernel_0_tile_0_{}", version["sizes"].as_str().unwrap());
        assert_eq!(named(&name), version["stays"] == true, "{name}");
    }
}
