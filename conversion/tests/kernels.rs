//! Kernels compiled by themselves: the same code whoever compiles it, errors where the model is wrong.

use fusion_conversion::cache::Cache;
use fusion_conversion::kernels::Workshop;
use fusion_conversion::units::{Unit, take};
use fusion_dialects::{Target, load_context, module_op, parse_module, register_upstream_passes};

fn register() {
    register_upstream_passes();
    fusion_transforms::register();
    fusion_conversion::register();
}

/// A program of kernels that add a constant each.
fn program(constants: &[u32]) -> String {
    let mut text = String::from("func.func @main(%x: memref<64xf32>) {\n");
    for i in 0..constants.len() {
        text += &format!("call @fused_add_{i}(%x) : (memref<64xf32>) -> ()\n");
    }
    text += "return\n}\n";
    for (i, constant) in constants.iter().enumerate() {
        text += &format!(
            "func.func private @fused_add_{i}(%x: memref<64xf32>) attributes {{loop.kernel}} {{
              %c = arith.constant {constant}.0 : f32
              loop.for 64 vectorized {{
              ^bb0(%i: index):
                %a = loop.load %x[%i] : memref<64xf32> -> f32
                %b = arith.addf %a, %c : f32
                loop.store %b, %x[%i] : f32, memref<64xf32>
                loop.yield
              }}
              return
            }}\n"
        );
    }
    text
}

fn units(source: &str) -> (Vec<Unit>, String) {
    register();
    let context = load_context();
    let module = parse_module(&context, source).unwrap_or_else(|why| panic!("{}", why.join("\n")));
    let units = take(module_op(&module));
    (units, module.as_operation().to_string())
}

fn objects(units: &[Unit], jobs: usize, cache: Option<&Cache>) -> (Vec<Vec<u8>>, usize) {
    let workshop = Workshop { target: &Target::default(), device: None, jobs, cache };
    let made = workshop.compile(units).unwrap_or_else(|why| panic!("{why}"));
    (made.objects, made.cached)
}

#[test]
fn kernels_that_are_the_same_are_one_unit() {
    let (units, rest) = units(&program(&[1, 2, 1]));
    let names: Vec<&str> = units.iter().map(|u| u.name.as_str()).collect();
    assert_eq!(names, ["fused_add_0", "fused_add_1"]);
    assert!(units[0].symbol.starts_with("fused_add_") && units[0].symbol != units[1].symbol);
    assert_eq!(rest.matches(&format!("call @{}(", units[0].symbol)).count(), 2, "{rest}");
    assert_eq!(rest.matches("func.func private").count(), 2, "{rest}");
    assert!(!rest.contains("loop.for"), "{rest}");
}

#[test]
fn neither_threads_nor_the_cache_change_the_code() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::new(directory.path(), 1 << 30);
    let (units, _) = units(&program(&[1, 2, 3, 4, 5]));
    let (wanted, _) = objects(&units, 1, None);
    assert_eq!(objects(&units, 3, None), (wanted.clone(), 0));
    assert_eq!(objects(&units[1..4], 2, Some(&cache)), (wanted[1..4].to_vec(), 0));
    assert_eq!(objects(&units, 2, Some(&cache)), (wanted.clone(), 3));
    assert_eq!(objects(&units, 1, Some(&cache)), (wanted.clone(), 5));
    for folder in std::fs::read_dir(directory.path()).unwrap() {
        for entry in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            std::fs::write(entry.unwrap().path(), "damaged").unwrap();
        }
    }
    assert_eq!(objects(&units, 2, Some(&cache)), (wanted.clone(), 0));
    assert_eq!(objects(&units, 2, Some(&cache)), (wanted, 5));
}

#[test]
fn another_target_is_another_entry() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::new(directory.path(), 1 << 30);
    let (units, _) = units(&program(&[1]));
    objects(&units, 1, Some(&cache));
    let target = Target { vector_width: 256, ..Target::default() };
    let made = Workshop { target: &target, device: None, jobs: 1, cache: Some(&cache) }.compile(&units);
    assert_eq!(made.unwrap_or_else(|why| panic!("{why}")).cached, 0);
}

#[test]
fn errors_keep_their_places_and_the_first_kernel_taken_is_told() {
    let wrong = program(&[1]).replace("loop.yield", "loop.barrier loc(\"net.onnx\":7:9)\nloop.yield");
    let also = program(&[2]).replace("fused_add_0", "fused_sub_0");
    let also = also.replace(
        "loop.yield",
        "loop.barrier loc(\"net.onnx\":1:1)\n %z = arith.constant 0 : i32\nloop.yield",
    );
    let mut both = units(&also).0;
    both.extend(units(&wrong).0);
    let (small, large) = (both[1].content.len(), both[0].content.len());
    assert!(small < large, "the larger one is taken first");
    for jobs in [1, 2, 4] {
        let target = Target::default();
        let made = Workshop { target: &target, device: None, jobs, cache: None }.compile(&both);
        let why = made.err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why.contains("net.onnx:1:1") && why.contains("loop.barrier"), "{why}");
    }
}
