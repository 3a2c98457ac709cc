//! The fuzz targets, over their seeds and over seeds damaged at random.

mod entry;

use crate::faults::{count, row};
use crate::support::rng;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use std::path::Path;

/// The seeds of a target.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/hostile/fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// A seed with some bytes changed, removed, repeated or taken from another.
fn damaged(seeds: &[Vec<u8>], rng: &mut ChaCha12Rng) -> Vec<u8> {
    let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
    let other = &seeds[rng.random_range(0..seeds.len())];
    for _ in 0..rng.random_range(1..8) {
        let at = rng.random_range(0..=bytes.len());
        let to = rng.random_range(at..=bytes.len().min(at + 40));
        match rng.random_range(0..6) {
            0 => drop(bytes.drain(at..to)),
            1 => drop(bytes.splice(at..to, [rng.random()])),
            2 => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let from = rng.random_range(0..=other.len());
                let part = other[from..other.len().min(from + 60)].to_vec();
                bytes.splice(at..to, part);
            }
            4 if !bytes.is_empty() => {
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
            }
            _ => bytes
                .extend_from_slice(&[b"9", b"0", b"]", b"}", b"\0", b"\xff", b"\"", b","][rng.random_range(0..8)][..]),
        }
    }
    bytes
}

fn run(target: &str, entry: fn(&[u8]), total: usize) {
    let seeds = seeds(target);
    assert!(seeds.len() > 3, "{target}");
    seeds.iter().for_each(|seed| entry(seed));
    for number in 0..total {
        entry(&damaged(&seeds, &mut rng(number as u64)));
    }
    row(&format!("fuzz target {target}, damaged seeds"), total, total);
}

#[test]
fn stories() {
    run("stories", entry::stories, count(2_000, 100_000));
}

#[test]
fn safetensors_header() {
    run("safetensors_header", entry::safetensors_header, count(5_000, 200_000));
}

#[test]
fn predictions() {
    run("predictions", entry::predictions, count(2_000, 100_000));
}

#[test]
fn config() {
    run("config", entry::config, count(2_000, 100_000));
}

#[test]
fn manifest() {
    run("manifest", entry::manifest, count(2_000, 100_000));
}

#[test]
fn sweep() {
    run("sweep", entry::sweep, count(2_000, 100_000));
}

#[test]
fn tokenizer() {
    run("tokenizer", entry::tokenizer, count(500, 20_000));
}
