//! Ensembles of trees in both forms, and what is said of bad ones.

use super::{bytes, floats, results, strings, tensor};
use crate::common::*;
use fusion_importers::onnx::proto::AttributeProto;
use fusion_operators::Tensor;

fn predict(op: &str, attributes: Vec<AttributeProto>, rows: &[[f32; 2]]) -> Result<Vec<f64>, String> {
    let x = Tensor::from_slice(&[rows.len(), 2], &rows.concat()).expect("they fill it");
    results(op, attributes, 1, &x).map(|tensors| tensors[0].to_f64s())
}

/// x[0] <= 1 ? (x[1] in {2, 4} ? 10 : 20) : 30, with the second node as given.
fn nested(second: [i64; 2], mode: i32) -> Vec<AttributeProto> {
    vec![
        ints("nodes_featureids", &[0, 1]),
        tensor("nodes_splits", &[1.0, 2.0]),
        bytes("nodes_modes", &[0, mode]),
        ints("nodes_truenodeids", &[1, second[0]]),
        ints("nodes_falsenodeids", &[2, second[1]]),
        ints("nodes_trueleafs", &[0, 1]),
        ints("nodes_falseleafs", &[1, 1]),
        tensor("leaf_weights", &[10.0, 20.0, 30.0]),
        ints("leaf_targetids", &[0, 0, 1]),
        tensor("membership_values", &[2.0, 4.0, f32::NAN]),
        ints("tree_roots", &[0]),
        int("n_targets", 2),
    ]
}

#[test]
fn rows_go_down_to_their_leaves() {
    let rows = [[0.0, 4.0], [0.0, 3.0], [5.0, 4.0], [1.0, 2.0], [f32::NAN, 2.0]];
    let expected = [10.0, 0.0, 20.0, 0.0, 0.0, 30.0, 10.0, 0.0, 0.0, 30.0];
    assert_eq!(predict("TreeEnsemble", nested([0, 1], 6), &rows).expect("the trees are right"), expected);
}

#[test]
fn older_trees_name_their_nodes() {
    let attributes = || {
        vec![
            ints("nodes_treeids", &[0, 0, 0, 1]),
            ints("nodes_nodeids", &[0, 1, 2, 0]),
            ints("nodes_featureids", &[1, 0, 0, 0]),
            floats("nodes_values", &[0.5, 0.0, 0.0, 0.0]),
            strings("nodes_modes", &["BRANCH_LT", "LEAF", "LEAF", "LEAF"]),
            ints("nodes_truenodeids", &[1, 0, 0, 0]),
            ints("nodes_falsenodeids", &[2, 0, 0, 0]),
            ints("target_treeids", &[0, 0, 1]),
            ints("target_nodeids", &[1, 2, 0]),
            ints("target_ids", &[0, 0, 0]),
            floats("target_weights", &[1.0, 2.0, 100.0]),
            floats("base_values", &[1000.0]),
        ]
    };
    let rows = [[0.0, 0.0], [0.0, 0.5]];
    assert_eq!(predict("TreeEnsembleRegressor", attributes(), &rows), Ok(vec![1101.0, 1102.0]));
    let mut other = attributes();
    other[5] = ints("nodes_truenodeids", &[9, 0, 0, 0]);
    let error = predict("TreeEnsembleRegressor", other, &rows).expect_err("there is no node 9");
    assert!(error.ends_with("tree 0 has no node 9, to which it leads"), "{error}");
}

