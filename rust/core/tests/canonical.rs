//! The constructors keep the value: random expressions against direct evaluation in 128 bits.

mod random_expressions;

use indexing_core::Arena;
use random_expressions::{random_tree, show, Random};

#[test]
fn constructors_keep_the_value() {
    let mut arena = Arena::new();
    let mut checked = 0u64;
    for seed in 1..20_000u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let depth = 1 + r.below(4) as u32;
        let tree = random_tree(&mut r, depth);
        arena.clear();
        let Ok(e) = tree.build(&mut arena) else { continue };
        for _ in 0..20 {
            let env = [r.between(-20, 20), r.between(-7, 7), r.between(-3, 40)];
            let Some(expected) = tree.value(&env) else { continue };
            let got = arena.evaluate(&[e], &env).expect("defined here");
            assert_eq!(i128::from(got[0]), expected, "seed {seed} at {env:?}");
            checked += 1;
        }
    }
    assert!(checked > 100_000);
}

#[test]
fn rebuilding_changes_nothing() {
    let mut arena = Arena::new();
    for seed in 1..5_000u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tree = random_tree(&mut r, 4);
        arena.clear();
        let Ok(e) = tree.build(&mut arena) else { continue };
        // Swapping two variables twice rebuilds every node; a canonical node must come back as itself.
        let swap = [arena.variable(1), arena.variable(0), arena.variable(2)];
        let Ok(there) = arena.substitute(&[e], &swap) else { continue };
        let back = arena.substitute(&there, &swap).expect("as before");
        assert_eq!(back[0], e, "seed {seed}: {} became {}", show(&arena, e), show(&arena, back[0]));
        let mut other = Arena::new();
        let dag = arena.export(&[e]);
        let same = other.import(&dag);
        assert_eq!(other.export(&same), dag, "seed {seed}");
    }
}

#[test]
fn minima_are_opposites_of_maxima_of_opposites() {
    let mut arena = Arena::new();
    for seed in 1..20_000u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        arena.clear();
        let mut args = Vec::new();
        for _ in 0..2 + r.below(2) {
            let mut sum = arena.constant(r.between(-3, 3));
            for v in 0..2 {
                let x = arena.variable(v);
                sum = arena.combine(sum, 1, x, r.between(-2, 2)).expect("small");
            }
            args.push(sum);
        }
        let opposites: Vec<_> = args.iter().map(|a| arena.neg(*a).expect("small")).collect();
        let maximum = arena.maximum(&opposites).expect("small");
        let (e, dual) = (arena.minimum(&args).expect("small"), arena.neg(maximum).expect("small"));
        assert_eq!(e, dual, "seed {seed}: {} and {}", show(&arena, e), show(&arena, dual));
    }
}
