//! Predictors: what is asked and answered, and what happens to workers that answer wrongly, too late, or not at all. The workers
//! here are small programs of the system; `make c-test` asks the true one.
#![cfg(unix)]

use indexing::*;
use indexing_core::Prediction;
use std::ffi::{CStr, CString, OsStr};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

const PROGRAM: &str = r#"{"seconds": 3e-6, "fusions": [
    {"kernel": "a", "times": 2, "seconds": 2e-6, "limit": "memory", "bytes": 64},
    {"kernel": "b", "times": 1, "seconds": null, "limit": "", "bytes": 8}]}"#;
const PLANS: &str = r#"{"default": {"block": 128, "tile": 8}, "plans": {"block": [128, 128, 64], "tile": [8, 16, 32]},
    "resident_blocks": [4.0, 2.0, 0.0], "occupancy": [1.0, 0.5, 0.0], "waves": [1.5, 3.0, null],
    "seconds": [1e-6, 2e-6, null], "limit": ["memory", "issue", "launch"]}"#;

/// A worker that gives each request this answer, after it has read it.
fn answering(answer: &str) -> [String; 4] {
    let script = r#"while read -r line; do printf '%s\n' "$0"; done"#;
    ["sh", "-c", script, &answer.replace('\n', " ")].map(str::to_owned)
}

fn started(command: &[impl AsRef<OsStr>]) -> Predictor {
    Predictor::start(command, Duration::from_secs(20)).unwrap()
}

fn failure(command: &[&str], seconds: f64) -> (Status, String) {
    let failed = Predictor::start(command, Duration::from_secs_f64(seconds))
        .and_then(|mut p| p.program(&Program::new(&" ".repeat(1 << 22)))) // more than a pipe holds
        .unwrap_err();
    (failed.status(), failed.to_string())
}

#[test]
fn a_program_has_the_times_of_its_kernels() {
    let times = started(&answering(PROGRAM)).program(&Program::new("").on("h100")).unwrap();
    assert_eq!((times.seconds, times.kernels.len()), (3e-6, 2));
    let (a, b) = (&times.kernels[0], &times.kernels[1]);
    assert_eq!((a.name.as_str(), a.times, a.seconds, a.limit, a.bytes), ("a", 2.0, 2e-6, 2.0, 64.0));
    assert_eq!((b.name.as_str(), b.limit, b.seconds.is_nan()), ("b", -1.0, true));
}

#[test]
fn a_kernel_has_knobs_and_its_plans_predictions() {
    let mut predictor = started(&answering(PLANS));
    let program = Program::new("").only("fusion");
    let knobs = predictor.knobs(&program).unwrap();
    let known: Vec<_> = knobs.iter().map(|k| (k.name.as_str(), k.default, k.values.as_slice())).collect();
    assert_eq!(known, [("block", 128, &[128, 128, 64][..]), ("tile", 8, &[8, 16, 32])]);
    let plans = predictor.plans(&program, &[("tile", &[8, 16, 32])]).unwrap();
    let figures = [
        [4.0, 1.0, 1.5, 1e-6, 2.0],
        [2.0, 0.5, 3.0, 2e-6, 4.0],
        [0.0, 0.0, f64::INFINITY, f64::INFINITY, 0.0],
    ];
    assert_eq!(plans, figures.map(Prediction::of_figures));
}

#[test]
fn a_request_is_one_line_of_json() {
    let escape = r#"read -r line; printf '{"error": "%s"}\n' "$(printf %s "$line" | sed 's/[\\"]/\\&/g')""#;
    let mut predictor = started(&["sh", "-c", escape]);
    let refused =
        predictor.plans(&Program::new("a\n\"b\"\u{fc}\u{1}").on("h100"), &[("tile", &[8, -1])]).unwrap_err();
    assert_eq!(refused.status(), Status::InvalidArgument);
    let expected = r#"{"device":"h100","hlo":"a\n\"b\"ü\u0001","instruction":null,"plans":{"tile":[8,-1]}}"#;
    assert_eq!(refused.to_string(), expected);
    let twice = [("tile", &[8][..]), ("block_size", &[128]), ("tile", &[16])];
    let refused = predictor.plans(&Program::new("").on("h100"), &twice).unwrap_err();
    assert_eq!(
        (refused.status(), refused.to_string().as_str()),
        (Status::InvalidArgument, "the knob tile is given twice")
    );
}

