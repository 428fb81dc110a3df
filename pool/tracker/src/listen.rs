//! Where the tracker listens, and what it takes to come in. An address that other machines reach is not listened on without TLS, and not
//! without tokens or certificates of who may come.

use crate::gate::Gate;
use crate::scheduler::Quotas;
use crate::service::Service;
use crate::state::State;
use crate::tokens::{Tokens, TokensError};
use fusion_pool_protocol::access::{AccessError, read, reason};
use fusion_pool_protocol::pool_server::PoolServer;
use fusion_pool_protocol::{CHUNK_BYTES, MESSAGE_BYTES};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Certificate, Identity, Server, ServerTlsConfig};

/// How a tracker serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address.
    pub listen: SocketAddr,
    /// Its certificate and key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Certificates of who signs those of clients and devices.
    pub client_ca: Option<PathBuf>,
    /// A file of tokens.
    pub tokens: Option<PathBuf>,
    /// What a client may have.
    pub quotas: Quotas,
    /// Bytes of objects that are kept.
    pub store_bytes: usize,
    /// How much longer than its work may take a device is waited for.
    pub grace: Duration,
}

impl Options {
    /// The usual ones, on an address of this machine.
    pub fn on(listen: SocketAddr) -> Options {
        Options {
            listen,
            identity: None,
            client_ca: None,
            tokens: None,
            quotas: Quotas { waiting: 10_000, running: usize::MAX },
            store_bytes: 1 << 30,
            grace: Duration::from_secs(10),
        }
    }
}

/// Why there is no tracker.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TrackerError {
    #[error(
        "other machines reach {0}, and what goes there has to be encrypted; give a certificate with --certificate and --private-key, or listen on 127.0.0.1"
    )]
    Plain(SocketAddr),
    #[error(
        "other machines reach {0}, and anyone there could run code; give --tokens or --client-ca, which say who may, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    #[error("certificates are shown over TLS; give --certificate and --private-key with --client-ca")]
    CaWithoutIdentity,
    #[error(transparent)]
    Tokens(#[from] TokensError),
    #[error(transparent)]
    File(#[from] AccessError),
    #[error("the certificates cannot be used: {0}")]
    Tls(String),
    #[error("cannot listen on {address}: {why}")]
    Listen { address: SocketAddr, why: std::io::Error },
    #[error("the tracker ended: {0}")]
    Ended(String),
}

/// A tracker that listens.
pub struct Tracker {
    listener: TcpListener,
    address: SocketAddr,
    server: Server,
    gate: Gate,
    state: State,
}

const ALIVE: Duration = Duration::from_secs(10);
const STREAMS: u32 = 1024;

impl Tracker {
    /// Listens.
    pub async fn bind(options: &Options) -> Result<Tracker, TrackerError> {
        let is_own = options.listen.ip().to_canonical().is_loopback();
        if !is_own && options.identity.is_none() {
            return Err(TrackerError::Plain(options.listen));
        }
        if !is_own && options.tokens.is_none() && options.client_ca.is_none() {
            return Err(TrackerError::Open(options.listen));
        }
        let tokens = options.tokens.as_deref().map(Tokens::read).transpose()?;
        let gate = Gate { tokens, certificates: options.client_ca.is_some() };
        let mut server = Server::builder()
            .http2_keepalive_interval(Some(ALIVE))
            .http2_keepalive_timeout(Some(ALIVE))
            .max_concurrent_streams(STREAMS)
            .tcp_nodelay(true);
        match &options.identity {
            Some((certificate, key)) => {
                let mut tls =
                    ServerTlsConfig::new().identity(Identity::from_pem(read(certificate)?, read(key)?));
                if let Some(ca) = &options.client_ca {
                    tls = tls
                        .client_ca_root(Certificate::from_pem(read(ca)?))
                        .client_auth_optional(options.tokens.is_some());
                }
                server = server.tls_config(tls).map_err(|why| TrackerError::Tls(reason(&why)))?;
            }
            None if options.client_ca.is_some() => return Err(TrackerError::CaWithoutIdentity),
            None => {}
        }
        let failed = |why| TrackerError::Listen { address: options.listen, why };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = State::new(options.quotas, options.store_bytes, options.grace);
        Ok(Tracker { listener, address, server, gate, state })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until that ends.
    pub async fn serve(mut self, until: impl Future<Output = ()>) -> Result<(), TrackerError> {
        let service = PoolServer::new(Service::of(self.state))
            .max_decoding_message_size(MESSAGE_BYTES)
            .max_encoding_message_size(MESSAGE_BYTES.max(2 * CHUNK_BYTES));
        let service = tonic::service::interceptor::InterceptedService::new(service, self.gate);
        let serving =
            self.server.add_service(service).serve_with_incoming(TcpListenerStream::new(self.listener));
        tokio::select! {
            ended = serving => ended.map_err(|why| TrackerError::Ended(reason(&why))),
            () = until => Ok(()),
        }
    }
}
