//! Measuring real kernels, with processes that answer, crash, hang and talk nonsense.

use fusion::driver::{CompileOptions, Target, compile};
use fusion::source::Source;
use fusion_conversion::features::Features;
use fusion_tuning::kernel::Kernel;
use fusion_tuning::measure::worker::serve;
use fusion_tuning::measure::{Local, Measurer, Running};
use fusion_tuning::points::Points;
use std::collections::HashSet;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

const MODEL: &str = "func.func @main(%x: tensor<24x40xf32>, %w: tensor<40x36xf32>) -> tensor<24x36xf32> {
  %0 = relay.matmul %x, %w : (tensor<24x40xf32>, tensor<40x36xf32>) -> tensor<24x36xf32>
  %1 = relay.relu %0 : (tensor<24x36xf32>) -> tensor<24x36xf32>
  return %1 : tensor<24x36xf32>
}";

fn options() -> CompileOptions {
    CompileOptions { spaces: true, ..CompileOptions::for_target(Target::uncalibrated()) }
}

fn kernel() -> Kernel {
    let compiled = compile(Source::mlir(MODEL), &options()).unwrap();
    let (name, found) = compiled.tunable.into_iter().next().unwrap();
    let (hash, program, space, features) = (found.hash, found.program, found.space, Some(found.features));
    Kernel { name, hash, program, space, calls: 1, roof: None, features }
}

fn measurer(command: &[&str]) -> Local {
    let command = command.iter().map(PathBuf::from).collect();
    let running = Running { command, threads: 1, jobs: 2, timeout: Duration::from_secs(2) };
    Local::new(&options(), running).unwrap()
}

#[test]
fn a_kernel_as_a_program_of_its_own_is_the_same_kernel() {
    let kernel = kernel();
    let compiled = compile(Source::mlir(&kernel.program), &options()).unwrap();
    let (name, found) = compiled.tunable.first().unwrap();
    assert_eq!((name, &found.hash, &found.space), (&kernel.name, &kernel.hash, &kernel.space));
}

#[test]
fn the_default_by_name_is_the_default() {
    let kernel = kernel();
    let object = |choices| {
        let choices = fusion_conversion::tuned::Choices::from([(kernel.hash.clone(), choices)]);
        compile(Source::mlir(MODEL), &CompileOptions { choices, ..options() }).unwrap().code.objects
    };
    let plain = compile(Source::mlir(MODEL), &options()).unwrap().code.objects;
    assert_eq!(object(kernel.space.default.clone()), plain);
    let points = Points::of(&kernel.space);
    let others = points.all().map(|point| points.choices(&point)).filter(|c| *c != kernel.space.default);
    assert!(others.take(3).any(|choices| object(choices) != plain));
}

#[test]
fn a_choice_that_is_not_possible_leaves_the_default() {
    let kernel = kernel();
    let mut choices = kernel.space.default.clone();
    choices[0].kind = "magic".to_owned();
    let choices = fusion_conversion::tuned::Choices::from([(kernel.hash.clone(), choices)]);
    let compiled = compile(Source::mlir(MODEL), &CompileOptions { choices, ..options() }).unwrap();
    assert_eq!(compiled.code.objects, compile(Source::mlir(MODEL), &options()).unwrap().code.objects);
}

#[test]
fn processes_that_crash_or_hang_or_talk_nonsense_give_no_times() {
    let kernel = kernel();
    let points = Points::of(&kernel.space);
    let choices: Vec<_> = points.all().take(2).map(|point| points.choices(&point)).collect();
    for (script, said) in [
        ("kill -SEGV $$", "it crashed (signal: 11"),
        ("read line; sleep 60", "it took more than 2 s"),
        ("while read line; do echo hello; done", "its process said nonsense"),
        ("while read line; do echo '[]'; done", "its process gave no answer"),
    ] {
        let mut measurer = measurer(&["sh", "-c", script]);
        let times = measurer.measure(&kernel, &choices).unwrap();
        assert_eq!(times.len(), 2);
        assert!(times.iter().all(|t| t.as_ref().is_err_and(|why| why.contains(said))), "{script}: {times:?}");
    }
    let missing = measurer(&["/no/such/program"]).measure(&kernel, &choices).unwrap_err().to_string();
    assert!(missing.contains("cannot start /no/such/program"), "{missing}");
}

/// What a worker answers to these lines.
fn answers(requests: &str) -> Vec<String> {
    let mut answers = Vec::new();
    serve(BufReader::new(requests.as_bytes()), &mut answers).unwrap();
    String::from_utf8(answers).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_kernel_that_gives_other_numbers_than_the_default_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let library = |name: &str, source: &str| {
        let path = directory.path().join(name);
        let compiled = compile(Source::mlir(source), &options()).unwrap();
        fusion::package::package(&compiled, None, |package| package.write_library(&path)).unwrap();
        path.display().to_string()
    };
    let [right, wrong] = [("right.so", MODEL), ("wrong.so", &MODEL.replace("relay.relu", "relay.tanh"))]
        .map(|(name, source)| library(name, source));
    let said = answers(&format!(
        "{{\"reference\":{{\"library\":\"{right}\",\"threads\":1}}}}\n\
         {{\"time\":{{\"libraries\":[\"{right}\",\"{wrong}\",\"/no/such.so\"],\"rounds\":2}}}}\nhello\n"
    ));
    assert_eq!(said[0], "[{\"Ok\":[]}]");
    assert!(
        said[1].starts_with("[{\"Ok\":[") && said[1].contains("it gives wrong numbers: element ["),
        "{}",
        said[1]
    );
    assert!(said[1].contains("/no/such.so"), "{}", said[1]);
    assert!(said[2].contains("the request is none"), "{}", said[2]);
}

#[test]
fn loops_have_features_that_tell_points_apart() {
    let kernel = kernel();
    let points = Points::of(&kernel.space);
    let choices: Vec<_> = points.all().take(40).map(|point| points.choices(&point)).collect();
    let features = kernel.features.unwrap();
    let all = features.of_choices(&choices);
    assert_eq!(all, features.of_choices(&choices));
    let names = Features::names();
    assert!(all.iter().flatten().count() > 30, "{all:?}");
    assert!(all.iter().flatten().all(|own| own.len() == names.len() && own.iter().all(|x| x.is_finite())));
    let differ: HashSet<String> = all.iter().map(|own| format!("{own:?}")).collect();
    assert!(differ.len() > 20, "{}", differ.len());
    // Each product and its sum, and the comparison of each result with 0.
    let at = names.iter().position(|name| name == "operations").unwrap();
    let least = (2.0 * 24.0 * 40.0 * 36.0_f32).log2();
    let operations = all[0].as_ref().unwrap()[at];
    assert!(operations >= least && operations < least + 0.2, "{operations} and {least}");
}
