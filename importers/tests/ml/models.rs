//! Linear models and support vector machines.

use super::{close, floats, results};
use crate::common::*;
use fusion_importers::onnx::proto::AttributeProto;
use fusion_operators::Tensor;

fn x() -> Tensor {
    Tensor::from_slice(&[2, 2], &[1f32, 2.0, -1.0, 0.5]).unwrap()
}

fn classes(op: &str, attributes: Vec<AttributeProto>) -> (Vec<i128>, Tensor) {
    let mut found = results(op, attributes, 2, &x()).unwrap_or_else(|why| panic!("{op}: {why}"));
    let scores = found.remove(1);
    (found[0].to_ints(), scores)
}

#[test]
fn a_regressor_of_two_targets() {
    let attributes = vec![
        int("targets", 2),
        floats("coefficients", &[1.0, 2.0, -1.0, 1.0]),
        floats("intercepts", &[0.5, 0.0]),
    ];
    let found = results("LinearRegressor", attributes, 1, &x()).unwrap();
    close(&found[0], &[5.5, 1.0, 0.5, 1.5]);
    let wrong = vec![int("targets", 2), floats("coefficients", &[1.0, 2.0, -1.0])];
    let said = results("LinearRegressor", wrong, 1, &x()).unwrap_err();
    assert!(said.contains("need 2 x 2 coefficients, found 3"), "{said}");
}

#[test]
fn one_score_of_two_classes_is_that_of_the_second() {
    let attributes = |transform: &str| {
        vec![
            floats("coefficients", &[1.0, 2.0]),
            floats("intercepts", &[-1.0]),
            ints("classlabels_ints", &[4, 6]),
            text("post_transform", transform),
        ]
    };
    let (labels, scores) = classes("LinearClassifier", attributes("NONE"));
    assert_eq!(labels, [6, 4]);
    close(&scores, &[-3.0, 4.0, 2.0, -1.0]);
    let (_, scores) = classes("LinearClassifier", attributes("LOGISTIC"));
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    close(&scores, &[sigmoid(-4.0), sigmoid(4.0), sigmoid(1.0), sigmoid(-1.0)]);
}

#[test]
fn the_softmax_of_zeros_leaves_them_out() {
    let attributes = vec![
        floats("coefficients", &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ints("classlabels_ints", &[4, 6, 8]),
        text("post_transform", "SOFTMAX_ZERO"),
    ];
    let (labels, scores) = classes("LinearClassifier", attributes);
    assert_eq!(labels, [8, 8]);
    let whole = 1f64.exp() + 2f64.exp();
    let other = (-1f64).exp() + 0.5f64.exp();
    close(
        &scores,
        &[1f64.exp() / whole, 0.0, 2f64.exp() / whole, (-1f64).exp() / other, 0.0, 0.5f64.exp() / other],
    );
}

#[test]
fn kernels_of_support_vectors() {
    let regressor = |kernel: &str| {
        let attributes = vec![
            text("kernel_type", kernel),
            floats("kernel_params", &[0.5, 1.0, 2.0]),
            floats("support_vectors", &[1.0, 0.0, 0.0, 2.0]),
            floats("coefficients", &[2.0, -1.0]),
            floats("rho", &[0.25]),
            int("n_supports", 2),
        ];
        results("SVMRegressor", attributes, 1, &x()).unwrap().remove(0)
    };
    let of = |k: &dyn Fn([f64; 2], [f64; 2]) -> f64| {
        [[1.0, 2.0], [-1.0, 0.5]].map(|x| 2.0 * k(x, [1.0, 0.0]) - k(x, [0.0, 2.0]) + 0.25)
    };
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    close(&regressor("LINEAR"), &of(&dot));
    close(&regressor("POLY"), &of(&|a, b| (0.5 * dot(a, b) + 1.0).powi(2)));
    close(&regressor("RBF"), &of(&|a, b| (-0.5 * apart(a, b)).exp()));
    close(&regressor("SIGMOID"), &of(&|a, b| (0.5 * dot(a, b) + 1.0).tanh()));
}

#[test]
fn pairs_of_classes_vote() {
    // One vector a class; the first pair decides for 0 where x[0] > 0, the others for 2 always.
    let attributes = |more: Vec<AttributeProto>| {
        let mut all = vec![
            ints("classlabels_ints", &[5, 3, 9]),
            ints("vectors_per_class", &[1, 1, 1]),
            floats("support_vectors", &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
            floats("coefficients", &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            floats("rho", &[0.0, -1.0, -1.0]),
        ];
        all.extend(more);
        all
    };
    let (labels, scores) = classes("SVMClassifier", attributes(vec![]));
    assert_eq!(labels, [9, 9]);
    close(&scores, &[1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    let probabilities = attributes(vec![floats("prob_a", &[1.0; 3]), floats("prob_b", &[1.0; 3])]);
    let said = results("SVMClassifier", probabilities, 2, &x()).unwrap_err();
    assert!(said.contains("probabilities (prob_a) of more than two classes"), "{said}");
}

#[test]
fn two_classes_have_a_probability_by_platt() {
    let attributes = vec![
        ints("classlabels_ints", &[5, 3]),
        ints("vectors_per_class", &[1, 1]),
        floats("support_vectors", &[1.0, 0.0, 0.0, 1.0]),
        floats("coefficients", &[1.0, -1.0]),
        floats("rho", &[0.5]),
        floats("prob_a", &[-2.0]),
        floats("prob_b", &[0.25]),
    ];
    let (labels, scores) = classes("SVMClassifier", attributes);
    assert_eq!(labels, [3, 3]);
    let first = |decision: f64| 1.0 / (1.0 + (-2.0 * decision + 0.25).exp());
    close(&scores, &[first(-0.5), 1.0 - first(-0.5), first(-1.0), 1.0 - first(-1.0)]);
}
