//! The constructors keep the value: random expressions against direct evaluation in 128 bits.

use indexing_core::{Arena, Expr};

/// A small seeded generator (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

enum Tree {
    Variable(usize),
    Constant(i64),
    Node(u8, Box<Tree>, Box<Tree>),
}

const OPS: u8 = 8;

fn random_tree(r: &mut Random, depth: u32) -> Tree {
    if depth == 0 || r.below(6) == 0 {
        return if r.below(3) == 0 {
            Tree::Constant(r.between(-12, 12))
        } else {
            Tree::Variable(r.below(3) as usize)
        };
    }
    let op = r.below(u64::from(OPS)) as u8;
    let left = random_tree(r, depth - 1);
    let by_constant = op >= 5 && r.below(5) > 0;
    let right = if by_constant { Tree::Constant(r.between(-9, 9)) } else { random_tree(r, depth - 1) };
    Tree::Node(op, Box::new(left), Box::new(right))
}

/// The value by the definitions, `None` where a divisor is 0.
fn value(t: &Tree, env: &[i64; 3]) -> Option<i128> {
    Some(match t {
        Tree::Variable(v) => i128::from(env[*v]),
        Tree::Constant(c) => i128::from(*c),
        Tree::Node(op, a, b) => {
            let (a, b) = (value(a, env)?, value(b, env)?);
            match op {
                0 => a + b,
                1 => a - b,
                2 => a.checked_mul(b)?,
                3 => a.min(b),
                4 => a.max(b),
                _ if b == 0 => return None,
                5 => (a - a.rem_euclid(b.abs())) / b + i128::from(b < 0 && a.rem_euclid(b.abs()) != 0) * -1,
                6 => a.rem_euclid(b.abs()),
                _ => {
                    -((-a - (-a).rem_euclid(b.abs())) / b
                        + i128::from(b < 0 && (-a).rem_euclid(b.abs()) != 0) * -1)
                }
            }
        }
    })
}

fn build(t: &Tree, arena: &mut Arena) -> indexing_core::Result<Expr> {
    match t {
        Tree::Variable(v) => Ok(arena.variable(*v as u32)),
        Tree::Constant(c) => Ok(arena.constant(*c)),
        Tree::Node(op, a, b) => {
            let (a, b) = (build(a, arena)?, build(b, arena)?);
            match op {
                0 => arena.add(a, b),
                1 => arena.sub(a, b),
                2 => arena.mul(a, b),
                3 => arena.min(a, b),
                4 => arena.max(a, b),
                5 => arena.floordiv(a, b),
                6 => arena.modulo(a, b),
                _ => arena.ceildiv(a, b),
            }
        }
    }
}

#[test]
fn constructors_keep_the_value() {
    let mut arena = Arena::new();
    let mut checked = 0u64;
    for seed in 1..20_000u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let depth = 1 + r.below(4) as u32;
        let tree = random_tree(&mut r, depth);
        arena.clear();
        let Ok(e) = build(&tree, &mut arena) else { continue };
        for _ in 0..20 {
            let env = [r.between(-20, 20), r.between(-7, 7), r.between(-3, 40)];
            let Some(expected) = value(&tree, &env) else { continue };
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
        let Ok(e) = build(&tree, &mut arena) else { continue };
        // Swapping two variables twice rebuilds every node; a canonical node must come back as itself.
        let swap = [arena.variable(1), arena.variable(0), arena.variable(2)];
        let Ok(there) = arena.substitute(&[e], &swap) else { continue };
        let back = arena.substitute(&there, &swap).expect("as before");
        let again =
            arena.substitute(&back, &swap).and_then(|x| arena.substitute(&x, &swap)).expect("as before");
        assert_eq!(back, again, "seed {seed}");
        let mut other = Arena::new();
        let dag = arena.export(&[e]);
        let same = other.import(&dag);
        assert_eq!(other.export(&same), dag, "seed {seed}");
    }
}
