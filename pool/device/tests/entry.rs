//! Who is let in: addresses, tokens, certificates. Nothing is done for who is not.

use crate::common::*;
use fusion_pool_client::ask;
use fusion_pool_device::{DeviceError, Options as DeviceOptions, serve};
use fusion_pool_protocol::access::{Access, AccessError, connect};
use fusion_pool_protocol::messages::{Hashes, Register, StatusRequest};
use fusion_pool_tracker::{Options, Tracker, TrackerError};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tonic::Code;

const TOKENS: &str = "# who may come\nclient alice alice-0123456789abc\ndevice pi pi-0123456789abcdef\n";

fn file(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    path
}

/// A certificate of someone who signs, and one for this machine with its key that it signed.
fn certificates(directory: &Path, name: &str) -> (PathBuf, (PathBuf, PathBuf)) {
    let key = KeyPair::generate().unwrap();
    let mut own = CertificateParams::new(Vec::new()).unwrap();
    own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let signed = own.self_signed(&key).unwrap();
    let ca = file(directory, &format!("{name}-ca.pem"), &signed.pem());
    let issuer = Issuer::new(own, key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let certificate = file(directory, &format!("{name}.pem"), &leaf.pem());
    (ca, (certificate, file(directory, &format!("{name}.key"), &key.serialize_pem())))
}

async fn refused(options: Options) -> TrackerError {
    Tracker::bind(&options).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn an_open_address_is_refused_without_tls_and_without_who_may_come() {
    let directory = tempfile::tempdir().unwrap();
    let (ca, identity) = certificates(directory.path(), "pool");
    let tokens = Some(file(directory.path(), "tokens", TOKENS));
    let open: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let plain = refused(Options { tokens: tokens.clone(), ..Options::on(open) }).await.to_string();
    assert!(
        plain.contains("other machines reach 0.0.0.0:0, and what goes there has to be encrypted"),
        "{plain}"
    );
    let anyone = Options { identity: Some(identity.clone()), ..Options::on(open) };
    let anyone = refused(anyone).await.to_string();
    assert!(anyone.contains("anyone there could run code; give --tokens or --client-ca"), "{anyone}");
    for (tokens, client_ca) in [(tokens, None), (None, Some(ca.clone()))] {
        let options = Options { tokens, client_ca, identity: Some(identity.clone()), ..Options::on(open) };
        assert!(Tracker::bind(&options).await.is_ok());
    }
    let unused = refused(Options { client_ca: Some(ca), ..Options::on(own()) }).await.to_string();
    assert!(unused.contains("certificates are shown over TLS"), "{unused}");
}

#[tokio::test]
async fn files_of_tokens_are_private_and_whole() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let readable = file(here, "readable", TOKENS);
    std::fs::set_permissions(&readable, PermissionsExt::from_mode(0o644)).unwrap();
    for (path, said) in [
        (readable, "other users of this machine may read"),
        (file(here, "empty", "# nobody\n"), "has no tokens"),
        (file(here, "short", "client a 123\n"), "line 1 of"),
        (
            file(here, "twice", "client a 0123456789abcdef\nclient b 0123456789abcdef\n"),
            "is that of another one too",
        ),
        (here.join("none"), "cannot read"),
    ] {
        let why = refused(Options { tokens: Some(path), ..Options::on(own()) }).await.to_string();
        assert!(why.contains(said), "{why}");
    }
}

/// What a device is told that comes with this token.
async fn as_device(address: &str, access: Access) -> Result<(), DeviceError> {
    let says = Register {
        name: "d".to_owned(),
        key: "k".to_owned(),
        target: "cpu".to_owned(),
        sandbox: String::new(),
    };
    let options = DeviceOptions { pool: address.to_owned(), access, says, store_bytes: 1 << 20 };
    tokio::select! {
        ended = serve(&options, &Doubles(Kind::Good), |_| {}) => ended,
        () = until_there(address, &options.access) => Ok(()),
    }
}

/// Waits for a device to be there, as far as one may ask.
async fn until_there(address: &str, access: &Access) {
    loop {
        let mut connection = connect(address, "a", access).await.unwrap();
        match connection.status(StatusRequest {}).await {
            Ok(status) if !status.get_ref().devices.is_empty() => return,
            _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    }
}

#[tokio::test]
async fn tokens_let_in_as_what_they_are_for() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let tokens = Some(file(here, "tokens", TOKENS));
    let address = tracker(&Options { tokens, ..Options::on(own()) }).await;
    let with =
        |token: &str| Access { token: Some(file(here, "own", &format!("{token}\n"))), ..Access::default() };
    let asked = async |access: &Access| {
        let mut connection = connect(&address, "alice", access).await.unwrap();
        let hashes = Hashes { hashes: Vec::new() };
        [
            connection.status(StatusRequest {}).await.err().map(|status| status.code()),
            connection.missing(hashes).await.err().map(|status| status.code()),
            connection.submit(task(&[1]).job).await.err().map(|status| status.code()),
            connection.upload(tokio_stream::iter([])).await.err().map(|status| status.code()),
        ]
    };
    // Nothing is done for who has no token, whatever name is given.
    assert_eq!(asked(&Access::default()).await, [Some(Code::Unauthenticated); 4]);
    assert_eq!(asked(&with("guess-0123456789")).await, [Some(Code::Unauthenticated); 4]);
    assert_eq!(asked(&with("pi-0123456789abcdef")).await, [Some(Code::PermissionDenied); 4]);
    let alice = with("alice-0123456789abc");
    let known = asked(&alice).await;
    assert_eq!(known, [None, None, Some(Code::FailedPrecondition), Some(Code::InvalidArgument)]);
    for (access, said) in
        [(Access::default(), "asks for a token"), (alice.clone(), "is not let in as a device")]
    {
        let why = as_device(&address, access).await.unwrap_err().to_string();
        assert!(why.contains(said), "{why}");
    }
    let mut connection = connect(&address, "alice", &with("alice-0123456789abc")).await.unwrap();
    assert!(connection.status(StatusRequest {}).await.unwrap().get_ref().devices.is_empty());
    let pi = with("pi-0123456789abcdef");
    let device = tokio::spawn(async move { as_device(&address, pi).await });
    while connection.status(StatusRequest {}).await.unwrap().get_ref().devices.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    ask(&mut connection, &task(&[1])).await.unwrap();
    device.abort();
}

#[tokio::test]
async fn certificates_let_in_and_nothing_goes_unencrypted() {
    let directory = tempfile::tempdir().unwrap();
    let here = directory.path();
    let (ca, identity) = certificates(here, "pool");
    let (client_ca, client) = certificates(here, "client");
    let (_, stranger) = certificates(here, "stranger");
    let options =
        Options { identity: Some(identity), client_ca: Some(client_ca.clone()), ..Options::on(own()) };
    let address = tracker(&options).await;
    let status = async |access: Access| -> Result<(), String> {
        let mut connection = connect(&address, "a", &access).await.map_err(|why| why.to_string())?;
        connection.status(StatusRequest {}).await.map(drop).map_err(|why| why.to_string())
    };
    let with = |ca: &Path, identity: Option<&(PathBuf, PathBuf)>| Access {
        ca: Some(ca.to_owned()),
        identity: identity.cloned(),
        token: None,
    };
    status(with(&ca, Some(&client))).await.unwrap();
    as_device(&address, with(&ca, Some(&client))).await.unwrap();
    // No certificate, that of someone else, a pool that someone else signed for, and no TLS at all.
    for access in
        [with(&ca, None), with(&ca, Some(&stranger)), with(&client_ca, Some(&client)), Access::default()]
    {
        assert!(status(access.clone()).await.is_err(), "{access:?}");
    }
    let why = connect("192.0.2.1:9190", "a", &Access::default()).await.unwrap_err();
    assert!(matches!(why, AccessError::Plain(_)), "{why}");
    let unused = Access { identity: Some(client), ..Access::default() };
    assert!(matches!(connect(&address, "a", &unused).await.unwrap_err(), AccessError::IdentityWithoutCa));
}
