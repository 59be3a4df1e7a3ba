//! Maps as trees: what is mutated, and its text.

use crate::random::Random;
use std::fmt::Write;

/// An expression.
#[derive(Clone)]
pub enum Tree {
    Variable(u8),
    Number(i64),
    /// A place in [`OPERATORS`], and operands: two, or more where the operator is associative.
    Operation(u8, Vec<Tree>),
}

/// Operators; the first four take any number of operands, the last two stand in front of them.
pub const OPERATORS: [&str; 8] = ["+", "*", "min", "max", "-", "floordiv", "mod", "ceildiv"];
const NUMBERS: [i64; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 99, 128, 1000, 65536, 1_000_000_000, i64::MAX];

impl Tree {
    /// A random tree of about `size` leaves.
    pub fn random(random: &mut Random, variables: u8, size: usize) -> Tree {
        if size <= 1 {
            return match random.one_in(4) {
                true => Tree::Number(random.pick(&NUMBERS)),
                false => Tree::Variable(random.below(u64::from(variables)) as u8),
            };
        }
        let operator = random.below(OPERATORS.len() as u64) as u8;
        let left = 1 + random.below(size as u64 - 1) as usize;
        let right = if operator > 4 && !random.one_in(4) {
            Tree::Number(1 + random.pick(&NUMBERS))
        } else {
            Tree::random(random, variables, size - left)
        };
        Tree::Operation(operator, vec![Tree::random(random, variables, left), right])
    }

