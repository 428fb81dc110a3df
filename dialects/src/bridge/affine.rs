//! Affine maps as Rust trees.

use super::ir::{Attribute, AttributeLike, Context};
use mlir_sys::*;

/// An affine expression over the inputs of its map: dimensions first, then symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Affine {
    Input(usize),
    Constant(i64),
    Add(Box<Affine>, Box<Affine>),
    Mul(Box<Affine>, Box<Affine>),
    Mod(Box<Affine>, Box<Affine>),
    FloorDiv(Box<Affine>, Box<Affine>),
    CeilDiv(Box<Affine>, Box<Affine>),
}

/// The only result of a map attribute; `None` for other attributes and maps of several results.
pub fn affine_map_of(attr: Attribute) -> Option<Affine> {
    // SAFETY: reads of a live attribute after its check; result 0 exists.
    unsafe {
        if !mlirAttributeIsAAffineMap(attr.to_raw()) {
            return None;
        }
        let map = mlirAffineMapAttrGetValue(attr.to_raw());
        let dims = mlirAffineMapGetNumDims(map) as usize;
        (mlirAffineMapGetNumResults(map) == 1).then(|| read(mlirAffineMapGetResult(map, 0), dims))
    }
}

/// The number of dimensions and the results of a map attribute; `None` for other attributes.
pub fn affine_results_of(attr: Attribute) -> Option<(usize, Vec<Affine>)> {
    // SAFETY: reads of a live attribute after its check; each result is below their number.
    unsafe {
        if !mlirAttributeIsAAffineMap(attr.to_raw()) {
            return None;
        }
        let map = mlirAffineMapAttrGetValue(attr.to_raw());
        let dims = mlirAffineMapGetNumDims(map) as usize;
        let results = 0..mlirAffineMapGetNumResults(map);
        Some((dims, results.map(|i| read(mlirAffineMapGetResult(map, i), dims)).collect()))
    }
}

/// The attribute of a map of that many inputs, all of them dimensions.
pub fn affine_map_attr<'c>(context: &'c Context, inputs: usize, result: &Affine) -> Attribute<'c> {
    // SAFETY: the context is alive; one expression of it is passed.
    unsafe {
        let raw = context.to_raw();
        let mut expression = write(raw, result);
        let map = mlirAffineMapGet(raw, inputs as isize, 0, 1, &mut expression);
        Attribute::from_raw(mlirAffineMapAttrGet(map))
    }
}

// SAFETY: of both: expressions live as long as their context; each read comes after its check.
unsafe fn read(e: MlirAffineExpr, dims: usize) -> Affine {
    unsafe {
        if mlirAffineExprIsADim(e) {
            return Affine::Input(mlirAffineDimExprGetPosition(e) as usize);
        }
        if mlirAffineExprIsASymbol(e) {
            return Affine::Input(dims + mlirAffineSymbolExprGetPosition(e) as usize);
        }
        if mlirAffineExprIsAConstant(e) {
            return Affine::Constant(mlirAffineConstantExprGetValue(e));
        }
        let side = |s| Box::new(read(s, dims));
        let (a, b) = (side(mlirAffineBinaryOpExprGetLHS(e)), side(mlirAffineBinaryOpExprGetRHS(e)));
        if mlirAffineExprIsAAdd(e) {
            Affine::Add(a, b)
        } else if mlirAffineExprIsAMul(e) {
            Affine::Mul(a, b)
        } else if mlirAffineExprIsAMod(e) {
            Affine::Mod(a, b)
        } else if mlirAffineExprIsAFloorDiv(e) {
            Affine::FloorDiv(a, b)
        } else {
            Affine::CeilDiv(a, b)
        }
    }
}

unsafe fn write(context: MlirContext, e: &Affine) -> MlirAffineExpr {
    unsafe {
        let side = |s: &Affine| write(context, s);
        match e {
            Affine::Input(i) => mlirAffineDimExprGet(context, *i as isize),
            Affine::Constant(c) => mlirAffineConstantExprGet(context, *c),
            Affine::Add(a, b) => mlirAffineAddExprGet(side(a), side(b)),
            Affine::Mul(a, b) => mlirAffineMulExprGet(side(a), side(b)),
            Affine::Mod(a, b) => mlirAffineModExprGet(side(a), side(b)),
            Affine::FloorDiv(a, b) => mlirAffineFloorDivExprGet(side(a), side(b)),
            Affine::CeilDiv(a, b) => mlirAffineCeilDivExprGet(side(a), side(b)),
        }
    }
}
