//! The commands of README.md, run as they stand there: with its file names, on tiny stories and a tiny model.

use crate::support::{real_data, stderr, stdout, text};
use crate::tiny::Tiny;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn the_commands_of_the_readme_run() {
    let tiny = Tiny::new();
    let gita = real_data("data/gita/GITA_test.json");
    let checkout = |name: &str| {
        let path = tiny.path("checkout").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    let config = fs::read_to_string(tiny.config()).unwrap().replace("layers = 1\n", "kind = 'joint'\n");
    let config = config.replace("dropout = 0.0\n", "dropout = 0.0\nmax_sentences = 6\n"); // GITA has them, and the sample
    let config: String = config
        .lines()
        .filter(|line| !line.starts_with("heads") && !line.starts_with("feed_forward"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(checkout("configs/joint-e5-small.toml"), config).unwrap();
    fs::copy(tiny.stories(), checkout("data/trip/www.json")).unwrap();
    let italian = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample/it.json");
    fs::copy(gita.as_deref().unwrap_or(&italian), checkout("data/gita/GITA_test.json")).unwrap();
    fs::write(
        checkout("stories.txt"),
        "Rosa unplugged the kettle.\nRosa switched the kettle on.\n\nRosa washed a cup.\nRosa dried the cup.\n",
    )
    .unwrap();

    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (predict, others): (Vec<&str>, Vec<&str>) = commands(&readme).partition(|line| line.contains("tiered predict"));
    assert!(!predict.is_empty() && others.len() >= 7, "{others:?}");
    for command in others.into_iter().chain(predict) {
        let command = match (command.contains("data fetch"), &gita) {
            (true, _) => format!("{command} --help"), // tests/it/fetch/ runs them against a server
            (_, None) => command.split(" --published").next().unwrap().to_owned(),
            _ => command.to_owned(),
        };
        let command = command.replace("runs/joint-sentences-e5-small", "runs/joint-e5-small");
        let output = shell(&command, &tiny.path("checkout"));
        // Tiny stories and GITA have findings; what is read of them is told all the same.
        let codes: &[i32] = if command.contains("data check") && gita.is_some() { &[0, 65] } else { &[0] };
        let code = output.status.code();
        assert!(code.is_some_and(|code| codes.contains(&code)), "{command}: {code:?}\n{}", stderr(&output));
        assert!(!stdout(&output).is_empty(), "{command}");
    }
}

#[test]
fn commands_are_found_in_blocks_with_and_without_a_prompt() {
    let readme = "`tiered eval`\n```text\n$ tiered predict a b\nStory 1\n```\n```sh\ntiered train    # a comment\nexport A=b\n```\n";
    assert_eq!(commands(readme).collect::<Vec<_>>(), ["tiered predict a b", "tiered train"]);
}

/// The lines of code blocks that call the program, without their comments.
fn commands(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(str::lines).map(|line| line.strip_prefix("$ ").unwrap_or(line));
    lines.filter(|line| line.starts_with("tiered ")).map(|line| line.split(" #").next().unwrap().trim_end())
}

fn shell(command: &str, folder: &Path) -> Output {
    let binaries = Path::new(env!("CARGO_BIN_EXE_tiered")).parent().unwrap();
    let path = format!("{}:{}", text(binaries), std::env::var("PATH").unwrap());
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("TIERED_DATA", ".")
        .output()
        .unwrap()
}
