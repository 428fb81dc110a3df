//! What the calls share: devices that are connected, jobs that clients wait for, objects. Under one lock, and never while anything is waited
//! for; what goes out goes into queues, whose lengths what was asked for bounds.

use crate::scheduler::{DeviceId, Hopeless, JobId, Quotas, Refusal, Scheduler};
use bytes::Bytes;
use fusion_pool_protocol::check::Progress;
use fusion_pool_protocol::messages::{
    Assign, Done, Event, Given, Happened, Job, Part, PoolStatus, Register, Started, ToDevice, TrackerSays,
    Work,
};
use fusion_pool_protocol::object::{Hash, chunks};
use fusion_pool_protocol::store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;
use tonic::Status;

/// A queue to a client or a device.
pub type Queue<T> = UnboundedSender<Result<T, Status>>;

/// A device that is connected.
struct Link {
    queue: Queue<ToDevice>,
    /// When it is taken to hang, while it has a job.
    deadline: Option<Instant>,
    patience: Duration,
    changed: Arc<Notify>,
    /// Objects that it may ask for: each once.
    owed: HashSet<Hash>,
}

/// A job that a client waits for.
struct Live {
    queue: Queue<Event>,
    work: Work,
    objects: HashMap<Hash, Bytes>,
    progress: Progress,
}

/// All of it.
pub struct State {
    scheduler: Scheduler,
    pub store: Store,
    grace: Duration,
    links: HashMap<DeviceId, Link>,
    jobs: HashMap<JobId, Live>,
}

/// Why a device is not talked to any more.
pub type Nonsense = String;

impl State {
    pub fn new(quotas: Quotas, store_bytes: usize, grace: Duration) -> State {
        State {
            scheduler: Scheduler::new(quotas),
            store: Store::new(store_bytes),
            grace,
            links: HashMap::new(),
            jobs: HashMap::new(),
        }
    }

    pub fn join(
        &mut self,
        says: Register,
        queue: Queue<ToDevice>,
    ) -> Result<(DeviceId, Arc<Notify>), Refusal> {
        let (id, set_aside) = self.scheduler.join(says)?;
        let changed = Arc::new(Notify::new());
        let _ = queue.send(Ok(ToDevice { says: Some(TrackerSays::Welcome(set_aside.unwrap_or_default())) }));
        let link = Link {
            queue,
            deadline: None,
            patience: self.grace,
            changed: changed.clone(),
            owed: HashSet::new(),
        };
        self.links.insert(id, link);
        self.dispatch();
        Ok((id, changed))
    }

    /// A device goes; with a sentence for it where it is still there.
    pub fn leave(&mut self, device: DeviceId, why: Option<Status>) {
        if let (Some(link), Some(why)) = (self.links.remove(&device), why) {
            let _ = link.queue.send(Err(why));
        }
        let hopeless = self.scheduler.leave(device);
        self.refuse(hopeless);
        self.dispatch();
    }

    fn refuse(&mut self, jobs: Hopeless) {
        for (job, why) in jobs {
            if let Some(live) = self.jobs.remove(&job) {
                let _ = live.queue.send(Err(Status::unavailable(why.to_string())));
            }
        }
    }

    pub fn deadline(&self, device: DeviceId) -> Option<Instant> {
        self.links.get(&device)?.deadline
    }

    /// A job comes, whose objects are here.
    pub fn submit(
        &mut self,
        client: &str,
        job: Job,
        work: Work,
        queue: Queue<Event>,
    ) -> Result<JobId, Status> {
        let mut objects = HashMap::new();
        for hash in work.libraries.iter().chain(&work.inputs) {
            let hash = Hash::read(hash).map_err(Status::invalid_argument)?;
            let object = self.store.get(&hash);
            objects.insert(
                hash,
                object.ok_or_else(|| {
                    Status::failed_precondition("an object of the job is not here; send it again")
                })?,
            );
        }
        let submitted = self.scheduler.submit(client, &job.key, job.priority, job.not_on);
        let (id, ahead) = submitted.map_err(status_of)?;
        let _ = queue.send(Ok(Event { job: id.0, happened: Some(Happened::Queued(ahead)) }));
        let progress = Progress::of(&work);
        self.jobs.insert(id, Live { queue, work, objects, progress });
        self.dispatch();
        Ok(id)
    }

