//! Predictions for HLO text. The Python package plans and counts a program's kernels: `indexing serve`, a process of its own,
//! which answers requests in JSON.

use crate::status::{Failure, Status};
use crate::worker::Worker;
use indexing_core::{Prediction, LIMITS};
use serde_json::{json, Map, Value};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

/// The process that predicts. One that ended or took too long is replaced at the next question.
pub struct Predictor {
    command: Vec<OsString>,
    limit: Duration,
    worker: Option<Worker>,
}

/// The program that a question is about: HLO text, the device's name (None: that of this machine), and an instruction (None:
/// the entry computation).
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    hlo: &'a str,
    device: Option<&'a str>,
    instruction: Option<&'a str>,
}

impl<'a> Program<'a> {
    /// All of a program, on this machine's device.
    pub fn new(hlo: &'a str) -> Self {
        Program { hlo, device: None, instruction: None }
    }

    /// The same on a device, such as "h100".
    pub fn on(self, device: impl Into<Option<&'a str>>) -> Self {
        Program { device: device.into(), ..self }
    }

    /// Only this instruction of it, which may be a fusion.
    pub fn only(self, instruction: impl Into<Option<&'a str>>) -> Self {
        Program { instruction: instruction.into(), ..self }
    }
}

/// The times of a program's kernels.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct ProgramTimes {
    /// Seconds of the program, launches included.
    pub seconds: f64,
    /// The kernels, the one that loses most time first.
    pub kernels: Vec<KernelTime>,
}

/// The time of a kernel, in all its runs.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct KernelTime {
    /// The instruction that it computes.
    pub name: String,
    /// Runs.
    pub times: f64,
    /// Seconds; not a number where the time is not modelled.
    pub seconds: f64,
    /// The largest part of it, by its number in [`LIMITS`]; -1 where the time is not modelled.
    pub limit: f64,
    /// Bytes that it moves.
    pub bytes: f64,
}

/// A knob of a fusion's kernel.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// The value that it has where none is given.
    pub default: i64,
    /// Its value in each plan of the grid, all of which are legal.
    pub values: Vec<i64>,
}

impl Predictor {
    /// Begins the process: a command and its arguments, such as `["indexing", "serve"]`, or `["/opt/venv/bin/python", "-m",
    /// "indexing", "serve"]`. Each answer, the first with the process's start, may take so long.
    pub fn start<Word: AsRef<OsStr>>(command: &[Word], limit: Duration) -> Result<Self, Failure> {
        let command: Vec<OsString> = command.iter().map(|word| word.as_ref().to_owned()).collect();
        let worker = Some(Worker::start(&command)?);
        Ok(Predictor { command, limit, worker })
    }

    /// The times of a program's kernels: XLA's fusions, or, of a program before XLA's optimization, those that the package plans.
    pub fn program(&mut self, program: &Program<'_>) -> Result<ProgramTimes, Failure> {
        let answer = self.ask(program, Value::Null)?;
        let kernel = |row: &Value| {
            Some(KernelTime {
                name: row["kernel"].as_str()?.to_owned(),
                times: row["times"].as_f64()?,
                seconds: row["seconds"].as_f64().unwrap_or(f64::NAN),
                limit: limit_of(&row["limit"]),
                bytes: row["bytes"].as_f64()?,
            })
        };
        let rows = || answer["fusions"].as_array()?.iter().map(kernel).collect();
        let seconds = answer["seconds"].as_f64();
        seconds.zip(rows()).map(|(seconds, kernels)| ProgramTimes { seconds, kernels }).ok_or_else(unexpected)
    }

    /// The knobs of the kernel that computes a fusion, or all of an entry computation.
    pub fn knobs(&mut self, program: &Program<'_>) -> Result<Vec<Knob>, Failure> {
        let answer = self.ask(program, json!("grid"))?;
        let knob = |(name, default): (&String, &Value)| {
            let values =
                answer["plans"][name].as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?;
            Some(Knob { name: name.clone(), default: default.as_i64()?, values })
        };
        let defaults = answer["default"].as_object().ok_or_else(unexpected)?;
        defaults.iter().map(knob).collect::<Option<_>>().ok_or_else(unexpected)
    }