#[test]
fn what_is_wrong_with_a_request_has_its_status_and_place() {
    let text = "ENTRY f {\n  \u{fc} = f32[8]\n}";
    let status = |kind: &str| {
        let answer = format!(r#"{{"error": "no", "kind": "{kind}", "line": 2, "column": 5}}"#);
        let refused = started(&answering(&answer)).program(&Program::new(text)).unwrap_err();
        assert_eq!((refused.to_string().as_str(), refused.offset()), ("no", text.find("= f32")));
        refused.status()
    };
    let kinds = ["parse-error", "overflow", "unsupported-op", "invalid-map", "internal", "indexing-error"];
    let expected = [
        Status::Parse,
        Status::Overflow,
        Status::Unsupported,
        Status::InvalidMap,
        Status::Internal,
        Status::InvalidArgument,
    ];
    assert_eq!(kinds.map(status), expected);
}

#[test]
fn workers_that_fail_are_reported() {
    // SAFETY: as a program in C begins; the default for a pipe that nobody reads is to end it.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let cases = [
        (&["/no/such/program"][..], "can't start"),
        (&["true"], "`true` ended (exit status: 0) before it answered"),
        (&["sh", "-c", "exit 3"], "ended (exit status: 3)"),
        (&["cat"], "not one of `indexing serve`"),
        (&["echo", "hello"], "not one of `indexing serve`"),
        (&["echo", "{}"], "not one of `indexing serve`"),
    ];
    for (command, words) in cases {
        let (status, message) = failure(command, 20.0);
        assert_eq!(status, Status::Worker, "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(
        Predictor::start::<&str>(&[], Duration::from_secs(1)).err().unwrap().status(),
        Status::InvalidArgument
    );
}

#[test]
fn an_answer_has_a_time_and_its_worker_none_after_it() {
    let begun = Instant::now();
    let large = "x".repeat(1 << 22); // more than a pipe holds: nobody reads it
    let mut predictor = Predictor::start(&["sleep", "1000"], Duration::from_millis(300)).unwrap();
    let late = predictor.program(&Program::new(&large)).unwrap_err();
    assert!(late.to_string().contains("`sleep 1000` gave no answer within 0.3 s"), "{late}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(left_over("sleep"), 0);
}

#[test]
fn a_worker_that_ended_is_replaced() {
    let mut once = answering(PROGRAM);
    once[2] = once[2].replace("while", "if").replace("done", "fi").replace("do", "then");
    let mut predictor = started(&once);
    let program = Program::new("");
    assert!(predictor.program(&program).is_ok());
    let outcomes: Vec<bool> = (0..4).map(|_| predictor.program(&program).is_ok()).collect();
    assert_eq!(outcomes, [false, true, false, true]);
}

/// The processes of this one that run a program, or did, and were not waited for.
fn left_over(program: &str) -> usize {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "ppid=,comm="]).output().unwrap();
    let own = std::process::id().to_string();
    let is_left = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words[0] == own && words[1].contains(program)
    };
    String::from_utf8_lossy(&listed.stdout).lines().filter(is_left).count()
}

