//! Matrix instructions of GPUs and dot products of CPUs as declared intrinsics, a text file each: what they compute, and how the threads of
//! a warp, or the lanes of a vector, do it.
//!
//!     te.tensorize %loop with @mma_m16n8k16_f16        the declaration is put into the module when it is first named
//!
//! In a file `TYPE` stands for the type of the operands' elements and `NAME` for the intrinsic's; where it is
//! for several numbers of columns, `COLUMNS` stands for that number, `PANELS` for how many times 64 they are,
//! `FACTORS` for the elements of 64 rows of them, `COPIED` for those of 32, `RESULTS` for those of 128, and
//! `SUMS` for those of a thread; where it is for several depths, `DEPTH` stands for that, `HELD` for the
//! elements of an operand, and `EACH` for those of a thread; `PANELLED` for how panels of operands lie, where
//! they are in some; words with `_A` and `_B` for what depends on the sign of an operand. A target's description lists those it has, the best one first.

pub mod facts;

pub use facts::{Facts, Together};

use crate::schedule::intrinsic;
use fusion_dialects::rows::Kind;
use fusion_dialects::te::Op as Te;
use fusion_dialects::{Build, Context, Module, Op, OpExt, ValueMap, ops_in, parse_module, top_level};
use fusion_machine::{Factors, Target};
use fusion_operators::DType;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A declaration.
#[derive(Debug)]
pub struct Declared {
    /// What it is called.
    pub name: &'static str,
    /// The type of its operands' elements.
    pub element: &'static str,
    /// What it multiplies.
    pub factors: Factors,
    /// The declaration.
    text: &'static str,
    /// Columns, where the declaration is for several numbers of them.
    columns: u64,
    /// Rows, which are as many as columns, and depth, where it is for several of these.
    square: [u64; 2],
    /// How operands lie in panels.
    panels: &'static str,
    /// Which operands are of unsigned integers.
    unsigned: [bool; 2],
}

const fn declared(name: &'static str, element: &'static str, text: &'static str) -> Declared {
    Declared {
        name,
        element,
        factors: Factors::Half,
        text,
        columns: 0,
        square: [0, 0],
        panels: "",
        unsigned: [false; 2],
    }
}

const fn of_depth(
    square: [u64; 2],
    name: &'static str,
    element: &'static str,
    text: &'static str,
) -> Declared {
    Declared { square, ..declared(name, element, text) }
}

const fn in_panels(name: &'static str, element: &'static str, by_rows: bool) -> Declared {
    let (text, panels) = match by_rows {
        false => (MMA, "panels 64 apart [512, 64, 1, 1, 128, 64]"),
        true => (MMA_ROWS, "panels 64 apart [512, 64, 1, 64, 2, 1]"),
    };
    Declared { panels, ..declared(name, element, text) }
}

const fn of_columns(columns: u64, name: &'static str, element: &'static str, text: &'static str) -> Declared {
    Declared { columns, ..declared(name, element, text) }
}

const fn of_f32(factors: Factors, columns: u64, name: &'static str, text: &'static str) -> Declared {
    Declared { factors, ..of_columns(columns, name, "f32", text) }
}

const fn dot4(unsigned: [bool; 2], name: &'static str) -> Declared {
    Declared { unsigned, ..declared(name, "i8", include_str!("dot4.mlir")) }
}

impl Declared {
    /// The declaration.
    fn text(&self) -> String {
        let [rows, depth] = self.square;
        let signs = ["_A", "_B"].into_iter().zip(self.unsigned).flat_map(|(side, unsigned)| {
            let (ty, extend, sign) =
                if unsigned { ("ui8", "extui", "unsigned") } else { ("i8", "extsi", "") };
            [("TYPE", ty), ("EXTEND", extend), ("SIGN", sign)].map(|(word, by)| (format!("{word}{side}"), by))
        });
        let words = [
            ("COLUMNS", self.columns),
            ("PANELS", self.columns / 64),
            ("FACTORS", 64 * self.columns),
            ("COPIED", 32 * self.columns),
            ("SUMS", self.columns / 2),
            ("RESULTS", 128 * self.columns),
            ("DEPTH", depth),
            ("HELD", rows * depth),
            ("EACH", rows * depth / WAVE),
        ];
        let text = signs.fold(self.text.to_owned(), |text, (word, by)| text.replace(&word, by));
        let text =
            text.replace("TYPE", self.element).replace("NAME", self.name).replace("PANELLED", self.panels);
        words.into_iter().fold(text, |text, (word, number)| text.replace(word, &number.to_string()))
    }
}

/// Threads that share an operand of those of several depths.
const WAVE: u64 = 64;

