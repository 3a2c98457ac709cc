//! The README of an export.

use crate::config::Config;
use crate::experiment::own_decode;
use crate::model::ModelConfig;
use crate::say::counted;
use crate::untrusted::shown;
use std::path::Path;

/// The last part of a path.
fn name(path: &Path) -> String {
    shown(&path.file_name().unwrap_or_default().to_string_lossy(), 200)
}

/// Says what the folder contains, where the model comes from and how to use it.
pub fn card(config: &Config, model: &ModelConfig) -> String {
    // Without their folders, which may be private.
    let (from, data) = (shown(&config.encoder.public_name(), 200), shown(&config.data.train.file_names(), 200));
    let first = config.init_from.as_deref().map(name);
    let first = first.map_or(String::new(), |run| format!(", from the weights of the run `{run}` on"));
    let (layers, hidden) = (counted(model.encoder.num_hidden_layers, "layer"), model.encoder.hidden_size);
    let decode = own_decode(config).name();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "---
library_name: transformers
---

# An encoder trained by `tiered`, with its heads

`tiered model export` {version} wrote this folder. The encoder ({layers}, hidden size {hidden}) is `{from}`, trained
further on `{data}`{first}. The model says which of two household stories is plausible, which sentences conflict, and which
physical states explain the conflict (Storks et al., 2021, Tiered Reasoning for Intuitive Physics). The licences of the
encoder and of the data still apply.

| file | contents |
|---|---|
| `config.json`, `model.safetensors` | the encoder, in float32: `AutoModel.from_pretrained(FOLDER)`; it has no pooler |
| `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json` | its tokenizer: `AutoTokenizer.from_pretrained(FOLDER)` |
| `tiered_heads.safetensors` | the state heads (20 for before a sentence, 20 for after it) and the conflict detector |
| `tiered.json` | the position of each attribute's logits, the meaning of its classes, sizes, settings of the detector and the decoding, and which story files the weights have seen |
| `read_export.py` | the same model in PyTorch; it predicts as `tiered predict` does for two stories, as text or JSON; states are in English words for all stories |

```sh
pip install torch transformers safetensors
python read_export.py . stories.txt    # --format json prints every conflict probability too
```

`stories.txt` has the format in which `tiered predict` reads text. Entities must be named, at least those of the first story:

```text
entities: Rosa, kettle, cup
Rosa filled the kettle.
Rosa switched the kettle on.
Rosa poured the hot water into the cup.

entities: Rosa, kettle, cup
Rosa unplugged the kettle.
Rosa switched the kettle on.
Rosa poured the hot water into the cup.
```

In Python:

```python
from read_export import Reader, read_stories
answer, state_probs = Reader(\".\").predict(read_stories(\"stories.txt\"))
```

A story is `{{\"sentences\": [...], \"entities\": [...]}}`. Conflicts are decoded by `{decode}`, as suits this detector;
`--decode` and `Reader(folder, decode)` take `threshold` or `pair`. For single stories and `--decode contrast` use
`tiered predict`.
"
    )
}
