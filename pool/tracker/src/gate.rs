//! Who it is that calls. Nothing is done for a call that does not get through here.

use crate::tokens::{Role, Tokens};
use fusion_pool_protocol::access::{BEARER, CALLER, TOKEN};
use fusion_pool_protocol::check;
use tonic::service::Interceptor;
use tonic::{Request, Status};

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name that jobs are counted by.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// What is asked of who calls.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Tokens, one of which lets in.
    pub tokens: Option<Tokens>,
    /// Whether a certificate lets in. TLS has checked it by then.
    pub certificates: bool,
}

impl Gate {
    /// Who calls, by what the call shows.
    fn admit(
        &self,
        authorization: Option<&str>,
        caller: Option<&str>,
        certificate: Option<&[u8]>,
    ) -> Result<Caller, String> {
        if self.tokens.is_none() && !self.certificates {
            let name = caller.unwrap_or("local");
            check::name("name of who calls", name)?;
            return Ok(Caller { name: name.to_owned(), role: Role::Any });
        }
        if let Some(certificate) = certificate.filter(|_| self.certificates) {
            let digest = blake3::hash(certificate).to_hex();
            return Ok(Caller { name: format!("certificate-{}", &digest[..12]), role: Role::Any });
        }
        let token = authorization.and_then(|text| text.strip_prefix(BEARER));
        match (&self.tokens, token) {
            (Some(tokens), Some(token)) => match tokens.find(token) {
                Some((role, name)) => Ok(Caller { name: name.to_owned(), role }),
                None => Err("the token is not one of this pool".to_owned()),
            },
            (Some(_), None) => {
                Err("this pool asks for a token; give the file that has it with --token".to_owned())
            }
            (None, _) => {
                Err("this pool asks for a certificate; give it with --certificate and --private-key"
                    .to_owned())
            }
        }
    }
}

impl Interceptor for Gate {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let certificates = request.peer_certs();
        let certificate = certificates.as_ref().and_then(|all| all.first()).map(|first| first.as_ref());
        let text = |key| request.metadata().get(key).and_then(|value| value.to_str().ok());
        let caller = self.admit(text(TOKEN), text(CALLER), certificate).map_err(Status::unauthenticated)?;
        request.extensions_mut().insert(caller);
        Ok(request)
    }
}