const MMA: &str = include_str!("mma_m16n8k16.mlir");
const MMA_ROWS: &str = include_str!("mma_m16n8k16_rows.mlir");
const MFMA: &str = include_str!("mfma_16x16.mlir");
const MFMA_LARGE: &str = include_str!("mfma_32x32.mlir");
const WMMA: &str = include_str!("wmma_16x16x16.mlir");
const WMMA_HALVES: &str = include_str!("wmma_16x16x16_halves.mlir");
const WGMMA: &str = include_str!("wgmma_m64k64.mlir");
const WGMMA_TF32: &str = include_str!("wgmma_m64k32.mlir");
const WGMMA_ROWS: &str = include_str!("wgmma_m64k64_rows.mlir");
const TENSOR_MEMORY: &str = include_str!("tcgen05_m128k64.mlir");
const TENSOR_MEMORY_ROWS: &str = include_str!("tcgen05_m128k64_rows.mlir");

/// All of them.
pub const DECLARED: &[Declared] = &[
    declared("mma_m16n8k16_f16", "f16", MMA),
    declared("mma_m16n8k16_f16_rows", "f16", MMA_ROWS),
    declared("mma_m16n8k16_bf16", "bf16", MMA),
    declared("mma_m16n8k16_bf16_rows", "bf16", MMA_ROWS),
    in_panels("mma_m16n8k16_f16_panels", "f16", false),
    in_panels("mma_m16n8k16_f16_panels_rows", "f16", true),
    in_panels("mma_m16n8k16_bf16_panels", "bf16", false),
    in_panels("mma_m16n8k16_bf16_panels_rows", "bf16", true),
    of_f32(Factors::Tf32, 0, "mma_m16n8k8_tf32", include_str!("mma_m16n8k8.mlir")),
    of_depth([16, 16], "mfma_16x16x16_f16", "f16", MFMA),
    of_depth([16, 16], "mfma_16x16x16_bf16", "bf16", MFMA),
    of_depth([16, 32], "mfma_16x16x32_f16", "f16", MFMA),
    of_depth([16, 32], "mfma_16x16x32_bf16", "bf16", MFMA),
    of_depth([32, 8], "mfma_32x32x8_f16", "f16", MFMA_LARGE),
    of_depth([32, 8], "mfma_32x32x8_bf16", "bf16", MFMA_LARGE),
    of_depth([32, 16], "mfma_32x32x16_f16", "f16", MFMA_LARGE),
    of_depth([32, 16], "mfma_32x32x16_bf16", "bf16", MFMA_LARGE),
    of_f32(Factors::F32, 0, "mfma_16x16x4_f32", include_str!("mfma_16x16x4.mlir")),
    declared("wmma_16x16x16_f16", "f16", WMMA),
    declared("wmma_16x16x16_bf16", "bf16", WMMA),
    declared("wmma_16x16x16_halves_f16", "f16", WMMA_HALVES),
    declared("wmma_16x16x16_halves_bf16", "bf16", WMMA_HALVES),
    of_columns(64, "wgmma_m64n64k64_f16", "f16", WGMMA),
    of_columns(64, "wgmma_m64n64k64_f16_rows", "f16", WGMMA_ROWS),
    of_columns(64, "wgmma_m64n64k64_bf16", "bf16", WGMMA),
    of_columns(64, "wgmma_m64n64k64_bf16_rows", "bf16", WGMMA_ROWS),
    of_columns(128, "wgmma_m64n128k64_f16", "f16", WGMMA),
    of_columns(128, "wgmma_m64n128k64_f16_rows", "f16", WGMMA_ROWS),
    of_columns(128, "wgmma_m64n128k64_bf16", "bf16", WGMMA),
    of_columns(128, "wgmma_m64n128k64_bf16_rows", "bf16", WGMMA_ROWS),
    of_columns(256, "wgmma_m64n256k64_f16", "f16", WGMMA),
    of_columns(256, "wgmma_m64n256k64_f16_rows", "f16", WGMMA_ROWS),
    of_columns(256, "wgmma_m64n256k64_bf16", "bf16", WGMMA),
    of_columns(256, "wgmma_m64n256k64_bf16_rows", "bf16", WGMMA_ROWS),
    of_columns(64, "tcgen05_m128n64k64_f16", "f16", TENSOR_MEMORY),
    of_columns(64, "tcgen05_m128n64k64_f16_rows", "f16", TENSOR_MEMORY_ROWS),
    of_columns(64, "tcgen05_m128n64k64_bf16", "bf16", TENSOR_MEMORY),
    of_columns(64, "tcgen05_m128n64k64_bf16_rows", "bf16", TENSOR_MEMORY_ROWS),
    of_columns(128, "tcgen05_m128n128k64_f16", "f16", TENSOR_MEMORY),
    of_columns(128, "tcgen05_m128n128k64_f16_rows", "f16", TENSOR_MEMORY_ROWS),
    of_columns(128, "tcgen05_m128n128k64_bf16", "bf16", TENSOR_MEMORY),
    of_columns(128, "tcgen05_m128n128k64_bf16_rows", "bf16", TENSOR_MEMORY_ROWS),
    of_f32(Factors::Tf32, 64, "wgmma_m64n64k32_tf32", WGMMA_TF32),
    of_f32(Factors::Tf32, 128, "wgmma_m64n128k32_tf32", WGMMA_TF32),
    of_f32(Factors::Tf32, 256, "wgmma_m64n256k32_tf32", WGMMA_TF32),
    dot4([false, false], "dot4_i8_i8"),
    dot4([true, false], "dot4_ui8_i8"),
    dot4([false, true], "dot4_i8_ui8"),
    dot4([true, true], "dot4_ui8_ui8"),
];

