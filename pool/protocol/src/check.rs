//! Whether a message says what can be done. All that comes from another machine goes through here first.

use crate::messages::{Given, Job, Register, Work};
use crate::object::Hash;

/// Libraries of a job at most.
pub const MOST_LIBRARIES: usize = 64;
/// Inputs or outputs of a job at most.
pub const MOST_ARGUMENTS: usize = 1024;
/// Bytes of all outputs of a job at most.
pub const MOST_OUTPUT_BYTES: u64 = 512 << 20;
/// Samples that an answer has at most.
pub const MOST_SAMPLES: u64 = 100_000;
/// How long a job may run at most, in milliseconds.
pub const MOST_MS: u64 = 3_600_000;
/// Characters of a sentence at most.
const MOST_SENTENCE: usize = 4096;
const MOST_NAME: usize = 100;

/// Whether a name of a device, a kind or a client can be printed and told apart.
pub fn name(what: &str, name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:+@".contains(c);
    match name.len() {
        1..=MOST_NAME if name.chars().all(fits) => Ok(()),
        _ => Err(format!(
            "the {what} {:?} is not one of 1 to {MOST_NAME} letters, digits and any of - _ . : + @",
            name.chars().take(MOST_NAME).collect::<String>()
        )),
    }
}

/// Whether a device says what it is.
pub fn register(register: &Register) -> Result<(), String> {
    name("name", &register.name)?;
    name("key", &register.key)?;
    name("target", &register.target)?;
    sentence(&register.sandbox)
}

/// Whether a job can be done.
pub fn job(job: &Job) -> Result<&Work, String> {
    name("key", &job.key)?;
    job.not_on.iter().take(MOST_ARGUMENTS + 1).try_for_each(|device| name("name", device))?;
    if job.not_on.len() > MOST_ARGUMENTS {
        return Err(format!("a job leaves out {} devices, where {MOST_ARGUMENTS} may be", job.not_on.len()));
    }
    let asked = job.work.as_ref().ok_or("a job says no work")?;
    work(asked).map(|()| asked)
}

/// Whether work can be done.
pub fn work(work: &Work) -> Result<(), String> {
    let count = |what: &str, found: usize, least: usize, most: usize| match (least..=most).contains(&found) {
        true => Ok(()),
        false => Err(format!("a job has {found} {what}, where {least} to {most} may be")),
    };
    count("libraries", work.libraries.len(), 1, MOST_LIBRARIES)?;
    count("inputs", work.inputs.len(), 0, MOST_ARGUMENTS)?;
    count("outputs", work.output_bytes.len(), 0, MOST_ARGUMENTS)?;
    work.libraries.iter().chain(&work.inputs).try_for_each(|hash| Hash::read(hash).map(drop))?;
    let bytes = output_bytes(work).filter(|bytes| *bytes <= MOST_OUTPUT_BYTES);
    bytes.ok_or_else(|| format!("the outputs of a job have more than {MOST_OUTPUT_BYTES} bytes"))?;
    if work.timeout_ms == 0 || work.timeout_ms > MOST_MS {
        return Err(format!("a job may take {} ms, where 1 to {MOST_MS} may be", work.timeout_ms));
    }
    if work.threads > u32::from(u16::MAX) {
        return Err(format!("a job asks for {} threads, where {} may be", work.threads, u16::MAX));
    }
    let timing = work.timing.clone().unwrap_or_default();
    match u64::from(timing.samples).checked_mul(u64::from(timing.turns.max(1))) {
        Some(0..=MOST_SAMPLES) => Ok(()),
        _ => Err(format!("a job asks for more than {MOST_SAMPLES} samples")),
    }
}

fn output_bytes(work: &Work) -> Option<u64> {
    let one = work.output_bytes.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes))?;
    one.checked_mul(work.libraries.len() as u64)
}

fn sentence(text: &str) -> Result<(), String> {
    match text.len() <= MOST_SENTENCE && !text.chars().any(|c| c.is_control() && c != '\n') {
        true => Ok(()),
        false => Err(format!("a sentence of {} bytes is too long, or has control characters", text.len())),
    }
}

/// A sentence as it may be sent.
pub fn shortened(text: &str) -> String {
    let kept = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c });
    let mut short = String::new();
    for c in kept {
        if short.len() + c.len_utf8() > MOST_SENTENCE {
            break;
        }
        short.push(c);
    }
    short
}

/// What a device gave of its job so far; says whether what comes next fits.
#[derive(Clone, Debug)]
pub struct Progress {
    samples: u64,
    answered: Vec<bool>,
    /// Bytes that are left of each output of each library.
    left: Vec<Vec<u64>>,
}

