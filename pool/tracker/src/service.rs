//! The calls. Each first looks at who calls, then at what the message says, and then changes the state.

use crate::gate::Caller;
use crate::scheduler::{DeviceId, JobId};
use crate::state::{State, status_of};
use crate::tokens::Role;
use fusion_pool_protocol::check;
use fusion_pool_protocol::messages::{
    Chunk, DeviceName, DeviceSays, Event, FromDevice, Hashes, Job, Judged, PoolStatus, Register,
    StatusRequest, Stored, ToDevice, Verdict,
};
use fusion_pool_protocol::object::{Hash, Partial};
use fusion_pool_protocol::pool_server::Pool;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep_until, timeout};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming};

/// How long a device may take to say what it is, or a client to go on with an object.
const FIRST_WORDS: Duration = Duration::from_secs(30);
/// Hashes that are asked for at a time.
const MOST_HASHES: usize = 4096;

/// The service.
#[derive(Clone)]
pub struct Service(Arc<Mutex<State>>);

impl Service {
    pub fn of(state: State) -> Service {
        Service(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to a device until it goes, hangs or says nonsense.
    async fn listen(self, device: DeviceId, mut stream: Streaming<FromDevice>, changed: Arc<Notify>) {
        let why = loop {
            let deadline = self.state().deadline(device);
            let hangs = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                said = stream.message() => match said {
                    Ok(Some(said)) => if let Err(why) = self.heard(device, said) {
                        break Some(Status::invalid_argument(why));
                    },
                    Ok(None) | Err(_) => break None,
                },
                () = changed.notified() => {}
                () = hangs => break Some(Status::deadline_exceeded("it did not end its job in time, and said nothing of it")),
            }
        };
        self.state().leave(device, why);
    }

    fn heard(&self, device: DeviceId, said: FromDevice) -> Result<(), String> {
        match said.says.ok_or("a message says nothing")? {
            DeviceSays::Register(_) => Err("it registers twice".to_owned()),
            DeviceSays::Want(hash) => self.state().want(device, &hash),
            DeviceSays::Part(part) => self.state().part(device, part),
        }
    }
}

/// The name of who calls, who has to be of this role.
fn caller<T>(request: &Request<T>, role: Role) -> Result<String, Status> {
    let caller = request.extensions().get::<Caller>().cloned();
    let caller = caller.ok_or_else(|| Status::unauthenticated("nobody knows who calls"))?;
    let what = match role {
        Role::Device => "a device",
        Role::Client | Role::Any => "a client",
    };
    match caller.role == Role::Any || role == Role::Any || caller.role == role {
        true => Ok(caller.name),
        false => Err(Status::permission_denied(format!("{} is not let in as {what}", caller.name))),
    }
}

async fn first_words(stream: &mut Streaming<FromDevice>) -> Result<Register, Status> {
    let late = |_| Status::deadline_exceeded("it did not say what it is");
    let said = timeout(FIRST_WORDS, stream.message()).await.map_err(late)??;
    match said.and_then(|said| said.says) {
        Some(DeviceSays::Register(says)) => {
            check::register(&says).map_err(Status::invalid_argument)?;
            Ok(says)
        }
        _ => Err(Status::invalid_argument(
            "the first message of a device says what it is, and this one does not",
        )),
    }
}

/// A queue as it is sent; of a client, the job is cancelled when nobody reads it any more.
pub struct Outgoing<T> {
    queue: UnboundedReceiver<Result<T, Status>>,
    _cancels: Option<Cancels>,
}

struct Cancels(Service, JobId);

impl Drop for Cancels {
    fn drop(&mut self) {
        self.0.state().cancel(self.1);
    }
}

impl<T> Stream for Outgoing<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll_recv(context)
    }
}

#[tonic::async_trait]
impl Pool for Service {
    type ServeStream = Outgoing<ToDevice>;
    type SubmitStream = Outgoing<Event>;

    async fn serve(
        &self,
        request: Request<Streaming<FromDevice>>,
    ) -> Result<Response<Outgoing<ToDevice>>, Status> {
        caller(&request, Role::Device)?;
        let mut stream = request.into_inner();
        let says = first_words(&mut stream).await?;
        let (sender, queue) = unbounded_channel();
        let (device, changed) = self.state().join(says, sender).map_err(status_of)?;
        tokio::spawn(self.clone().listen(device, stream, changed));
        Ok(Response::new(Outgoing { queue, _cancels: None }))
    }

    async fn missing(&self, request: Request<Hashes>) -> Result<Response<Hashes>, Status> {
        caller(&request, Role::Client)?;
        let hashes = request.into_inner().hashes;
        if hashes.len() > MOST_HASHES {
            return Err(Status::invalid_argument(format!(
                "{} hashes are more than the {MOST_HASHES} that may be asked for",
                hashes.len()
            )));
        }
        let mut missing = Vec::new();
        for bytes in hashes {
            let hash = Hash::read(&bytes).map_err(Status::invalid_argument)?;
            if self.state().store.get(&hash).is_none() {
                missing.push(bytes);
            }
        }
        Ok(Response::new(Hashes { hashes: missing }))
    }

    async fn upload(&self, request: Request<Streaming<Chunk>>) -> Result<Response<Stored>, Status> {
        caller(&request, Role::Client)?;
        let mut stream = request.into_inner();
        let most = self.state().store.most();
        let mut partial: Option<Partial> = None;
        let late = |_| Status::deadline_exceeded("the parts of an object came too slowly");
        while let Some(chunk) = timeout(FIRST_WORDS, stream.message()).await.map_err(late)?? {
            let partial = match &mut partial {
                Some(partial) => partial,
                none => none.insert(Partial::begin(&chunk, most).map_err(Status::invalid_argument)?),
            };
            if let Some((hash, object)) = partial.add(&chunk).map_err(Status::invalid_argument)? {
                self.state().store.put(hash, object);
                return Ok(Response::new(Stored {}));
            }
        }
        Err(Status::invalid_argument("an object ended before all of its bytes came"))
    }

    async fn submit(&self, request: Request<Job>) -> Result<Response<Outgoing<Event>>, Status> {
        let client = caller(&request, Role::Client)?;
        let job = request.into_inner();
        let work = check::job(&job).map_err(Status::invalid_argument)?.clone();
        let (sender, queue) = unbounded_channel();
        let id = self.state().submit(&client, job, work, sender)?;
        Ok(Response::new(Outgoing { queue, _cancels: Some(Cancels(self.clone(), id)) }))
    }

    async fn judge(&self, request: Request<Verdict>) -> Result<Response<Judged>, Status> {
        let client = caller(&request, Role::Client)?;
        let set_aside = self.state().judge(&client, request.into_inner().job)?;
        Ok(Response::new(Judged { set_aside }))
    }

    async fn readmit(&self, request: Request<DeviceName>) -> Result<Response<Judged>, Status> {
        caller(&request, Role::Client)?;
        self.state().readmit(&request.into_inner().name)?;
        Ok(Response::new(Judged { set_aside: String::new() }))
    }

    async fn status(&self, request: Request<StatusRequest>) -> Result<Response<PoolStatus>, Status> {
        caller(&request, Role::Client)?;
        Ok(Response::new(self.state().status()))
    }
}
