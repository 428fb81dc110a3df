//! What a job may do: real libraries in real processes, of which some crash, hang, take all memory, or reach for what is not theirs.

use crate::common::*;
use bytes::Bytes;
use fusion_pool_client::{Task, ask};
use fusion_pool_device::runner::{Processes, here};
use fusion_pool_protocol::messages::{Timing, Work};
use fusion_pool_tracker::Options;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A library whose function has this body: of four floats `x` it makes four floats `y`.
pub fn library(directory: &Path, body: &str) -> Bytes {
    let source = format!(
        "#define _GNU_SOURCE
         #include <sys/syscall.h>
         #include <stdint.h>
         extern long syscall(long, ...); extern void *malloc(unsigned long); extern double exp(double); extern char *getenv(const char *);
         extern int pthread_create(uintptr_t *, const void *, void *(*)(void *), void *), pthread_join(uintptr_t, void **);
         extern int puts(const char *); extern void *memset(void *, int, unsigned long);
         const uint32_t fusion_abi_version = 1; const uint64_t fusion_workspace_bytes = 64; const char fusion_model_json[] = \"{{}}\";
         static int threads; static float table[4] = {{1, 2, 3, 4}}; static float *pointer = table + 1;
         void fusion_set_threads(int n) {{ threads = n; }}
         const char *fusion_last_error(void) {{ return \"it does not want to\"; }}
         static void *fill(void *y) {{ for (int i = 0; i < 4; i++) ((float *)y)[i] = 7; return y; }}
         int fusion_run(const void *const *in, void *const *out, void *workspace) {{
           const float *x = in[0]; float *y = out[0]; memset(workspace, 1, 64); (void)x; (void)y;
           {body}
         }}"
    );
    let (file, library) = (directory.join("k.c"), directory.join("k.so"));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).arg(&library).arg(&file).arg("-lm");
    assert!(compiler.status().expect("a C compiler").success(), "{body}");
    std::fs::read(library).unwrap().into()
}

fn processes() -> Processes {
    Processes {
        command: vec![env!("CARGO_BIN_EXE_fusion-device").into(), "child".into()],
        memory_bytes: 256 << 20,
        most: Duration::from_secs(60),
        without_sandbox: false,
    }
}

fn work() -> Work {
    Work { output_bytes: vec![16], timeout_ms: 20_000, wants_outputs: true, threads: 1, ..Work::default() }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// What becomes of four floats, 1 to 4.
fn run(body: &str, work: Work) -> Result<(Vec<f32>, Vec<u64>), String> {
    let directory = tempfile::tempdir().unwrap();
    let input: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let task = Task::new("k", &[library(directory.path(), body)], &[input.clone().into()], work);
    let work = task.job.work.unwrap();
    let (answers, outputs) = here(&processes(), &work, &[library(directory.path(), body)], &[input.into()])?;
    answers.into_iter().next().unwrap().map(|times| (floats(&outputs[0][0]), times))
}

#[test]
fn libraries_run_from_memory() {
    let doubles = "for (int i = 0; i < 4; i++) y[i] = 2 * x[i]; return 0;";
    assert_eq!(run(doubles, work()).unwrap(), (vec![2.0, 4.0, 6.0, 8.0], vec![]));
    // What is an address in its constants, its own variables, and a function of the C library.
    let more =
        "y[0] = *pointer; y[1] = threads; y[2] = exp(x[0] - 1); y[3] = getenv(\"PATH\") == 0; return 0;";
    assert_eq!(run(more, Work { threads: 3, ..work() }).unwrap().0, [2.0, 3.0, 1.0, 1.0]);
    let threaded = "uintptr_t t; if (pthread_create(&t, 0, fill, y)) return 1; pthread_join(t, 0); return 0;";
    assert_eq!(run(threaded, work()).unwrap().0, [7.0; 4]);
    let timing = Timing { warm_up: 1, least_ns: 100_000, samples: 5, most_ns: 0, turns: 2 };
    let (_, times) = run(doubles, Work { timing: Some(timing), ..work() }).unwrap();
    assert!(times.len() == 10 && times.iter().all(|time| *time > 0), "{times:?}");
}

#[test]
fn libraries_that_fail_say_why() {
    for (body, said) in [
        ("return 3;", "it does not want to"),
        ("*(volatile int *)8 = 1; return 0;", "it crashed (signal: 11"),
        ("for (volatile int i = 0;; i++); return 0;", "it took more than 1 s"),
        ("puts(\"hello\"); return 0;", "it uses puts, which devices of a pool do not have"),
        ("syscall(SYS_write, 1, \"\\377\\377\\377\\377 hello\", 10); return 0;", "its process said nonsense"),
        ("syscall(SYS_write, 1, \"\\2\\0\\0\\0\\0\\0\", 6); return 0;", "its process said nonsense"),
        ("syscall(SYS_exit_group, 0); return 0;", "it crashed (exit status: 0)"),
    ] {
        let why = run(body, Work { timeout_ms: 1000, ..work() }).unwrap_err();
        assert!(why.contains(said), "{body}: {why}");
    }
    let none = here(&processes(), &work_of(b"\x7fELF"), &[Bytes::from_static(b"\x7fELF")], &[]).unwrap();
    assert!(none.0[0].as_ref().unwrap_err().contains("it is no shared library"), "{none:?}");
}

fn work_of(library: &'static [u8]) -> Work {
    Task::new("k", &[Bytes::from_static(library)], &[], work()).job.work.unwrap()
}

#[test]
fn jobs_reach_nothing_that_is_not_theirs() {
    let is_denied = |call: &str| format!("y[0] = syscall({call}) < 0; y[1] = y[2] = y[3] = 0; return 0;");
    for call in [
        "SYS_openat, -100, \"/etc/passwd\", 0, 0",
        "SYS_openat, -100, \"/tmp/made-by-a-job\", 0101, 0600",
        "SYS_openat, -100, \"/proc/self/mem\", 2, 0",
        "SYS_socket, 2, 1, 0",
        "SYS_socket, 1, 1, 0",
        "SYS_clone, 17, 0, 0, 0, 0",
        "SYS_execve, \"/bin/true\", 0, 0",
        "SYS_kill, 1, 0",
        "SYS_prctl, 1, 0, 0, 0, 0",
        "SYS_ptrace, 0, 0, 0, 0",
        "SYS_setrlimit, 9, 0",
        "SYS_unlinkat, -100, \"/tmp/none\", 0",
    ] {
        let given = run(&is_denied(call), work()).map(|(floats, _)| floats[0]);
        assert_eq!(given, Ok(1.0), "{call}");
    }
    assert!(!Path::new("/tmp/made-by-a-job").exists());
    let hungry = "unsigned long all = 0; char *p; while ((p = malloc(1 << 20)) && all < 4096) { memset(p, 1, 1 << 20); all++; } y[0] = all; return 0;";
    let megabytes = run(hungry, work()).unwrap().0[0];
    assert!(megabytes > 10.0 && megabytes <= 256.0, "{megabytes}");
}

/// The processes that this one started, with their states.
fn children(of: u32) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stat = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (number, rest) = (text.split(' ').next()?.parse().ok()?, text.rsplit_once(") ")?.1.to_owned());
        let mut words = rest.split(' ');
        let state = words.next()?.to_owned();
        (words.next()?.parse() == Ok(of)).then_some((number, state))
    };
    processes.filter_map(stat).collect()
}

