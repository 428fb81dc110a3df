//! Products of products: the order in which sums are taken.
//!
//!     p[i, c, j, d] = sum over s of x[s, i, c] y[s, j, d]          an outer product for each pair of i and j
//!     r[i, j, o]    = sum over c, d of p[i, c, j, d] w[c, d, o]    and a product with a weight
//! =
//!     t[i, s, d, o] = sum over c of x[s, i, c] w[c, d, o]
//!     r[i, j, o]    = sum over s, d of y[s, j, d] t[i, s, d, o]
//!
//! Which takes fewer operations depends on the extents: `S I C J D + I J C D O` beside `S I C D O + S I J D O`. What the first stores in
//! between, and moves so that c and d are together, is as large as all outer products; the second needs no move of it. (The outer
//! product mean of Jumper et al., "Highly accurate protein structure prediction with AlphaFold", 2021.)

use super::super::language::Node;
use super::super::rule::{Match, Rule, rule};
use super::conditions::{permutation, shaping, transposing};
use super::numerics::{is_moderate_factor, sums_in_own_type};
use fusion_operators::Attrs;

/// The rules.
pub fn rules() -> Vec<Rule> {
    vec![
        rule(
            "weighted-outer-product",
            "(sum_s x[s, i, c] y[s, j, d]) w = sum_sd y[s, j, d] (x w)[i, s, d]",
            "(matmul ?m (reshape ?r (transpose ?p (reshape ?q (matmul ?n ?x ?y)))) ?w)",
            "(reshape ?o (matmul ?e (reshape ?b (transpose ?s (reshape ?f ?y))) \
             (reshape ?t (matmul ?e (reshape ?a (transpose ?u (reshape ?g ?x))) (reshape ?v ?w)))))",
        )
        .within("1 ulp of the sum of |x y w|; sums in another order")
        .when("w is a matrix, neither operand of its product is transposed; no f16 or bf16", |m| {
            let attrs = m.attrs("?m")?;
            Some(
                sums_in_own_type(m, "?w")?
                    && m.ty("?w")?.rank() == 2
                    && !attrs.flag("transpose_a")
                    && !attrs.flag("transpose_b"),
            )
        })
        .when("the transpose exchanges c and j, and w sums over all c and d", |m| extents(m).map(|_| true))
        .with("?e", |_| Some(Node::attrs(Attrs::new())))
        .with("?g", |m| extents(m).map(|e| e.apart(m, "transpose_a", true, (e.i, e.c))))
        .with("?u", |m| extents(m).map(|e| e.summed_second(m, "transpose_a", true)))
        .with("?a", |m| extents(m).map(|e| Node::attrs(shaping(&[e.i * e.s, e.c]))))
        .with("?v", |m| extents(m).map(|e| Node::attrs(shaping(&[e.c, e.d * e.o]))))
        .with("?t", |m| extents(m).map(|e| Node::attrs(shaping(&[e.i, e.s * e.d, e.o]))))
        .with("?f", |m| extents(m).map(|e| e.apart(m, "transpose_b", false, (e.j, e.d))))
        .with("?s", |m| extents(m).map(|e| e.summed_second(m, "transpose_b", false)))
        .with("?b", |m| extents(m).map(|e| Node::attrs(shaping(&[1, e.j, e.s * e.d]))))
        .with("?o", |m| Some(Node::attrs(shaping(&m.result()?.shape()?)))),
        rule(
            "scale-of-matmul",
            "c (x y) = (c x) y",
            "(mul ?a (matmul ?m ?x ?y) ?c)",
            "(matmul ?m (mul ?a ?x ?c) ?y)",
        )
        .within("1 ulp of the sum of |c x y|")
        .when("c is one moderate number without axes, of f32 or f64, x is smaller than x y", |m| {
            let smaller = m.ty("?x")?.elements()? < m.result()?.elements()?;
            let fits = is_moderate_factor(m, "?c")? && sums_in_own_type(m, "?x")?;
            Some(smaller && fits && m.ty("?c")?.rank() == 0)
        }),
    ]
}

/// The extents of an outer product of which pairs are weighted.
struct Extents {
    s: u64,
    i: u64,
    c: u64,
    j: u64,
    d: u64,
    o: u64,
}

/// The extents of `reshape(transpose(reshape(x y))) w`, where it is a weighted outer product.
fn extents(found: &Match) -> Option<Extents> {
    let apart: Vec<u64> =
        found.attrs("?q")?.ints("shape")?.iter().map(|&n| u64::try_from(n).ok()).collect::<Option<_>>()?;
    let rank = apart.len();
    let (ones, pairs) = apart.split_at(rank.checked_sub(4)?);
    let &[i, c, j, d] = pairs else { return None };
    let axes = permutation(found.attrs("?p")?, rank)?;
    let wanted = (0..rank - 4).chain([0, 2, 1, 3].map(|axis| rank - 4 + axis));
    let (x, y, w) = (found.shape("?x")?, found.shape("?y")?, found.shape("?w")?);
    let attrs = found.attrs("?n")?;
    let last_two = |shape: &[u64], swap: bool| {
        let (front, back) = shape.split_at(shape.len().checked_sub(2)?);
        let &[a, b] = back else { return None };
        front.iter().all(|&n| n == 1).then_some(if swap { (b, a) } else { (a, b) })
    };
    let (rows, s) = last_two(&x, attrs.flag("transpose_a"))?;
    let (_, columns) = last_two(&y, attrs.flag("transpose_b"))?;
    let o = w[1];
    let fits = ones.iter().all(|&n| n == 1)
        && axes.into_iter().eq(wanted)
        && (rows, columns, w[0]) == (i * c, j * d, c * d)
        && found.result()?.elements()? == i * j * o;
    fits.then_some(Extents { s, i, c, j, d, o })
}

impl Extents {
    /// Reshapes an operand so that its extents stand apart: s in front, or behind where rows of the left operand or of a transposed
    /// right one are not summed over.
    fn apart(&self, found: &Match, flag: &str, left: bool, (first, second): (u64, u64)) -> Node {
        match self.sums_first(found, flag, left) {
            true => Node::attrs(shaping(&[self.s, first, second])),
            false => Node::attrs(shaping(&[first, second, self.s])),
        }
    }

    /// Brings s to the middle.
    fn summed_second(&self, found: &Match, flag: &str, left: bool) -> Node {
        match self.sums_first(found, flag, left) {
            true => Node::attrs(transposing(&[1, 0, 2])),
            false => Node::attrs(transposing(&[0, 2, 1])),
        }
    }

    fn sums_first(&self, found: &Match, flag: &str, left: bool) -> bool {
        found.attrs("?n").is_some_and(|attrs| attrs.flag(flag) == left)
    }
}
