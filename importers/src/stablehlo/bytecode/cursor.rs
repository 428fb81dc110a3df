//! Bytes that are read from the first on.
//!
//! A varint has as many zeros in its lowest bits as bytes follow the first one:
//!
//! ```text
//!   xxxxxxx1                       7 bits
//!   xxxxxx10 xxxxxxxx             14 bits
//!   00000000 and 8 bytes          64 bits
//! ```

/// What is left of some bytes.
#[derive(Clone, Copy)]
pub struct Cursor<'b> {
    rest: &'b [u8],
}

/// What was read, or why not.
pub type Read<T> = Result<T, String>;

fn ends<T>() -> Read<T> {
    Err("the file ends where more is expected; it is cut off, or damaged".into())
}

impl<'b> Cursor<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Cursor { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn take(&mut self, count: usize) -> Read<&'b [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else { return ends() };
        self.rest = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn varint(&mut self) -> Read<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros().min(8) as usize;
        let mut bytes = [0; 8];
        if more == 8 {
            bytes.copy_from_slice(self.take(8)?);
            return Ok(u64::from_le_bytes(bytes));
        }
        let behind = self.take(more)?;
        bytes[0] = first;
        if more == 7 {
            // The first byte has no bits of its own.
            bytes[..7].copy_from_slice(behind);
            return Ok(u64::from_le_bytes(bytes));
        }
        bytes[1..=more].copy_from_slice(behind);
        Ok(u64::from_le_bytes(bytes) >> (more + 1))
    }

    /// A number, and the flag in its lowest bit.
    pub fn flagged(&mut self) -> Read<(u64, bool)> {
        let number = self.varint()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// A number that may be below 0: the lowest bit says so.
    pub fn signed(&mut self) -> Read<i64> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// How many things follow, of which each takes a byte or more.
    pub fn count(&mut self) -> Read<usize> {
        self.counted(1)
    }

    /// The same, where it is counted what takes no byte of its own: never more than the file can mean.
    pub fn counted(&mut self, each: usize) -> Read<usize> {
        let count = self.varint()?;
        match usize::try_from(count).ok().filter(|n| n.saturating_mul(each) <= self.rest.len()) {
            Some(count) => Ok(count),
            None => Err(format!("{count} things are announced, and {} bytes are left", self.rest.len())),
        }
    }

    /// An index below a number.
    pub fn index(&mut self, below: usize, what: &str) -> Read<usize> {
        let index = self.varint()?;
        let within = usize::try_from(index).ok().filter(|&i| i < below);
        within.ok_or_else(|| format!("{what} {index} is named, and there are {below}"))
    }

    /// Bytes up to the next 0.
    pub fn until_zero(&mut self) -> Read<&'b [u8]> {
        let Some(end) = self.rest.iter().position(|&b| b == 0) else { return ends() };
        let text = self.take(end)?;
        self.byte()?;
        Ok(text)
    }

    /// A section: its number and what is in it.
    pub fn section(&mut self) -> Read<(u8, Cursor<'b>)> {
        let first = self.byte()?;
        let length = self.varint()?;
        if first & 0x80 != 0 {
            // Aligned, with bytes of 0xCB before it.
            self.varint()?;
            while self.rest.first() == Some(&0xCB) {
                self.byte()?;
            }
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok((first & 0x7f, Cursor::new(self.take(length)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_each_length() {
        assert_eq!(Cursor::new(&[0x0d]).varint(), Ok(6));
        assert_eq!(Cursor::new(&[0b10, 0b1]).varint(), Ok(64));
        assert_eq!(Cursor::new(&[0, 1, 2, 0, 0, 0, 0, 0, 0]).varint(), Ok(513));
        assert_eq!(Cursor::new(&[0x80, 1, 0, 0, 0, 0, 0, 0]).varint(), Ok(1));
    }

    #[test]
    fn signed_numbers() {
        assert_eq!(Cursor::new(&[0b101]).signed(), Ok(1));
        assert_eq!(Cursor::new(&[0b11]).signed(), Ok(-1));
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        assert!(Cursor::new(&[0]).varint().is_err());
        assert!(Cursor::new(&[0x0f, 1]).count().is_err());
    }
}
