//! How who calls is let in: by a token or a certificate, over TLS. On this machine's own addresses neither is needed.

use crate::pool_client::PoolClient;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

/// What says the name of who calls where nothing else does.
pub const CALLER: &str = "fusion-caller";
/// What carries a token.
pub const TOKEN: &str = "authorization";
/// Before a token.
pub const BEARER: &str = "Bearer ";

const CONNECT: Duration = Duration::from_secs(10);
const ALIVE: Duration = Duration::from_secs(10);

/// Files that let a client or a device in.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Certificates of who signs the tracker's; with them the connection is encrypted.
    pub ca: Option<PathBuf>,
    /// A certificate of one's own, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// A file with a token.
    pub token: Option<PathBuf>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum AccessError {
    #[error("cannot read {}: {why}", path.display())]
    File { path: PathBuf, why: std::io::Error },
    #[error("{} has no token: a token is a line of printable characters without spaces", .0.display())]
    Token(PathBuf),
    #[error("{0:?} is no address of a pool; give one such as 192.168.1.10:9190")]
    Address(String),
    #[error(
        "the pool at {0} is not on this machine, and what goes there has to be encrypted; give the certificate of who signs its certificate with --ca"
    )]
    Plain(String),
    #[error("a certificate of one's own is shown to a pool over TLS; give --ca too")]
    IdentityWithoutCa,
    #[error("the certificates given for the pool at {address} cannot be used: {why}")]
    Tls { address: String, why: String },
    #[error("cannot reach the pool at {address}: {why}")]
    Unreachable { address: String, why: String },
}

/// Says who calls, in each call.
#[derive(Clone, Debug)]
pub struct Caller {
    name: Option<MetadataValue<Ascii>>,
    token: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Caller {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        for (key, value) in [(CALLER, &self.name), (TOKEN, &self.token)] {
            if let Some(value) = value {
                request.metadata_mut().insert(key, value.clone());
            }
        }
        Ok(request)
    }
}

/// A connection to a pool.
pub type Connection = PoolClient<InterceptedService<Channel, Caller>>;

/// Whether an address, without its port, is one that other machines cannot reach.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// The host of `HOST:PORT`.
pub fn host_of(address: &str) -> Result<&str, AccessError> {
    let wrong = || AccessError::Address(address.to_owned());
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    match (port.parse::<u16>(), is_name || (host.starts_with('[') && bare.parse::<IpAddr>().is_ok())) {
        (Ok(1..), true) => Ok(host),
        _ => Err(wrong()),
    }
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, AccessError> {
    std::fs::read(path).map_err(|why| AccessError::File { path: path.to_owned(), why })
}

/// Connects to the pool at an address, as someone of this name.
pub async fn connect(address: &str, name: &str, access: &Access) -> Result<Connection, AccessError> {
    let host = host_of(address)?;
    if access.ca.is_none() && !is_loopback(host) {
        return Err(AccessError::Plain(address.to_owned()));
    }
    let scheme = if access.ca.is_some() { "https" } else { "http" };
    let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"));
    let mut endpoint = endpoint.map_err(|_| AccessError::Address(address.to_owned()))?;
    if let Some(ca) = &access.ca {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let mut tls =
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(ca)?)).domain_name(bare);
        if let Some((certificate, key)) = &access.identity {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
        }
        let failed = |why: tonic::transport::Error| AccessError::Tls {
            address: address.to_owned(),
            why: reason(&why),
        };
        endpoint = endpoint.tls_config(tls).map_err(failed)?;
    } else if access.identity.is_some() {
        return Err(AccessError::IdentityWithoutCa);
    }
    let token = access.token.as_deref().map(token).transpose()?;
    let caller = Caller { name: name.parse().ok(), token };
    let endpoint = endpoint
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(ALIVE)
        .keep_alive_timeout(ALIVE)
        .keep_alive_while_idle(true)
        .tcp_nodelay(true);
    let channel = endpoint.connect().await;
    let channel =
        channel.map_err(|why| AccessError::Unreachable { address: address.to_owned(), why: reason(&why) })?;
    Ok(PoolClient::with_interceptor(channel, caller).max_decoding_message_size(crate::MESSAGE_BYTES))
}

fn token(path: &Path) -> Result<MetadataValue<Ascii>, AccessError> {
    let wrong = || AccessError::Token(path.to_owned());
    let text = String::from_utf8(read(path)?).map_err(|_| wrong())?;
    let token = text.trim();
    if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
        return Err(wrong());
    }
    format!("{BEARER}{token}").parse().map_err(|_| wrong())
}

/// What an error comes from: that of the transport itself says only that there was one.
pub fn reason(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hosts_and_ports() {
        for (address, host) in
            [("127.0.0.1:9190", "127.0.0.1"), ("[::1]:1", "[::1]"), ("box.lan:80", "box.lan")]
        {
            assert_eq!(host_of(address).ok(), Some(host));
        }
        for bad in ["", "host", ":9190", "host:0", "host:99999", "a b:1", "::1:1", "h/x:1", "[x]:1", "u@h:1"]
        {
            assert!(host_of(bad).is_err(), "{bad}");
        }
        for own in ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in ["0.0.0.0", "::", "192.168.1.1", "localhost.evil.org", "127.0.0.1.evil.org"] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