impl Progress {
    /// Of work that begins.
    pub fn of(work: &Work) -> Progress {
        let timing = work.timing.clone().unwrap_or_default();
        let outputs = if work.wants_outputs { work.output_bytes.clone() } else { Vec::new() };
        Progress {
            samples: u64::from(timing.samples.max(1)) * u64::from(timing.turns.max(1)),
            answered: vec![false; work.libraries.len()],
            left: vec![outputs; work.libraries.len()],
        }
    }

    /// Takes a part into account; says whether it is the last.
    pub fn take(&mut self, given: &Given) -> Result<bool, String> {
        match given {
            Given::Answer(answer) => {
                sentence(&answer.error)?;
                let place = self.answered.get_mut(answer.library as usize);
                let place = place.filter(|answered| !**answered);
                *place.ok_or("an answer is to no question")? = true;
                if answer.times_ps.len() as u64 > self.samples {
                    return Err("an answer has more samples than were asked for".to_owned());
                }
                Ok(false)
            }
            Given::Output(part) => {
                let left = self.left.get_mut(part.library as usize);
                let left = left.and_then(|left| left.get_mut(part.output as usize));
                let left = left.filter(|left| part.bytes.len() as u64 <= **left && !part.bytes.is_empty());
                *left.ok_or("an output has other bytes than were asked for")? -= part.bytes.len() as u64;
                Ok(false)
            }
            Given::Done(done) => {
                sentence(&done.failure)?;
                let missing = self.answered.iter().any(|answered| !answered);
                match done.failure.is_empty() && missing {
                    true => Err("the work ended before all was answered".to_owned()),
                    false => Ok(true),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Answer, Done, OutputPart, Timing};

    fn good() -> Work {
        Work {
            libraries: vec![Hash::of(b"a").bytes(), Hash::of(b"b").bytes()],
            output_bytes: vec![4],
            timeout_ms: 1000,
            timing: Some(Timing { samples: 2, turns: 2, ..Timing::default() }),
            wants_outputs: true,
            ..Work::default()
        }
    }

    #[test]
    fn work_that_cannot_be_done_is_said() {
        assert_eq!(work(&good()), Ok(()));
        let said = |change: &dyn Fn(&mut Work)| {
            let mut asked = good();
            change(&mut asked);
            work(&asked).unwrap_err()
        };
        assert!(said(&|w| w.libraries.clear()).contains("a job has 0 libraries"));
        assert!(said(&|w| w.libraries[0] = b"x".as_slice().into()).contains("has 32 bytes"));
        assert!(said(&|w| w.output_bytes = vec![u64::MAX, 2]).contains("the outputs of a job"));
        assert!(said(&|w| w.output_bytes = vec![MOST_OUTPUT_BYTES]).contains("the outputs of a job"));
        assert!(said(&|w| w.timeout_ms = 0).contains("may take 0 ms"));
        assert!(said(&|w| w.threads = 1 << 20).contains("threads"));
        assert!(
            said(&|w| w.timing = Some(Timing { samples: 1 << 30, ..Timing::default() })).contains("samples")
        );
        assert!(name("key", "rpi4").is_ok());
        for bad in ["", "a b", "\u{1b}[2J", &"x".repeat(101)] {
            assert!(name("key", bad).unwrap_err().starts_with("the key "), "{bad:?}");
        }
    }

    #[test]
    fn what_a_device_gives_fits_what_was_asked() {
        let answer = |library, samples| {
            Given::Answer(Answer { library, times_ps: vec![1; samples], error: String::new() })
        };
        let output =
            |library, bytes| Given::Output(OutputPart { library, output: 0, bytes: vec![0; bytes].into() });
        let done = |failure: &str| Given::Done(Done { failure: failure.to_owned() });
        let mut progress = Progress::of(&good());
        for part in [answer(1, 4), output(1, 3), output(1, 1), answer(0, 0)] {
            assert_eq!(progress.take(&part), Ok(false));
        }
        assert_eq!(progress.clone().take(&done("")), Ok(true));
        for (part, said) in [
            (answer(0, 1), "no question"),
            (answer(2, 1), "no question"),
            (output(1, 1), "other bytes"),
            (output(0, 5), "other bytes"),
            (output(7, 1), "other bytes"),
        ] {
            assert!(progress.clone().take(&part).unwrap_err().contains(said), "{part:?}");
        }
        let mut new = Progress::of(&good());
        assert!(new.clone().take(&done("")).unwrap_err().contains("before all was answered"));
        assert_eq!(new.clone().take(&done("it crashed")), Ok(true));
        assert!(new.take(&answer(0, 5)).unwrap_err().contains("more samples"));
        assert!(shortened(&"x\u{7}".repeat(5000)).len() <= MOST_SENTENCE);
    }
}
