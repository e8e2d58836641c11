//! The sub-command `measure`.

/// What to measure.
#[derive(clap::Args, Clone, Debug)]
pub struct MeasureArgs {}

/// Measures and prints.
///
/// # Errors
/// A peer that exists cannot be reached.
pub fn run(args: &MeasureArgs) -> anyhow::Result<()> {
    let MeasureArgs {} = args;
    Ok(())
}