    pub fn size(&self) -> usize {
        match self {
            Tree::Operation(_, operands) => 1 + operands.iter().map(Tree::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// The subtree at a place, counted in the order of the text.
    pub fn at(&mut self, place: usize) -> &mut Tree {
        let mut place = place;
        let mut tree = self;
        loop {
            if place == 0 {
                return tree;
            }
            place -= 1;
            let Tree::Operation(_, operands) = tree else { unreachable!("a place in the tree") };
            let mut k = 0;
            while place >= operands[k].size() {
                place -= operands[k].size();
                k += 1;
            }
            tree = &mut operands[k];
        }
    }

    /// Other variables and numbers in the same tree.
    pub fn vary(&mut self, random: &mut Random, variables: u8, step: u8) {
        match self {
            Tree::Variable(v) => *v = (*v + step) % variables,
            Tree::Number(n) if random.one_in(2) => *n = n.wrapping_add(i64::from(step)),
            Tree::Number(_) => {}
            Tree::Operation(_, operands) => operands.iter_mut().for_each(|o| o.vary(random, variables, step)),
        }
    }

    pub fn write(&self, out: &mut String) {
        match self {
            Tree::Variable(v) => drop(write!(out, "d{v}")),
            Tree::Number(n) => drop(write!(out, "{n}")),
            Tree::Operation(operator, operands) => {
                let name = OPERATORS[*operator as usize];
                let function = matches!(name, "min" | "max");
                out.push_str(if function { name } else { "" });
                for (k, o) in operands.iter().enumerate() {
                    out.push_str(match (k, function) {
                        (0, _) => "(",
                        (_, true) => ", ",
                        _ => " ",
                    });
                    if k > 0 && !function {
                        out.push_str(name);
                        out.push(' ');
                    }
                    o.write(out);
                }
                out.push(')');
            }
        }
    }
}

/// A map with one interval for each variable.
#[derive(Clone)]
pub struct Map {
    pub bounds: Vec<(i64, i64)>,
    pub results: Vec<Tree>,
    pub constraints: Vec<(Tree, i64, i64)>,
}

impl Map {
    pub fn random(random: &mut Random) -> Map {
        let variables = random.between(1, 8) as u8;
        let upper = random.pick(&NUMBERS[1..15]);
        let constraint = |r: &mut Random| (Tree::random(r, variables, 6), r.between(-2, 2), r.pick(&NUMBERS));
        Map {
            bounds: (0..variables).map(|_| (0, upper)).collect(),
            results: (0..random.between(1, 2)).map(|_| Tree::random(random, variables, 12)).collect(),
            constraints: (0..random.below(4)).map(|_| constraint(random)).collect(),
        }
    }

    pub fn text(&self) -> String {
        let names: Vec<String> = (0..self.bounds.len()).map(|v| format!("d{v}")).collect();
        let mut out = format!("({}) -> (", names.join(", "));
        for (k, r) in self.results.iter().enumerate() {
            out.push_str(if k > 0 { ", " } else { "" });
            r.write(&mut out);
        }
        out.push_str("), domain: ");
        for (k, (lower, upper)) in self.bounds.iter().enumerate() {
            let _ = write!(out, "{}d{k} in [{lower}, {upper}]", if k > 0 { ", " } else { "" });
        }
        for (e, lower, upper) in &self.constraints {
            out.push_str(", ");
            e.write(&mut out);
            let _ = write!(out, " in [{lower}, {upper}]");
        }
        out
    }

    /// All expressions.
    fn trees(&mut self) -> Vec<&mut Tree> {
        self.results.iter_mut().chain(self.constraints.iter_mut().map(|c| &mut c.0)).collect()
    }

    /// One change, drawn at random.
    pub fn mutate(&mut self, random: &mut Random, other: &Map) {
        let variables = self.bounds.len() as u8;
        match random.below(12) {
            0 => {
                let v = random.below(u64::from(variables)) as usize;
                self.bounds[v] = (random.between(-3, 2), random.pick(&NUMBERS));
            }
            1 if !self.constraints.is_empty() => {
                // A family of constraints: the same one over other variables.
                let mut c = self.constraints[random.below(self.constraints.len() as u64) as usize].clone();
                for step in 1..=random.between(1, 8) as u8 {
                    c.0.vary(random, variables, step);
                    self.constraints.push(c.clone());
                }
            }
            2 if !self.constraints.is_empty() => {
                let k = random.below(self.constraints.len() as u64) as usize;
                self.constraints[k].1 = random.between(-2, 50);
                self.constraints[k].2 = random.pick(&NUMBERS);
            }
            3 if self.constraints.len() > 1 => {
                self.constraints.swap_remove(random.below(self.constraints.len() as u64) as usize);
            }
            4 => self.constraints.push((
                Tree::random(random, variables, 5),
                random.between(-2, 2),
                random.pick(&NUMBERS),
            )),
            5 if variables < 40 => {
                let bounds = self.bounds[0];
                self.bounds.extend((0..random.between(1, 4)).map(|_| bounds));
            }
            6 if !other.constraints.is_empty() => {
                let mut c = other.constraints[random.below(other.constraints.len() as u64) as usize].clone();
                c.0.vary(random, variables, 0);
                self.constraints.push(c);
            }
            _ => self.mutate_tree(random, other),
        }
    }

    fn mutate_tree(&mut self, random: &mut Random, other: &Map) {
        let variables = self.bounds.len() as u8;
        let mut donor = other.clone();
        let mut trees = self.trees();
        let k = random.below(trees.len() as u64) as usize;
        let whole = trees.swap_remove(k);
        let place = random.below(whole.size() as u64) as usize;
        let times = random.between(2, 9) as u8;
        let copy = whole.clone();
        let spot = whole.at(place);
        match random.below(8) {
            0 => *spot = Tree::random(random, variables, 5),
            1 => *spot = Tree::Number(random.pick(&NUMBERS)),
            2 => {
                // As many variations beside each other.
                let operator = random.below(4) as u8;
                let mut operands = vec![spot.clone()];
                for step in 1..times {
                    let mut next = spot.clone();
                    next.vary(random, variables, step);
                    operands.push(next);
                }
                *spot = Tree::Operation(operator, operands);
            }
            3 => {
                // Around itself: nested as deep.
                let (first, second) = (random.below(8) as u8, random.below(8) as u8);
                for step in 0..times {
                    let inner = spot.clone();
                    let leaf = Tree::random(random, variables, 1 + step as usize % 2);
                    *spot = Tree::Operation(if step % 2 == 0 { first } else { second }, vec![inner, leaf]);
                }
            }
            4 => {
                let mut trees = donor.trees();
                let k = random.below(trees.len() as u64) as usize;
                let from = trees.swap_remove(k);
                let place = random.below(from.size() as u64) as usize;
                *spot = from.at(place).clone();
                spot.vary(random, variables, 0);
            }
            5 => {
                let mut copy = copy;
                let place = random.below(copy.size() as u64) as usize;
                *spot = copy.at(place).clone();
            }
            6 => {
                if let Tree::Operation(operator, operands) = spot {
                    *operator = match operands.len() {
                        2 => random.below(8) as u8,
                        _ => random.below(4) as u8,
                    };
                }
            }
            _ => {
                if let Tree::Operation(_, operands) = spot {
                    *spot = operands[random.below(operands.len() as u64) as usize].clone();
                }
            }
        }
    }
}
