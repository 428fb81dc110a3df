//! Runs on a stream of the caller's: nothing is waited for, and what was recorded for other runs stays.

use crate::drivers::{Bench, CODE};
use fusion_runtime::Device;

/// Two runs that the library records, one on a stream of the caller's, and one that launches what was recorded.
const MAIN: &str = r#"
#include "kernel.h"
#include <stdio.h>
int main(void) {
  _Alignas(16) float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
  const void *inputs[] = {x};
  void *outputs[] = {y}, *stream = &x;
  for (int time = 0; time < 4; time++) {
    for (int i = 0; i < 8; i++) y[i] = -1;
    if (time == @ELSEWHERE@ ? fusion_run_stream(inputs, outputs, stream) : fusion_run_device(inputs, outputs))
      puts(fusion_last_error());
    for (int i = 0; i < 8; i++)
      if (y[i] != 4 * x[i]) { printf("wrong: %g instead of %g\n", y[i], 4 * x[i]); return 0; }
  }
  puts("right");
}
"#;

fn calls(elsewhere: u32) -> Vec<String> {
    let bench = Bench::with(CODE, &MAIN.replace("@ELSEWHERE@", &elsewhere.to_string()), Device::Cuda, &[]);
    assert_eq!(bench.runs(&[]), ["right"]);
    let kept = ["launch", "launch elsewhere", "wait", "begin", "replay"];
    let mut calls = bench.calls(&[]);
    calls.retain(|call| kept.contains(&call.as_str()));
    calls
}

#[test]
fn a_run_on_a_stream_is_not_waited_for() {
    let expected = [
        &["launch", "launch", "wait"][..],
        &["begin", "launch", "launch", "replay", "wait"],
        &["launch elsewhere", "launch elsewhere"],
        &["replay", "wait"],
    ];
    assert_eq!(calls(2), expected.concat());
}

#[test]
fn the_first_run_on_a_stream_waits_for_the_weights() {
    let begins = ["wait", "launch elsewhere", "launch elsewhere", "launch", "launch", "wait"];
    assert_eq!(calls(0)[..6], begins);
}
