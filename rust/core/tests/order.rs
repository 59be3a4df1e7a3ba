//! Equal expressions are one node, in whatever order their operands were written and joined.

mod random_expressions;

use indexing_core::Arena;
use random_expressions::{random_tree, show, Op, Random, Tree};

/// Operators whose operands may be taken in any order and grouping: `+`, `*`, `min`, `max`.
fn commutes(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::Min | Op::Max)
}

/// The operands of `op` at the root of the tree, itself where its operator is another one.
fn operands<'a>(op: Op, tree: &'a Tree, out: &mut Vec<&'a Tree>) {
    match tree {
        Tree::Binary(own, a, b) if *own == op => {
            operands(op, a, out);
            operands(op, b, out);
        }
        _ => out.push(tree),
    }
}

/// The tree with its operands in another order, and grouped otherwise.
fn shuffled(tree: &Tree, r: &mut Random) -> Tree {
    match tree {
        Tree::Variable(v) => Tree::Variable(*v),
        Tree::Constant(c) => Tree::Constant(*c),
        Tree::Binary(op, _, _) if commutes(*op) => {
            let mut leaves = Vec::new();
            operands(*op, tree, &mut leaves);
            let mut groups: Vec<Tree> = leaves.into_iter().map(|t| shuffled(t, r)).collect();
            while groups.len() > 1 {
                let a = groups.swap_remove(r.below(groups.len() as u64) as usize);
                let b = groups.swap_remove(r.below(groups.len() as u64) as usize);
                groups.push(Tree::Binary(*op, Box::new(a), Box::new(b)));
            }
            groups.remove(0)
        }
        Tree::Binary(op, a, b) => Tree::Binary(*op, Box::new(shuffled(a, r)), Box::new(shuffled(b, r))),
    }
}

/// A sum or extremum of several trees, for random trees alone have few operands in a row.
fn wide_tree(r: &mut Random) -> Tree {
    let ops = [Op::Add, Op::Min, Op::Max];
    let mut tree = random_tree(r, 3);
    for _ in 0..1 + r.below(3) {
        let op = ops[r.below(3) as usize];
        tree = Tree::Binary(op, Box::new(tree), Box::new(random_tree(r, 3)));
    }
    tree
}

#[test]
fn order_does_not_matter() {
    let mut arena = Arena::new();
    let (mut compared, mut differ) = (0, Vec::new());
    for seed in 1..20_000u64 {
        let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tree = wide_tree(&mut r);
        arena.clear();
        let Ok(e) = tree.build(&mut arena) else { continue };
        for _ in 0..3 {
            let Ok(other) = shuffled(&tree, &mut r).build(&mut arena) else { continue };
            compared += 1;
            if other != e {
                differ.push(format!("seed {seed}: {} or {}", show(&arena, e), show(&arena, other)));
                break;
            }
        }
    }
    assert!(compared > 30_000);
    // Two are known. A minimum in a maximum in a minimum has several forms with as many operands; and of `x`,
    // `x floordiv m` and `x mod m` in one sum, the two that stay depend on what met first.
    assert!(differ.len() <= 2, "{} of {compared}:\n{}", differ.len(), differ.join("\n"));
}
