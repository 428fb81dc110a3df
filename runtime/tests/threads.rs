//! Parallel loops of a model written in C: every index once, on any number of threads, nested and from several callers.

mod common;

use fusion_operators::{DType, Tensor};
use fusion_runtime::object_file::Constants;
use fusion_runtime::package::{CodeObject, Package};
use fusion_runtime::{ArgumentDescription, ModelDescription, Module};
use std::path::{Path, PathBuf};
use std::process::Command;

/// y[i] = x[i] + 1, each in a loop of 3 x 1000 whose inner part is a loop itself; counts how often an index was run.
const CODE: &str = r#"
#include <stdint.h>
extern void fusion_parallel(int64_t, void (*)(int64_t, int64_t, void *), void *);
struct rows { const float *x; float *y; };
struct row { struct rows *rows; int64_t row; };
static void inner(int64_t begin, int64_t end, void *context) {
  struct row *r = context;
  for (int64_t i = r->row * 1000 + begin; i < r->row * 1000 + end; i++) r->rows->y[i] += r->rows->x[i] + 1;
}
static void outer(int64_t begin, int64_t end, void *context) {
  for (int64_t i = begin; i < end; i++) {
    struct row row = {context, i};
    fusion_parallel(1000, inner, &row);
  }
}
int32_t fusion_run(const void *const *inputs, void *const *outputs, void *workspace) {
  struct rows rows = {inputs[0], outputs[0]};
  for (int i = 0; i < 3000; i++) rows.y[i] = 0;
  fusion_parallel(3, outer, &rows);
  for (int i = 0; i < 3; i++) { struct row row = {&rows, i}; fusion_parallel(1000, inner, &row); }
  return 0;
}
"#;

fn library(directory: &Path) -> PathBuf {
    let object = common::object(directory, CODE);
    let argument = |name: &str| ArgumentDescription {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: vec![3, 1000],
        value: None,
    };
    let description = ModelDescription {
        name: "rows".to_owned(),
        target: "cpu".to_owned(),
        inputs: vec![argument("x")],
        outputs: vec![argument("y")],
        kernels: vec![],
        program: None,
        device: None,
        workspace_bytes: 0,
    };
    let path = directory.join("rows.so");
    let package = Package {
        description: &description,
        code: vec![CodeObject::File(&object)],
        constants: Constants::default(),
        outside: None,
        libraries: vec![],
        linker: None,
        own_linker: None,
    };
    package.write(&path).unwrap();
    path
}

fn input() -> Tensor {
    let x: Vec<f32> = (0..3000).map(|i| i as f32).collect();
    Tensor::from_slice(&[3, 1000], &x).unwrap()
}

fn assert_each_once(outputs: &[Tensor]) {
    for (i, y) in outputs[0].to_f64s().into_iter().enumerate() {
        assert_eq!(y, 2.0 * (i as f64 + 1.0), "index {i}");
    }
}

#[test]
fn every_index_is_run_once_on_any_number_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&library(directory.path())).unwrap();
    let mut session = module.session().unwrap();
    for threads in [1, 2, 4, 0, 7, 2, 1, 3] {
        module.set_threads(threads);
        for _ in 0..50 {
            session.run(&[input()]).unwrap();
            assert_each_once(&session.outputs().unwrap());
        }
    }
}

/// Threads that wait look for a while only, and then sleep (how long that takes, `bench/region.c` says).
#[test]
fn more_threads_than_processors_do_the_same_work() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&library(directory.path())).unwrap();
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u16);
    module.set_threads(4 * processors);
    let mut session = module.session().unwrap();
    for _ in 0..50 {
        session.run(&[input()]).unwrap();
        assert_each_once(&session.outputs().unwrap());
    }
}

#[test]
fn callers_share_a_model() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&library(directory.path())).unwrap();
    module.set_threads(3);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| assert_each_once(&module.run(&[input()]).unwrap())));
        }
        scope.spawn(|| (0..20).for_each(|i| module.set_threads(1 + i % 4)));
    });
}

#[test]
fn models_are_loaded_and_unloaded_with_their_threads() {
    let directory = tempfile::tempdir().unwrap();
    let path = library(directory.path());
    for _ in 0..20 {
        let module = Module::load(&path).unwrap();
        module.set_threads(3);
        assert_each_once(&module.run(&[input()]).unwrap());
    }
}

#[test]
fn a_forked_program_runs_on() {
    let directory = tempfile::tempdir().unwrap();
    let library = library(directory.path());
    let program = r#"
        #include "rows.h"
        #include <sys/wait.h>
        #include <unistd.h>
        static float x[3000], y[3000];
        static int wrong(void) {
          const void *inputs[] = {x}; void *outputs[] = {y};
          return fusion_run(inputs, outputs, 0) || y[2999] != 2;
        }
        int main(void) {
          int status, failed = wrong();
          pid_t child = fork();
          if (child == 0) return wrong();
          return failed || wrong() || waitpid(child, &status, 0) != child || status != 0;
        }"#;
    let (source, main) = (directory.path().join("main.c"), directory.path().join("main"));
    std::fs::write(&source, program).unwrap();
    let compiled =
        Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&main, &source, &library]).status();
    assert!(compiled.unwrap().success());
    assert!(Command::new(&main).env("FUSION_THREADS", "4").status().unwrap().success());
}