/// The intrinsic that adds four products of integers of 8 bits to one of 32, of elements of those types.
pub fn dot4_of(a: DType, b: DType) -> Option<&'static str> {
    match (a, b) {
        (DType::I8, DType::I8) => Some("dot4_i8_i8"),
        (DType::U8, DType::I8) => Some("dot4_ui8_i8"),
        (DType::I8, DType::U8) => Some("dot4_i8_ui8"),
        (DType::U8, DType::U8) => Some("dot4_ui8_ui8"),
        _ => None,
    }
}

/// The types of elements that a target multiplies matrices of by instructions, and what these multiply.
pub fn elements(target: &Target) -> Vec<(DType, Factors)> {
    let rows = target.gpu.matrix.split_whitespace().filter_map(named);
    rows.filter_map(|row| Some((row.element.parse().ok()?, row.factors))).collect()
}

/// The declaration of that name here.
fn named(name: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|row| row.name == name)
}

/// The intrinsic of that name in a module; one of those here is declared at its begin where it is not yet.
pub fn declare<'c>(module: Op<'c>, name: &str) -> Result<Op<'c>, String> {
    if let Some(found) = of_module(module, name) {
        return Ok(found);
    }
    let parsed = parse(module.context_ref(), name)?;
    let first = module.body(0).and_then(|body| ops_in(body).first().copied()).ok_or_else(|| unknown(name))?;
    for op in top_level(parsed.as_operation(), |k| matches!(k, Kind::Te(Te::Intrinsic))) {
        ValueMap::new().clone_op(&Build::before(first), op);
    }
    of_module(module, name).ok_or_else(|| unknown(name))
}

/// What a schedule has to know of the one of that name.
pub fn facts(context: &Context, name: &str) -> Result<Facts, String> {
    // Kinds ask for those of a target several times a kernel, and they are the same in all contexts.
    static KNOWN: LazyLock<Mutex<HashMap<String, Facts>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(facts) = known().get(name) {
        return Ok(facts.clone());
    }
    let facts = read_facts(context, name)?;
    known().insert(name.to_owned(), facts.clone());
    Ok(facts)
}

fn read_facts(context: &Context, name: &str) -> Result<Facts, String> {
    let parsed = parse(context, name)?;
    let declared = top_level(parsed.as_operation(), |k| matches!(k, Kind::Te(Te::Intrinsic)));
    let facts = declared.first().and_then(|op| Facts::of(*op)).ok_or_else(|| unknown(name))?;
    Ok(Facts { factors: named(name).map_or(facts.factors, |row| row.factors), ..facts })
}

/// Whether a `te.compute` sums up what the one of that name does, of whatever extents.
pub fn computes_as(compute: Op, name: &str) -> bool {
    let Ok(parsed) = parse(compute.context_ref(), name) else { return false };
    let declared = top_level(parsed.as_operation(), |k| matches!(k, Kind::Te(Te::Intrinsic)));
    let model = declared.first().and_then(|op| intrinsic::computes(*op));
    model.is_some_and(|model| intrinsic::combines_as(compute, model).is_ok())
}

fn parse<'c>(context: &'c Context, name: &str) -> Result<Module<'c>, String> {
    let row = named(name).ok_or_else(|| unknown(name))?;
    let wrong =
        |errors: Vec<String>| format!("names @{name}, whose declaration is wrong: {}", errors.join("; "));
    parse_module(context, &row.text()).map_err(wrong)
}

fn unknown(name: &str) -> String {
    format!("names @{name}, which is no te.intrinsic of the module")
}

fn of_module<'c>(module: Op<'c>, name: &str) -> Option<Op<'c>> {
    let all = top_level(module, |k| matches!(k, Kind::Te(Te::Intrinsic)));
    all.into_iter().find(|op| op.text("sym_name") == Some(name))
}
