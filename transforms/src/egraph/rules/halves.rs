//! Products of matrices by halves (Strassen, "Gaussian Elimination is not Optimal", 1969), in the form of Winograd with four sums on each
//! side and seven behind: 7 products of quarters in place of 8.
//!
//!     | A11 A12 | | B11 B12 |    | p1 + p2        u1 + p5 + p3 |    u1 = p1 + p6
//!     | A21 A22 | | B21 B22 | =  | u2 - p4        u2 + p5      |    u2 = u1 + p7
//!
//!     p1 = A11 B11    p2 = A12 B21    p3 = s4 B22    p4 = A22 t4    p5 = s1 t1    p6 = s2 t2    p7 = s3 t3
//!     s1 = A21 + A22    s2 = s1 - A11    s3 = A11 - A21    s4 = A12 - s2
//!     t1 = B12 - B11    t2 = B22 - t1    t3 = B22 - B12    t4 = t2 - B21
//!
//! Each side's quarters and sums are one kernel (of a constant they are made when compiling); sums behind go into the products, as those
//! of Huang et al., "Strassen's Algorithm Reloaded", 2016, or into one kernel that joins them, with what follows. What is moved
//! has to take less than what is spared. Errors are bounded by the norms of the matrices and not by each element: of normal numbers the
//! largest is 1.3e-6, 2.4e-6 and 3.4e-6 of the largest result for 512, 1024 and 2048 rows and columns, where the plain product has
//! 0.9e-6, 1.5e-6 and 2.0e-6. Quarters are not halved again.

use super::super::analysis::{Graph, only_type};
use super::super::extract::cost::{bytes, roof};
use super::super::extract::rates::Rates;
use super::super::language::{Head, Node};
use super::super::search_rule::{Draft, Place, SearchRule};
use super::axes::{attrs_of, calls};
use egg::{Id, Symbol};
use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::elementwise::{ADD, SUB};
use fusion_operators::ops::shape::{CONCAT, SLICE};
use fusion_operators::{Attrs, DType, Operator};
use std::collections::HashSet;

const NAME: &str = "matmul-by-halves";

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: NAME,
    equation: "x y = 7 products of sums of quarters of x and y",
    conditions: &[
        "matrices of f32, whose extents are known and even, and rows of whose quarters fill vectors",
        "the target is a processor",
        "what is spared is more than what is moved",
        "x y is no such product itself",
    ],
    find,
}];

/// A product of matrices: its rows, the numbers summed over, its columns, and which operands are constants.
struct Product {
    extents: [u64; 3],
    constant: [bool; 2],
    transposed: bool,
    operands: [Id; 2],
}

impl Product {
    /// Of a call that can be halved.
    fn of(graph: &Graph, call: &Node) -> Option<Product> {
        call.operator().filter(|o| o.is(&MATMUL))?;
        let &[attrs, x, y] = &call.children[..] else { return None };
        let attrs = attrs_of(graph, attrs);
        let transposed = attrs.flag("transpose_b");
        let matrix = |id: Id| {
            let ty = only_type(graph, id).filter(|t| t.dtype == DType::F32)?;
            <[u64; 2]>::try_from(ty.shape()?).ok()
        };
        let ([m, k], mut right) = (matrix(x)?, matrix(y)?);
        if transposed {
            right.reverse();
        }
        let lanes = graph.analysis.rates.stored_together?;
        let extents = [m, k, right[1]];
        let fits = !attrs.flag("transpose_a")
            && m % 2 == 0
            && [k, right[1]].iter().all(|n| n % (2 * lanes) == 0)
            && extents.iter().zip(LEAST).all(|(n, least)| *n >= least);
        let constant = [x, y].map(|id| graph[id].data.is_constant);
        fits.then_some(Product { extents, constant, transposed, operands: [x, y] })
    }

    /// True where a processor computes it in less time by halves, in a program of so many bytes of constants: those that no cache holds
    /// come from memory each time, of halves 7 quarters in place of 4.
    fn pays(&self, rates: &Rates, constants: f64) -> bool {
        let [m, k, n] = self.extents.map(|n| n as f64);
        let matrices = [m * k, k * n, m * n].map(|elements| 4.0 * elements);
        let kernel = |arithmetic: f64, moved: f64| rates.call + roof(arithmetic, moved);
        let operand = |side: usize, bytes: f64| match self.constant[side] {
            true => rates.moving_part(constants, bytes),
            false => rates.moving(bytes),
        };
        let product = 2.0 * m * k * n / rates.of_contractions();
        let reads = |share: f64| operand(0, share * matrices[0]) + operand(1, share * matrices[1]);
        let plain = kernel(product, reads(1.0) + rates.moving(matrices[2]));
        let quarter = |whole: f64| rates.moving(whole / 4.0);
        let products = 7.0 * kernel(product / 8.0, reads(0.25) + quarter(matrices[2]));
        // A kernel reads a side and stores its quarters and sums of these; one reads what products stored, and joins it.
        let sums =
            |whole: f64, stored: f64| kernel(whole / 4.0 / rates.operations, rates.moving(whole) + stored);
        let operands = (0..2).filter(|&side| !self.constant[side]);
        let before: f64 = operands.map(|side| sums(matrices[side], 8.0 * quarter(matrices[side]))).sum();
        let behind = sums(matrices[2], 7.0 * quarter(matrices[2]));
        (before + products + behind) * LEAST_GAIN < plain
    }
}

