//! Prompts, shots and figures of language models are those of GITA4CALAMITA: by hashes of its recorded prompts, and by
//! its recorded answers.

use crate::support::real_data;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tiered::durable::sha256;
use tiered::error::{ErrorKind, Result};
use tiered::llm::{
    ChatTemplate, OptionScore, Plan, Protocol, Question, Request, Scorer, Story, Style, Tier, ask, questions,
    read_stories,
};

const OFFICIAL: &str = "data/gita4calamita/GITA4CALAMITA.jsonl";
const DENSE: &str = "data/gita/GITA_test.json";

/// What Llama-3.1's template prints, without its tools.
const LLAMA: &str = "{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = \"\" %}
{%- endif %}
{{- \"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}
{{- \"Cutting Knowledge Date: December 2023\\n\" }}
{{- \"Today Date: \" + date_string + \"\\n\\n\" }}
{{- system_message }}
{{- \"<|eot_id|>\" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
";

/// What Gemma-2's template prints: it refuses a system turn, and turns that don't alternate.
const GEMMA: &str = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}\
{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Turns must alternate') }}{% endif %}\
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}";

fn styles() -> [Style; 3] {
    [
        Style::Plain,
        Style::Chat(ChatTemplate::new(LLAMA, "<|begin_of_text|>", "<|eot_id|>").unwrap()),
        Style::Chat(ChatTemplate::new(GEMMA, "<bos>", "<eos>").unwrap()),
    ]
}

fn stories(file: &str) -> Option<Vec<Story>> {
    Some(read_stories(&real_data(file)?, Protocol::Gita4calamita, None).unwrap().stories)
}

/// The questions of a tier about all of these stories.
fn all_questions(stories: &[Story], style: &Style, tier: Tier) -> Vec<Question> {
    let plan = Plan::new(Protocol::Gita4calamita, style.clone());
    questions(stories, &plan, tier, &(0..stories.len()).collect::<Vec<_>>()).unwrap().0
}

fn prompt_hashes(stories: &[Story], style: &Style) -> Vec<String> {
    let questions = all_questions(stories, style, Tier::Story);
    questions.iter().map(|question| sha256(question.prompt.as_bytes())).collect()
}

#[test]
fn prompts_are_those_that_were_recorded() {
    let (Some(official), Some(dense)) = (stories(OFFICIAL), stories(DENSE)) else { return };
    let expected = [
        ["27edd0e0d4e89376ff956277114677ca", "9006e2be1b00123d", "3397b3e90ecc2178"],
        ["cb0acf84434e312b77b5ef74b3c8f446", "d4edfd770ae32c18", "09bbdbfd4071ad5e"],
        ["e5d79450b9da27287e078174a8607a67", "2d46fe82b8f61757", "12d6586d35e09bd2"],
    ];
    for (style, [row_0, all_official, all_dense]) in styles().iter().zip(expected) {
        let (official, dense) = (prompt_hashes(&official, style), prompt_hashes(&dense, style));
        assert_eq!((official.len(), dense.len()), (356, 356));
        assert!(official[0].starts_with(row_0) && dense[0].starts_with(row_0), "{row_0}: {}", official[0]);
        for (hashes, all) in [(official, all_official), (dense, all_dense)] {
            let found = sha256(hashes.concat().as_bytes());
            assert!(found.starts_with(all), "{all}: {found}");
        }
    }
}
