//! The records of epochs as TensorBoard's event file.
//!
//! The file depends on the records only, so it can be written again at any time. A resumed run has every step once. The
//! file on the disk is always a prefix of the next version, or is replaced. Formats: TFRecord framing
//! (`tensorflow/core/lib/io/record_writer.h`), `tensorflow/core/util/event.proto` and `framework/summary.proto`.

use crate::loss::LossValues;
use crate::metrics::TierCounts;
use crate::train::EpochRecord;
use prost::Message;

/// The file's name in a run folder. TensorBoard looks for "tfevents".
pub const EVENT_FILE: &str = "events.out.tfevents.0.tiered";

/// One record of the file. It has only the fields that we use.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// Steps of the run at the end of the epoch; 0 in the first record.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// In the first record only.
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    /// In every record but the first.
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
}

/// The numbers of one epoch.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// One for each curve.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<Value>,
}

/// A named number.
#[derive(Clone, PartialEq, Message)]
pub struct Value {
    /// The curve's group and name: "loss_story/dev".
    #[prost(string, tag = "1")]
    pub tag: String,
    /// Optional, so that 0 is written too. TensorBoard shows no point for a missing number.
    #[prost(float, optional, tag = "2")]
    pub simple_value: Option<f32>,
}

/// The bytes of the event file. `started` is the start of the run, in seconds since 1970. The time of an epoch is `started`
/// plus the seconds of training and evaluation so far, without the pauses of a stopped run.
pub fn events(epochs: &[EpochRecord], started: f64) -> Vec<u8> {
    let version = Event { file_version: Some("brain.Event:2".into()), wall_time: started, ..Event::default() };
    let mut bytes = record(&version.encode_to_vec());
    let mut wall_time = started;
    for epoch in epochs {
        wall_time += epoch.train_seconds + epoch.dev_seconds;
        let summary = Some(Summary { value: values(epoch) });
        let event = Event { wall_time, step: epoch.step as i64, file_version: None, summary };
        bytes.extend(record(&event.encode_to_vec()));
    }
    bytes
}

/// The length, its checksum, the data, its checksum.
fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    let checksums = [&length, data].map(|bytes| masked_crc(bytes).to_le_bytes());
    [&length, &checksums[0][..], data, &checksums[1]].concat()
}

/// CRC-32C, rotated and shifted: TFRecord's way to checksum data that holds checksums.
fn masked_crc(data: &[u8]) -> u32 {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Every loss on train and dev, and the tiers on dev as fractions.
fn values(epoch: &EpochRecord) -> Vec<Value> {
    let mut values = losses("train", &epoch.train);
    values.push(value("epoch", epoch.epoch as f64));
    values.push(value("seconds/train", epoch.train_seconds));
    if let Some(dev) = &epoch.dev {
        values.extend(losses("dev", &dev.losses));
        values.push(value("seconds/dev", epoch.dev_seconds));
        for (decoding, tiers) in [("threshold", &dev.threshold), ("pair", &dev.pair), ("calibrated", &dev.calibrated)] {
            values.extend(shares(decoding, tiers));
        }
    }
    values
}

fn losses(split: &str, losses: &LossValues) -> Vec<Value> {
    let named = losses.named().into_iter();
    named.map(|(name, loss)| value(format!("loss_{name}/{split}"), loss)).collect()
}

fn shares(decoding: &str, tiers: &TierCounts) -> Vec<Value> {
    let shares = [
        ("accuracy", tiers.accuracy()),
        ("consistency", tiers.consistency()),
        ("verifiability", tiers.verifiability()),
    ];
    let fractions = shares.into_iter().filter_map(|(name, share)| Some((name, share.fraction()?)));
    fractions.map(|(name, fraction)| value(format!("dev_{name}/{decoding}"), fraction)).collect()
}

fn value(tag: impl Into<String>, value: f64) -> Value {
    Value { tag: tag.into(), simple_value: Some(value as f32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 3720 (32 bytes of zeros: 8a9136aa), masked by hand.
    #[test]
    fn checksums_are_masked_crc32c() {
        assert_eq!(masked_crc(&[0; 32]), 0x0fd7_fffa);
    }

    #[test]
    fn a_value_of_0_is_written() {
        assert_eq!(value("a", 0.).encode_to_vec(), [10, 1, b'a', 21, 0, 0, 0, 0]);
    }

    #[test]
    fn a_file_of_more_epochs_begins_with_that_of_fewer() {
        let epoch = |epoch| EpochRecord {
            epoch,
            step: 10 * epoch,
            train: LossValues { story: 0.5, ..LossValues::default() },
            dev: None,
            train_seconds: 2.,
            dev_seconds: 1.,
            is_lost: false,
            has_other_dev: false,
        };
        let file = |epochs| events(&(1..=epochs).map(epoch).collect::<Vec<_>>(), 100.);
        assert!(file(3).starts_with(&file(2)));
        assert!(file(0).len() > 16 && file(2).len() > file(1).len());
        let first = record(&[]);
        assert_eq!(first.len(), 16);
    }
}
