//! Which job runs on which device. No network and no clock: what happens comes in by calls, and what is to be done is handed back.
//!
//! ```text
//!     jobs wait by client  --- the client whose turn was longest ago, of its jobs the most urgent, then the oldest --->  an idle device of the key
//!     a device is lost     --- its job waits again, for another device ---
//! ```
//!
//! A device that gave wrong numbers twice, or was lost with a job three times in a row, is set aside: its name gets no jobs until it is
//! readmitted.

mod job;
mod record;

pub use job::{JobId, Refusal};
pub use record::DeviceId;

use fusion_pool_protocol::messages::{ClientStatus, DeviceStatus, Register};
use job::Waiting;
use record::{Device, Record};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Jobs whose device is remembered after they ended, so that their numbers can be judged.
const REMEMBERED: usize = 10_000;

/// Jobs that no device is left for, with why.
pub type Hopeless = Vec<(JobId, Refusal)>;

/// What clients may have.
#[derive(Clone, Copy, Debug)]
pub struct Quotas {
    /// Jobs of a client that wait.
    pub waiting: usize,
    /// Jobs of a client that are on devices; the rest waits.
    pub running: usize,
}

/// Devices and jobs.
#[derive(Debug)]
pub struct Scheduler {
    quotas: Quotas,
    next: u64,
    devices: BTreeMap<DeviceId, Device>,
    records: HashMap<String, Record>,
    waiting: BTreeMap<JobId, Waiting>,
    running: HashMap<JobId, (DeviceId, Waiting)>,
    /// When a client had its last turn.
    turns: HashMap<String, u64>,
    /// Jobs that ended: who wanted them, and the device that they ran on.
    ended: HashMap<JobId, (String, String)>,
    order: VecDeque<JobId>,
}

