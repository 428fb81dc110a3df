//! A file of tokens: who may come, and as what.
//!
//! ```text
//!     # role name token
//!     client alice  Qm2x...
//!     device rpi4-1 71Ab...
//! ```

use std::path::{Path, PathBuf};

/// What one may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ask for jobs.
    Client,
    /// Run them.
    Device,
    /// Both.
    Any,
}

/// Characters that a token has at least.
const LEAST: usize = 16;

/// Why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TokensError {
    #[error("cannot read {}: {why}", path.display())]
    File { path: PathBuf, why: std::io::Error },
    #[error("other users of this machine may read {}, and with it the tokens; chmod 600 it", .0.display())]
    Readable(PathBuf),
    #[error("line {line} of {}: {why}", path.display())]
    Line { path: PathBuf, line: usize, why: String },
    #[error("{} has no tokens; a line of it is a role (client or device), a name and a token", .0.display())]
    Empty(PathBuf),
}

/// Tokens.
#[derive(Clone, Debug)]
pub struct Tokens(Vec<(Role, String, blake3::Hash)>);

impl Tokens {
    /// Those of a file.
    pub fn read(path: &Path) -> Result<Tokens, TokensError> {
        let failed = |why| TokensError::File { path: path.to_owned(), why };
        if is_open(path).map_err(failed)? {
            return Err(TokensError::Readable(path.to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let mut all: Vec<(Role, String, blake3::Hash)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |why| TokensError::Line { path: path.to_owned(), line: number + 1, why };
            let (role, name, token) = parse(line).map_err(wrong)?;
            let hash = blake3::hash(token.as_bytes());
            if all.iter().any(|(_, _, other)| *other == hash) {
                return Err(wrong(format!("the token of {name} is that of another one too")));
            }
            all.push((role, name.to_owned(), hash));
        }
        if all.is_empty() {
            return Err(TokensError::Empty(path.to_owned()));
        }
        Ok(Tokens(all))
    }

    /// Whose a token is. Hashes compare in constant time.
    pub fn find(&self, token: &str) -> Option<(Role, &str)> {
        let hash = blake3::hash(token.as_bytes());
        let mut all = self.0.iter();
        all.find(|(_, _, known)| *known == hash).map(|(role, name, _)| (*role, name.as_str()))
    }
}

fn parse(line: &str) -> Result<(Role, &str, &str), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [role, name, token] = words[..] else {
        return Err(format!("a role, a name and a token are 3 words, and here are {}", words.len()));
    };
    let role = match role {
        "client" => Role::Client,
        "device" => Role::Device,
        other => return Err(format!("the roles are client and device, and {other:?} is none")),
    };
    fusion_pool_protocol::check::name("name", name)?;
    if token.len() < LEAST || !token.chars().all(|c| c.is_ascii_graphic()) {
        return Err(format!("the token of {name} has to be {LEAST} printable characters or more"));
    }
    Ok((role, name, token))
}

#[cfg(unix)]
fn is_open(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open(path: &Path) -> std::io::Result<bool> {
    std::fs::metadata(path).map(|_| false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_roles_names_and_tokens() {
        assert_eq!(parse("client a 0123456789abcdef"), Ok((Role::Client, "a", "0123456789abcdef")));
        for (line, said) in [
            ("client a", "3 words, and here are 2"),
            ("admin a 0123456789abcdef", "\"admin\" is none"),
            ("device a/b 0123456789abcdef", "the name \"a/b\""),
            ("device a short", "16 printable characters"),
        ] {
            assert!(parse(line).unwrap_err().contains(said), "{line}");
        }
    }
}
