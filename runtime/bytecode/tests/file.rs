//! What is written is read; what is damaged is a sentence.

mod common;

use common::{everything, list_sum};
use fusion_bytecode::{FileError, Program, ProgramFile, ValueType};
use fusion_operators::Tensor;
use fusion_operators::random::{Random, seed};

fn file() -> ProgramFile {
    ProgramFile { program: everything(), library: (0..1000u32).map(|i| i as u8).collect() }
}

#[test]
fn what_is_written_is_read() {
    let bytes = file().to_bytes().unwrap();
    assert_eq!(ProgramFile::from_bytes(&bytes).unwrap(), file());
    assert_eq!(bytes, file().to_bytes().unwrap());
    let mut program = list_sum();
    program.kernels.clear();
    program.functions[0].code.remove(8);
    program.functions[0].code[8] = fusion_bytecode::Instruction::Move { to: 3, from: 1 };
    let none = ProgramFile { program, library: vec![] };
    assert_eq!(ProgramFile::from_bytes(&none.to_bytes().unwrap()).unwrap(), none);
}

#[test]
fn truncated_files_are_refused() {
    let bytes = file().to_bytes().unwrap();
    for end in 0..bytes.len() {
        let error = ProgramFile::from_bytes(&bytes[..end]).unwrap_err();
        let expected = match end {
            0..8 => FileError::Magic,
            _ => continue_with(&error, end),
        };
        assert_eq!(error, expected);
    }
    let mut longer = bytes.clone();
    longer.push(0);
    let said = ProgramFile::from_bytes(&longer).unwrap_err().to_string();
    let (expected, found) = (bytes.len(), longer.len());
    assert_eq!(
        said,
        format!("the bytecode is not complete: it should have {expected} bytes, but has {found}")
    );
}

/// A file that ends early says how long it is, and that it should be longer.
fn continue_with(error: &FileError, end: usize) -> FileError {
    match error {
        FileError::Length { expected, .. } if *expected > end as u64 => {
            FileError::Length { expected: *expected, found: end as u64 }
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_changed_byte_is_found() {
    let bytes = file().to_bytes().unwrap();
    for at in 0..bytes.len() {
        for bit in [0, 3, 7] {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let error = ProgramFile::from_bytes(&changed).unwrap_err();
            match at {
                0..8 => assert_eq!(error, FileError::Magic),
                8..12 => assert!(matches!(error, FileError::Version { .. }), "{error}"),
                48.. if at >= 96 => assert_eq!(error, FileError::Checksum),
                _ => {}
            }
        }
    }
}

#[test]
fn another_version_is_named() {
    let mut bytes = file().to_bytes().unwrap();
    bytes[8] = 200;
    assert_eq!(
        ProgramFile::from_bytes(&bytes).unwrap_err().to_string(),
        "the bytecode has version 200, but this program knows version 5; compile the model again"
    );
}

/// Whoever makes a file can make a checksum as well, so content that lies is refused too.
#[test]
fn content_that_lies_does_no_harm() {
    let bytes = file().to_bytes().unwrap();
    let mut random = Random::new(seed(7));
    let mut refused = 0;
    for _ in 0..4000 {
        let mut changed = bytes.clone();
        for _ in 0..3 {
            let at = 48 + random.next_u64() as usize % (bytes.len() - 48);
            changed[at] = random.next_u64() as u8;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&changed[..16]).update(&changed[48..]);
        changed[16..48].copy_from_slice(hasher.finalize().as_bytes());
        match ProgramFile::from_bytes(&changed) {
            // Some changes are in the library or in texts; the program keeps the rules all the same.
            Ok(file) => assert_eq!(file.program.check(), Ok(())),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn types_that_are_nested_without_end_are_refused() {
    let mut program = list_sum();
    for _ in 0..100 {
        program.output = ValueType::Cell(Box::new(program.output));
    }
    let bytes = ProgramFile { program, library: vec![1] }.to_bytes().unwrap();
    let said = ProgramFile::from_bytes(&bytes).unwrap_err().to_string();
    assert!(said.starts_with("the bytecode is malformed: its program cannot be read ("), "{said}");
}

#[test]
fn kernels_need_code() {
    let said = ProgramFile { program: list_sum(), library: vec![] }.to_bytes().unwrap_err().to_string();
    assert_eq!(said, "the program has 1 kernels, but the library with their code has 0 bytes");
}

#[test]
fn constants_are_kept_to_the_bit() {
    let mut program: Program = everything();
    program.constants.push(Tensor::from_slice(&[3], &[f32::NAN, -0.0, 1e-40]).unwrap());
    let bytes = ProgramFile { program: program.clone(), library: vec![1] }.to_bytes().unwrap();
    let read = ProgramFile::from_bytes(&bytes).unwrap().program;
    assert_eq!(read.constants[1].bytes(), program.constants[1].bytes());
}
