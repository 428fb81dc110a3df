//! Tests of searches, logs and measurements.

mod common;
mod log;
mod measure;
mod models;
mod points;
mod search;
mod tuner;
