//! No two source files import each other, directly or around. `tests/it/layering.rs` checks the order of the modules;
//! this checks the files inside them too.
//!
//! A file imports another one if it names one of its items by a path from `crate`, `self` or `super`, in `use` or in
//! code. Re-exports are followed to the file that defines the item. `pub use` in a `mod.rs` is no import: it only shows
//! where an item is found. Paths inside macros are not seen, and tests do not count.

use crate::support::source_files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// A path from the crate's root, such as `["model", "detector", "Detector"]`.
type Names = Vec<String>;

/// A source file, as far as its imports are concerned.
#[derive(Default)]
struct Source {
    /// What it names in other modules. `pub use` is left out.
    imports: Vec<Names>,
    /// What `use` brings into it: name here -> path. A later file may find these items here.
    aliases: BTreeMap<String, Names>,
    /// The modules whose items are all brought into it.
    globs: Vec<Names>,
    /// The names of its own items.
    items: BTreeSet<String>,
}

#[test]
fn no_two_files_import_each_other() {
    let circles = circles(&imports(&sources()));
    let lines: Vec<_> = circles.iter().map(|files| files.join(", ")).collect();
    assert!(circles.is_empty(), "circles of files:\n{}", lines.join("\n"));
}

#[test]
fn a_circle_through_a_re_export_is_found() {
    let files = [
        ("lib", "mod a; mod b;"),
        ("a", "mod x; mod y; pub use x::X; use y::Y; fn f(_: Y) {}"),
        ("a::x", "use super::super::b::go; pub struct X;"),
        ("a::y", "pub struct Y(super::X);"),
        ("b", "pub fn go() { crate::a::f() }"),
    ];
    let sources = files.map(|(name, code)| (name.split("::").map(str::to_owned).collect(), parse(name, code)));
    let imports = imports(&sources.into());
    assert_eq!(imports["a"], BTreeSet::from(["a::y".to_owned()]));
    assert_eq!(imports["a::y"], BTreeSet::from(["a::x".to_owned()]));
    assert_eq!(circles(&imports), [["a", "a::x", "a::y", "b"]]);
}

/// Every file of the library, by the path of its module.
fn sources() -> BTreeMap<Names, Source> {
    let with_module = |path: PathBuf| {
        let name = module(&path);
        let source = parse(&name, &std::fs::read_to_string(&path).unwrap());
        (name.split("::").map(str::to_owned).collect::<Names>(), source)
    };
    source_files().into_iter().filter(|path| !path.ends_with("src/main.rs")).map(with_module).collect()
}

/// `src/a/mod.rs` and `src/a.rs` are `a`.
fn module(path: &Path) -> String {
    let path = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap().with_extension("");
    let path = if path.ends_with("mod") { path.parent().unwrap().to_owned() } else { path };
    path.to_str().unwrap().replace('/', "::")
}

fn parse(module: &str, code: &str) -> Source {
    let own = if module == "lib" { Names::new() } else { module.split("::").map(str::to_owned).collect() };
    let file = syn::parse_file(code).unwrap_or_else(|error| panic!("{module}: {error}"));
    let mut reader = Reader { module: own, source: Source::default() };
    reader.visit_file(&file);
    reader.source
}

struct Reader {
    module: Names,
    source: Source,
}