impl Scheduler {
    /// Without devices and jobs.
    pub fn new(quotas: Quotas) -> Scheduler {
        Scheduler {
            quotas,
            next: 0,
            devices: BTreeMap::new(),
            records: HashMap::new(),
            waiting: BTreeMap::new(),
            running: HashMap::new(),
            turns: HashMap::new(),
            ended: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A device comes; also why it gets no jobs, where that is so.
    pub fn join(&mut self, device: Register) -> Result<(DeviceId, Option<String>), Refusal> {
        if self.devices.values().any(|known| known.says.name == device.name) {
            return Err(Refusal::NameTaken(device.name));
        }
        let set_aside = self.records.entry(device.name.clone()).or_default().set_aside();
        let id = DeviceId(self.number());
        self.devices.insert(id, Device { says: device, job: None });
        Ok((id, set_aside))
    }

    /// A device goes. Its job waits again, for another device; jobs that no device is left for are handed back.
    pub fn leave(&mut self, device: DeviceId) -> Hopeless {
        let Some(gone) = self.devices.remove(&device) else { return Vec::new() };
        if let Some((_, mut job)) = gone.job.and_then(|job| self.running.remove(&job)) {
            self.records.entry(gone.says.name.clone()).or_default().was_lost();
            job.not_on.push(gone.says.name.clone());
            job.lost_with.push(gone.says.name);
            if job.is_wanted {
                self.waiting.insert(job.id, job);
            }
        }
        self.hopeless()
    }

    /// A job comes; with how many wait for the same kind of devices, itself among them.
    pub fn submit(
        &mut self,
        client: &str,
        key: &str,
        priority: u32,
        not_on: Vec<String>,
    ) -> Result<(JobId, u64), Refusal> {
        let id = JobId(self.next + 1);
        let (client, key) = (client.to_owned(), key.to_owned());
        let job = Waiting { id, client, key, priority, not_on, lost_with: Vec::new(), is_wanted: true };
        self.fits(&job)?;
        if self.waiting.values().filter(|other| other.client == job.client).count() >= self.quotas.waiting {
            return Err(Refusal::TooMany(self.quotas.waiting));
        }
        self.next += 1;
        let ahead = self.waiting.values().filter(|other| other.key == job.key).count() as u64 + 1;
        self.waiting.insert(id, job);
        Ok((id, ahead))
    }

    /// Puts a job on a device; its name comes too. To be asked until there is none.
    pub fn assign(&mut self) -> Option<(JobId, DeviceId, String)> {
        let usable: Vec<(DeviceId, &Register)> = self
            .devices
            .iter()
            .filter(|(_, device)| self.takes_jobs(device))
            .map(|(id, device)| (*id, &device.says))
            .collect();
        let mut running: HashMap<&str, usize> = HashMap::new();
        for (_, job) in self.running.values() {
            *running.entry(&job.client).or_default() += 1;
        }
        let may = |job: &&Waiting| {
            running.get(job.client.as_str()).is_none_or(|count| *count < self.quotas.running)
        };
        let turn = |job: &Waiting| self.turns.get(&job.client).copied().unwrap_or(0);
        let place = |job: &Waiting| {
            usable
                .iter()
                .find(|(_, device)| job.may_run_on(device))
                .map(|(id, device)| (*id, device.name.clone()))
        };
        let ready = self.waiting.values().filter(may).filter_map(|job| Some((job, place(job)?)));
        let (job, (device, name)) =
            ready.min_by_key(|(job, _)| (turn(job), std::cmp::Reverse(job.priority), job.id))?;
        let (id, client) = (job.id, job.client.clone());
        let now = self.number();
        self.turns.insert(client, now);
        self.forget_turns();
        let job = self.waiting.remove(&id)?;
        if let Some(device) = self.devices.get_mut(&device) {
            device.job = Some(id);
        }
        self.running.insert(id, (device, job));
        Some((id, device, name))
    }

    fn forget_turns(&mut self) {
        if self.turns.len() > REMEMBERED {
            let (waiting, running) = (self.waiting.values(), self.running.values().map(|(_, job)| job));
            let present: HashSet<&str> = waiting.chain(running).map(|job| job.client.as_str()).collect();
            self.turns.retain(|client, _| present.contains(client.as_str()));
        }
    }

    fn takes_jobs(&self, device: &Device) -> bool {
        device.job.is_none() && self.is_good(&device.says.name)
    }

    fn is_good(&self, name: &str) -> bool {
        self.records.get(name).is_none_or(|record| record.set_aside().is_none())
    }

    /// A device ended its job.
    pub fn end(&mut self, device: DeviceId, job: JobId) {
        let Some(on) = self.devices.get_mut(&device).filter(|on| on.job == Some(job)) else { return };
        on.job = None;
        let name = on.says.name.clone();
        self.records.entry(name.clone()).or_default().ended();
        if let Some((_, job)) = self.running.remove(&job) {
            self.remember(job.id, job.client, name);
        }
    }

    fn remember(&mut self, job: JobId, client: String, device: String) {
        self.ended.insert(job, (client, device));
        self.order.push_back(job);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
    }

    /// A job is not wanted any more; gives the device that it is on. The device has to be told, and is busy until it has ended.
    pub fn cancel(&mut self, job: JobId) -> Option<DeviceId> {
        self.waiting.remove(&job);
        let (device, job) = self.running.get_mut(&job)?;
        job.is_wanted = false;
        Some(*device)
    }

    /// The device that a job is on.
    pub fn device_of(&self, job: JobId) -> Option<DeviceId> {
        self.running.get(&job).map(|(device, _)| *device)
    }

    /// A client says that its job gave wrong numbers. Gives why the device is set aside where it is, and jobs that no device is left for.
    pub fn judge(&mut self, client: &str, job: JobId) -> Result<(Option<String>, Hopeless), Refusal> {
        // Each job is judged once, by the client that wanted it.
        let device = match self.ended.remove(&job) {
            Some((owner, device)) if owner == client => device,
            Some(other) => {
                self.ended.insert(job, other);
                return Err(Refusal::NotYours(job));
            }
            None => return Err(Refusal::NotYours(job)),
        };
        let record = self.records.entry(device).or_default();
        record.was_wrong();
        let set_aside = record.set_aside();
        Ok((set_aside, self.hopeless()))
    }

    /// What was held against a device is forgotten.
    pub fn readmit(&mut self, name: &str) -> Result<(), Refusal> {
        match self.records.get_mut(name) {
            Some(record) => {
                record.forget();
                Ok(())
            }
            None => Err(Refusal::NoDevice(name.to_owned())),
        }
    }

    /// Whether some device may take the job, now or when it is idle.
    fn fits(&self, job: &Waiting) -> Result<(), Refusal> {
        let of_key = || self.devices.values().map(|device| &device.says).filter(|says| says.key == job.key);
        if of_key().any(|says| job.may_run_on(says) && self.is_good(&says.name)) {
            return Ok(());
        }
        if of_key().next().is_none() {
            let mut keys: Vec<String> = self.devices.values().map(|device| device.says.key.clone()).collect();
            keys.sort();
            keys.dedup();
            return Err(Refusal::NoKey { key: job.key.clone(), keys, lost_with: job.lost_with.clone() });
        }
        let why = |says: &Register| match self.records.get(&says.name).and_then(Record::set_aside) {
            Some(why) => format!("{} is set aside: {why}", says.name),
            None if job.lost_with.contains(&says.name) => format!("{} was lost with it", says.name),
            None => format!("{} is left out", says.name),
        };
        Err(Refusal::NoneLeft { key: job.key.clone(), why: of_key().map(why).collect() })
    }

    /// Takes out the jobs that wait for what is not there.
    fn hopeless(&mut self) -> Hopeless {
        let refused = |job: &Waiting| self.fits(job).err().map(|why| (job.id, why));
        let hopeless: Hopeless = self.waiting.values().filter_map(refused).collect();
        for (job, _) in &hopeless {
            self.waiting.remove(job);
        }
        hopeless
    }

    /// What is there.
    pub fn status(&self) -> (Vec<DeviceStatus>, Vec<ClientStatus>) {
        let mut devices: Vec<DeviceStatus> = self
            .devices
            .values()
            .map(|device| {
                let record = self.records.get(&device.says.name).cloned().unwrap_or_default();
                record.status(&device.says, device.job.is_some())
            })
            .collect();
        let place = |status: &DeviceStatus| status.device.clone().map(|device| (device.key, device.name));
        devices.sort_by_key(place);
        let mut clients: BTreeMap<&str, ClientStatus> = BTreeMap::new();
        let running = self.running.values().map(|(_, job)| (job, 0, 1));
        for (job, waiting, running) in self.waiting.values().map(|job| (job, 1, 0)).chain(running) {
            let status = clients.entry(&job.client).or_default();
            status.name = job.client.clone();
            status.waiting += waiting;
            status.running += running;
        }
        (devices, clients.into_values().collect())
    }
}
