/// The sliding window against replays (RFC 6347 section 4.1.2.6): 64 numbers, as preferred there.
///
/// Asking and moving are two steps, because only a record whose tag has verified may move it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplayWindow {
    /// The largest number seen, plus one.
    next: u64,
    /// Bit `i`: the number `next - 1 - i` was seen.
    seen: u64,
}

impl ReplayWindow {
    /// Whether a number is new; one left of the window counts as seen.
    pub(crate) const fn is_new(&self, number: u64) -> bool {
        match self.age(number) {
            None => true,
            Some(age) => age < 64 && (self.seen >> age) & 1 == 0,
        }
    }

    /// Notes the number of an authentic record.
    pub(crate) fn note(&mut self, number: u64) {
        match self.age(number) {
            None => {
                let by = number.saturating_sub(self.next).saturating_add(1);
                let by = u32::try_from(by).unwrap_or(u32::MAX);
                self.seen = self.seen.checked_shl(by).unwrap_or(0) | 1;
                self.next = number.saturating_add(1);
            }
            Some(age) => {
                self.seen |= u32::try_from(age).map_or(0, |age| 1u64.checked_shl(age).unwrap_or(0));
            }
        }
    }

    /// How far left of the right edge; `None` if right of it.
    const fn age(&self, number: u64) -> Option<u64> {
        if number >= self.next {
            None
        } else {
            Some(self.next.saturating_sub(1).saturating_sub(number))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6347 section 4.1.2.6, against a model that remembers everything.
    #[test]
    fn window_is_the_last_64_numbers() {
        let mut window = ReplayWindow::default();
        let mut seen = [false; 400];
        let mut highest = None;
        let mut number = 7u64;
        for _ in 0..2000 {
            number = (number * 5 + 3) % 400; // runs through all residues, forwards and backwards
            let n = usize::try_from(number).unwrap();
            let old = highest.is_some_and(|highest: u64| number + 64 <= highest);
            assert_eq!(window.is_new(number), !seen[n] && !old, "{number}");
            if window.is_new(number) {
                window.note(number);
                seen[n] = true;
                highest = highest.max(Some(number));
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        let mut window = ReplayWindow::default();
        let last = (1 << 48) - 1;
        window.note(last);
        assert!(!window.is_new(last) && window.is_new(last - 63) && !window.is_new(last - 64));
        window.note(last - 63);
        assert!(!window.is_new(last - 63));
    }
}
