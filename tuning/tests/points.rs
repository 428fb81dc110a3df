//! Points of spaces.

use crate::common::space;
use fusion_operators::random::Random;
use fusion_tuning::points::Points;
use std::collections::HashSet;

#[test]
fn all_points_differ_and_are_as_many_as_the_space_says() {
    let space = space();
    let points = Points::of(&space);
    let all: HashSet<_> = points.all().collect();
    assert_eq!(all.len() as f64, points.number());
    let choices: HashSet<_> = all.iter().map(|point| points.choices(point)).collect();
    assert_eq!(choices.len(), all.len());
    let features: HashSet<_> = all.iter().map(|p| format!("{:?}", points.features(p))).collect();
    assert_eq!(features.len(), all.len());
}

#[test]
fn neighbours_are_points_and_mostly_differ_in_one_knob() {
    let space = space();
    let points = Points::of(&space);
    let (all, mut random): (HashSet<_>, _) = (points.all().collect(), Random::new(3));
    let mut near = 0;
    for _ in 0..300 {
        let point = points.random(&mut random);
        let next = points.neighbour(&point, &mut random);
        assert!(all.contains(&point) && all.contains(&next));
        let (a, b) = (points.choices(&point), points.choices(&next));
        let differ = a[0].knobs.iter().zip(&b[0].knobs).filter(|(a, b)| a != b).count();
        near += usize::from(a[0].kind == b[0].kind && differ == 1);
    }
    assert!(near > 180, "{near}");
}

#[test]
fn children_have_the_configs_of_their_parents() {
    let space = space();
    let points = Points::of(&space);
    let mut random = Random::new(4);
    for _ in 0..100 {
        let (a, b) = (points.random(&mut random), points.random(&mut random));
        let child = points.crossed(&a, &b, &mut random);
        assert!(child == a || child == b);
    }
}
