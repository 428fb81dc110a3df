//! One connection to the tracker: jobs come, one at a time; objects of them that are not here are asked for; what they give goes back.

use crate::runner::Runner;
use bytes::Bytes;
use fusion_pool_protocol::access::Connection;
use fusion_pool_protocol::check::{self, shortened};
use fusion_pool_protocol::messages::{
    Assign, Chunk, DeviceSays, Done, FromDevice, Given, Part, Register, ToDevice, TrackerSays, Work,
};
use fusion_pool_protocol::object::{Hash, Partial};
use fusion_pool_protocol::store::Store;
use std::collections::HashMap;
use std::pin::Pin;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Status;

/// A job that is here.
struct Current<'r> {
    id: u64,
    work: Work,
    /// Its objects, as far as they are here.
    objects: HashMap<Hash, Bytes>,
    partial: Option<Partial>,
    running: Option<Pin<Box<dyn Future<Output = String> + Send + 'r>>>,
    given: UnboundedReceiver<Given>,
    sender: UnboundedSender<Given>,
}

/// What a device keeps over several connections.
pub struct Session<'r, R> {
    runner: &'r R,
    store: &'r mut Store,
    queue: UnboundedSender<FromDevice>,
    current: Option<Current<'r>>,
}

enum Happened {
    Said(Result<Option<ToDevice>, Status>),
    Given(Given),
    Ended(String),
}

impl<'r, R: Runner> Session<'r, R> {
    /// Serves a connection until it ends; `welcome` gets what the tracker says at first.
    pub async fn serve(
        connection: &mut Connection,
        says: Register,
        runner: &'r R,
        store: &'r mut Store,
        mut welcome: impl FnMut(&str),
    ) -> Result<(), Status> {
        let (queue, outgoing) = unbounded_channel();
        let mut session = Session { runner, store, queue, current: None };
        session.say(DeviceSays::Register(says));
        let mut incoming = connection.serve(UnboundedReceiverStream::new(outgoing)).await?.into_inner();
        loop {
            let happened = tokio::select! {
                said = incoming.message() => Happened::Said(said),
                happened = Session::<R>::progress(&mut session.current) => happened,
            };
            match happened {
                Happened::Said(said) => match said? {
                    Some(ToDevice { says: Some(TrackerSays::Welcome(why)) }) => welcome(&why),
                    Some(said) => session.hear(said),
                    None => return Ok(()),
                },
                Happened::Given(given) => session.give(given),
                Happened::Ended(failure) => session.end(failure),
            }
        }
    }

    /// What the job that runs does next.
    async fn progress(current: &mut Option<Current<'r>>) -> Happened {
        let Some(Current { running: Some(running), given, .. }) = current else {
            return std::future::pending().await;
        };
        tokio::select! {
            biased;
            Some(given) = given.recv() => Happened::Given(given),
            failure = running => Happened::Ended(failure),
        }
    }

    fn say(&self, says: DeviceSays) {
        // Where the connection is lost, reading from it says so.
        let _ = self.queue.send(FromDevice { says: Some(says) });
    }

    fn hear(&mut self, said: ToDevice) {
        match said.says {
            Some(TrackerSays::Assign(assign)) => self.begin(assign),
            Some(TrackerSays::Object(chunk)) => self.add(&chunk),
            Some(TrackerSays::Cancel(job)) if self.current.as_ref().is_some_and(|c| c.id == job) => {
                self.end("it is not wanted any more".to_owned());
            }
            Some(TrackerSays::Cancel(_) | TrackerSays::Welcome(_)) | None => {}
        }
    }

    fn begin(&mut self, assign: Assign) {
        let work = assign.work.unwrap_or_default();
        let (sender, given) = unbounded_channel();
        let checked = check::work(&work);
        let mut objects = HashMap::new();
        for hash in work.libraries.iter().chain(&work.inputs).filter_map(|bytes| Hash::read(bytes).ok()) {
            match self.store.get(&hash) {
                Some(object) => objects.insert(hash, object),
                None => None,
            };
        }
        self.current =
            Some(Current { id: assign.job, work, objects, partial: None, running: None, given, sender });
        match checked {
            Ok(()) => self.go_on(),
            Err(why) => self.end(why),
        }
    }

    /// Asks for the next object that is missing, or runs the job.
    fn go_on(&mut self) {
        let Some(current) = &mut self.current else { return };
        let hashes = current.work.libraries.iter().chain(&current.work.inputs);
        let hashes: Vec<Hash> = hashes.filter_map(|bytes| Hash::read(bytes).ok()).collect();
        if let Some(missing) = hashes.iter().find(|hash| !current.objects.contains_key(hash)) {
            let wanted = missing.bytes();
            return self.say(DeviceSays::Want(wanted));
        }
        let objects = hashes.iter().filter_map(|hash| current.objects.get(hash).cloned()).collect();
        let runner = self.runner;
        let (work, sender) = (current.work.clone(), current.sender.clone());
        current.running = Some(Box::pin(runner.run(work, objects, sender)));
    }

    fn add(&mut self, chunk: &Chunk) {
        let most = self.store.most();
        let Some(current) = self.current.as_mut().filter(|current| current.running.is_none()) else { return };
        let mut partial = match current.partial.take() {
            Some(partial) => Ok(partial),
            None => Partial::begin(chunk, most),
        };
        match partial.as_mut().map_err(|why| why.clone()).and_then(|partial| partial.add(chunk)) {
            Ok(Some((hash, object))) => {
                current.objects.insert(hash, object.clone());
                self.store.put(hash, object);
                self.go_on();
            }
            Ok(None) => current.partial = partial.ok(),
            Err(why) => self.end(why),
        }
    }

    fn give(&self, given: Given) {
        if let Some(current) = &self.current {
            self.say(DeviceSays::Part(Part { job: current.id, given: Some(given) }));
        }
    }

    /// Ends the job: what ran of it does not run any more.
    fn end(&mut self, failure: String) {
        while let Some(given) = self.current.as_mut().and_then(|current| current.given.try_recv().ok()) {
            self.give(given);
        }
        self.give(Given::Done(Done { failure: shortened(&failure) }));
        self.current = None;
    }
}
