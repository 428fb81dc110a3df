//! Packaging C code as a model, loading it, and running it.

mod common;

use fusion_operators::Tensor;
use fusion_runtime::object_file::{Constants, Machine};
use fusion_runtime::package::{CodeObject, Package, PackageError};
use fusion_runtime::{LoadError, Module, RunError};
use indexmap::IndexMap;
use std::fs;
use std::path::Path;
use std::process::Command;

fn inputs() -> Vec<Tensor> {
    vec![
        Tensor::from_slice(&[2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap(),
        Tensor::from_slice(&[], &[10i64]).unwrap(),
    ]
}

fn left(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_packaged_model_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = common::library(directory.path());
    assert_eq!(left(directory.path()), ["code.c", "code.o", "model.h", "model.so"]);
    let module = Module::load(&path).unwrap();
    assert_eq!(*module.description(), common::description());
    let outputs = module.run(&inputs()).unwrap();
    assert_eq!(outputs[0].to_vec::<f32>().unwrap(), [1.0, 4.0, 9.0, 4.0, 10.0, 18.0]);
    assert_eq!(outputs[1].to_f64s(), [210.0]);
}

#[test]
fn a_session_runs_again_with_other_inputs() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&common::library(directory.path())).unwrap();
    let mut session = module.session().unwrap();
    let mut inputs = inputs();
    session.run(&inputs).unwrap();
    let first = session.output(0).unwrap().as_ptr();
    assert_eq!(first.align_offset(64), 0);
    inputs[1] = Tensor::from_slice(&[], &[1i64]).unwrap();
    session.run(&inputs).unwrap();
    assert_eq!(session.output(0).unwrap().as_ptr(), first);
    assert_eq!(session.outputs().unwrap()[1].to_f64s(), [21.0]);
    inputs[1] = Tensor::from_slice(&[], &[-1i64]).unwrap();
    assert!(matches!(session.run(&inputs), Err(RunError::Failed(3))));
}

#[test]
fn inputs_are_checked_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&common::library(directory.path())).unwrap();
    let said = |inputs: &[Tensor]| module.run(inputs).unwrap_err().to_string();
    let mut wrong = inputs();
    assert_eq!(said(&wrong[..1]), r#"the model takes 2 inputs ("x", "n"), but 1 were given"#);
    wrong[0] = wrong[0].clone().reshaped(&[3, 2]).unwrap();
    assert_eq!(
        said(&wrong),
        r#"input 0 ("x") of the model is a tensor<2x3xf32>, but a tensor<3x2xf32> was given"#
    );
    wrong = inputs();
    wrong[1] = Tensor::from_slice(&[], &[1i32]).unwrap();
    assert_eq!(said(&wrong), r#"input 1 ("n") of the model is a tensor<i64>, but a tensor<i32> was given"#);
}

#[test]
fn an_input_the_model_relies_on_must_have_its_value() {
    let directory = tempfile::tempdir().unwrap();
    let mut description = common::description();
    description.inputs[1].value = Some(10i64.to_ne_bytes().to_vec());
    let module = Module::load(&common::library_of(directory.path(), &description)).unwrap();
    assert_eq!(*module.description(), description);
    let mut inputs = inputs();
    module.run(&inputs).unwrap();
    inputs[1] = Tensor::from_slice(&[], &[11i64]).unwrap();
    assert_eq!(
        module.run(&inputs).unwrap_err().to_string(),
        "the model was compiled for the value tensor<i64> [10.0] of input 1 (\"n\"), but tensor<i64> [11.0] was given; \
         compile it for that value"
    );
}

#[test]
fn tensors_are_bound_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&common::library(directory.path())).unwrap();
    let named = |names: [&str; 2]| -> IndexMap<String, Tensor> {
        names.map(str::to_owned).into_iter().zip(inputs()).collect()
    };
    let mut turned = named(["x", "n"]);
    turned.reverse();
    assert_eq!(module.bind(turned).unwrap(), inputs());
    assert_eq!(module.bind(named(["arr_0", "arr_1"])).unwrap(), inputs());
    let said = |tensors| module.bind(tensors).unwrap_err().to_string();
    assert_eq!(said(named(["x", "m"])), r#"the model has no input "m"; its inputs are "x", "n""#);
    let mut few = named(["x", "n"]);
    few.shift_remove("n");
    assert_eq!(said(few), r#"the model's input "n", a tensor<i64>, was not given; given were none"#);
}

#[test]
fn what_is_no_model_is_not_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text.so");
    assert!(matches!(Module::load(&text), Err(LoadError::Library { .. })));
    fs::write(&text, "no library").unwrap();
    assert!(matches!(Module::load(&text), Err(LoadError::Library { .. })));
    let build = |name: &str, code: &str| {
        let object = common::object(directory.path(), code);
        let path = directory.path().join(name);
        assert!(
            Command::new("cc").arg("-shared").arg("-o").args([&path, &object]).status().unwrap().success()
        );
        path
    };
    let other = build("other.so", "int f(void) { return 0; }");
    assert!(matches!(Module::load(&other), Err(LoadError::Symbol { symbol: "fusion_abi_version", .. })));
    let newer = build("newer.so", "const unsigned fusion_abi_version = 99;");
    assert!(matches!(Module::load(&newer), Err(LoadError::Version { found: 99, .. })));
    let facts = "const unsigned fusion_abi_version = 1; const unsigned long fusion_workspace_bytes = 0;
                 int fusion_run(void) { return 0; } void fusion_set_threads(int n) {} const char fusion_model_json[] = ";
    let broken = build("broken.so", &format!("{facts} \"{{\";"));
    assert!(matches!(Module::load(&broken), Err(LoadError::Description { .. })));
    let json = r#"{\"name\":\"a\",\"target\":\"cpu\",\"inputs\":[],\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[9223372036854775807]}]}"#;
    let huge = build("huge.so", &format!("{facts} \"{json}\";"));
    assert!(matches!(
        Module::load(&huge).unwrap().run::<fusion_operators::Tensor>(&[]),
        Err(RunError::Tensor(_))
    ));
}