    /// A client does not wait any more.
    pub fn cancel(&mut self, job: JobId) {
        if self.jobs.remove(&job).is_none() {
            return;
        }
        if let Some(link) = self.scheduler.cancel(job).and_then(|device| self.links.get_mut(&device)) {
            let _ = link.queue.send(Ok(ToDevice { says: Some(TrackerSays::Cancel(job.0)) }));
            // It needs no more time than to end the job.
            link.deadline = Some(Instant::now() + self.grace);
            link.changed.notify_one();
        }
    }

    /// Puts jobs on idle devices.
    fn dispatch(&mut self) {
        while let Some((id, device, name)) = self.scheduler.assign() {
            let (Some(live), Some(link)) = (self.jobs.get_mut(&id), self.links.get_mut(&device)) else {
                continue;
            };
            live.progress = Progress::of(&live.work);
            let _ = live
                .queue
                .send(Ok(Event { job: id.0, happened: Some(Happened::Started(Started { device: name })) }));
            link.owed = live.objects.keys().copied().collect();
            link.patience = Duration::from_millis(live.work.timeout_ms) + self.grace;
            link.deadline = Some(Instant::now() + link.patience);
            link.changed.notify_one();
            let assign = Assign { job: id.0, work: Some(live.work.clone()) };
            let _ = link.queue.send(Ok(ToDevice { says: Some(TrackerSays::Assign(assign)) }));
        }
    }

    /// A device wants an object of its job.
    pub fn want(&mut self, device: DeviceId, hash: &[u8]) -> Result<(), Nonsense> {
        let hash = Hash::read(hash)?;
        let link = self.links.get_mut(&device).ok_or("the device is not here")?;
        if !link.owed.remove(&hash) {
            return Err("it wants an object that is not of its job, or wants it twice".to_owned());
        }
        link.deadline = Some(Instant::now() + link.patience);
        // Of a job that was cancelled there are none left.
        let object = self.jobs.values().find_map(|live| live.objects.get(&hash).cloned());
        for chunk in object.into_iter().flat_map(|object| chunks(hash, object)) {
            let _ = link.queue.send(Ok(ToDevice { says: Some(TrackerSays::Object(chunk)) }));
        }
        Ok(())
    }

    /// A device gives a part of its job.
    pub fn part(&mut self, device: DeviceId, part: Part) -> Result<(), Nonsense> {
        let id = JobId(part.job);
        let given = part.given.ok_or("a part of a job is empty")?;
        if self.scheduler.device_of(id) != Some(device) {
            return Err(format!("it gives a part of job {}, which is not its own", part.job));
        }
        if let Some(link) = self.links.get_mut(&device) {
            link.deadline = Some(Instant::now() + link.patience);
        }
        let is_last = match self.jobs.get_mut(&id) {
            Some(live) => {
                let is_last = live.progress.take(&given)?;
                let happened = Some(match given {
                    Given::Answer(answer) => Happened::Answer(answer),
                    Given::Output(output) => Happened::Output(output),
                    Given::Done(done) => Happened::Done(done),
                });
                let _ = live.queue.send(Ok(Event { job: part.job, happened }));
                is_last
            }
            // It was cancelled.
            None => matches!(given, Given::Done(Done { .. })),
        };
        if is_last {
            self.jobs.remove(&id);
            if let Some(link) = self.links.get_mut(&device) {
                link.deadline = None;
                link.owed.clear();
            }
            self.scheduler.end(device, id);
            self.dispatch();
        }
        Ok(())
    }

    pub fn judge(&mut self, client: &str, job: u64) -> Result<String, Status> {
        let (set_aside, hopeless) = self.scheduler.judge(client, JobId(job)).map_err(status_of)?;
        self.refuse(hopeless);
        Ok(set_aside.unwrap_or_default())
    }

    pub fn readmit(&mut self, name: &str) -> Result<(), Status> {
        self.scheduler.readmit(name).map_err(status_of)?;
        self.dispatch();
        Ok(())
    }

    pub fn status(&self) -> PoolStatus {
        let (devices, clients) = self.scheduler.status();
        PoolStatus { devices, clients }
    }
}

/// How a call says why it is refused.
pub fn status_of(refusal: Refusal) -> Status {
    let said = refusal.to_string();
    match refusal {
        Refusal::NoKey { .. } | Refusal::NoDevice(_) => Status::not_found(said),
        Refusal::NoneLeft { .. } => Status::unavailable(said),
        Refusal::TooMany(_) => Status::resource_exhausted(said),
        Refusal::NameTaken(_) => Status::already_exists(said),
        Refusal::NotYours(_) => Status::permission_denied(said),
    }
}
