#![no_main]

/// The library panics on malformed parts, which is caught: only what is asserted ends the program at once. It has no
/// threads, so that one input always takes one way.
fn prepare() {
    // SAFETY: nothing else runs yet.
    unsafe { std::env::set_var("TOKENIZERS_PARALLELISM", "false") };
    std::panic::set_hook(Box::new(|panic| {
        if panic.location().is_some_and(|place| place.file().ends_with("entry.rs")) {
            eprintln!("{panic}");
            std::process::abort();
        }
    }));
}

libfuzzer_sys::fuzz_target!(init: prepare(), |bytes: &[u8]| tiered::entry::tokenizer(bytes));
