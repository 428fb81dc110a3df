//! Products of matrices by Strassen's algorithm (Strassen, "Gaussian Elimination is not Optimal", 1969), in the form of Winograd with four sums on each
//! side and seven behind: 7 products of quarters in place of 8.
//!
//!     x y = strassen(x, t),   t = 7 sums of quarters of y
//!
//!     | A11 A12 | | B11 B12 |    | p1 + p2        u1 + p5 + p3 |    u1 = p1 + p6
//!     | A21 A22 | | B21 B22 | =  | u2 - p4        u2 + p5      |    u2 = u1 + p7
//!
//!     p1 = A11 B11    p2 = A12 B21    p3 = s4 B22    p4 = A22 t4    p5 = s1 t1    p6 = s2 t2    p7 = s3 t3
//!     s1 = A21 + A22    s2 = s1 - A11    s3 = A11 - A21    s4 = A12 - s2
//!     t1 = B12 - B11    t2 = B22 - t1    t3 = B22 - B12    t4 = t2 - B21
//!
//! The sums of a right side are made when compiling where it is a constant; those of the left side and of the products are made in the kernel, a
//! block of rows at a time, and cost what `extract/strassen` counts. Errors are bounded by the norms of the matrices and not by each
//! element: of normal numbers the largest is 1.3e-6, 2.4e-6 and 3.4e-6 of the largest result for 512, 1024 and 2048 rows and columns, where
//! the plain product has 0.9e-6, 1.5e-6 and 2.0e-6. Quarters are not halved again.

use super::super::analysis::{Graph, only_type};
use super::super::extract::calls::bytes;
use super::super::extract::rates::Rates;
use super::super::extract::strassen;
use super::super::language::{Head, Node};
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use egg::Id;
use fusion_machine::roof;
use fusion_operators::ops::contraction::MATMUL;
use fusion_operators::ops::shape::TRANSPOSE;
use fusion_operators::ops::strassen::{MATMUL_STRASSEN, STRASSEN_SUMS};
use fusion_operators::{Attrs, DType};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[SearchRule {
    name: "matmul-strassen",
    equation: "x y = strassen(x, 7 sums of quarters of y)",
    rounding: Rounding::Normwise("2 times the plain product's, by the norms of the operands"),
    conditions: &[
        "matrices of f32, whose extents are known and even, and rows of whose quarters fill vectors",
        "fp_math is fast, or there is an error budget",
        "the target is a processor",
        "what is spared is more than what is moved",
        "a right side that is transposed is a constant",
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
    /// Of a call that Strassen's algorithm can compute.
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
        let constant = [x, y].map(|id| graph[id].data.is_constant);
        let fits = !attrs.flag("transpose_a")
            && (!transposed || constant[1])
            && m % 2 == 0
            && [k, right[1]].iter().all(|n| n % (2 * lanes) == 0)
            && extents.iter().zip(LEAST).all(|(n, least)| *n >= least);
        fits.then_some(Product { extents, constant, transposed, operands: [x, y] })
    }

    /// True where a processor computes it in less time by Strassen's algorithm, in a program of so many bytes of constants: those that no cache holds
    /// come from memory each time, 7 quarters in place of 4.
    fn pays(&self, rates: &Rates, constants: f64) -> bool {
        let [m, k, n] = self.extents.map(|n| n as f64);
        let [left, right, result] = [m * k, k * n, m * n].map(|elements| 4.0 * elements);
        let kernel = |arithmetic: f64, moved: f64| rates.call + roof(arithmetic, moved);
        let operand = |side: usize, whole: f64| match self.constant[side] {
            true => rates.moving_part(constants, whole),
            false => rates.moving(whole),
        };
        let product = 2.0 * m * k * n / rates.of_contractions();
        let others = operand(0, left) + rates.moving(result);
        let plain = kernel(product, operand(1, right) + others);
        let sums = 7.0 / 4.0 * right;
        let strassen = kernel(product / strassen::gain([m, k, n], rates), operand(1, sums) + others);
        let before = match self.constant[1] {
            true => 0.0,
            false => kernel(sums / 4.0 / rates.operations, rates.moving(right) + rates.moving(sums)),
        };
        (before + strassen) * LEAST_GAIN < plain
    }
}

/// Rows, numbers summed over and columns of less: tiles of registers would be cut. Few rows of each product still reuse a vector of weights
/// often enough: on a core of Zen 4 16 x 256 by 256 x 1024 takes 64.4 us, as a whole 71.4, and 12 x 512 by 512 x 512 48.1 and 53.6.
const LEAST: [u64; 3] = [8, 128, 128];
/// Less gain than this is not worth a larger graph, and the rounding.
const LEAST_GAIN: f64 = 1.02;

/// Bytes of all constants of a graph.
pub(super) fn bytes_of_constants(graph: &Graph) -> f64 {
    let constants = graph.classes().filter(|c| c.nodes.iter().any(|n| matches!(n.head, Head::Constant(_))));
    constants.map(|c| bytes(&c.data.types)).sum()
}

fn find(graph: &Graph) -> Vec<Draft> {
    let rates = &graph.analysis.rates;
    if rates.core.is_none() || !rates.fp_math.allows_normwise_products() {
        return Vec::new();
    }
    let (constants, mut drafts) = (bytes_of_constants(graph), Vec::new());
    for (class, call) in calls(graph) {
        let is_known = || graph[class].nodes.iter().any(|n| n.calls(&MATMUL_STRASSEN));
        if !graph[class].data.is_constant
            && let Some(product) = Product::of(graph, call)
            && !is_known()
            && product.pays(rates, constants)
        {
            drafts.push(strassen(class, &product));
        }
    }
    drafts
}

fn strassen(class: Id, product: &Product) -> Draft {
    let mut draft = Draft::of(class);
    let [x, y] = product.operands.map(|operand| draft.class(operand));
    let right = match product.transposed {
        true => draft.call(&TRANSPOSE, Attrs::new().with("axes", [1, 0]), &[y]),
        false => y,
    };
    let sums = draft.call(&STRASSEN_SUMS, Attrs::new(), &[right]);
    draft.call(&MATMUL_STRASSEN, Attrs::new(), &[x, sums]);
    draft
}
