//! Four devices, of which one hangs, one crashes, one lies and one is slow, and 200 jobs of two clients.

use crate::common::*;
use fusion_pool_client::{Checked, ask, checked};
use fusion_pool_protocol::messages::{DeviceName, DeviceStatus};
use fusion_pool_tracker::Options;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn named<'s>(devices: &'s [DeviceStatus], name: &str) -> &'s DeviceStatus {
    devices.iter().find(|device| device.device.as_ref().is_some_and(|says| says.name == name)).unwrap()
}

#[tokio::test]
async fn no_job_is_lost_and_none_is_wrong_whatever_devices_do() {
    let address = tracker(&Options { grace: Duration::from_millis(200), ..Options::on(own()) }).await;
    for (name, kind) in
        [("hangs", Kind::Hangs), ("crashes", Kind::Crashes), ("lies", Kind::Lies), ("slow", Kind::Slow)]
    {
        device(&address, name, kind);
    }
    until(&address, |status| status.devices.len() == 4).await;
    let order = Arc::new(Mutex::new(Vec::new()));
    let clients = [("a", client(&address, "a").await), ("b", client(&address, "b").await)];
    let mut jobs = Vec::new();
    for number in 0..200_u32 {
        let ((name, mut connection), order) = (clients[number as usize / 100].clone(), order.clone());
        jobs.push(tokio::spawn(async move {
            let bytes = number.to_le_bytes();
            let check = move |outcome: &_| is_doubled(outcome, &bytes);
            let how = Checked { check: &check, is_known: false };
            let done = checked(&mut connection, task(&bytes), how).await;
            order.lock().unwrap().push(name);
            done.unwrap()
        }));
    }
    for job in jobs {
        let (outcome, right) = job.await.unwrap();
        assert_eq!((right, outcome.device.as_str()), (Ok(()), "slow"));
    }
    // Those who ask for half each get half each, as long as both want any.
    let first = order.lock().unwrap().iter().take(100).filter(|name| **name == "a").count();
    assert!((35..=65).contains(&first), "{first} of the first hundred");
    let devices = status(&address).await.devices;
    assert!(named(&devices, "lies").set_aside.contains("it gave wrong numbers for"), "{devices:?}");
    let slow = named(&devices, "slow");
    assert!(slow.set_aside.is_empty() && slow.done == 200 && slow.wrong == 0, "{slow:?}");
    // Either is set aside, or was lost and has not come again yet.
    let is_lost = |name: &str| {
        let says = |device: &&DeviceStatus| device.device.as_ref().is_some_and(|says| says.name == name);
        devices.iter().find(says).is_none_or(|device| device.lost > 0 && device.done == 0)
    };
    assert!(is_lost("hangs") && is_lost("crashes"), "{devices:?}");
}

#[tokio::test]
async fn a_lonely_liar_is_found_out_by_what_is_known() {
    let address = tracker(&Options::on(own())).await;
    device(&address, "lies", Kind::Lies);
    until(&address, |status| status.devices.len() == 1).await;
    let mut connection = client(&address, "a").await;
    for is_known in [false, true, true] {
        let check = |outcome: &_| is_doubled(outcome, &[1, 2]);
        let done = checked(&mut connection, task(&[1, 2]), Checked { check: &check, is_known }).await;
        assert!(done.unwrap().1.is_err());
    }
    let why = ask(&mut connection, &task(&[1])).await.unwrap_err();
    assert!(why.is_without_device(), "{why}");
    assert!(why.to_string().contains("lies is set aside: it gave wrong numbers for 2 jobs"), "{why}");
    connection.readmit(DeviceName { name: "lies".to_owned() }).await.unwrap();
    ask(&mut connection, &task(&[1])).await.unwrap();
}

