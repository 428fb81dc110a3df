//! When a run did what on its device.

use crate::drivers::{Bench, CODE, lines};
use crate::kernel::{Kernel, tensors};
use fusion_runtime::profile::{Event, Launch, Work};
use fusion_runtime::{Device, Module};

/// Runs three times, the second and the third timed, and says what the last one did; then runs once more.
const MAIN: &str = r#"
#include "kernel.h"
#include <stdio.h>
static void run(void) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  puts(fusion_run(inputs, outputs, NULL) ? fusion_last_error() : y[7] == 32 ? "right" : "wrong");
}
int main(void) {
  const struct fusion_gpu_event *events;
  double empty;
  run();
  fusion_set_profiling(1);
  run();
  run();
  int64_t count = fusion_profile(&events, &empty);
  for (int64_t i = 0; i < count; i++)
    printf("%u %s %u %u %u %u: %g %g\n", events[i].what, events[i].kernel ? events[i].kernel : "-", events[i].grid[0], events[i].block[0],
           events[i].shared_bytes, (unsigned)events[i].bytes, 1e3 * events[i].begin_s, 1e3 * events[i].seconds);
  fusion_set_profiling(0);
  run();
  return 0;
}
"#;

/// In milliseconds of the driver's clock, which goes on by one for each mark and each thread of a launch.
const EVENTS: [&str; 4] =
    ["1 - 0 0 0 32: 2 1", "0 twice 2 4 65536 0: 4 9", "0 twice 1 2 0 0: 14 9", "2 - 0 0 0 32: 24 1"];

fn benches() -> [Bench; 2] {
    [(Device::Cuda, &[][..]), (Device::Hip, &["-DHIP"][..])]
        .map(|(device, flags)| Bench::with(CODE, MAIN, device, flags))
}

#[test]
fn events_of_a_driver_time_what_a_run_does() {
    for bench in benches() {
        let wanted = [&["right"; 3][..], &EVENTS, &["right"]].concat();
        assert_eq!(bench.runs(&[]), wanted);
        // Timed runs launch each kernel by itself, and use the events of those before.
        let calls = bench.calls(&[]);
        let count = |name: &str| calls.iter().filter(|call| *call == name).count();
        let found = ["launch", "replay", "create event", "destroy event", "record event"].map(count);
        assert_eq!(found, [8, 1, 10, 10, 20], "{calls:?}");
    }
}

#[test]
fn a_failure_while_timing_has_its_sentence_and_leaves_nothing() {
    for bench in benches() {
        let calls = bench.calls(&[]);
        for call in ["create event", "record event", "elapsed"] {
            let at = calls.iter().position(|name| name == call).unwrap() + 1;
            let output = bench.output(&[("FAKE_FAIL", &format!("{at}:12345"))], &[]);
            let (said, left) = (lines(&output.stdout), lines(&output.stderr));
            assert!(left.is_empty(), "{call}: {left:?}");
            assert!(said[1].contains("12345") && said[1].ends_with('.'), "{call}: {said:?}");
            assert!(said[0] == "right" && said[2] == "right" && said.last().unwrap() == "right", "{said:?}");
        }
    }
}

#[test]
fn a_driver_without_events_says_so() {
    let bench = Bench::with(CODE, MAIN, Device::Cuda, &["-DUNTIMED"]);
    let said = bench.runs(&[]);
    assert!(said[1].contains("cannot time what it does, for it has no function cuEventCreate"), "{said:?}");
    // No run was timed, and those that are not go on.
    assert_eq!((said[0].as_str(), said[3].as_str(), said.len()), ("right", "right", 4));
}

#[test]
fn emulated_launches_are_timed_by_the_clock_of_the_host() {
    let code =
        "static void kernel(void *const *a) { ((float *)a[1])[thread()] = 2 * ((float *)a[0])[thread()]; }";
    let kernel = Kernel::new(code, 8, 8);
    let directory = tempfile::tempdir().unwrap();
    let module = Module::load(&kernel.library(directory.path(), &[32])).unwrap();
    let mut session = module.session().unwrap();
    let input = tensors(&[vec![0; 32]]);
    let profile = session.profile(&input).unwrap();
    let work: Vec<&Work> = profile.events.iter().map(|event| &event.work).collect();
    let launch = Launch { function: "kernel".to_owned(), grid: [1; 3], block: [8, 1, 1], shared_bytes: 1024 };
    assert_eq!(work, [&Work::Upload(32), &Work::Launch(launch), &Work::Download(32)]);
    let ends = |event: &Event| event.begin_s + event.seconds;
    assert!(profile.events.windows(2).all(|pair| ends(&pair[0]) <= pair[1].begin_s), "{profile:?}");
    assert!(profile.empty_s >= 0.0);
    session.run(&input).unwrap();
}