#[test]
fn failed_links_leave_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let object = common::object(directory.path(), "int f(void); int fusion_run(void) { return f(); }");
    let before = left(directory.path());
    let description = common::description();
    let package = Package {
        description: &description,
        code: vec![CodeObject::File(&object)],
        constants: Constants::default(),
        outside: None,
        libraries: vec![],
        linker: None,
        own_linker: None,
    };
    let path = directory.path().join("model.so");
    let error = package.write(&path).unwrap_err();
    assert!(matches!(&error, PackageError::Link { message, .. } if message.contains("undefined")), "{error}");
    let absent = Package { linker: Some("/no/such/cc".into()), ..package.clone() };
    let error = absent.write(&path).unwrap_err().to_string();
    assert!(error.contains("running `/no/such/cc` failed"), "{error}");
    let no_object = Package { code: vec![CodeObject::Bytes(b"\x7fELF")], ..package.clone() };
    assert!(matches!(no_object.write(&path), Err(PackageError::Code { index: 0, .. })));
    let no_code = Package { code: vec![], ..package.clone() };
    assert!(matches!(no_code.write(&path), Err(PackageError::NoCode)));
    let overlapping = Constants { size: 8, pieces: vec![(0, &[0; 5]), (4, &[0; 2])] };
    let misplaced = Package { constants: overlapping, ..package.clone() };
    assert!(matches!(misplaced.write(&path), Err(PackageError::Constants(1))));
    assert!(matches!(package.write(directory.path()), Err(PackageError::Io { .. })));
    assert_eq!(left(directory.path()), before);
}

#[test]
fn the_data_object_is_what_the_interface_says() {
    for (machine, name) in [(Machine::X86_64, "X86-64"), (Machine::AArch64, "AArch64")] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.o");
        let mut constants = Constants::default();
        constants.push(&[1; 100], 64);
        let file = fs::File::create(&path).unwrap();
        fusion_runtime::object_file::write(file, machine, &common::description(), &constants, None).unwrap();
        let output = Command::new("readelf").args(["-h", "-S", "-s", "-W"]).arg(&path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.stderr.is_empty() && text.contains(name), "{text}");
        for symbol in
            ["fusion_abi_version", "fusion_workspace_bytes", "fusion_model_json", "fusion_constants"]
        {
            assert!(text.lines().any(|l| l.ends_with(symbol) && l.contains("GLOBAL DEFAULT")), "{text}");
        }
    }
}

#[test]
fn the_header_compiles_as_c_and_cpp() {
    let directory = tempfile::tempdir().unwrap();
    let library = common::library(directory.path());
    let program = r#"
        #include "model.h"
        int main(void) {
          float x[6] = {1, 2, 3, 4, 5, 6}, y[6]; int64_t n = 10; double z;
          _Alignas(64) unsigned char workspace[24];
          const void *inputs[] = {x, &n}; void *outputs[] = {y, &z};
          if (fusion_abi_version != 1 || fusion_workspace_bytes != 24) return 1;
          return fusion_run(inputs, outputs, workspace) || y[2] != 9 || z != 210;
        }"#;
    let source = directory.path().join("main.c");
    fs::write(&source, program).unwrap();
    let main = directory.path().join("main");
    let status =
        Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&main, &source, &library]).status();
    assert!(status.unwrap().success());
    assert!(Command::new(&main).status().unwrap().success());
}
