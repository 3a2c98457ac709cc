//! What commands print, word by word: help, tables, and an error of every exit code. `make snapshots` writes it anew.

use crate::support::{stderr, stdout, text, tiered, tiered_with};
use crate::tiny::Tiny;
use snapbox::{assert_data_eq, str};
use std::path::Path;

#[test]
fn commands_print_what_is_written_down() {
    trycmd::TestCases::new()
        .register_bin("tiered", Path::new(env!("CARGO_BIN_EXE_tiered")))
        .env("COLUMNS", "100")
        .case("tests/cmd/*.md");
}

#[test]
fn the_help_of_every_command_is_written_down() {
    let written = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/help.md")).unwrap();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        assert!(written.contains(&format!("$ tiered {command}--help\n")), "{command} is missing in tests/cmd/help.md");
        let help = stdout(&tiered(command.split_whitespace().chain(["--help"])));
        let Some((_, list)) = help.split_once("Commands:\n") else { continue };
        // A name is indented by two, further lines of its description by more.
        let names = list.lines().take_while(|line| line.starts_with("  ")).filter_map(|line| {
            let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
            rest.split_whitespace().next().filter(|&name| name != "help")
        });
        commands.extend(names.map(|name| format!("{command}{name} ")));
    }
}

/// Exit codes 75, 76 and 77.
#[test]
fn trainings_that_end_early_say_why() {
    let tiny = Tiny::new();
    let config = tiny.config();
    let train = |run: &str, variable: &str, value: &str| {
        let run = tiny.path(run);
        let arguments = ["train", "--config", text(&config), "--output", text(&run)];
        let output = tiered_with(variable, value, arguments);
        let folder = format!("{}/", tiny.path("").display().to_string().trim_end_matches('/'));
        let message = stderr(&output).replace(&folder, "[FOLDER]/");
        format!("{}\nexit code {}\n", message.trim(), output.status.code().unwrap())
    };
    assert_data_eq!(
        train("full", "TIERED_FAIL_POINT", "errors:66"),
        str![[r#"
warning: step 8: [FOLDER]/full: cannot be written: no space left (injected)
warning: step 8: [FOLDER]/full/metrics.csv: cannot be written: no space left (injected)
warning: step 8: not saved, try 1 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
warning: step 8: not saved, try 2 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
warning: step 8: not saved, try 3 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
warning: step 8: [FOLDER]/full/metrics.csv: cannot be written: no space left (injected)
warning: step 8: not saved, try 1 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
warning: step 8: not saved, try 2 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
warning: step 8: not saved, try 3 of 3: [FOLDER]/full/checkpoints/.step-00000008.part: cannot be written: no space left (injected)
the run finished, but could not be saved (see events.jsonl); it can resume from the checkpoint step-00000004; make room, then resume with: tiered train --resume [FOLDER]/full
exit code 75

"#]]
    );
    let poison = "gradient:roberta.embeddings.LayerNorm.bias=nan@5";
    assert_data_eq!(
        train("diverged", "TIERED_POISON", poison),
        str![[r#"
error: step 5: the gradient of roberta.embeddings.LayerNorm.bias is not finite (pairs 0-C0, 0-O0); the checkpoint step-00000004 is kept; try a lower train.learning_rate
exit code 76

"#]]
    );
    std::fs::write(tiny.encoder().join("model.safetensors"), b"PK\x03\x04archive/data.pkl").unwrap();
    assert_data_eq!(
        train("refused", "TIERED_POISON", poison),
        str![[r#"
error: [FOLDER]/encoder/model.safetensors: not a safetensors file: it is a zip archive (as torch.save and numpy.savez write them), whose pickles can run any code when loaded; only safetensors are read as weights; if you trust the file, load it elsewhere and write its tensors with safetensors.torch.save_file(tensors, "model.safetensors")
exit code 77

"#]]
    );
}
