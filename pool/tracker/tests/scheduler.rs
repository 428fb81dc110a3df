//! Which job runs where: turns of clients, devices that go, lie and are lost.

use fusion_pool_protocol::messages::Register;
use fusion_pool_tracker::scheduler::{DeviceId, JobId, Quotas, Refusal, Scheduler};

fn scheduler() -> Scheduler {
    Scheduler::new(Quotas { waiting: 1000, running: usize::MAX })
}

fn join(scheduler: &mut Scheduler, name: &str, key: &str) -> DeviceId {
    let says = Register { name: name.to_owned(), key: key.to_owned(), ..Register::default() };
    scheduler.join(says).unwrap().0
}

fn submit(scheduler: &mut Scheduler, client: &str) -> JobId {
    scheduler.submit(client, "k", 0, Vec::new()).unwrap().0
}

fn next(scheduler: &mut Scheduler) -> JobId {
    scheduler.assign().unwrap().0
}

#[test]
fn clients_take_turns_whoever_came_first() {
    let mut pool = scheduler();
    let device = join(&mut pool, "d", "k");
    let first: Vec<JobId> = (0..50).map(|_| submit(&mut pool, "a")).collect();
    let second: Vec<JobId> = (0..50).map(|_| submit(&mut pool, "b")).collect();
    let mut order = Vec::new();
    while let Some((job, on, _)) = pool.assign() {
        order.push(job);
        pool.end(on, job);
    }
    let turns: Vec<JobId> = first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect();
    assert_eq!(order, turns);
    assert!(pool.leave(device).is_empty());
}

#[test]
fn priorities_order_the_jobs_of_one_client() {
    let mut pool = scheduler();
    let device = join(&mut pool, "d", "k");
    let plain = submit(&mut pool, "a");
    let urgent = pool.submit("a", "k", 5, Vec::new()).unwrap().0;
    let other = submit(&mut pool, "b");
    let mut order = Vec::new();
    while let Some((job, _, _)) = pool.assign() {
        order.push(job);
        pool.end(device, job);
    }
    // It does not come before that of another client twice.
    assert_eq!(order, [urgent, other, plain]);
}

#[test]
fn quotas_bound_what_waits_and_what_runs() {
    let mut pool = Scheduler::new(Quotas { waiting: 3, running: 1 });
    join(&mut pool, "d", "k");
    join(&mut pool, "e", "k");
    for _ in 0..3 {
        submit(&mut pool, "a");
    }
    assert_eq!(pool.submit("a", "k", 0, Vec::new()), Err(Refusal::TooMany(3)));
    let (job, on, _) = pool.assign().unwrap();
    assert_eq!(pool.assign(), None);
    let other = submit(&mut pool, "b");
    assert_eq!(next(&mut pool), other);
    pool.end(on, job);
    assert!(pool.assign().is_some());
}

#[test]
fn a_key_without_devices_is_said_at_once() {
    let mut pool = scheduler();
    let said =
        |pool: &mut Scheduler, key: &str| pool.submit("a", key, 0, Vec::new()).unwrap_err().to_string();
    assert!(said(&mut pool, "k").contains("no device of key \"k\"; it has none at all"));
    let device = join(&mut pool, "d", "rpi4");
    assert!(said(&mut pool, "k").contains("no device of key \"k\"; its keys are rpi4"));
    let left_out = pool.submit("a", "rpi4", 0, vec!["d".to_owned()]).unwrap_err().to_string();
    assert!(left_out.contains("d is left out"), "{left_out}");
    let job = pool.submit("a", "rpi4", 0, Vec::new()).unwrap().0;
    let left = pool.leave(device);
    assert!(
        left.len() == 1 && left[0].0 == job && left[0].1.to_string().contains("it has none at all"),
        "{left:?}"
    );
}

#[test]
fn the_job_of_a_lost_device_runs_on_another() {
    let mut pool = scheduler();
    let first = join(&mut pool, "d", "k");
    let job = submit(&mut pool, "a");
    assert_eq!(next(&mut pool), job);
    let second = join(&mut pool, "e", "k");
    assert!(pool.leave(first).is_empty());
    assert_eq!(pool.assign(), Some((job, second, "e".to_owned())));
    // The first one is back, but was lost with it already.
    join(&mut pool, "d", "k");
    let left = pool.leave(second);
    let said = left[0].1.to_string();
    assert!(said.contains("no device of key \"k\" takes the job: d was lost with it"), "{said}");
    assert_eq!(pool.assign(), None);
}

#[test]
fn a_device_that_is_lost_again_and_again_is_set_aside() {
    let mut pool = scheduler();
    join(&mut pool, "good", "k");
    for _ in 0..3 {
        let busy = submit(&mut pool, "a");
        let (_, good, _) = pool.assign().unwrap();
        submit(&mut pool, "a");
        let bad = join(&mut pool, "bad", "k");
        let (job, on, _) = pool.assign().unwrap();
        assert_eq!(on, bad);
        assert!(pool.leave(bad).is_empty());
        pool.end(good, busy);
        assert_eq!(next(&mut pool), job);
        pool.end(good, job);
    }
    let (_, why) =
        pool.join(Register { name: "bad".to_owned(), key: "k".to_owned(), ..Register::default() }).unwrap();
    assert_eq!(why.as_deref(), Some("it was lost with 3 jobs in a row"));
}

#[test]
fn a_device_that_is_wrong_twice_is_set_aside_until_readmitted() {
    let mut pool = scheduler();
    let device = join(&mut pool, "d", "k");
    for verdict in [None, Some("it gave wrong numbers for 2 jobs".to_owned())] {
        let job = submit(&mut pool, "a");
        assert_eq!(pool.judge("a", job).unwrap_err(), Refusal::NotYours(job));
        next(&mut pool);
        pool.end(device, job);
        assert_eq!(pool.judge("b", job).unwrap_err(), Refusal::NotYours(job));
        assert_eq!(pool.judge("a", job).unwrap().0, verdict);
        assert_eq!(pool.judge("a", job).unwrap_err(), Refusal::NotYours(job));
    }
    let said = pool.submit("a", "k", 0, Vec::new()).unwrap_err().to_string();
    assert!(said.contains("d is set aside: it gave wrong numbers for 2 jobs"), "{said}");
    assert_eq!(pool.readmit("x"), Err(Refusal::NoDevice("x".to_owned())));
    pool.readmit("d").unwrap();
    submit(&mut pool, "a");
    assert!(pool.assign().is_some());
}

#[test]
fn jobs_that_nobody_wants_do_not_run_again() {
    let mut pool = scheduler();
    let device = join(&mut pool, "d", "k");
    let (running, waiting) = (submit(&mut pool, "a"), submit(&mut pool, "a"));
    next(&mut pool);
    assert_eq!((pool.cancel(waiting), pool.cancel(running)), (None, Some(device)));
    join(&mut pool, "e", "k");
    pool.leave(device);
    assert_eq!(pool.assign(), None);
    let (devices, clients) = pool.status();
    assert_eq!((devices.len(), clients.len()), (1, 0));
}

#[test]
fn names_are_of_one_device() {
    let mut pool = scheduler();
    join(&mut pool, "d", "k");
    let again = pool.join(Register { name: "d".to_owned(), key: "other".to_owned(), ..Register::default() });
    assert_eq!(again.unwrap_err(), Refusal::NameTaken("d".to_owned()));
}
