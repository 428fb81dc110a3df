//! Running cases in processes of their own, some at a time, so that none can take the others down.

use super::Verdict;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What of a process's output is kept: its end.
const KEPT: usize = 64 << 10;

/// Runs the command of each of `count` cases, `jobs` at a time, and gives the verdicts to `done`
/// in the order of the cases.
pub fn run(
    count: usize,
    jobs: usize,
    timeout: Duration,
    command: impl Fn(usize) -> Command + Sync,
    mut done: impl FnMut(usize, Verdict),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, count.max(1)) {
            let (sender, next, command) = (sender.clone(), &next, &command);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count || sender.send((i, run_one(command(i), timeout))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting: Vec<Option<Verdict>> = vec![None; count];
        let mut first = 0;
        for (i, verdict) in receiver {
            waiting[i] = Some(verdict);
            while let Some(verdict) = waiting.get_mut(first).and_then(Option::take) {
                done(first, verdict);
                first += 1;
            }
        }
    });
}

/// Runs a process that prints its verdict as JSON on its last line.
pub fn run_one(mut command: Command, timeout: Duration) -> Verdict {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => return Verdict::Fail(format!("its process could not be started: {e}")),
    };
    let (out, err) = (Tail::of(child.stdout.take()), Tail::of(child.stderr.take()));
    let status = match wait(&mut child, timeout) {
        Ok(Some(status)) => status,
        Ok(None) => return Verdict::Fail(format!("it took more than {} s", timeout.as_secs_f64())),
        Err(e) => return Verdict::Fail(format!("its process was lost: {e}")),
    };
    let verdict = out.text().lines().last().and_then(|line| serde_json::from_str(line).ok());
    verdict.unwrap_or_else(|| Verdict::Fail(crashed(status, &err.text())))
}

fn crashed(status: ExitStatus, said: &str) -> String {
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:"));
    match last {
        Some(last) => format!("it crashed ({status}): {last}"),
        None => format!("it crashed ({status})"),
    }
}

/// Waits for the end, or kills the process when time is up.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The end of what a process prints, read so that the process never waits for it.
struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Tail {
    fn of(stream: Option<impl Read + Send + 'static>) -> Tail {
        let kept = Arc::new(Mutex::new(vec![]));
        let shared = kept.clone();
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            let Some(mut stream) = stream else { return };
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                let Ok(mut kept) = shared.lock() else { return };
                kept.extend_from_slice(&buffer[..n]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
        });
        Tail { kept, reader }
    }

    fn text(&self) -> String {
        // What the process itself printed is there at once; a process it left behind may keep the
        // stream open for as long as it likes.
        let start = Instant::now();
        while !self.reader.is_finished() && start.elapsed() < Duration::from_secs(1) {
            thread::sleep(Duration::from_millis(1));
        }
        self.kept.lock().map(|kept| String::from_utf8_lossy(&kept).into_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(scripts: &[&str], timeout: Duration) -> Vec<Verdict> {
        let mut all = vec![];
        let command = |i: usize| {
            let mut command = Command::new("sh");
            command.args(["-c", scripts[i]]);
            command
        };
        run(scripts.len(), 3, timeout, command, |i, verdict| {
            assert_eq!(i, all.len());
            all.push(verdict);
        });
        all
    }

    #[test]
    fn crashes_and_hangs_do_not_end_the_run() {
        let all = verdicts(
            &[
                r#"sleep 0.2; echo noise; echo '{"verdict":"pass"}'"#,
                "echo oops >&2; echo note: ignore me >&2; kill -SEGV $$",
                "exec sleep 100",
                r#"yes | head -c 1000000; echo; echo '{"verdict":"fail","why":"wrong"}'"#,
                r#"echo '{"verdict":"unsupported","why":"Foo"}'; exit 1"#,
                "exit 7",
            ],
            Duration::from_secs(2),
        );
        let fail = |why: &str| Verdict::Fail(why.to_owned());
        assert_eq!(all[0], Verdict::Pass);
        assert!(matches!(&all[1], Verdict::Fail(why) if why.contains("SIGSEGV") && why.ends_with(": oops")));
        assert_eq!(all[2], fail("it took more than 2 s"));
        assert_eq!(all[3], fail("wrong"));
        assert_eq!(all[4], Verdict::Unsupported("Foo".to_owned()));
        assert_eq!(all[5], fail("it crashed (exit status: 7)"));
    }

    #[test]
    fn what_cannot_start_fails() {
        let verdict = run_one(Command::new("/no/such/program"), Duration::from_secs(1));
        assert!(matches!(verdict, Verdict::Fail(why) if why.starts_with("its process could not be started")));
        assert_eq!(verdicts(&[], Duration::from_secs(1)), []);
    }
}
