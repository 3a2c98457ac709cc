//! Removes what people type around sentences: comments, rules, bullets and numbers.

/// Characters that begin a list item, and characters after its number.
const BULLETS: [char; 4] = ['-', '*', '•', '–'];
const AFTER_NUMBER: [char; 2] = ['.', ')'];

/// How much of a text was not read as sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub(super) comments: usize,
    pub(super) rules: usize,
    pub(super) markers: usize,
}

impl LeftOut {
    /// `None` if nothing was left out.
    pub fn words(&self) -> Option<String> {
        let counts = [
            (self.comments, "lines that begin with #"),
            (self.rules, "lines without letters, read as blank lines"),
            (self.markers, "bullets and numbers before sentences"),
        ];
        let said: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what} ({count})")).collect();
        (!said.is_empty()).then(|| format!("not read as sentences: {}", said.join("; ")))
    }
}

/// Whether the line is a title or a remark: `# Story 1`.
pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// Whether the line separates stories: `---`, `***`.
pub(super) fn is_rule(line: &str) -> bool {
    !line.is_empty() && !line.chars().any(char::is_alphanumeric)
}

/// Removes bullets and numbers from the lines of a story, if all lines have one; returns how many.
pub(super) fn take_off_markers(lines: &mut [String]) -> usize {
    let Some(unmarked) = lines.iter().map(|line| unmarked(line)).collect::<Option<Vec<_>>>() else { return 0 };
    let unmarked: Vec<String> = unmarked.into_iter().map(str::to_owned).collect();
    lines.clone_from_slice(&unmarked);
    unmarked.len()
}

/// The rest of a text after a number: "1. ", "2) ".
pub(super) fn unnumbered(text: &str) -> Option<&str> {
    unmarked(text).filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))
}

/// The rest of a line after "- ", "1. " or "2) ".
pub(super) fn unmarked(line: &str) -> Option<&str> {
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let signs = if unnumbered.len() == line.len() { &BULLETS[..] } else { &AFTER_NUMBER };
    let rest = unnumbered.strip_prefix(signs)?;
    rest.starts_with(char::is_whitespace).then(|| rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_taken_off_where_all_lines_have_one() {
        let taken_off = |lines: &[&str]| {
            let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            (take_off_markers(&mut lines), lines.join("|"))
        };
        assert_eq!(taken_off(&["- A.", "* B.", "•\tC.", "1. D.", "12)  E."]), (5, "A.|B.|C.|D.|E.".into()));
        for as_it_is in [["1. A.", "B."], ["-A.", "- B."], ["3 cups.", "1. B."], ["1.5 cups.", "2. B."]] {
            assert_eq!(taken_off(&as_it_is), (0, as_it_is.join("|")));
        }
    }

    #[test]
    fn lines_of_signs_are_rules() {
        assert!(["---", "***", "* * *", "…"].into_iter().all(is_rule));
        assert!(!["", "a", "- è", "3"].into_iter().any(is_rule));
    }
}
