//! Products of matrices by the inner-product trick (Winograd, "A New Algorithm for Inner Product", 1968): two multiplications are one, and two additions.
//!
//!     x y = inner_product_trick(x, inner_product_trick_right(y))
//!
//!     x1 y1 + x2 y2  =  (x1 + y2) (x2 + y1)  -  x1 x2  -  y1 y2
//!
//! It pays where a processor adds beside its multiply-adds, as AMD's do since Zen: of six numbers summed over four are multiplied in pairs and
//! two as they are, in four cycles. (`operators/ops/inner_product_trick` has the sums, and how rows and columns are divided so that no number is lost beside
//! a larger one; `extract/inner_product_trick` counts what it takes.) Errors are bounded by the largest numbers of a row and of a column: of
//! normal numbers the largest is 0.9e-6 of the largest result for 510 numbers summed over and 2.3e-6 for 2304, where the plain product, summed one
//! after the other, has 0.6e-6 and 1.6e-6.

use super::super::analysis::{Graph, only_type};
use super::super::extract::inner_product_trick;
use super::super::extract::rates::Rates;
use super::super::language::Node;
use super::super::rule::Rounding;
use super::super::search_rule::{Draft, SearchRule};
use super::axes::{attrs_of, calls};
use super::conditions::shaping;
use super::strassen::bytes_of_constants;
use egg::Id;
use fusion_machine::roof;
use fusion_operators::ops::contraction::{BATCH_MATMUL, MATMUL};
use fusion_operators::ops::convolution::CONV2D;
use fusion_operators::ops::inner_product_trick::{
    CONV2D_INNER_PRODUCT_TRICK, INNER_PRODUCT_TRICK_RIGHT, MATMUL_INNER_PRODUCT_TRICK,
};
use fusion_operators::ops::shape::{RESHAPE, TRANSPOSE};
use fusion_operators::{Attrs, DType, Operator};

/// The rules.
pub const SEARCH_RULES: &[SearchRule] = &[
    SearchRule {
        name: "matmul-inner-product-trick",
        equation: "x y = inner_product_trick(x, inner_product_trick_right(y))",
        rounding: Rounding::Normwise(
            "2 times the plain product's, by the largest numbers of a row and a column",
        ),
        conditions: &[
            "matrices of f32, or several of each, whose extents are known",
            "fp_math is fast, or there is an error budget",
            "the target is a processor that adds beside its multiply-adds",
            "what is spared is more than what is moved",
            "a right side that is transposed is a constant",
        ],
        find: matrices,
    },
    SearchRule {
        name: "conv2d-inner-product-trick",
        equation: "x * w = inner_product_trick(x, inner_product_trick_right(w)) for a kernel of 1 x 1",
        rounding: Rounding::Normwise(
            "2 times the plain product's, by the largest numbers of a row and a column",
        ),
        conditions: &[
            "stride 1, no padding, one group; w is a constant of f32, the extents of x are known",
            "fp_math is fast, or there is an error budget",
            "the target is a processor that adds beside its multiply-adds",
            "what is spared is more than what is moved",
        ],
        find: convolutions,
    },
];

/// Less gain than this is not worth a larger graph, and the rounding.
const LEAST_GAIN: f64 = 1.02;
/// More numbers summed over are not multiplied so: their sums would round away more than a hundred-thousandth.
const MOST_DEPTH: u64 = 4096;

/// A product of matrices.
struct Product {
    /// Products of the same extents beside each other.
    count: u64,
    /// Rows, numbers summed over and columns.
    extents: [u64; 3],
    /// Axes of an operand.
    rank: usize,
    constant: [bool; 2],
    transposed: bool,
    operands: [Id; 2],
}

impl Product {
    /// Of a call that can be multiplied by the inner-product trick.
    fn of(graph: &Graph, call: &Node) -> Option<Product> {
        call.operator().filter(|o| o.is(&MATMUL) || o.is(&BATCH_MATMUL))?;
        let &[attrs, x, y] = &call.children[..] else { return None };
        let attrs = attrs_of(graph, attrs);
        let transposed = attrs.flag("transpose_b");
        let matrix = |id: Id| only_type(graph, id).filter(|t| t.dtype == DType::F32)?.shape();
        let (left, right) = (matrix(x)?, matrix(y)?);
        let ((lead, [m, k]), (other, [a, b])) =
            (left.split_last_chunk::<2>()?, right.split_last_chunk::<2>()?);
        let n = if transposed { *a } else { *b };
        let constant = [x, y].map(|id| graph[id].data.is_constant);
        let count = lead.iter().product();
        let extents = [*m, *k, n];
        let fits = !attrs.flag("transpose_a")
            && (!transposed || constant[1])
            && lead == other
            && (1..=MOST_DEPTH).contains(k)
            && count > 0
            && extents.iter().all(|n| *n > 0);
        fits.then_some(Product { count, extents, rank: left.len(), constant, transposed, operands: [x, y] })
    }

    /// True where a processor computes it in less time by the inner-product trick, in a program of so many bytes of constants.
    fn pays(&self, rates: &Rates, constants: f64) -> bool {
        let [m, k, n] = self.extents.map(|n| n as f64);
        let count = self.count as f64;
        let [left, right, result] = [m * k, k * n, m * n].map(|elements| 4.0 * count * elements);
        let kernel = |arithmetic: f64, moved: f64| rates.call + roof(arithmetic, moved);
        let operand = |side: usize, whole: f64| match self.constant[side] {
            true => rates.moving_part(constants, whole),
            false => rates.moving(whole),
        };
        let others = operand(0, left) + rates.moving(result);
        let product = 2.0 * count * m * k * n / rates.of_contractions();
        let plain = kernel(product, operand(1, right) + others);
        let more = right * inner_product_trick::more(k);
        let by_trick =
            kernel(inner_product_trick::matrices([count * m, k, n], rates), operand(1, more) + others);
        let before = match self.constant[1] {
            true => 0.0,
            false => kernel(more / 4.0 / rates.operations, rates.moving(right) + rates.moving(more)),
        };
        (before + by_trick) * LEAST_GAIN < plain
    }
}

