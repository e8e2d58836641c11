//! `tests/REQUIREMENTS.md` cites tests and items that exist.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What a requirement without a test has to say.
const REASONS: [&str; 6] = [
    "by construction:",
    "caller:",
    "deviation:",
    "does not apply:",
    "interop:",
    "not in scope:",
];

#[derive(Default)]
struct Sources(HashMap<String, String>);

impl Sources {
    fn get(&mut self, path: &str) -> &str {
        self.0.entry(path.to_owned()).or_insert_with(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let file = match path.split_once('/') {
                Some(("it", _)) => root.join("tests/tests").join(path),
                Some(("std", rest)) => root.join("dtls-std").join(rest),
                _ => root.join("dtls-core/src").join(path),
            };
            fs::read_to_string(&file).unwrap_or_default()
        })
    }
}

/// All `file.rs::name` in a cell.
fn citations(cell: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.filter_map(|code| {
        let (path, name) = code.split_once("::")?;
        path.ends_with(".rs").then_some((path, name))
    })
}

/// A function, type or constant is defined under this name, or a field.
fn has_item(source: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let kinds = ["fn", "struct", "enum", "trait", "const"];
    let words: Vec<_> = source
        .split(|c| !is_part(c))
        .filter(|word| !word.is_empty())
        .collect();
    let defined = |pair: &[&str]| kinds.contains(&pair[0]) && pair[1] == name;
    words.windows(2).any(defined) || source.contains(&format!("    pub {name}: "))
}

fn has_test(source: &str, name: &str) -> bool {
    let found = source.split_once(&format!("fn {name}()"));
    let behind_attribute = |before: &str| before.trim_end().ends_with("#[test]");
    found.is_some_and(|(before, _)| behind_attribute(before))
}

#[test]
fn the_requirements_name_tests_and_items_that_exist() {
    let document = include_str!("../../REQUIREMENTS.md");
    let (mut sources, mut faults) = (Sources::default(), Vec::new());
    let (mut rows, mut tests) = (0, 0);
    for row in document.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [section, requirement, code, proof] = cells[..] else {
            panic!("four cells: {row}")
        };
        if section == "Section" {
            continue;
        }
        let mut fault = |what: &str, path: &str, name: &str| {
            faults.push(format!(
                "{section}, {requirement}: no {what} {path}::{name}"
            ));
        };
        for (path, name) in citations(code) {
            if !has_item(sources.get(path), name) {
                fault("item", path, name);
            }
        }
        for (path, name) in citations(proof) {
            if !has_test(sources.get(path), name) {
                fault("test", path, name);
            }
        }
        let reason = REASONS.iter().any(|reason| proof.contains(reason));
        let cited = citations(proof).count();
        if cited == 0 && !reason {
            fault("test and no reason", "", "");
        }
        (rows, tests) = (rows + 1, tests + cited);
    }
    println!("{rows} requirements, tests cited {tests} times");
    assert!(rows > 100);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