#[test]
fn bad_trees_are_refused() {
    let mut circle = nested([0, 1], 0);
    (circle[3], circle[5]) = (ints("nodes_truenodeids", &[1, 0]), ints("nodes_trueleafs", &[0, 0]));
    let error = predict("TreeEnsemble", circle, &[[0.0, 0.0]]).expect_err("it goes round");
    assert!(error.contains("one that leads back to itself"), "{error}");
    let error = predict("TreeEnsemble", nested([7, 1], 0), &[[0.0, 0.0]]).expect_err("there is no leaf 7");
    assert!(error.contains("leads to 7, which is not there"), "{error}");
    let mut far = nested([0, 1], 0);
    far[0] = ints("nodes_featureids", &[0, 2]);
    let error = predict("TreeEnsemble", far, &[[0.0, 0.0]]).expect_err("there is no feature 2");
    assert!(error.ends_with("a node asks for feature 2 of 2"), "{error}");
    let mut odd = nested([0, 1], 9);
    let error = predict("TreeEnsemble", odd.clone(), &[[0.0, 0.0]]).expect_err("no such mode");
    assert!(error.ends_with("attribute nodes_modes must not hold 9"), "{error}");
    odd.truncate(3);
    assert!(predict("TreeEnsemble", odd, &[[0.0, 0.0]]).is_err());
}

/// Two trees of one node: weights of classes for each leaf, of the class `ids`.
fn classifier(weights: [[f32; 2]; 2], ids: [i64; 2], transform: &str) -> Vec<AttributeProto> {
    vec![
        ints("classlabels_int64s", &[7, 3]),
        ints("nodes_treeids", &[0, 0, 0, 1, 1, 1]),
        ints("nodes_nodeids", &[0, 1, 2, 0, 1, 2]),
        ints("nodes_featureids", &[0, 0, 0, 1, 0, 0]),
        floats("nodes_values", &[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
        strings("nodes_modes", &["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"]),
        ints("nodes_truenodeids", &[1, 0, 0, 1, 0, 0]),
        ints("nodes_falsenodeids", &[2, 0, 0, 2, 0, 0]),
        ints("class_treeids", &[0, 0, 1, 1]),
        ints("class_nodeids", &[1, 2, 1, 2]),
        ints("class_ids", &[ids[0], ids[1], ids[0], ids[1]]),
        floats("class_weights", &weights.concat()),
        text("post_transform", transform),
    ]
}

fn classes(attributes: Vec<AttributeProto>) -> (Vec<i128>, Vec<f64>) {
    // Leaves: yes and yes, no and no.
    let x = Tensor::from_slice(&[2, 2], &[0f32, 0.0, 9.0, 9.0]).unwrap();
    let found = results("TreeEnsembleClassifier", attributes, 2, &x).unwrap();
    (found[0].to_ints(), found[1].to_f64s())
}

#[test]
fn the_greatest_score_chooses_the_label() {
    let (labels, scores) = classes(classifier([[0.5, 0.25], [0.5, 1.0]], [0, 1], "NONE"));
    assert_eq!(labels, [7, 3]);
    assert_eq!(scores, [1.0, 0.0, 0.0, 1.25]);
}

#[test]
fn weights_of_one_class_alone_are_scores_of_the_second() {
    // Probabilities of the second class: 0.75 and 0.25.
    let (labels, scores) = classes(classifier([[0.5, 0.125], [0.25, 0.125]], [0, 0], "NONE"));
    assert_eq!(labels, [3, 7]);
    assert_eq!(scores, [0.25, 0.75, 0.75, 0.25]);
    // A weight below 0: the sign decides.
    let (labels, scores) = classes(classifier([[0.5, -0.125], [-0.25, -0.125]], [0, 0], "NONE"));
    assert_eq!(labels, [3, 7]);
    assert_eq!(scores, [-0.25, 0.25, 0.25, -0.25]);
    let (_, scores) = classes(classifier([[0.5, -0.125], [-0.25, -0.125]], [0, 0], "LOGISTIC"));
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let expected = [sigmoid(-0.25), sigmoid(0.25), sigmoid(0.25), sigmoid(-0.25)];
    assert!(scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{scores:?}");
    // Of the second class alone, the first has a score of 0.
    let (labels, scores) = classes(classifier([[0.5, 0.125], [0.25, 0.125]], [1, 1], "NONE"));
    assert_eq!(labels, [3, 7]);
    assert_eq!(scores, [0.0, 0.75, 0.0, 0.25]);
}
