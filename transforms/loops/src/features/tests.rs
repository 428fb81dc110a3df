use super::*;

/// A product of 8 x 100 and 100 x 16 whose columns are vectorized, with the reduction inside.
fn product() -> Body {
    let of = |extent: f64, kind| Loop { extent, kind };
    let touch = |buffer, elements, writes, steps: [i64; 3]| Touch {
        buffer,
        elements,
        width: 4.0,
        writes,
        steps: steps.into_iter().map(Some).collect(),
    };
    Body {
        loops: vec![of(8.0, LoopKind::Unrolled), of(16.0, LoopKind::Vectorized), of(100.0, LoopKind::Serial)],
        share: 1.0,
        touches: vec![touch(0, 800.0, false, [100, 0, 1]), touch(1, 1600.0, false, [0, 1, 16])],
        flops: 2.0,
        special: 0.0,
        statements: 4.0,
    }
}

fn told(features: &[f32], name: &str) -> f32 {
    let at = names().iter().position(|known| known == name);
    features[at.unwrap_or_else(|| panic!("no feature {name:?}"))]
}

#[test]
fn each_feature_has_a_name() {
    let names = names();
    assert_eq!(of_bodies(&[product()]).len(), names.len());
    assert_eq!(of_bodies(&[]).len(), names.len());
    assert!(of_bodies(&[]).iter().all(|x| x.is_finite()));
    assert!(names.iter().enumerate().all(|(n, name)| names[..n].iter().all(|other| other != name)));
}

#[test]
fn a_product_is_told_by_its_loops() {
    let features = of_bodies(&[product()]);
    let near = |name: &str, wanted: f64| {
        let found = f64::from(told(&features, name));
        assert!((found - wanted).abs() < 1e-3, "{name}: {found} and not {wanted}");
    };
    let amount = |x: f64| (1.0 + x).log2();
    near("operations", amount(2.0 * 12800.0));
    near("vectorized operations, share", 1.0);
    // Of two accesses one is of neighbours along the lanes, and the other is of the same element.
    near("contiguous accesses, share", 0.5);
    near("repeated accesses, share", 0.5);
    near("touched bytes", amount(4.0 * (800.0 + 1600.0)));
    near("intensity", amount(25600.0 / 9600.0));
    // The serial loop runs outside: the lanes are innermost, of which each step reads one element and sixteen.
    near("level 0: extent", amount(16.0));
    near("level 0: touched bytes", amount(4.0 + 64.0));
    near("level 1: extent", amount(8.0));
    near("level 1: touched bytes", amount(8.0 * 4.0 + 64.0));
    near("level 2: extent", amount(100.0));
    near("level 3: extent", 0.0);
}

#[test]
fn what_fits_is_fetched_once() {
    let levels = Levels::of(&product());
    // All of it fits: each line comes once.
    assert_eq!(levels.traffic(1e6), 3200.0 + 6400.0);
    // One step of the reduction fits: 8 lines of the first factor and 1 of the other, 100 times.
    assert_eq!(levels.traffic(1e3), 100.0 * (8.0 + 1.0) * 64.0);
}

#[test]
fn guards_take_their_share() {
    let half = Body { share: 0.5, ..product() };
    let (whole, half) = (of_bodies(&[product()]), of_bodies(&[half]));
    assert!(told(&half, "operations") < told(&whole, "operations"));
    assert_eq!(
        (told(&whole, "guarded iterations, share"), told(&half, "guarded iterations, share")),
        (0.0, 1.0)
    );
}
