//! Programs of the whole language: what the virtual machine gives for the lowered program is what the interpreter gives for the
//! module. The programs stand beside this file.

mod lowered;
mod refused;

use fusion_bytecode::Program;
use fusion_conversion::compile::Settings;
use fusion_conversion::program::{ProgramCompilation, compile_program};
use fusion_dialects::{Context, load_context, module_op, parse_module};
use fusion_interpreter::Limits;
use fusion_operators::{Tensor, ValueTree};
use fusion_runtime::ModelDescription;
use fusion_runtime::object_file::{self, Constants};
use fusion_runtime::vm::{KernelLibrary, Machine};
use std::process::Command;
use std::sync::Once;

fn context() -> Context {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
    });
    load_context()
}

/// The program of a module, and its kernels.
pub fn compiled(source: &str) -> ProgramCompilation {
    let context = context();
    let module = parse_module(&context, source).unwrap();
    let made = compile_program(&module, &Settings::default()).unwrap();
    made.program.check().unwrap();
    made
}

/// Why there is no program of a module.
pub fn refusal(source: &str) -> String {
    let context = context();
    let module = parse_module(&context, source).unwrap();
    compile_program(&module, &Settings::default()).err().unwrap().to_string()
}

/// The code of kernels as an ELF image.
fn image(made: &ProgramCompilation) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let machine = object_file::Machine::host().unwrap();
    let library = directory.path().join("program.so");
    let mut objects = Vec::new();
    let mut add = |name: String, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        objects.push(path);
    };
    made.objects.iter().enumerate().for_each(|(i, object)| add(format!("{i}.o"), object));
    add("threads.o".to_owned(), fusion_runtime::threads::object(machine));
    let mut data = Vec::new();
    let (name, target) = ("program".to_owned(), "cpu".to_owned());
    let description = ModelDescription {
        name,
        target,
        inputs: vec![],
        outputs: vec![],
        kernels: vec![],
        workspace_bytes: 0,
        program: None,
        device: None,
    };
    let constants = Constants { size: made.constants.len() as u64, pieces: vec![(0, &made.constants)] };
    object_file::write(&mut data, machine, &description, &constants, None).unwrap();
    add("data.o".to_owned(), &data);
    let mut link = Command::new("cc");
    link.args(["-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-o"]).arg(&library).args(&objects);
    assert!(link.args(["-lm", "-pthread"]).status().unwrap().success());
    std::fs::read(library).unwrap()
}

/// Runs a program twice in the virtual machine; nothing is alive afterwards.
pub fn run(made: &ProgramCompilation, inputs: &[Tensor]) -> ValueTree {
    let library = KernelLibrary::from_image(&image(made)).unwrap();
    let mut machine = Machine::new(made.program.clone(), library).unwrap();
    let inputs: Vec<ValueTree> = inputs.iter().cloned().map(ValueTree::tensor).collect();
    let value = machine.run(&inputs).unwrap();
    assert_eq!(machine.run(&inputs).unwrap(), value);
    assert_eq!((machine.live(), machine.leaked()), (0, 0));
    value
}

/// Compares what the virtual machine gives with what the interpreter gives, for each list of inputs, and gives the program.
pub fn agrees(source: &str, runs: &[&[Tensor]]) -> Program {
    let made = compiled(source);
    let context = context();
    let module = parse_module(&context, source).unwrap();
    for inputs in runs {
        let expected =
            fusion_interpreter::run_program(module_op(&module), "main", inputs, Limits::default()).unwrap();
        let [expected] = &expected[..] else { panic!("@main gives {} values", expected.len()) };
        run(&made, inputs).same(expected, 1e-5).unwrap();
    }
    made.program
}
