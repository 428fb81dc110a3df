//! Programs that go through files.

use super::programs::*;
use fusion_bytecode::ProgramFile;
use fusion_runtime::vm::{KernelLibrary, Machine, read_program, write_program};

#[test]
fn a_program_runs_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sum.fbc");
    let file = ProgramFile { program: sum(), library: image().to_vec() };
    write_program(&path, &file).unwrap();
    let read = read_program(&path).unwrap();
    assert_eq!(read, file);
    let library = KernelLibrary::from_image(&read.library).unwrap();
    let mut machine = Machine::new(read.program, library).unwrap();
    assert_eq!(machine.run(&[list(0..5)]).unwrap(), value(10));
}

#[test]
fn what_cannot_be_read_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none.fbc");
    let said = read_program(&path).unwrap_err().to_string();
    assert!(said.starts_with("cannot read ") && said.contains("none.fbc: "), "{said}");
    std::fs::write(&path, "FUSIONBD").unwrap();
    let said = read_program(&path).unwrap_err().to_string();
    assert!(said.ends_with("none.fbc: this is no bytecode: it does not start with \"FUSIONBC\""), "{said}");
}

#[test]
fn a_program_that_breaks_the_rules_is_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong.fbc");
    let mut program = sum();
    program.functions[0].code.pop();
    let file = ProgramFile { program, library: image().to_vec() };
    let said = write_program(&path, &file).unwrap_err().to_string();
    assert!(said.ends_with("function @sum has 11 instructions, but 12 places in the source"), "{said}");
    assert!(!path.exists());
}
