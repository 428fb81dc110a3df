//! Logs as files.

use crate::common::{Known, kernel, options};
use fusion_tuning::log::{LogError, Record, append, fit, read, read_all, stats, write};
use fusion_tuning::search::Kind;
use fusion_tuning::tuner::tune;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    let mut keep = |record: &Record| {
        records.push(record.clone());
        Ok::<(), String>(())
    };
    tune(&[kernel("a", 1)], &options(Kind::Random, 12), &mut Known::default(), &mut keep).unwrap();
    records
}

fn file(text: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log.jsonl");
    fs::write(&path, text).unwrap();
    (directory, path)
}

fn text(records: &[Record]) -> String {
    records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect()
}

#[test]
fn what_is_written_is_read() {
    let records = records();
    let (_directory, path) = file(&text(&records));
    assert_eq!(read(&path).unwrap(), records);
}

#[test]
fn a_log_that_breaks_off_is_read_up_to_there() {
    let records = records();
    let whole = text(&records);
    let ends = whole[..whole.len() - 1].rfind('\n').unwrap() + 1;
    for cut in [ends, ends + 1, ends + 40, whole.len() - 2] {
        let (_directory, path) = file(&whole[..cut]);
        assert_eq!(read(&path).unwrap(), records[..records.len() - 1], "cut at {cut}");
    }
}

#[test]
fn lines_that_are_no_measurements_are_named() {
    let whole = text(&records());
    let second = whole.find('\n').unwrap() + 1;
    let (_directory, path) = file(&format!("{}{{\"version\":1}}\n{}", &whole[..second], &whole[second..]));
    assert!(matches!(read(&path), Err(LogError::Line { line: 2, .. })));
    let (_directory, path) = file(&whole.replace("\"version\":1", "\"version\":9"));
    let error = read(&path).unwrap_err().to_string();
    assert!(error.contains("line 1 of the tuning log") && error.contains("is of version 9"), "{error}");
    let (directory, _) = file("");
    assert!(matches!(read(&directory.path().join("none.jsonl")), Err(LogError::Unreadable { .. })));
}

#[test]
fn a_log_that_breaks_off_is_gone_on_with() {
    let records = records();
    let whole = text(&records);
    let ends = whole[..whole.len() - 1].rfind('\n').unwrap() + 1;
    // After a line break, within a line, and before the last line break, where the line is whole.
    for (cut, kept) in
        [(ends, 1), (ends + 40, 1), (whole.len() - 2, 1), (whole.len() - 1, 0), (whole.len(), 0)]
    {
        let (_directory, path) = file(&whole[..cut]);
        append(&path).unwrap().write_all(text(&records[..2]).as_bytes()).unwrap();
        let expected = [&records[..records.len() - kept], &records[..2]].concat();
        assert_eq!(read(&path).unwrap(), expected, "cut at {cut}");
    }
}

#[test]
fn what_is_no_log_is_not_written_to() {
    let (_directory, path) = file("a model\nof another kind\n");
    assert!(matches!(append(&path), Err(LogError::Line { line: 1, .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "a model\nof another kind\n");
}

/// The times of all records but the default, `times` as long.
fn slower(records: &[Record], threads: u16, times: u64) -> Vec<Record> {
    let slowed = |record: &Record| {
        let times = if record.default { 1 } else { times };
        let times_ps = record.times_ps.iter().map(|ps| ps * times).collect();
        Record { threads, times_ps, ..record.clone() }
    };
    records.iter().map(slowed).collect()
}

#[test]
fn what_was_measured_on_other_threads_is_told_apart() {
    let records = records();
    let on = |threads| fit(&[("log".into(), records_of(&records))], "machine", threads);
    fn records_of(records: &[Record]) -> Vec<Record> {
        [slower(records, 4, 1), slower(records, 1, 10)].concat()
    }
    // On one thread the default is best, which is a decision too; on four it is not.
    assert_eq!((on(None).choices.len(), on(Some(1)).choices.len(), on(Some(4)).choices.len()), (0, 0, 1));
    assert!(on(Some(4)).notes.is_empty());
    let none = on(Some(2));
    assert!(none.choices.is_empty());
    assert!(
        none.notes[0]
            .contains("the tuning log log was measured on 1 and 4 threads, and --tuning-threads asks for 2"),
        "{:?}",
        none.notes
    );
}

#[test]
fn a_log_that_is_not_used_is_noted() {
    let logs = [("a.jsonl".into(), records()), ("b.jsonl".into(), Vec::new())];
    let found = fit(&logs, "another", None);
    assert!(found.choices.is_empty());
    assert_eq!(
        found.notes,
        [
            "the tuning log a.jsonl is for the processor machine, and the model is compiled for another; tune for another, or compile for machine",
            "the tuning log b.jsonl has no measurements; write some with `fusion tune MODEL -o b.jsonl`",
        ]
    );
    // What another version of the compiler measured counts: the hash says what a kernel computes.
    let older: Vec<Record> =
        records().into_iter().map(|r| Record { fusion: "0.0.9".to_owned(), ..r }).collect();
    let found = fit(&[("old".into(), older)], "machine", None);
    assert_eq!((found.choices.len(), found.notes.len()), (1, 0));
}

#[test]
fn statistics_count_what_failed_by_reason() {
    let mut records = records();
    let failed = |why: &str, trial| Record {
        times_ps: Vec::new(),
        error: Some(why.to_owned()),
        trial,
        ..records[1].clone()
    };
    let more = ["it crashed (signal: 11)", "it crashed (signal: 4)", "it gives wrong numbers: element [0]"];
    let more: Vec<Record> = more.iter().enumerate().map(|(n, why)| failed(why, n)).collect();
    let before = stats(&records);
    records.extend(more);
    records[0].fusion = "0.0.9".to_owned();
    let after = stats(&records);
    let count = |all: &[fusion_tuning::log::Stats], why: &str| all[0].failed.get(why).copied().unwrap_or(0);
    assert_eq!(count(&after, "it crashed"), count(&before, "it crashed") + 2);
    assert_eq!(count(&after, "it gives wrong numbers"), 1);
    assert_eq!(after[0].chosen.trials, before[0].chosen.trials + 3);
    assert_eq!((after.len(), after[0].versions.len()), (1, 2));
}

#[test]
fn a_log_is_written_over_one_that_was_read() {
    let records = records();
    let (_directory, path) = file(&text(&records[..3]));
    let all = read_all(&[path.clone(), path.clone()]).unwrap();
    write(&path, &all).unwrap();
    assert_eq!(read(&path).unwrap(), [&records[..3], &records[..3]].concat());
    let (_directory, empty) = file("");
    let said = read_all(&[empty.clone(), empty]).unwrap_err().to_string();
    assert!(said.contains("have no measurements; write some with"), "{said}");
}