    /// The predictions for plans of that kernel: columns of values, of one length, by the knobs' names. Others have their defaults.
    pub fn plans(
        &mut self,
        program: &Program<'_>,
        columns: &[(&str, &[i64])],
    ) -> Result<Vec<Prediction>, Failure> {
        let is_repeated = |k: usize| columns[..k].iter().any(|(name, _)| *name == columns[k].0);
        if let Some(k) = (0..columns.len()).find(|&k| is_repeated(k)) {
            return Err(Failure::argument(&format!("the knob {} is given twice", columns[k].0)));
        }
        let plans: Map<String, Value> =
            columns.iter().map(|(name, values)| ((*name).to_owned(), json!(values))).collect();
        let answer = self.ask(program, Value::Object(plans))?;
        let figure = |name: &str, k: usize| answer[name][k].as_f64();
        let prediction = |k: usize| {
            Prediction::default().with(|p| {
                p.resident = figure("resident_blocks", k).unwrap_or(f64::NAN);
                p.occupancy = figure("occupancy", k).unwrap_or(f64::NAN);
                p.waves = figure("waves", k).unwrap_or(f64::INFINITY);
                p.time = figure("seconds", k).unwrap_or(f64::INFINITY);
                p.limit = limit_of(&answer["limit"][k]);
            })
        };
        let count = answer["limit"].as_array().ok_or_else(unexpected)?.len();
        Ok((0..count).map(prediction).collect())
    }

    /// The answer for a request. After a failure of the process, there is none left; what is wrong with a request leaves it.
    fn ask(&mut self, program: &Program<'_>, plans: Value) -> Result<Value, Failure> {
        let Program { hlo, device, instruction } = *program;
        let request = json!({"hlo": hlo, "device": device, "instruction": instruction, "plans": plans});
        let mut worker = self.worker.take().map_or_else(|| Worker::start(&self.command), Ok)?;
        let line = worker.ask(format!("{request}\n"), self.limit)?;
        let answer: Value = serde_json::from_str(&line).map_err(|_| unexpected())?;
        self.worker = Some(worker);
        match answer["error"].as_str() {
            None => Ok(answer),
            Some(message) => Err(refused(hlo, message, &answer)),
        }
    }
}

fn unexpected() -> Failure {
    Failure::worker(
        "the worker's answer is not one of `indexing serve`: is its command that of this version?",
    )
}

/// The failure that an answer states.
fn refused(hlo: &str, message: &str, answer: &Value) -> Failure {
    let status = match answer["kind"].as_str() {
        Some("parse-error") => Status::Parse,
        Some("overflow") => Status::Overflow,
        Some("invalid-map") => Status::InvalidMap,
        Some("unsupported-op" | "undecided") => Status::Unsupported,
        Some("internal") => Status::Internal,
        _ => Status::InvalidArgument,
    };
    let place = answer["line"].as_u64().zip(answer["column"].as_u64());
    Failure::of_text(status, message, place.and_then(|(line, column)| offset_of(hlo, line, column)))
}

/// The byte at a line and a column, both from 1.
fn offset_of(text: &str, line: u64, column: u64) -> Option<usize> {
    let (line, column) =
        (usize::try_from(line.checked_sub(1)?).ok()?, usize::try_from(column.checked_sub(1)?).ok()?);
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let rest = &text[start..];
    Some(start + rest.char_indices().nth(column).map_or(rest.len(), |(offset, _)| offset))
}

fn limit_of(name: &Value) -> f64 {
    let place = LIMITS.iter().position(|limit| name.as_str() == Some(limit));
    place.map_or(-1.0, |k| k as f64)
}
