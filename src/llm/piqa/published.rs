//! The benchmark's published accuracies (its `results/`, February 2026), to stand beside ours.

use super::dataset::SETS;

/// A system's published accuracies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedAccuracy {
    /// As the benchmark's results name it.
    pub system: &'static str,
    /// In percent, one for each of [`SETS`].
    percent: [u8; SETS.len()],
}

impl PublishedAccuracy {
    /// Between 0 and 1; `None` for a set that is not one of the benchmark's.
    pub fn on(&self, set: &str) -> Option<f64> {
        let number = SETS.iter().position(|name| *name == set)?;
        Some(f64::from(self.percent[number]) / 100.)
    }
}

/// System, then its accuracy in percent on each of [`SETS`].
const ROWS: [(&str, [u8; SETS.len()]); 14] = [
    ("gpt-5-2025-08-07", [97, 99, 88, 100, 76, 100, 99, 96, 100, 97]),
    ("google/gemini-2.5-pro", [95, 100, 95, 98, 79, 98, 93, 96, 100, 96]),
    ("google/gemini-3-flash-preview", [96, 100, 92, 99, 73, 99, 96, 98, 100, 96]),
    ("gpt-4o-2024-08-06", [97, 97, 78, 99, 59, 100, 98, 95, 100, 97]),
    ("google/gemini-2.5-flash", [94, 96, 77, 99, 61, 100, 94, 95, 99, 96]),
    ("mistralai/mistral-medium-3.1", [94, 86, 62, 96, 53, 100, 93, 97, 92, 95]),
    ("anthropic/claude-haiku-4.5", [91, 89, 57, 98, 50, 100, 94, 96, 94, 96]),
    ("llama3.3:latest", [91, 83, 54, 89, 53, 100, 87, 89, 95, 94]),
    ("gemma3:27b", [84, 87, 57, 94, 48, 100, 92, 84, 90, 92]),
    ("qwen3:32b", [93, 75, 49, 90, 54, 97, 85, 85, 86, 93]),
    ("GaMS-27B", [79, 82, 58, 87, 48, 97, 73, 72, 87, 84]),
    ("gpt-3.5-turbo-0125", [86, 78, 50, 88, 49, 99, 79, 74, 80, 78]),
    ("GaMS-27B-quantized", [81, 75, 58, 76, 51, 94, 74, 72, 85, 76]),
    ("deepseek-r1:14b", [63, 48, 50, 60, 50, 73, 60, 60, 57, 55]),
];

/// All published systems, best mean first.
pub fn published_accuracies() -> [PublishedAccuracy; ROWS.len()] {
    ROWS.map(|(system, percent)| PublishedAccuracy { system, percent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_means_are_those_of_the_table_and_fall() {
        let expected = [95.2, 95.0, 94.9, 92.0, 91.1, 86.8, 86.5, 83.5, 82.8, 80.7, 76.7, 76.1, 74.2, 57.6];
        let rows = published_accuracies();
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(expected) {
            let mean = SETS.iter().map(|set| row.on(set).unwrap()).sum::<f64>() / SETS.len() as f64;
            assert!((100. * mean - expected).abs() < 0.05 + 1e-9, "{}: {mean}", row.system);
        }
        assert_eq!(rows[8].on("piqa-hr-ckm"), Some(0.48));
        assert_eq!(rows[8].on("valid"), None);
    }
}
