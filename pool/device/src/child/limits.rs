//! What a process gives up before it loads what others sent: memory, time, files, the network, other processes.
//!
//! Two of the kernel's means, each of which is enough for files and the network: seccomp leaves few system calls, landlock denies what the rest
//! could reach. Resource limits bound the rest. What is not to be had is said, in the name of the sandbox.

use clap::Args;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use std::io;

/// The sandbox of a kernel that has none begins with it.
pub const NO_SANDBOX: &str = "none";

/// What a job may take.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// Bytes of memory, besides what the process has already.
    #[arg(long, default_value_t = 1 << 32)]
    memory: u64,

    /// Seconds.
    #[arg(long, default_value_t = 600)]
    seconds: u64,

    /// Go on without a sandbox.
    #[arg(long)]
    without_sandbox: bool,

    /// Only say what the sandbox is.
    #[arg(long)]
    probe: bool,
}

impl Limits {
    /// Whether only the sandbox is asked for.
    pub fn is_probe(&self) -> bool {
        self.probe
    }

    /// Gives up all that a job does not need; says by what means.
    pub fn apply(&self) -> io::Result<String> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        let own = own_memory();
        // The clock of the device ends a job; this is for one that outlives its device.
        let busy = self.seconds.saturating_mul(processors).saturating_add(10);
        for (resource, most) in [
            (Resource::As, self.memory.saturating_add(own)),
            (Resource::Cpu, busy),
            (Resource::Fsize, 0),
            (Resource::Core, 0),
        ] {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        let means: Vec<&str> = [landlock(), seccomp()].into_iter().flatten().collect();
        match means.is_empty() {
            false => Ok(means.join(" and ")),
            true if self.without_sandbox || self.probe => {
                Ok(format!("{NO_SANDBOX}: this kernel has neither landlock nor seccomp"))
            }
            true => Err(io::Error::other("this kernel has neither landlock nor seccomp")),
        }
    }
}

/// Bytes of memory that this process has addresses for.
fn own_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages.saturating_mul(rustix::param::page_size() as u64)
}

/// No file may be opened, made or executed, no port bound or connected to, no signal sent to others.
fn landlock() -> Option<&'static str> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope,
    };
    let rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let rules = rules.handle_access(AccessFs::from_all(ABI::V6)).ok()?;
    let rules = rules.handle_access(AccessNet::from_all(ABI::V6)).ok()?;
    let rules = rules.scope(Scope::from_all(ABI::V6)).ok()?;
    match rules.create().ok()?.restrict_self().ok()?.ruleset {
        RulesetStatus::FullyEnforced => Some("landlock"),
        RulesetStatus::PartiallyEnforced => Some("landlock (in part)"),
        RulesetStatus::NotEnforced => None,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
fn seccomp() -> Option<&'static str> {
    None
}

/// What is left: memory, threads, waiting, clocks, and what is open already.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
fn seccomp() -> Option<&'static str> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, apply_filter,
    };
    let always = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getcpu,
        libc::SYS_membarrier,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_gettid,
        libc::SYS_clone3,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_getrandom,
    ];
    let thread = libc::CLONE_THREAD as u64;
    let is_thread =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), thread).ok()?;
    let threads = (libc::SYS_clone, vec![SeccompRule::new(vec![is_thread]).ok()?]);
    let arch = std::env::consts::ARCH.try_into().ok()?;
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let rules = always.into_iter().map(|call| (call, vec![])).chain([threads]).collect();
    let all: BpfProgram =
        SeccompFilter::new(rules, denied, SeccompAction::Allow, arch).ok()?.try_into().ok()?;
    // What the flags of clone3 are cannot be seen; C libraries take clone where it is missing.
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    let rules = [(libc::SYS_clone3, vec![])].into_iter().collect();
    let clone3: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, missing, arch).ok()?.try_into().ok()?;
    apply_filter(&clone3).ok()?;
    apply_filter(&all).ok()?;
    Some("seccomp")
}
