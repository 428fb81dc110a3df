//! Random schedules compute what their kernels say, after each primitive, and what is no schedule is refused in words.

mod kernels;
mod loops;
mod padding;
mod pipelines;
mod random;

use crate::common::random::Random;
use fusion_conversion::pipelines::{LLVM, LOOP};
use fusion_conversion::runner::Runner;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{
    Context, Emit, Jit, Module, OpExt, Target, emit, load_context, module_op, nested_ops, parse_module,
    run_passes, top_level,
};
use fusion_operators::random::cases;
use fusion_operators::{DType, Tensor};
use kernels::{INTRINSICS, Kernel};
use random::Draft;
use std::collections::BTreeMap;
use std::sync::Once;

/// How many are tried in a schedule.
const PRIMITIVES: usize = 36;

fn context() -> Context {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fusion_dialects::register_upstream_passes();
        fusion_transforms::register();
        fusion_conversion::register();
    });
    load_context()
}

/// The loops of a kernel under the first `until` primitives of a schedule.
fn lower<'c>(
    context: &'c Context,
    kernel: &Kernel,
    schedule: &str,
    until: i64,
) -> Result<Module<'c>, Vec<String>> {
    let text = format!("{}{INTRINSICS}te.schedule for @k {{\n{schedule}}}\n", kernel.text);
    let module = parse_module(context, &text)?;
    run_passes(&module, &format!("builtin.module(te-lower{{until={until}}})"))?;
    Ok(module)
}

fn sizes(shapes: &[Vec<u64>]) -> Vec<usize> {
    shapes.iter().map(|s| s.iter().product::<u64>() as usize).collect()
}