fn is_gone(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z')))
}

#[tokio::test]
async fn a_device_leaves_no_process_behind() {
    let directory = tempfile::tempdir().unwrap();
    let hangs = library(directory.path(), "for (volatile int i = 0;; i++); return 0;");
    let address = tracker(&Options::on(own())).await;
    let mut device = Command::new(env!("CARGO_BIN_EXE_fusion-device"))
        .args(["serve", "--pool", &address, "--key", "k", "--target", "cpu", "--name", "real"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(&address, |status| status.devices.len() == 1).await;
    let says = status(&address).await.devices[0].device.clone().unwrap();
    assert!(!says.sandbox.is_empty(), "{says:?}");
    let mut connection = client(&address, "a").await;
    let task = Task::new("k", &[hangs], &[vec![0; 16].into()], work());
    let begin = async |connection: &fusion_pool_protocol::access::Connection| {
        let (mut connection, task) = (connection.clone(), task.clone());
        let job = tokio::spawn(async move { ask(&mut connection, &task).await });
        loop {
            if let [(child, _)] = children(device.id())[..] {
                return (job, child);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let wait_for = async |is_so: &dyn Fn() -> bool| {
        for _ in 0..3000 {
            if is_so() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("a process stays");
    };
    // A job that nobody waits for any more, and one that takes too long.
    let (job, _) = begin(&connection).await;
    job.abort();
    wait_for(&|| children(device.id()).is_empty()).await;
    let mut short = task.clone();
    short.job.work.as_mut().unwrap().timeout_ms = 300;
    let outcome = ask(&mut connection, &short).await.unwrap();
    assert_eq!(outcome.answers, [Err("it took more than 0.3 s".to_owned())]);
    wait_for(&|| children(device.id()).is_empty()).await;
    // A device that is killed takes its job with it.
    let (job, child) = begin(&connection).await;
    device.kill().unwrap();
    device.wait().unwrap();
    wait_for(&|| is_gone(child)).await;
    assert!(job.await.unwrap().unwrap_err().is_without_device());
}