impl Reader {
    /// The path from the crate's root; `None` if it leads out of the crate.
    fn path_of(&self, names: &[String]) -> Option<Names> {
        let (first, rest) = names.split_first()?;
        let mut start = self.module.clone();
        let rest = match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => rest,
            "super" => {
                let ups = names.iter().take_while(|name| *name == "super").count();
                start.truncate(start.len().checked_sub(ups)?);
                &names[ups..]
            }
            // Since 2018 a path in `use` may begin with a child module or another item of this file.
            _ if self.source.items.contains(first) => names,
            _ => return None,
        };
        start.extend_from_slice(rest);
        Some(start)
    }

    fn import(&mut self, names: &[String]) {
        self.source.imports.extend(self.path_of(names));
    }

    fn bring(&mut self, tree: &syn::UseTree, before: &[String], is_public: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (name, path) = match tree {
            syn::UseTree::Path(path) => return self.bring(&path.tree, &with(&path.ident), is_public),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.bring(tree, before, is_public));
            }
            syn::UseTree::Name(name) if name.ident == "self" => (before.last().cloned(), before.to_vec()),
            syn::UseTree::Name(name) => (Some(name.ident.to_string()), with(&name.ident)),
            syn::UseTree::Rename(rename) => (Some(rename.rename.to_string()), with(&rename.ident)),
            syn::UseTree::Glob(_) => (None, before.to_vec()),
        };
        let Some(target) = self.path_of(&path) else { return };
        match name {
            Some(name) => drop(self.source.aliases.insert(name, target.clone())),
            None => self.source.globs.push(target.clone()),
        }
        if !is_public {
            self.source.imports.push(target);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |tokens: String| tokens == "test" || tokens.starts_with("all(test,");
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && is_test(list.tokens.to_string().replace(' ', "")),
        meta => meta.path().is_ident("test"),
    })
}

fn name_of(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Const(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Macro(item) => item.ident.as_ref()?.to_string(),
        syn::Item::Mod(item) => item.ident.to_string(),
        syn::Item::Static(item) => item.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Trait(item) => item.ident.to_string(),
        syn::Item::Type(item) => item.ident.to_string(),
        syn::Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_file(&mut self, file: &'ast syn::File) {
        self.source.items = file.items.iter().filter_map(name_of).collect();
        syn::visit::visit_file(self, file);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.bring(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let is_relative = names.len() > 1 && self.source.items.contains(&names[0]);
        if is_relative || ["crate", "self", "super"].contains(&names[0].as_str()) {
            self.import(&names);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {} // pub(super) is no import
}

/// The other files that each file imports, by the names of their modules.
fn imports(sources: &BTreeMap<Names, Source>) -> BTreeMap<String, BTreeSet<String>> {
    let others = |(own, source): (&Names, &Source)| {
        let files = source.imports.iter().filter_map(|path| file_of(sources, path, 0));
        let others = files.filter(|file| file != own).map(|file| file.join("::"));
        (own.join("::"), others.collect())
    };
    sources.iter().map(others).collect()
}

/// The file that defines what a path names. `depth` ends circles of re-exports.
fn file_of(sources: &BTreeMap<Names, Source>, path: &[String], depth: usize) -> Option<Names> {
    let known = (1..=path.len()).rev().find(|&length| sources.contains_key(&path[..length]))?;
    let (module, rest) = path.split_at(known);
    let (source, Some(name)) = (&sources[module], rest.first()) else { return Some(module.to_vec()) };
    if source.items.contains(name) || depth > 8 {
        return Some(module.to_vec());
    }
    if let Some(target) = source.aliases.get(name) {
        return file_of(sources, &[target, &rest[1..]].concat(), depth + 1);
    }
    let in_glob = |glob: &&Names| sources.get(*glob).is_some_and(|source| source.items.contains(name));
    Some(source.globs.iter().find(in_glob).map_or_else(|| module.to_vec(), Clone::clone))
}

/// The groups of files of which each reaches each other.
fn circles(imports: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|file| (file, reach(imports, file))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in reached.iter().filter(|(file, others)| others.contains(*file)) {
        let group = others.iter().filter(|other| reached[**other].contains(*file));
        circles.insert(group.map(|file| (*file).clone()).collect::<Vec<_>>());
    }
    circles.into_iter().collect()
}

/// The files that a file imports, directly or around.
fn reach<'a>(imports: &'a BTreeMap<String, BTreeSet<String>>, file: &str) -> BTreeSet<&'a String> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![file.to_owned()]);
    while let Some(file) = next.pop() {
        for other in imports.get(&file).into_iter().flatten() {
            if reached.insert(other) {
                next.push(other.clone());
            }
        }
    }
    reached
}
