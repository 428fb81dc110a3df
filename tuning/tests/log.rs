//! Logs as files.

use crate::common::{Known, kernel, options};
use fusion_tuning::log::{LogError, Record, append, read};
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