#[test]
fn c_gets_structs_whose_names_the_predictor_keeps() {
    let words = answering(PROGRAM).map(|w| CString::new(w).unwrap());
    let command: Vec<_> = words.iter().map(|w| w.as_ptr()).chain([null()]).collect();
    let mut predictor = null_mut();
    let place = Kernel { name: null(), times: 0.0, seconds: 0.0, limit: 0.0, bytes: 0.0 };
    let mut kernels = [WithSize::new(place); 3];
    let (mut count, mut seconds) = (0, 0.0);
    let text = ProgramText { hlo: c"ENTRY".as_ptr(), length: 5, device: null(), instruction: null() };
    let program = WithSize::new(text);
    // SAFETY: words that end with a NULL, a program, places for as many kernels; the predictor is given back once.
    unsafe {
        assert_eq!(
            indexing_predictor_start(command.as_ptr(), f64::NAN, &mut predictor),
            Status::InvalidArgument
        );
        assert_eq!(indexing_predictor_start(command.as_ptr(), 0.0, &mut predictor), Status::InvalidArgument);
        assert_eq!(indexing_predictor_start(command.as_ptr(), 20.0, null_mut()), Status::InvalidArgument);
        assert_eq!(indexing_predictor_start(command.as_ptr(), 20.0, &mut predictor), Status::Ok);
        let mut ask = |program, capacity| {
            let status = indexing_predictor_program(
                predictor,
                program,
                kernels.as_mut_ptr(),
                capacity,
                &mut count,
                &mut seconds,
            );
            (status, count, seconds, kernels.map(|k| k.value.times))
        };
        assert_eq!(ask(&program, 1), (Status::Ok, 2, 3e-6, [2.0, 0.0, 0.0]));
        assert_eq!(ask(&program, 3), (Status::Ok, 2, 3e-6, [2.0, 1.0, 0.0]));
        assert_eq!(ask(null(), 3).0, Status::InvalidArgument);
        assert_eq!(ask(&WithSize { size: 8, value: text }, 3).0, Status::InvalidArgument);
        let broken = WithSize::new(ProgramText { hlo: c"\xff".as_ptr(), length: 1, ..text });
        assert_eq!(ask(&broken, 3).0, Status::InvalidArgument);
        assert_eq!(CStr::from_ptr(kernels[1].value.name), c"b");
        kernels[2].size = 1;
        let status = indexing_predictor_program(
            predictor,
            &program,
            kernels.as_mut_ptr(),
            3,
            &mut count,
            &mut seconds,
        );
        assert_eq!((status, indexing_last_error_item()), (Status::InvalidArgument, 2));
        let missing =
            indexing_predictor_program(null_mut(), &program, null_mut(), 0, &mut count, &mut seconds);
        assert_eq!(missing, Status::InvalidArgument);
        indexing_predictor_free(predictor);
        indexing_predictor_free(null_mut());
    }
}

#[test]
fn c_gets_columns_as_it_gives_them_back() {
    let words = answering(PLANS).map(|w| CString::new(w).unwrap());
    let command: Vec<_> = words.iter().map(|w| w.as_ptr()).chain([null()]).collect();
    let mut predictor = null_mut();
    let mut knobs = [WithSize::new(KnobColumn { name: null(), default_value: 0, values: null() }); 2];
    let (mut count, mut plans) = (0, 0);
    let program = WithSize::new(ProgramText {
        hlo: null(),
        length: 0,
        device: c"h100".as_ptr(),
        instruction: c"f".as_ptr(),
    });
    let mut predictions = [WithSize::new(Prediction::default()); 3];
    // SAFETY: words that end with a NULL, a program, places for as many knobs and predictions; the predictor is given back once.
    unsafe {
        assert_eq!(indexing_predictor_start(command.as_ptr(), 20.0, &mut predictor), Status::Ok);
        let status =
            indexing_predictor_knobs(predictor, &program, knobs.as_mut_ptr(), 2, &mut count, &mut plans);
        assert_eq!((status, count, plans), (Status::Ok, 2, 3));
        assert_eq!(knobs.map(|k| k.value.default_value), [128, 8]);
        let columns = std::slice::from_raw_parts(knobs[0].value.values, 6);
        assert_eq!((columns, knobs[1].value.values), (&[128, 128, 64, 8, 16, 32][..], columns[3..].as_ptr()));
        let names = knobs.map(|k| k.value.name);
        let mut ask = |count| {
            indexing_predictor_plans(
                predictor,
                &program,
                names.as_ptr(),
                2,
                columns.as_ptr(),
                count,
                predictions.as_mut_ptr(),
            )
        };
        assert_eq!(ask(3), Status::Ok);
        assert_eq!(ask(2), Status::InvalidArgument); // the answer has three plans
        assert_eq!(ask(usize::MAX), Status::InvalidArgument);
        assert_eq!(predictions.map(|p| p.value.limit), [2.0, 4.0, 0.0]);
        indexing_predictor_free(predictor);
    }
}
