//! The host program: random ones keep their meaning when memory is planned; signatures and constants are read.

mod generator;
mod interpreter;

use fusion_conversion::description::{Signature, SignatureError};
use fusion_dialects::{Context, Op, OpExt, array_elements, load_context, parse_module, with_diagnostics};
use fusion_operators::random::{cases, seed};
use fusion_te_to_loop::plan_memory::{CONSTANTS, read_constants, strip_constants};
use interpreter::{Interpreter, constant_token, token};
use melior::ir::Module;
use melior::pass::PassManager;
use std::sync::Once;

fn context() -> Context {
    static ONCE: Once = Once::new();
    ONCE.call_once(fusion_conversion::register);
    load_context()
}

fn parse<'c>(context: &'c Context, source: &str) -> Module<'c> {
    parse_module(context, source).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"))
}

fn plan<'c>(context: &'c Context, source: &str) -> Module<'c> {
    let mut module = parse(context, source);
    let manager = PassManager::new(context);
    let pipeline = "builtin.module(te-plan-memory)";
    melior::utility::parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline).expect("a pipeline");
    let (outcome, errors) = with_diagnostics(context, || manager.run(&mut module));
    assert!(outcome.is_ok(), "{errors:?}\n{source}");
    module
}

fn with_op<'c, T>(module: &'c Module<'c>, read: impl FnOnce(Op<'c>) -> T) -> T {
    read(module.as_operation())
}

#[test]
fn planned_programs_compute_what_they_did() {
    let context = context();
    let mut random = generator::Random(seed(0x2545_f491_4f6c_dd1d));
    let inputs = [token("x"), token("y")];
    for round in 0..cases(1_500) {
        let source = generator::program(&mut random);
        let before = parse(&context, &source);
        let wanted = with_op(&before, |module| Interpreter::run_tensors(module, &inputs));
        let after = plan(&context, &source);
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_op(&after, |module| {
                let constants = module.attr(CONSTANTS).map(array_elements).unwrap_or_default();
                let constants: Vec<_> = constants.into_iter().map(constant_token).collect();
                Interpreter::run_planned(module, &inputs, &constants)
            })
        }));
        assert_eq!(found.ok().as_ref(), Some(&wanted), "round {round}:\n{source}\n{}", after.as_operation());
    }
}

#[test]
fn constants_keep_their_bytes() {
    let context = context();
    let planned = plan(
        &context,
        "func.func @main() -> (tensor<2xi32>, tensor<3xi1>, tensor<2xui8>) {
           %a = te.constant dense<[1, -1]> : tensor<2xi32> : tensor<2xi32>
           %b = te.constant dense<[true, false, true]> : tensor<3xi1> : tensor<3xi1>
           %c = te.constant dense<7> : tensor<2xui8> : tensor<2xui8>
           return %a, %b, %c : tensor<2xi32>, tensor<3xi1>, tensor<2xui8>
         }",
    );
    let module = planned.as_operation();
    let blob = read_constants(module).expect("constants");
    let mut wanted = [0u8; 192];
    wanted[..8].copy_from_slice(&[1, 0, 0, 0, 255, 255, 255, 255]);
    wanted[64..67].copy_from_slice(&[1, 0, 1]);
    wanted[128..130].copy_from_slice(&[7, 7]);
    assert_eq!(blob.to_bytes(), wanted);
    strip_constants(module);
    assert!(module.attr(CONSTANTS).is_none());
    assert!(read_constants(module).is_err());
}

#[test]
fn signatures_name_what_a_model_takes_and_gives() {
    let context = context();
    let source = "func.func @main(%x: tensor<2x3xf32> {relay.name = \"pixels\"}, %y: tensor<i1>)
                      -> (tensor<2x3xf32> {relay.name = \"score\"}, tensor<i1>) {
                    return %x, %y : tensor<2x3xf32>, tensor<i1>
                  }";
    let module = parse(&context, source);
    let signature = Signature::of(module.as_operation(), "main").expect("a signature");
    let list = |ports: &[fusion_conversion::description::Port]| {
        ports.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(list(&signature.inputs), "pixels: tensor<2x3xf32>, input_1: tensor<i1>");
    assert_eq!(list(&signature.outputs), "score: tensor<2x3xf32>, output_1: tensor<i1>");
}

#[test]
fn signatures_refuse_what_has_no_size() {
    let context = context();
    let of = |source: &str| {
        let module = parse(&context, source);
        Signature::of(module.as_operation(), "main").expect_err("no signature").to_string()
    };
    assert_eq!(
        of("func.func private @main(tensor<?x3xf32> {relay.name = \"pixels\"})"),
        "the input 'pixels' is of type tensor<?x3xf32>, whose shape is not fixed; give the shape of the input 'pixels'"
    );
    assert_eq!(
        of("func.func private @main() -> tensor<?xf32>"),
        "the output 'output_0' is of type tensor<?xf32>, whose shape is not fixed; give the shapes of the inputs it follows from"
    );
    assert_eq!(
        of("func.func private @main(index)"),
        "the input 'input_0' is of type index, which is no tensor"
    );
    assert_eq!(of(""), SignatureError::NoFunction("main".into()).to_string());
}
