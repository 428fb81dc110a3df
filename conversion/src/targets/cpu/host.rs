//! What this machine says of itself: the sizes of its caches, as Linux tells them.

use fusion_machine::Target;
use std::path::Path;

/// The least that is a cache.
const LEAST: u64 = 4096;

/// The sizes of the caches as the system tells them; what it does not tell stays.
pub fn caches_of_system(target: &mut Target) {
    let caches = Path::new("/sys/devices/system/cpu/cpu0/cache");
    for index in 0.. {
        let entry = caches.join(format!("index{index}"));
        let read = |name: &str| Some(std::fs::read_to_string(entry.join(name)).ok()?.trim().to_owned());
        let (Some(level), Some(sort)) = (read("level"), read("type")) else { break };
        let bytes = read("size").and_then(|size| bytes(&size)).filter(|bytes| *bytes >= LEAST);
        let number = |name: &str| read(name).and_then(|text| text.parse().ok()).filter(|n: &u64| *n > 0);
        let Some(bytes) = bytes.filter(|_| sort != "Instruction") else { continue };
        match &*level {
            "1" => {
                target.l1.bytes = bytes;
                target.l1_ways = number("ways_of_associativity").unwrap_or(target.l1_ways);
                target.line_bytes = number("coherency_line_size").unwrap_or(target.line_bytes);
            }
            "2" => target.l2.bytes = bytes,
            "3" => target.l3.bytes = bytes,
            _ => {}
        }
    }
}

/// `48K`, `32M`.
fn bytes(size: &str) -> Option<u64> {
    let (digits, scale) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => size.strip_suffix('M').map_or((size, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::{bytes, caches_of_system};
    use fusion_machine::Target;

    #[test]
    fn sizes_are_read_with_their_units() {
        let sizes = [("48K", Some(48 << 10)), ("105M", Some(105 << 20)), ("512", Some(512)), ("much", None)];
        for (text, size) in sizes {
            assert_eq!(bytes(text), size, "{text}");
        }
    }

    #[test]
    fn caches_that_the_system_does_not_tell_of_stay() {
        let mut target = Target::default();
        caches_of_system(&mut target);
        assert!(target.l1.bytes >= super::LEAST && target.l2.bytes >= target.l1.bytes, "{target:?}");
    }
}