/// One form of a class by the inner-product trick, in a program of so many bytes of constants, where that pays.
type Form<'f> = &'f dyn Fn(Id, &Node, f64) -> Option<Draft>;

fn matrices(graph: &Graph) -> Vec<Draft> {
    drafts(graph, &MATMUL_INNER_PRODUCT_TRICK, &|class, call, constants| {
        let product = Product::of(graph, call)?;
        product.pays(&graph.analysis.rates, constants).then(|| by_trick(class, &product))
    })
}

fn convolutions(graph: &Graph) -> Vec<Draft> {
    drafts(graph, &CONV2D_INNER_PRODUCT_TRICK, &|class, call, constants| {
        let (operands, sizes) = pointwise(graph, call)?;
        convolution_pays(sizes, &graph.analysis.rates, constants)
            .then(|| convolution_by_the_inner_product_trick(class, operands, sizes))
    })
}

/// The forms of all classes that are not known and have no such call yet.
fn drafts(graph: &Graph, operator: &'static Operator, form: Form) -> Vec<Draft> {
    if !inner_product_trick::pays(&graph.analysis.rates) {
        return Vec::new();
    }
    let constants = bytes_of_constants(graph);
    let has_one = |class: Id| graph[class].nodes.iter().any(|n| n.calls(operator));
    let of = |(class, call): (Id, &Node)| {
        let is_open = !graph[class].data.is_constant && !has_one(class);
        form(class, call, constants).filter(|_| is_open)
    };
    calls(graph).into_iter().filter_map(of).collect()
}

/// The image and the weights of a convolution by a kernel of 1 x 1: images, channels and places, and filters.
fn pointwise(graph: &Graph, call: &Node) -> Option<([Id; 2], [u64; 4])> {
    call.operator().filter(|o| o.is(&CONV2D))?;
    let &[attrs, x, w] = &call.children[..] else { return None };
    let attrs = attrs_of(graph, attrs);
    let shape = |id: Id| only_type(graph, id).filter(|t| t.dtype == DType::F32)?.shape();
    let (image, weights) = (shape(x)?, shape(w)?);
    let (&[images, channels, height, width], &[filters, of_each, 1, 1]) = (&image[..], &weights[..]) else {
        return None;
    };
    let all = |name: &str, number: i64| attrs.ints(name).is_none_or(|v| v.iter().all(|&n| n == number));
    let sizes = [images, channels, height * width, filters];
    let fits = all("strides", 1)
        && all("padding", 0)
        && of_each == channels
        && graph[w].data.is_constant
        && channels <= MOST_DEPTH
        && sizes.iter().all(|n| *n > 0);
    fits.then_some(([x, w], sizes))
}

/// True where a processor computes it in less time by the inner-product trick, in a program of so many bytes of constants.
fn convolution_pays(sizes: [u64; 4], rates: &Rates, constants: f64) -> bool {
    let [images, channels, places, filters] = sizes.map(|n| n as f64);
    let kernel = |arithmetic: f64, moved: f64| rates.call + roof(arithmetic, moved);
    let moved =
        rates.moving(4.0 * images * channels * places) + rates.moving(4.0 * images * filters * places);
    let weights = 4.0 * channels * filters;
    let plain = 2.0 * images * channels * places * filters / rates.of_contractions();
    let by_trick = inner_product_trick::places(images, [places, channels, filters], rates);
    let right = rates.moving_part(constants, weights * inner_product_trick::more(channels));
    kernel(by_trick, moved + right) * LEAST_GAIN
        < kernel(plain, moved + rates.moving_part(constants, weights))
}

fn convolution_by_the_inner_product_trick(
    class: Id,
    [x, w]: [Id; 2],
    [_, channels, _, filters]: [u64; 4],
) -> Draft {
    let mut draft = Draft::of(class);
    let [x, w] = [x, w].map(|operand| draft.class(operand));
    let matrix = draft.call(&RESHAPE, shaping(&[filters, channels]), &[w]);
    let turned = draft.call(&TRANSPOSE, Attrs::new().with("axes", [1, 0]), &[matrix]);
    let right = draft.call(&INNER_PRODUCT_TRICK_RIGHT, Attrs::new(), &[turned]);
    draft.call(&CONV2D_INNER_PRODUCT_TRICK, Attrs::new(), &[x, right]);
    draft
}

fn by_trick(class: Id, product: &Product) -> Draft {
    let mut draft = Draft::of(class);
    let [x, y] = product.operands.map(|operand| draft.class(operand));
    let right = match product.transposed {
        true => {
            let (last, rank) = (product.rank as i64 - 1, product.rank as i64);
            let axes: Vec<i64> = (0..rank - 2).chain([last, last - 1]).collect();
            draft.call(&TRANSPOSE, Attrs::new().with("axes", axes), &[y])
        }
        false => y,
    };
    let right = draft.call(&INNER_PRODUCT_TRICK_RIGHT, Attrs::new(), &[right]);
    draft.call(&MATMUL_INNER_PRODUCT_TRICK, Attrs::new(), &[x, right]);
    draft
}
