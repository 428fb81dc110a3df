//! Messages between the device and the process that runs a job: their length in 4 bytes, then they themselves.

use fusion_pool_protocol::MESSAGE_BYTES;
use prost::Message;
use std::io::{self, Read, Write};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of an object or of a message at most, where nothing else bounds them.
const MOST: u64 = 1 << 32;

/// Writes some bytes with their length.
pub async fn send(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes()).await?;
    to.write_all(bytes).await
}

/// Reads some bytes with their length.
pub fn receive(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an object is too large"));
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Writes a message.
pub fn write(to: &mut impl Write, message: &impl Message) -> io::Result<()> {
    let bytes = message.encode_to_vec();
    let length = u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)
}

/// Reads a message of a process that may say anything; nothing at the end.
pub async fn read<M: Message + Default>(from: &mut (impl AsyncRead + Unpin)) -> Result<Option<M>, String> {
    let mut length = [0; 4];
    let mut have = 0;
    while have < length.len() {
        match from.read(&mut length[have..]).await {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err("a message breaks off".to_owned()),
            Ok(more) => have += more,
            Err(why) => return Err(why.to_string()),
        }
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > MESSAGE_BYTES {
        return Err(format!("a message has {length} bytes, where {MESSAGE_BYTES} may be"));
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await.map_err(|_| "a message breaks off".to_owned())?;
    M::decode(bytes.as_slice()).map(Some).map_err(|why| why.to_string())
}
