//! Counters of what a peer does wrong and is told.

use core::fmt;
use dtls_core::{AlertDescription, Discard, Probe};
use std::collections::BTreeMap;

/// How much was dropped, by reason, and which alerts came and went.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    discarded: [u64; Discard::ALL.len()],
    sent: Alerts,
    received: Alerts,
}

/// There are at most 256 kinds, and of an honest peer hardly ever more than one.
type Alerts = BTreeMap<u8, u64>;

impl Counters {
    /// Records, or parts of records, dropped for this reason.
    #[must_use]
    pub fn discards(&self, why: Discard) -> u64 {
        self.discarded.get(why as usize).copied().unwrap_or(0)
    }

    /// The reasons that occurred, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Discard, u64)> {
        let all = Discard::ALL.map(|why| (why, self.discards(why)));
        all.into_iter().filter(|&(_, count)| count > 0)
    }

    /// The alerts that were sent, with their numbers.
    pub fn alerts_sent(&self) -> impl Iterator<Item = (AlertDescription, u64)> {
        alerts(&self.sent)
    }

    /// The alerts that came, with their numbers. One in plaintext may be forged.
    pub fn alerts_received(&self) -> impl Iterator<Item = (AlertDescription, u64)> {
        alerts(&self.received)
    }
}

fn alerts(alerts: &Alerts) -> impl Iterator<Item = (AlertDescription, u64)> {
    let named = |(&alert, &count)| (AlertDescription(alert), count);
    alerts.iter().map(named)
}

impl Probe for Counters {
    fn discarded(&mut self, why: Discard) {
        if let Some(count) = self.discarded.get_mut(why as usize) {
            *count += 1;
        }
    }

    fn alert_sent(&mut self, alert: AlertDescription) {
        *self.sent.entry(alert.0).or_default() += 1;
    }

    fn alert_received(&mut self, alert: AlertDescription) {
        *self.received.entry(alert.0).or_default() += 1;
    }
}

/// In one line, what did not occur left out.
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dropped = self.iter().map(|(why, count)| (why.name(), count));
        let named = |(alert, count): (AlertDescription, u64)| (alert.name(), count);
        list(f, "dropped", dropped)?;
        f.write_str("; ")?;
        list(f, "alerts sent", self.alerts_sent().map(named))?;
        f.write_str("; ")?;
        list(f, "alerts received", self.alerts_received().map(named))
    }
}

fn list(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    items: impl Iterator<Item = (&'static str, u64)>,
) -> fmt::Result {
    write!(f, "{title}: ")?;
    let mut separator = "";
    for (name, count) in items {
        write!(f, "{separator}{name} {count}")?;
        separator = ", ";
    }
    match separator {
        "" => f.write_str("none"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_occurred_is_shown_in_one_line() {
        let mut counters = Counters::default();
        assert_eq!(
            counters.to_string(),
            "dropped: none; alerts sent: none; alerts received: none"
        );
        counters.discarded(Discard::BadMac);
        counters.discarded(Discard::BadMac);
        counters.discarded(Discard::Replayed);
        counters.alert_sent(AlertDescription::CLOSE_NOTIFY);
        counters.alert_received(AlertDescription::HANDSHAKE_FAILURE);
        counters.alert_received(AlertDescription(255));
        assert_eq!(
            counters.to_string(),
            "dropped: replayed 1, bad MAC 2; alerts sent: close_notify 1; alerts received: \
             handshake_failure 1, unknown 1"
        );
        assert_eq!(counters.discards(Discard::BadMac), 2);
    }
}
