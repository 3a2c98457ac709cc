//! The table of modules in `src/lib.rs`: no module imports from one of the same or a higher order. And the size of files
//! and the names of types. Clippy guards the length of functions (`clippy.toml`).

use crate::support::source_files;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn lib() -> String {
    std::fs::read_to_string(source().join("lib.rs")).unwrap()
}

/// The table of `src/lib.rs`: module -> order.
fn orders() -> BTreeMap<String, u32> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("//! | ")?.split('|').map(str::trim);
        let order = cells.next()?.parse().ok()?;
        Some((cells.next()?.split('`').nth(1)?.to_owned(), order))
    };
    lib().lines().filter_map(row).collect()
}

/// The modules of which `src/lib.rs` says that they do not use tensors.
fn without_tensors() -> Vec<String> {
    let text = lib();
    let list = text.split("//!\n").find_map(|paragraph| Some(paragraph.split_once("do not use tensors")?.0));
    list.unwrap().split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every source file with its module (the first part of its path).
fn files() -> Vec<(String, PathBuf)> {
    let with_module = |path: PathBuf| {
        let relative = path.strip_prefix(source()).unwrap().to_str().unwrap().replace(".rs", "");
        (relative.split('/').next().unwrap().to_owned(), path)
    };
    let files = source_files().into_iter().map(with_module);
    files.filter(|(module, _)| !["lib", "main", "bin"].contains(&module.as_str())).collect()
}

/// The code of a file without comments and strings' contents that could look like paths.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules named after `crate::`, also in `crate::{a, b::{c, d}}`.
fn imports(code: &str) -> Vec<String> {
    let name =
        |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for after in code.split("crate::").skip(1) {
        let Some(list) = after.strip_prefix('{') else {
            found.push(name(after));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (i, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.push(name(&list[start..i]));
                    start = i + 1;
                }
                _ => {}
            }
            if c == '}' && start == i + 1 {
                break;
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// Whether `word` stands alone in the code.
fn names(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

#[test]
fn modules_import_only_from_modules_before_them() {
    let orders = orders();
    let mut wrong = Vec::new();
    for (module, path) in files() {
        let own = orders.get(&module).unwrap_or_else(|| panic!("{module} is not in the table of src/lib.rs"));
        for import in imports(&code(&path)).into_iter().filter(|import| *import != module) {
            let order = orders.get(&import).unwrap_or_else(|| panic!("{}: what is {import}?", path.display()));
            if order >= own {
                wrong.push(format!("{}: {module} ({own}) imports {import} ({order})", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_without_tensors_never_name_them() {
    let (orders, without) = (orders(), without_tensors());
    assert!(!without.is_empty() && without.iter().all(|module| orders.contains_key(module)), "{without:?}");
    for (module, path) in files().into_iter().filter(|(module, _)| without.contains(module)) {
        assert!(!names(&code(&path), "tch"), "{} ({module}) names tch", path.display());
    }
}

#[test]
fn no_file_is_long() {
    for (_, path) in files() {
        let lines = std::fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines < 350, "{}: {lines} lines; split it", path.display());
    }
}

/// The names of the types that other files can see. Every command has `Args`, and perhaps `Command`, as is usual with
/// clap.
fn types(code: &str) -> Vec<String> {
    let name = |line: &str| {
        let declared = line.trim_start().strip_prefix("pub")?;
        let declared = if declared.starts_with('(') { declared.split_once(')')?.1 } else { declared };
        let kinds = ["struct ", "enum ", "trait ", "type "];
        let name = kinds.iter().find_map(|kind| declared.trim_start().strip_prefix(kind))?;
        Some(name.chars().take_while(|c| c.is_alphanumeric()).collect::<String>())
    };
    code.lines().filter_map(name).filter(|name| !["Args", "Command"].contains(&name.as_str())).collect()
}

#[test]
fn no_two_types_have_one_name() {
    let mut found = BTreeMap::new();
    for (_, path) in files() {
        for name in types(&code(&path)) {
            if let Some(other) = found.insert(name.clone(), path.clone()) {
                panic!("{name}: in {} and in {}; rename one", other.display(), path.display());
            }
        }
    }
    assert_eq!(types("pub(super) struct A<T>(T);\n    pub enum B {\nstruct C;\npub fn d()"), ["A", "B"]);
}

#[test]
fn imports_are_found_in_every_form() {
    let code =
        "use crate::data::{self, Pair};\nlet x = crate::seed::key(0);\nuse crate::{a::{b, c}, d, e::f};\nuse other::g;";
    assert_eq!(imports(code), ["data", "seed", "a", "d", "e"]);
    assert!(names("use tch::Tensor;", "tch") && !names("fn fetch()", "tch"));
}
