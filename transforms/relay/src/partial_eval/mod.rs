//! `relay-partial-eval`: runs what is known when compiling and leaves the rest, in order.
//!
//! ```text
//!   rnn(Cons(x0, Cons(x1, Nil)), h)                 %h1 = cell(x0, h)
//!     = match list { Nil: h                  =>     %h2 = cell(x1, %h1)
//!                    Cons(x, xs): rnn(xs, cell(x, h)) }
//! ```
//! An online partial evaluator (Jones, Gomard and Sestoft, "Partial Evaluation and Automatic Program Generation", 1993). Values
//! are partially static ([`value`]): a list may be known while its elements are not. Each operation that remains is emitted
//! once, where it is met, so nothing is computed twice and effects keep their order. Cells have a simulated store ([`store`]): what
//! was written last is known until something unknown may write; writes remain, and `relay-dce` takes those nobody reads.
//!
//! **Calls** ([`calls`]) are unfolded when the function does not call itself, or when the arguments that its branches depend on
//! are static and no branch that is decided at run time is around. Other recursive calls go to a copy of the function
//! specialised to its static arguments ([`special`]), one for equal arguments, so a recursion becomes a loop of its own.
//! `fuel` bounds what is unfolded and `specialisations` the copies; beyond these, calls stay calls. So the pass ends, whatever
//! the program does; with `strict`, a recursion that is static and outlives its fuel is an error.

mod calls;
mod control;
mod copies;
mod eval;
mod folding;
mod matching;
mod residual;
mod special;
mod store;
mod value;

use super::language::{erase_unreached, functions, is_private, recursive_functions};
use eval::Evaluator;
use fusion_dialects::{
    Op, OpExt, OptionKind, OptionSpec, Pass, PassError, RunContext, StatisticSpec, op_key,
};

/// The pass.
pub struct RelayPartialEval;

impl Pass for RelayPartialEval {
    const NAME: &'static str = "relay-partial-eval";
    const DESCRIPTION: &'static str =
        "Run what is known when compiling: unfold calls, matches and recursion over static values";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const OPTIONS: &'static [OptionSpec] = &[
        OptionSpec {
            name: "fuel",
            description: "Most calls and iterations of loops that are unfolded",
            kind: OptionKind::Int,
            initial: "4096",
        },
        OptionSpec {
            name: "depth",
            description: "Most calls that are unfolded inside one another",
            kind: OptionKind::Int,
            initial: "4096",
        },
        OptionSpec {
            name: "specialisations",
            description: "Most copies of functions that are made for static arguments",
            kind: OptionKind::Int,
            initial: "256",
        },
        OptionSpec {
            name: "strict",
            description: "Fail where a recursion over static values does not end within the fuel",
            kind: OptionKind::Flag,
            initial: "false",
        },
    ];
    const STATISTICS: &'static [StatisticSpec] = &[
        StatisticSpec { name: "unfolded", description: "Calls and iterations unfolded" },
        StatisticSpec { name: "specialised", description: "Copies of functions made" },
    ];
    const DIALECTS: &'static [&'static str] = &["relay", "func"];

    fn run<'c>(module: Op<'c>, cx: &mut RunContext) -> Result<(), PassError<'c>> {
        let limits = eval::Limits {
            fuel: cx.options.int("fuel").max(0) as u64,
            depth: cx.options.int("depth").clamp(0, MOST_DEPTH) as usize,
            specialisations: cx.options.int("specialisations").max(0) as usize,
            strict: cx.options.flag("strict"),
        };
        let all = functions(module);
        let recursive = recursive_functions(module);
        let is_entry =
            |f: &Op<'c>| !is_private(*f) && f.body(0).is_some() && f.attr("relay.primitive").is_none();
        let entries: Vec<Op> = match all.get("main") {
            Some(main) if is_entry(main) => vec![*main],
            _ => all.values().copied().filter(is_entry).collect(),
        };
        let mut evaluator = Evaluator::new(module, all, recursive, limits);
        // The originals stay until all is done: who calls an entry unfolds it as it was.
        let mut done: Vec<Op> = Vec::new();
        let mut work: Vec<Op> = entries.into_iter().rev().collect();
        while let Some(entry) = work.pop() {
            if done.iter().any(|old| op_key(*old) == op_key(entry)) {
                continue;
            }
            evaluator.entry(entry)?;
            done.push(entry);
            // Functions that are still called are evaluated too, once.
            let reached = std::mem::take(&mut evaluator.reached);
            let functions = reached.into_iter().filter_map(|name| evaluator.functions.get(name).copied());
            work.extend(functions.filter(|f| f.body(0).is_some() && f.attr("relay.primitive").is_none()));
        }
        cx.count(0, evaluator.unfolded);
        cx.count(1, evaluator.specialised() as u64);
        done.into_iter().for_each(OpExt::erase);
        erase_unreached(module);
        Ok(())
    }
}

/// Known lists are let go of from one element to the next, which takes stack.
const MOST_DEPTH: i64 = 8192;
