#!/usr/bin/env python3
"""Says which of two stories is plausible, which sentences conflict and why, with a model of `tiered model export`.

Input and answer are those of `tiered predict`, but states are in English words for Italian stories too. Each story has
a line `entities: a, b`, then one sentence a line. A blank line separates the stories. A second story without a list has
the first one's. In Python:
Reader(FOLDER).predict([{"sentences": [...], "entities": [...]}, {...}])[0].
Shapes: E entities and N sentences of a story, H the encoder's hidden size.
"""
import argparse
import json
import re
import sys
import unicodedata
from itertools import product
from pathlib import Path

try:
    import torch
    from safetensors.torch import load_file
    from torch import nn
    from torch.nn.functional import gelu, linear, pad
    from transformers import AutoModel, AutoTokenizer, logging
except ModuleNotFoundError as missing:
    sys.exit(f"error: {missing.name} is missing; install everything: pip install torch transformers safetensors")


class Reader:
    def __init__(self, folder, decode=None):
        self.about = json.loads(Path(folder, "tiered.json").read_text(encoding="utf-8"))
        if self.about["schema_version"] > 1:
            raise ValueError(f"{Path(folder, 'tiered.json')}: its schema_version is newer than 1; use the read_export.py beside it")
        self.sizes, self.detector, self.attributes = (self.about[key] for key in ("sizes", "detector", "attributes"))
        self.decode = decode or self.about["decode"]["conflicts"]
        if self.decode not in ("threshold", "pair"):
            raise ValueError(f"decode {self.decode!r}: must be threshold or pair; for others use `tiered predict`")
        self.weights = load_file(Path(folder, "tiered_heads.safetensors"))
        self.tokenizer, self.encoder = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
        self.layers = self.transformer(**self.detector)

    def transformer(self, kind, layers, sentence_layers, width, heads, feed_forward, norm, **_):
        """The detector's layers over the sentences of a story."""
        count, width = (layers, width) if kind == "paper" else (sentence_layers, self.sizes["hidden"])
        if count == 0:
            return nn.Identity()
        before = kind == "paper" and norm == "before"
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, batch_first=True, norm_first=before)
        stack = nn.TransformerEncoder(layer, count, nn.LayerNorm(width) if before else None, enable_nested_tensor=False)
        stack.load_state_dict({name.removeprefix("detector."): tensor for name, tensor in self.weights.items()
                               if name.startswith(("detector.layers.", "detector.norm."))})
        return stack.eval()

    def linear(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def encode(self, *texts):
        """The encoder's last hidden states [texts, tokens, H], and the start and end of each token in its last text."""
        inputs = self.tokenizer(*texts, padding=True, return_offsets_mapping=True, return_tensors="pt")
        in_last = [[part == len(texts) - 1 for part in inputs.sequence_ids(i)] for i in range(len(texts[0]))]
        offsets = inputs.pop("offset_mapping") * torch.tensor(in_last).unsqueeze(-1)
        if offsets.shape[1] > self.sizes["max_tokens"]:
            raise ValueError(f"a text has {offsets.shape[1]} tokens; shorten it to at most {self.sizes['max_tokens']}")
        return self.encoder(**inputs).last_hidden_state, offsets

    def in_story(self, sentences, *entities):
        """[E, N, H]: the story is encoded as one text, with each entity if there are any; a sentence is the mean of its tokens."""
        texts = [" ".join(sentences)] * max(len(entities), 1)
        hidden, offsets = self.encode(list(entities), texts) if entities else self.encode(texts)
        start, end = (part.contiguous() for part in offsets.unsqueeze(1).unbind(-1))  # [E, 1, tokens]
        ends = torch.tensor([len(sentence) + 1 for sentence in sentences]).cumsum(0)
        is_in = (torch.bucketize(end, ends) == torch.arange(len(sentences)).view(-1, 1)) & (start < end)
        return is_in.float() @ hidden / is_in.sum(2, keepdim=True).clamp(min=1)

    def read(self, entities, sentences):
        """[E, N, H], an embedding of each entity in each sentence; 40 logits [E, N, classes], 20 states before and 20 after."""
        if self.about["input_text"] == "story":
            x = embeddings = self.in_story(sentences, *entities)
        else:
            pairs = map(list, zip(*product(entities, sentences)))
            x = embeddings = self.encode(*pairs)[0][:, 0].unflatten(0, (-1, len(sentences)))
        if self.about["state_context"] == "story":
            x = x + self.linear("state_context", self.in_story(sentences)[0])
        logits, classes = [], [attribute["classes"] for attribute in self.attributes]
        for side in ("preconditions", "effects"):
            hidden = self.linear(f"{side}.dense", x).tanh().unflatten(-1, (len(classes), -1)).unbind(-2)
            logits += map(linear, hidden, *(self.weights[f"{side}.out.{p}"].split(classes) for p in ("weight", "bias")))
        return embeddings, logits

    def conflict_probs(self, embeddings, logits):
        """[E, N]: the probability that the sentence is in a conflict of the entity (TRIP, appendix B)."""
        halves = []
        for name, x, alone in (("embedding", embeddings, "embeddings"), ("states", torch.cat(logits, -1), "states")):
            if self.detector["standardize"]:
                mean, variance = (self.weights[f"detector.{name}_norm.running_{part}"] for part in ("mean", "var"))
                x = (x - mean) / (variance + 1e-5).sqrt()
            halves.append(self.linear(f"detector.{name}", x) * (self.detector["inputs"] in ("both", alone)))
        hidden = pad(self.layers(torch.cat(halves, -1)), (0, 0, 0, self.sizes["max_sentences"] - embeddings.shape[1]))
        return self.linear("detector.out", hidden.flatten(1))[:, :embeddings.shape[1]].sigmoid()

    def sentence_pairs(self, sentences, embeddings, logits):
        """[E, N, N]: scores of a conflict of sentences i < j about the entity; [1, N, N] without entities."""
        x = 0
        if self.detector["inputs"] != "states":
            x = self.in_story(sentences)[0] if self.detector["context"] == "story" else embeddings.mean(0)
        if self.detector["inputs"] != "embeddings":
            x = x + self.linear("detector.states", torch.cat([part.softmax(-1) for part in logits], -1).mean(0))
        x = self.layers(x.unsqueeze(0))
        if self.detector["entities"]:
            x = x + self.linear("detector.entity", embeddings)
        i, j = x.unsqueeze(2), x.unsqueeze(1)
        hidden = gelu(sum(map(self.linear, (f"detector.{n}" for n in ("first", "second", "product")), (i, j, i * j))))
        scores = self.linear("detector.out", hidden).squeeze(-1)
        return scores.masked_fill(torch.ones_like(scores).tril() > 0, -torch.inf)

    def judge(self, sentences, embeddings, logits):
        """For each story: plausibility score, conflict_probs [N], conflict score [N, N], its most likely entity [N, N]."""
        if self.detector["kind"] == "paper":
            return [(-b.sum() / 2, b.amax(0), b.T @ b, None) for b in map(self.conflict_probs, embeddings, logits)]
        scores = list(map(self.sentence_pairs, sentences, embeddings, logits))
        total = torch.cat([s.flatten() for s in scores]).logsumexp(0)  # over both stories: one sentence pair conflicts
        judged = [(s, (s - total).exp()) for s in scores]
        return [(-s.logsumexp((0, 1, 2)), p.sum((0, 1)) + p.sum((0, 2)), p.sum(0), s.argmax(0)) for s, p in judged]

    def conflicts(self, implausible, conflict_probs, supports):
        """The sentences in conflict of each story, by the chosen decoding."""
        if self.decode == "threshold":
            return [(of_story >= 0.5).nonzero().flatten().tolist() for of_story in conflict_probs]
        pairs = ((i, j) for j in range(len(conflict_probs[implausible])) for i in range(j))
        best = list(max(pairs, key=supports[implausible].__getitem__))
        return [best if story == implausible else [] for story in range(2)]

    def states(self, entities, logits, conflict, may_add):
        """The predicted states after all sentences of a conflict but the last and before all but the first, with probabilities."""
        threshold, _, top1 = self.about["decode"]["states"].partition("+")
        chosen, others = [], []
        before = [(n, ("precondition", logits)) for n in conflict[1:]]
        after = [(n, ("effect", logits[20:])) for n in conflict[:-1]]
        for n, (side, parts) in sorted(before + after, key=lambda cell: cell[0]):
            for (e, entity), (attribute, part) in product(enumerate(entities), zip(self.attributes, parts)):
                p = part[e, n].softmax(0).tolist()
                likeliest = max((c for c in range(1, len(p)) if c != attribute["default"]), key=p.__getitem__)
                words = f"{noun(entity)} {attribute[f'{side}s'][likeliest]}"
                state = {"sentence": n, "side": side, "entity": entity, "attribute": attribute["name"],
                         "class": likeliest, "words": words}
                is_chosen = p[likeliest] >= (max(p) if threshold == "argmax" else float(threshold))
                (chosen if is_chosen else others).append((p[likeliest], state))
        if top1 and may_add and others and not chosen:
            chosen = [max(others, key=lambda other: other[0])]
        return [(probability, state) for probability, state in chosen if probability >= 0.02]

    @torch.no_grad()
    def predict(self, stories):
        """The answer of `tiered predict --format json`, and the probabilities of its states."""
        def composed(part):
            return [[unicodedata.normalize("NFC", text) for text in story[part]] for story in stories]

        entities, sentences = composed("entities"), composed("sentences")
        most = self.sizes["max_sentences"]
        if len(stories) != 2 or not all(entities) or not all(2 <= len(story) <= most for story in sentences):
            raise ValueError(f"the input must be two stories, each with entities and 2 to {most} sentences")
        if sentences[0] == sentences[1]:
            raise ValueError("the two stories are the same; change one of them")
        embeddings, logits = zip(*map(self.read, entities, sentences))
        scores, conflict_probs, supports, subjects = zip(*self.judge(sentences, embeddings, logits))
        probs = (torch.stack(scores) / self.about["decode"]["temperature"]).softmax(0).tolist()
        s = int(probs[0] >= probs[1])  # the story that was not chosen
        conflicts = self.conflicts(s, conflict_probs, supports)
        conflict, in_all = conflicts[s], set().union(*conflicts)
        states = self.states(entities[s], logits[s], conflict, may_add=len(conflict) == len(in_all) == 2)
        judged = [[{"text": text, "conflict_prob": conflict_prob} for text, conflict_prob in zip(story, of_story.tolist())]
                  for story, of_story in zip(sentences, conflict_probs)]
        subject = entities[s][subjects[s][tuple(conflict)]] if self.detector["entities"] and len(conflict) == 2 else None
        return {
            "schema_version": 1,
            "stories": [{"id": str(number), "entities": names, "entities_found": False, "sentences": story}
                        for number, (names, story) in enumerate(zip(entities, judged), 1)],
            "plausible": {"story": 1 - s, "probability": probs[1 - s]},
            "decode": self.decode,
            "conflict_detected": max(sentence["conflict_prob"] for sentence in judged[0] + judged[1]) >= 0.5,
            "conflict": [{"story": of, "sentence": n, **judged[of][n]} for of in range(2) for n in conflicts[of]],
            **({"subject": subject} if subject else {}),
            "states": [{"story": s, **state} for _, state in states],
        }, [probability for probability, _ in states]


def noun(entity):
    """Names (with a capital) stay as they are; things get an article."""
    return entity if entity[0].isupper() or entity.startswith(("the ", "a ", "an ")) else f"the {entity}"


def below(threshold, p):
    """A probability below the threshold is not rounded up to it, with two decimals."""
    return min(p, threshold - 0.01) if p < threshold else p


def in_words(answer, probabilities):
    detected, states, (story, p) = answer["conflict_detected"], answer["states"], answer["plausible"].values()
    slightly = f"only slightly more likely to be plausible than story {2 - story}"
    yield f"Story {story + 1} is {'plausible' if p >= 0.6 else slightly} (probability {p:.1%})."
    if not answer["conflict"]:
        largest, story, n = max((sentence["conflict_prob"], s, n) for s, one in enumerate(answer["stories"], 1)
                                for n, sentence in enumerate(one["sentences"], 1))
        where = f"the largest is {below(0.5, largest):.2f}, at story {story}, sentence {n}"
        yield f"No sentence reaches a conflict probability of 0.5; {where} (--decode pair shows the most likely sentence pair)."
        return
    most_likely = f"The most likely sentence pair ({'neither sentence' if detected else 'no conflict probability'} reaches 0.5):"
    names_it = any(sentence["conflict_prob"] >= 0.5 for sentence in answer["conflict"])
    yield "\n" + ("Sentences in conflict:" if names_it else most_likely)
    for sentence in answer["conflict"]:
        where = f"story {sentence['story'] + 1}, sentence {sentence['sentence'] + 1}"
        yield f"  {where}: \"{sentence['text']}\" (conflict probability {below(0.5, sentence['conflict_prob']):.2f})"
    if "subject" in answer:
        yield f"The conflict is about {noun(answer['subject'])}."
    if sum(sentence["story"] != story for sentence in answer["conflict"]) < 2:
        remedy = "(--decode pair shows the most likely sentence pair)"
        yield f"\nNo two sentences of the implausible story are predicted to conflict, so no states are shown {remedy}."
        return
    title = "States that explain the conflict:" if names_it else "States predicted at these sentences:"
    yield "\n" + (title if states else "No state is predicted at the conflict.")
    for state, p in zip(states, probabilities):
        when = f"{'after' if state['side'] == 'effect' else 'before'} sentence {state['sentence'] + 1}"
        yield f"  {when}: {state['words']}" + (f" (uncertain: probability {min(p, 0.499):.1%})" if p < 0.5 else "")


def read_stories(file):
    lines = [line.strip() for line in Path(file).read_text(encoding="utf-8-sig").split("\n")]
    lines = [line if re.search(r"[^\W_]", line) else "" for line in lines if not line.startswith("#")]
    lines = [re.sub(r"^((?:[-*•–]|[0-9]+[.)])\s+)?entities\s*:", "entities:", line, flags=re.IGNORECASE) for line in lines]
    text = "\n".join("\n" + line if line.lower().startswith("entities:") else line for line in lines).strip()
    flags = re.IGNORECASE | re.MULTILINE
    while (joined := re.sub("^(entities:.*)\n+entities:", r"\1,", text, flags=flags)) != text:
        text = joined
    text = re.sub("^(entities:.*)\n+", r"\1\n", text, flags=flags)
    stories = []
    for head, *sentences in (story.split("\n") for story in re.split("\n\n+", text)):
        if head.lower().startswith("entities:"):
            names = unicodedata.normalize("NFC", head[len("entities:"):])
            names = list(dict.fromkeys(filter(None, map(str.strip, re.split("[,;]", names)))))
        elif stories:
            sentences, names = [head, *sentences], stories[0]["entities"]
        else:
            raise ValueError(f"{file}: the first story must begin with a line `entities: a, b`")
        unmarked = [re.fullmatch(r"([-*•–]|[0-9]+[.)])\s+(.*)", sentence) for sentence in sentences]
        stories.append({"sentences": [m[2] for m in unmarked] if all(unmarked) else sentences, "entities": names})
    return stories


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("stories", metavar="STORIES.txt")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--decode", choices=["threshold", "pair"], help="default: threshold for the paper's detector, pair for the joint one")
    arguments = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        answer = Reader(arguments.folder, arguments.decode).predict(read_stories(arguments.stories))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    is_json = arguments.format == "json"
    print(json.dumps(answer[0], indent=2, ensure_ascii=False) if is_json else "\n".join(in_words(*answer)))
