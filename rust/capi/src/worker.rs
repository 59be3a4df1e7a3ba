//! A process that answers lines by lines, each within a time.

use crate::status::Failure;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Builder};
use std::time::Duration;

/// A process that closed its output is asked for its exit status so often, with pauses.
const QUESTIONS: usize = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// The process; it is killed, and its exit status taken, when this is dropped.
pub struct Worker {
    name: String,
    child: Child,
    requests: Sender<String>,
    answers: Receiver<String>,
}

impl Worker {
    /// Begins the process, by its program and arguments; no shell reads them.
    pub fn start(command: &[OsString]) -> Result<Self, Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::argument("the worker's command has no words"))?;
        let name = command.join(" ".as_ref()).to_string_lossy().into_owned();
        let failed = |error| Failure::worker(&format!("the worker `{name}` can't start: {error}"));
        let piped =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = piped.map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let ((requests, to_write), (to_read, answers)) = (channel(), channel());
        let worker = Worker { name: name.clone(), child, requests, answers };
        run_apart(move || write_all(to_write, input)).map_err(failed)?;
        run_apart(move || read_all(output, to_read)).map_err(failed)?;
        Ok(worker)
    }

    /// The line that answers a line. After a failure, the worker is of no more use: its answer may be to come.
    pub fn ask(&mut self, line: String, limit: Duration) -> Result<String, Failure> {
        let late = self.requests.send(line).is_ok().then(|| self.answers.recv_timeout(limit));
        let problem = match late {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(RecvTimeoutError::Timeout)) => {
                format!("gave no answer within {} s", limit.as_secs_f64())
            }
            _ => match self.exit_status() {
                Some(status) => format!("ended ({status}) before it answered; standard error may say why"),
                None => "closed its output before it answered".to_owned(),
            },
        };
        Err(Failure::worker(&format!("the worker `{}` {problem}", self.name)))
    }

    fn exit_status(&mut self) -> Option<ExitStatus> {
        (0..QUESTIONS).find_map(|_| {
            let status = self.child.try_wait().ok().flatten();
            status.is_none().then(|| thread::sleep(PAUSE));
            status
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail for a process that has ended and been waited for; there is nothing left to do then.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Run `work` in a thread that takes no signal of the program, and none for a pipe that a dead process has closed.
fn run_apart(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let blocked = move || {
        #[cfg(unix)]
        // SAFETY: the set is made here; the mask is that of this thread alone.
        unsafe {
            let mut all = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
        }
        work();
    };
    Builder::new().name("indexing-worker".to_owned()).spawn(blocked).map(drop)
}

/// Write lines as they come, until there are no more or nobody reads them.
fn write_all(lines: Receiver<String>, input: Option<impl Write>) {
    let Some(mut input) = input else { return };
    for line in lines {
        if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

/// Pass on lines as they come, until the process closes its output.
fn read_all(output: Option<impl Read>, lines: Sender<String>) {
    let Some(output) = output else { return };
    for line in BufReader::new(output).lines() {
        if line.map(|line| lines.send(line)).is_err() {
            return;
        }
    }
}