#[tokio::test]
async fn a_library_that_is_wrong_everywhere_is_no_fault_of_devices() {
    let address = tracker(&Options::on(own())).await;
    device(&address, "one", Kind::Good);
    device(&address, "two", Kind::Good);
    until(&address, |status| status.devices.len() == 2).await;
    let mut connection = client(&address, "a").await;
    for _ in 0..3 {
        let check = |_: &_| Err("it is never right".to_owned());
        let done =
            checked(&mut connection, task(&[3]), Checked { check: &check, is_known: false }).await.unwrap();
        assert_eq!(done.1, Err("it is never right".to_owned()));
    }
    assert!(status(&address).await.devices.iter().all(|device| device.wrong == 0));
}

#[tokio::test]
async fn without_a_device_a_job_ends_at_once() {
    // The pool would wait for a day.
    let address = tracker(&Options { grace: Duration::from_secs(86_400), ..Options::on(own()) }).await;
    let mut connection = client(&address, "a").await;
    let why = ask(&mut connection, &task(&[1])).await.unwrap_err();
    assert!(why.to_string().contains("the pool has no device of key \"k\"; it has none at all"), "{why}");
    // Its device goes while it waits, and so do two that wait behind it.
    let only = device_once(&address, "only", Doubles(Kind::Hangs));
    until(&address, |status| status.devices.len() == 1).await;
    let waits: Vec<_> = (0..3_u8)
        .map(|number| {
            let mut connection = connection.clone();
            tokio::spawn(async move { ask(&mut connection, &task(&[number])).await })
        })
        .collect();
    until(&address, |status| status.clients.iter().any(|client| client.waiting == 2)).await;
    only.abort();
    for wait in waits {
        let why = wait.await.unwrap().unwrap_err();
        assert!(why.is_without_device() && why.to_string().contains("it has none at all"), "{why}");
    }
}

#[tokio::test]
async fn what_nobody_waits_for_is_taken_off_its_device() {
    let address = tracker(&Options { grace: Duration::from_secs(86_400), ..Options::on(own()) }).await;
    let _device = device_once(&address, "d", Doubles(Kind::Hangs));
    until(&address, |status| status.devices.len() == 1).await;
    let mut connection = client(&address, "a").await;
    let waits = tokio::spawn(async move { ask(&mut connection, &task(&[1])).await });
    until(&address, |status| status.devices[0].busy).await;
    waits.abort();
    until(&address, |status| !status.devices[0].busy && status.clients.is_empty()).await;
    assert_eq!(status(&address).await.devices[0].lost, 0);
}

/// Passes on what two ends say; counts the bytes that go back to who connects.
async fn passes_on(to: String, counted: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind(own()).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (mut from_near, mut to_near) = near.into_split();
            let (mut from_far, mut to_far) = TcpStream::connect(&to).await.unwrap().into_split();
            let counted = counted.clone();
            tokio::spawn(async move { tokio::io::copy(&mut from_near, &mut to_far).await });
            tokio::spawn(async move {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(count @ 1..) = from_far.read(&mut bytes).await {
                    counted.fetch_add(count, Ordering::Relaxed);
                    to_near.write_all(&bytes[..count]).await.unwrap();
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn objects_are_sent_to_a_device_once() {
    let address = tracker(&Options::on(own())).await;
    let counted = Arc::new(AtomicUsize::new(0));
    let near = passes_on(address.clone(), counted.clone()).await;
    let _device = device_once(&near, "d", Doubles(Kind::Good));
    until(&address, |status| status.devices.len() == 1).await;
    let mut connection = client(&address, "a").await;
    // Several messages, and not a whole number of them.
    let bytes: Vec<u8> = (0..2_500_000_u32).map(|i| i as u8).collect();
    let mut task = task(&bytes);
    task.job.work.as_mut().unwrap().timeout_ms = 60_000;
    for most in [2_600_000, 50_000, 50_000] {
        let before = counted.load(Ordering::Relaxed);
        let outcome = ask(&mut connection, &task).await.unwrap();
        is_doubled(&outcome, &bytes).unwrap();
        let sent = counted.load(Ordering::Relaxed) - before;
        assert!(sent < most, "{sent}");
    }
    assert!(counted.load(Ordering::Relaxed) > bytes.len());
}