/// Rows, numbers summed over and columns of less: tiles of registers would be cut.
const LEAST: [u64; 3] = [32, 128, 128];
/// Less gain than this is not worth a larger graph, and the rounding.
const LEAST_GAIN: f64 = 1.02;

/// The classes of products of quarters: large ones, of which other rules need not make one.
pub fn products(graph: &Graph) -> HashSet<Id> {
    made(graph, &MATMUL)
}

/// The classes of calls of an operator that the rule made.
fn made(graph: &Graph, operator: &Operator) -> HashSet<Id> {
    let name = Symbol::from(NAME);
    let made = graph.analysis.made_by.iter().filter(|(_, rule)| *rule == name);
    let calls = made.filter(|(node, _)| node.operator().is_some_and(|o| o.is(operator)));
    calls.filter_map(|(node, _)| graph.lookup(node.clone())).map(|id| graph.find(id)).collect()
}

/// Bytes of all constants of a graph.
fn bytes_of_constants(graph: &Graph) -> f64 {
    let constants = graph.classes().filter(|c| c.nodes.iter().any(|n| matches!(n.head, Head::Constant(_))));
    constants.map(|c| bytes(&c.data.types)).sum()
}

fn find(graph: &Graph) -> Vec<Draft> {
    let rates = &graph.analysis.rates;
    if rates.core.is_none() {
        return Vec::new();
    }
    let mut known = products(graph);
    known.extend(made(graph, &CONCAT));
    let (constants, mut drafts) = (bytes_of_constants(graph), Vec::new());
    for (class, call) in calls(graph) {
        if !graph[class].data.is_constant
            && let Some(product) = Product::of(graph, call)
            && !known.contains(&class)
            && product.pays(rates, constants)
        {
            known.insert(class);
            drafts.push(halved(class, &product));
        }
    }
    drafts
}

/// A draft of sums of matrices.
struct Terms {
    draft: Draft,
    attrs: Attrs,
}

impl Terms {
    /// A quarter of an operand of those extents, by its place.
    fn quarter(&mut self, of: Place, extents: [u64; 2], at: [u64; 2]) -> Place {
        let half = extents.map(|n| n as i64 / 2);
        let begin = [0, 1].map(|axis| half[axis] * at[axis] as i64);
        let end = [0, 1].map(|axis| begin[axis] + half[axis]);
        let attrs = Attrs::new().with("begin", begin).with("end", end).with("axes", [0, 1]);
        self.draft.call(&SLICE, attrs, &[of])
    }

    /// All quarters of an operand, by rows of what is multiplied.
    fn quarters(&mut self, operand: Id, mut extents: [u64; 2], transposed: bool) -> [Place; 4] {
        let whole = self.draft.class(operand);
        if transposed {
            extents.reverse();
        }
        [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[row, column]| {
            self.quarter(whole, extents, if transposed { [column, row] } else { [row, column] })
        })
    }

    fn call(&mut self, operator: &'static Operator, x: Place, y: Place) -> Place {
        self.draft.call(operator, Attrs::new(), &[x, y])
    }

    fn add(&mut self, x: Place, y: Place) -> Place {
        self.call(&ADD, x, y)
    }

    fn sub(&mut self, x: Place, y: Place) -> Place {
        self.call(&SUB, x, y)
    }

    fn product(&mut self, x: Place, y: Place) -> Place {
        self.draft.call(&MATMUL, self.attrs.clone(), &[x, y])
    }

    fn joined(&mut self, axis: i64, x: Place, y: Place) -> Place {
        self.draft.call(&CONCAT, Attrs::new().with("axis", axis), &[x, y])
    }
}

fn halved(class: Id, product: &Product) -> Draft {
    let [m, k, n] = product.extents;
    let mut attrs = Attrs::new();
    if product.transposed {
        attrs.set("transpose_b", true);
    }
    let mut terms = Terms { draft: Draft::of(class), attrs };
    let t = &mut terms;
    let [x, y] = product.operands;
    let [a11, a12, a21, a22] = t.quarters(x, [m, k], false);
    let [b11, b12, b21, b22] = t.quarters(y, [k, n], product.transposed);
    let s1 = t.add(a21, a22);
    let s2 = t.sub(s1, a11);
    let s3 = t.sub(a11, a21);
    let s4 = t.sub(a12, s2);
    let t1 = t.sub(b12, b11);
    let t2 = t.sub(b22, t1);
    let t3 = t.sub(b22, b12);
    let t4 = t.sub(t2, b21);
    let p1 = t.product(a11, b11);
    let p2 = t.product(a12, b21);
    let p3 = t.product(s4, b22);
    let p4 = t.product(a22, t4);
    let p5 = t.product(s1, t1);
    let p6 = t.product(s2, t2);
    let p7 = t.product(s3, t3);
    let u1 = t.add(p1, p6);
    let u2 = t.add(u1, p7);
    let u3 = t.add(u1, p5);
    let (c11, c12) = (t.add(p1, p2), t.add(u3, p3));
    let (c21, c22) = (t.sub(u2, p4), t.add(u2, p5));
    let upper = t.joined(1, c11, c12);
    let lower = t.joined(1, c21, c22);
    t.joined(0, upper, lower);
    terms.draft
}
