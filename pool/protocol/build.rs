//! The service, by name and messages. These are written in Rust (`src/messages.rs`), so that no build needs protoc.

use tonic_build::manual::{Builder, Method, Service};

/// A method's names, its messages, and whether what is asked and what is answered are streams.
const METHODS: &[(&str, &str, &str, &str, bool, bool)] = &[
    ("serve", "Serve", "FromDevice", "ToDevice", true, true),
    ("missing", "Missing", "Hashes", "Hashes", false, false),
    ("upload", "Upload", "Chunk", "Stored", true, false),
    ("submit", "Submit", "Job", "Event", false, true),
    ("judge", "Judge", "Verdict", "Judged", false, false),
    ("readmit", "Readmit", "DeviceName", "Judged", false, false),
    ("status", "Status", "StatusRequest", "PoolStatus", false, false),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let mut service = Service::builder().name("Pool").package("fusion.pool");
    for &(name, route, input, output, asks_more, answers_more) in METHODS {
        let mut method = Method::builder()
            .name(name)
            .route_name(route)
            .input_type(format!("crate::messages::{input}"))
            .output_type(format!("crate::messages::{output}"))
            .codec_path("tonic_prost::ProstCodec");
        if asks_more {
            method = method.client_streaming();
        }
        if answers_more {
            method = method.server_streaming();
        }
        service = service.method(method.build());
    }
    Builder::new().compile(&[service.build()]);
}
