//! The README of an export.

use crate::config::Config;
use crate::experiment::own_decode;
use crate::model::ModelConfig;
use crate::outside::shown;
use crate::say::counted;

/// What the folder is, where it comes from, how to read it.
pub fn card(config: &Config, model: &ModelConfig) -> String {
    let from = shown(&config.encoder.path.display().to_string(), 200);
    let data = shown(&config.data.train.files(), 200);
    let (layers, hidden) = (counted(model.encoder.num_hidden_layers, "layer"), model.encoder.hidden_size);
    let decode = own_decode(config).name();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "---
library_name: transformers
---

# An encoder trained by `tiered`, with its heads

Written by `tiered model export` {version}. The encoder ({layers}, {hidden} wide) is `{from}`, trained further on `{data}`
to tell which of two household stories is plausible, which sentences conflict, and which physical states are to blame
(Storks et al., 2021, Tiered Reasoning for Intuitive Physics). The licences of that encoder and of that data go on to apply.

| file | holds |
|---|---|
| `config.json`, `model.safetensors` | the encoder, in float32: `AutoModel.from_pretrained(FOLDER)`; it has no pooler |
| `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json` | its tokenizer: `AutoTokenizer.from_pretrained(FOLDER)` |
| `tiered_heads.safetensors` | 20 heads each for the states before and after a sentence, and the conflict detector |
| `tiered.json` | where each attribute's logits are, what its classes mean, sizes, the detector's settings, how outputs are decoded |
| `read_export.py` | all of it in PyTorch: the answer of `tiered predict` to two stories, as text or JSON |

```sh
pip install torch transformers safetensors
python read_export.py . stories.txt    # --json: every belief too
```

`stories.txt` is a file as `tiered predict` reads it:

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

A story is `{{\"sentences\": [...], \"entities\": [...]}}`. Conflicts are decoded by `{decode}`, as this detector is made for; `--decode` and
`Reader(folder, decode)` take `threshold` or `pair`. One story alone, and `--decode contrast`, are left to `tiered predict`.
"
    )
}