fn interpret(module: &Module, kernel: &Kernel, data: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, String> {
    let functions = top_level(module_op(module), |_| true);
    let function = functions.into_iter().find(|f| f.text("sym_name") == Some("k")).ok_or("no function")?;
    loops::run(function, data, &sizes(&kernel.outputs))
}

/// What the kernel gives by the reference semantics.
fn reference(context: &Context, kernel: &Kernel, data: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let ty = |shape: &Vec<u64>| {
        format!("tensor<{}xf32>", shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x"))
    };
    let list = |shapes: &[Vec<u64>]| shapes.iter().map(ty).collect::<Vec<_>>().join(", ");
    let names: Vec<String> = (0..data.len()).map(|i| format!("%x{i}")).collect();
    let taken: Vec<String> =
        names.iter().zip(&kernel.inputs).map(|(n, s)| format!("{n}: {}", ty(s))).collect();
    let (from, to, many) = (list(&kernel.inputs), list(&kernel.outputs), kernel.outputs.len());
    let returned: Vec<String> = (0..many).map(|i| format!("%r#{i}")).collect();
    let text = format!(
        "{}func.func @main({}) -> ({to}) {{\n  %r:{many} = te.call @k({}) : ({from}) -> ({to})\n  return {} : {to}\n}}\n",
        kernel.text,
        taken.join(", "),
        names.join(", "),
        returned.join(", ")
    );
    let module = parse_module(context, &text).unwrap_or_else(|why| panic!("{}\n{text}", why.join("\n")));
    let tensors: Vec<Tensor> = kernel
        .inputs
        .iter()
        .zip(data)
        .map(|(shape, data)| {
            let shape: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
            let values: Vec<f64> = data.iter().map(|&v| v.into()).collect();
            Tensor::from_f64s(DType::F32, &shape, &values).unwrap()
        })
        .collect();
    let given = fusion_interpreter::run_function(module_op(&module), "main", &tensors)
        .unwrap_or_else(|why| panic!("{why}"));
    given.iter().map(|t| t.to_f64s().into_iter().map(|v| v as f32).collect()).collect()
}

/// Compiled and run, as models are.
fn compiled(module: &Module, kernel: &Kernel, data: &[Vec<f32>]) -> Vec<Vec<f32>> {
    for function in top_level(module_op(module), |_| true) {
        function.remove_attr("sym_visibility");
    }
    let workspace =
        nested_ops(module_op(module)).into_iter().find_map(|op| op.int("loop.workspace")).unwrap_or(0);
    let mut runner = Runner::default();
    for stages in [LOOP, LLVM] {
        runner.run(module, stages).unwrap_or_else(|why| panic!("{}", why.join("\n")));
    }
    let target = Target { optimization: 1, ..Target::default() };
    let object = emit(module, &target, Emit::Object).unwrap_or_else(|why| panic!("{why}"));
    let jit = Jit::new(&[object], &[crate::common::threads::threads()]).unwrap_or_else(|why| panic!("{why}"));
    let bytes = |values: &Vec<f32>| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut buffers: Vec<Vec<u8>> = data.iter().map(bytes).collect();
    buffers.extend(sizes(&kernel.outputs).into_iter().map(|n| vec![0xa5; 4 * n]));
    // The workspace is aligned; its own buffers are where they were planned.
    let mut space = vec![0xa5u8; workspace as usize + 64];
    let skip = space.as_ptr().align_offset(64);
    let mut views: Vec<&mut [u8]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
    views.push(&mut space[skip..]);
    jit.call("k", &mut views).unwrap_or_else(|why| panic!("{why}"));
    let floats =
        |b: &Vec<u8>| b.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    buffers[data.len()..].iter().map(floats).collect()
}

fn differ(found: &[Vec<f32>], wanted: &[Vec<f32>]) -> Option<String> {
    let all = found.iter().flatten().zip(wanted.iter().flatten()).enumerate();
    let wrong = all.into_iter().find(|(_, (a, b))| (*a - *b).abs() > 1e-4 * b.abs().max(1.0) || a.is_nan());
    wrong.map(|(i, (a, b))| format!("element {i} is {a}, wanted {b}"))
}

/// Numbers whose sums are exact in any order.
fn data(random: &mut Random, kernel: &Kernel) -> Vec<Vec<f32>> {
    let each = |n: usize| (0..n).map(|_| random.within(-8, 8) as f32 / 4.0).collect();
    sizes(&kernel.inputs).into_iter().map(each).collect()
}

/// The loops of a kernel under a schedule, found to compute what the kernel says, on that data; and what that is.
fn lower_and_check<'c>(
    context: &'c Context,
    kernel: &Kernel,
    schedule: &str,
    data: &[Vec<f32>],
    seed: u64,
) -> (Module<'c>, Vec<Vec<f32>>) {
    let module = lower(context, kernel, schedule, -1);
    let module = module.unwrap_or_else(|why| panic!("{seed}: {}\n{schedule}", why.join("\n")));
    let wanted = reference(context, kernel, data);
    let found = interpret(&module, kernel, data).unwrap_or_else(|why| panic!("{seed}: {why}"));
    assert_eq!(differ(&found, &wanted), None, "{seed}: {}{schedule}", kernel.text);
    (module, wanted)
}

fn stages(context: &Context, kernel: &Kernel) -> Vec<(String, usize)> {
    let module = parse_module(context, &kernel.text)
        .unwrap_or_else(|why| panic!("{}\n{}", why.join("\n"), kernel.text));
    let computes = nested_ops(module_op(&module));
    let computes = computes.into_iter().filter(|op| matches!(op.kind(), Some(Kind::Te(Te::Compute))));
    computes
        .map(|op| {
            let axes =
                op.ints("axes").unwrap_or_default().len() + op.ints("reduce").unwrap_or_default().len();
            (op.text("name").unwrap_or_default().to_owned(), axes)
        })
        .collect()
}

/// A refusal says where and what; a panic would say so as well.
fn is_sentence(errors: &[String]) -> bool {
    !errors.is_empty() && errors.iter().all(|why| why.contains("op ") && !why.contains("panic"))
}

/// One random schedule, as it came to be.
fn try_one(name: &str, make: kernels::Make, seed: u64, compile: bool) -> Draft {
    let context = context();
    let random = &mut Random::new(seed);
    let kernel = make(random);
    let data = data(random, &kernel);
    let wanted = reference(&context, &kernel, &data);
    let mut draft = Draft::of(&stages(&context, &kernel), kernel.inputs.len());
    for step in 0..PRIMITIVES {
        let next = draft.and_another(random, step < PRIMITIVES / 2);
        match lower(&context, &kernel, &next.text, -1) {
            Ok(module) => {
                let found = interpret(&module, &kernel, &data);
                let why = match &found {
                    Ok(found) => differ(found, &wanted),
                    Err(why) => Some(why.clone()),
                };
                if let Some(why) = why {
                    panic!("{name} {seed}: {why}\n{}{}{}", kernel.text, next.text, module.as_operation());
                }
                draft = next;
            }
            Err(errors) => assert!(
                is_sentence(&errors),
                "{name} {seed}: {}\n{}{}",
                errors.join("\n"),
                kernel.text,
                next.text
            ),
        }
    }
    // Any prefix is right: the first primitives of the whole are what they were by themselves.
    let until = random.below(draft.primitives as u64 + 1) as i64;
    let module = lower(&context, &kernel, &draft.text, until);
    let module = module
        .unwrap_or_else(|why| panic!("{name} {seed} until {until}: {}\n{}", why.join("\n"), draft.text));
    let found = interpret(&module, &kernel, &data);
    let found = found.unwrap_or_else(|why| panic!("{name} {seed} until {until}: {why}\n{}", draft.text));
    assert_eq!(differ(&found, &wanted), None, "{name} {seed} until {until}:\n{}", draft.text);
    if compile {
        let module =
            lower(&context, &kernel, &draft.text, -1).unwrap_or_else(|why| panic!("{}", why.join("\n")));
        let text = module.as_operation().to_string();
        let found = compiled(&module, &kernel, &data);
        if let Some(why) = differ(&found, &wanted) {
            panic!("{name} {seed} compiled: {why}\n{}{}{text}", kernel.text, draft.text);
        }
    }
    draft
}

/// Schedules for each kernel, among which each primitive is.
const ROUNDS: u64 = 30;

#[test]
fn schedules_keep_what_kernels_compute() {
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    let rounds = cases(ROUNDS);
    for round in 0..rounds {
        for (i, (name, make)) in kernels::ALL.iter().enumerate() {
            let draft = try_one(name, *make, 1000 * i as u64 + round, round % 3 == 0);
            for word in draft.text.split_whitespace().filter(|w| w.starts_with("te.")) {
                *kept.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    if rounds < ROUNDS {
        return;
    }
    let primitives =
        ["split", "tile", "fuse", "reorder", "vectorize", "unroll", "parallel", "compute_inline"];
    let more =
        ["compute_at", "reverse_compute_at", "store_at", "set_scope", "double_buffer", "storage_align"];
    let rest = [
        "prefetch",
        "bind",
        "annotate",
        "cache_read",
        "cache_write",
        "rfactor",
        "transform_layout",
        "reverse_reindex",
        "stream",
        "pipeline",
    ];
    for name in primitives.iter().chain(&more).chain(&rest) {
        assert!(kept.contains_key(&format!("te.{name}")), "no schedule has te.{name}: {kept:?}");
    }
}

/// Intrinsics in place of loops: whole tiles, what is left over beside them, and tiles of copies in another order in memory.
#[test]
fn intrinsics_compute_what_they_declare() {
    let context = context();
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let (_, make) = kernels::ALL[0];
        let kernel = make(random);
        let data = data(random, &kernel);
        let packed = if seed % 2 == 0 {
            ""
        } else {
            "  %w = te.input 1
  %c = te.cache_read %w as \"c\"
  te.transform_layout %c by affine_map<(k, j) -> (j floordiv 4, k, j mod 4)>
  te.storage_align %c dim 1 by 8
"
        };
        let schedule = format!(
            "{packed}  %s = te.stage \"dense\"
  %i, %j, %k = te.axes %s : !te.axis, !te.axis, !te.axis
  %io, %ii = te.split %i by 2
  %jo, %ji = te.split %j by 4
  %ko, %ki = te.split %k by 3
  te.reorder %io, %jo, %ko, %ii, %ji, %ki
  te.tensorize %ii with @tile
"
        );
        let module = lower(&context, &kernel, &schedule, -1);
        let module = module.unwrap_or_else(|why| panic!("{seed}: {}", why.join("\n")));
        let found = interpret(&module, &kernel, &data).unwrap_or_else(|why| panic!("{seed}: {why}"));
        let wanted = reference(&context, &kernel, &data);
        assert_eq!(differ(&found, &wanted), None, "{seed}: {}{}", kernel.text, module.as_operation());
        assert_eq!(differ(&compiled(&module, &kernel, &data), &wanted), None, "{seed} compiled");
    }
}
