//! `indexing-volume COUNT [SEED [FIRST]]`: random problems through the simplifier, judged at every point of their box.
//!
//! Prints the seed, and each failure with the command that makes it again; the exit status is then 1. The values of the
//! original are computed from the expression as written, in 128-bit integers, with no code of the core.

mod check;
mod maps;
mod random;
mod tree;

use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use check::{Checker, Verdict};

const BATCH: u64 = 1000;
const SHOWN: u64 = 20;

/// What was counted, over all threads.
#[derive(Default)]
struct Counts {
    next: AtomicU64,
    refused: AtomicU64,
    empty: AtomicU64,
    points: AtomicU64,
    wrong: AtomicU64,
}

fn main() -> ExitCode {
    let arguments: Vec<u64> =
        std::env::args().skip(1).map(|a| a.parse().expect("COUNT [SEED [FIRST]]")).collect();
    let count = arguments.first().copied().unwrap_or(1_000_000);
    let seed = arguments.get(1).copied().unwrap_or_else(time_seed);
    let first = arguments.get(2).copied().unwrap_or(0);
    println!("seed {seed}, {count} problems");
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        set_hook(Box::new(|_| {})); // a panic is reported with its problem
    }
    let (counts, start) = (Counts::default(), Instant::now());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&counts, seed, first, count));
        }
    });
    let wrong = counts.wrong.load(Ordering::Relaxed);
    println!(
        "{count} problems, {} points in {:.0} s: {wrong} wrong, {} empty, {} refused for overflow",
        counts.points.load(Ordering::Relaxed),
        start.elapsed().as_secs_f64(),
        counts.empty.load(Ordering::Relaxed),
        counts.refused.load(Ordering::Relaxed),
    );
    ExitCode::from(u8::from(wrong > 0))
}

fn time_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64 & 0xffff_ffff)
}

fn work(counts: &Counts, seed: u64, first: u64, count: u64) {
    let mut checker = Checker::default();
    loop {
        let from = counts.next.fetch_add(BATCH, Ordering::Relaxed);
        if from >= count {
            return;
        }
        for number in first + from..first + (from + BATCH).min(count) {
            let verdict = catch_unwind(AssertUnwindSafe(|| checker.problem(seed, number)));
            let verdict = verdict.unwrap_or_else(|cause| {
                checker = Checker::default();
                let text = cause.downcast_ref::<String>().cloned();
                let text = text.or_else(|| cause.downcast_ref::<&str>().map(|s| s.to_string()));
                Verdict::Wrong(format!("panic: {}", text.unwrap_or_default()))
            });
            record(counts, seed, number, verdict);
        }
    }
}

fn record(counts: &Counts, seed: u64, number: u64, verdict: Verdict) {
    match verdict {
        Verdict::Right(points) => {
            counts.points.fetch_add(points, Ordering::Relaxed);
        }
        Verdict::Empty => {
            counts.empty.fetch_add(1, Ordering::Relaxed);
        }
        Verdict::Refused => {
            counts.refused.fetch_add(1, Ordering::Relaxed);
        }
        Verdict::Wrong(why) => {
            if counts.wrong.fetch_add(1, Ordering::Relaxed) < SHOWN {
                let text = check::problem_text(seed, number);
                println!("\n{text}\n  {why}\n  again: make fuzz N=1 SEED={seed} FIRST={number}");
            }
        }
    }
}
