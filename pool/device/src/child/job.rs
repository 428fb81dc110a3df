//! A job: each library is loaded and run once, then all are timed in turn; what comes of it is written.

use super::library::{Buffer, Library};
use super::timing::turn;
use crate::frames::{receive, write};
use fusion_pool_protocol::CHUNK_BYTES;
use fusion_pool_protocol::check::{self, shortened};
use fusion_pool_protocol::messages::{Answer, Done, Given, OutputPart, Part, Work};
use prost::Message;
use std::io::{self, Read, Write};

/// Reads a job, runs it, and writes what it gives.
pub fn run(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let work = Work::decode(receive(from)?.as_slice()).map_err(io::Error::other)?;
    check::work(&work).map_err(io::Error::other)?;
    let libraries: Vec<Vec<u8>> = work.libraries.iter().map(|_| receive(from)).collect::<Result<_, _>>()?;
    let inputs = work.inputs.iter().map(|_| receive(from)).collect::<Result<Vec<_>, _>>()?;
    let failure = match buffers(&work, &inputs) {
        Ok((inputs, mut outputs)) => {
            drive(&work, libraries, &inputs, &mut outputs, to)?;
            String::new()
        }
        Err(why) => why,
    };
    say(to, Given::Done(Done { failure }))
}

fn say(to: &mut impl Write, given: Given) -> io::Result<()> {
    write(to, &Part { job: 0, given: Some(given) })?;
    to.flush()
}

fn buffers(work: &Work, inputs: &[Vec<u8>]) -> Result<(Vec<Buffer>, Vec<Buffer>), String> {
    let outputs =
        work.output_bytes.iter().map(|bytes| Buffer::zeros(usize::try_from(*bytes).unwrap_or(usize::MAX)));
    Ok((
        inputs.iter().map(|input| Buffer::of(input)).collect::<Result<_, _>>()?,
        outputs.collect::<Result<_, _>>()?,
    ))
}

fn drive(
    work: &Work,
    libraries: Vec<Vec<u8>>,
    inputs: &[Buffer],
    outputs: &mut [Buffer],
    to: &mut impl Write,
) -> io::Result<()> {
    let mut loaded: Vec<Result<(Library, Vec<u64>), String>> = Vec::new();
    for (number, bytes) in libraries.into_iter().enumerate() {
        let library = Library::load(&bytes, work.threads as u16).and_then(|mut library| {
            // What the library before it gave is not what this one gives.
            outputs.iter_mut().for_each(|output| output.bytes_mut().fill(0));
            library.run(inputs, outputs)?;
            Ok((library, Vec::new()))
        });
        if library.is_ok() && work.wants_outputs {
            for (place, output) in outputs.iter().enumerate() {
                for bytes in output.bytes().chunks(CHUNK_BYTES) {
                    let bytes = bytes.to_vec().into();
                    say(
                        to,
                        Given::Output(OutputPart { library: number as u32, output: place as u32, bytes }),
                    )?;
                }
            }
        }
        loaded.push(library);
    }
    if let Some(timing) = &work.timing {
        for _ in 0..timing.turns.max(1) {
            for place in &mut loaded {
                let Ok((library, times)) = place else { continue };
                match turn(timing, || library.run(inputs, outputs)) {
                    Ok(more) => times.extend(more),
                    Err(why) => *place = Err(why),
                }
            }
        }
    }
    for (number, place) in loaded.into_iter().enumerate() {
        let (times_ps, error) = match place {
            Ok((_, times)) => (times, String::new()),
            Err(why) => (Vec::new(), shortened(&why)),
        };
        say(to, Given::Answer(Answer { library: number as u32, times_ps, error }))?;
    }
    Ok(())
}
