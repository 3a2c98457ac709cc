//! Checks of values.

/// What must hold, and the error if it does not.
pub(super) type Check = (bool, &'static str);

/// # Errors
/// That of the first check that does not hold.
pub(super) fn all_hold(checks: &[Check]) -> Result<(), &'static str> {
    checks.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, problem)| Err(*problem))
}
