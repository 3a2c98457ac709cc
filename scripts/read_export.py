#!/usr/bin/env python3
"""Which of two stories is plausible, which sentences conflict and why, by a model that `tiered model export` wrote.

It reads and answers as `tiered predict`: of each story a line `entities: a, b`, then a sentence a line; a blank line
between the two. In Python: Reader(FOLDER).predict([{"sentences": [...], "entities": [...]}, {...}])[0].
Shapes: E entities and N sentences of a story, H the encoder's width.
"""
import argparse
import json
import re
import sys
from itertools import product
from pathlib import Path

try:
    import torch
    from safetensors.torch import load_file
    from torch import nn
    from torch.nn.functional import gelu, linear, pad
    from transformers import AutoModel, AutoTokenizer, logging
except ModuleNotFoundError as missing:
    sys.exit(f"error: {missing.name} is missing; install all it takes: pip install torch transformers safetensors")


class Reader:
    def __init__(self, folder, decode=None):
        self.about = json.loads(Path(folder, "tiered.json").read_text(encoding="utf-8"))
        self.sizes, self.detector, self.attributes = (self.about[key] for key in ("sizes", "detector", "attributes"))
        self.decode = decode or self.about["decode"]["conflicts"]
        self.weights = load_file(Path(folder, "tiered_heads.safetensors"))
        self.tokenizer, self.encoder = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
        self.layers = self.transformer(**self.detector)

    def transformer(self, kind, layers, sentence_layers, width, heads, feed_forward, norm, **_):
        """The detector's layers over the sentences of a story."""
        count, width = (layers, width) if kind == "belief" else (sentence_layers, self.sizes["hidden"])
        if count == 0:
            return nn.Identity()
        before = kind == "belief" and norm == "before"
        layer = nn.TransformerEncoderLayer(width, heads, feed_forward, batch_first=True, norm_first=before)
        stack = nn.TransformerEncoder(layer, count, nn.LayerNorm(width) if before else None, enable_nested_tensor=False)
        stack.load_state_dict({name.removeprefix("detector."): tensor for name, tensor in self.weights.items()
                               if name.startswith(("detector.layers.", "detector.norm."))})
        return stack.eval()

    def linear(self, name, x):
        return linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def encode(self, *texts):
        """The encoder's last hidden states [texts, tokens, H], and where in its text each token begins and ends."""
        inputs = self.tokenizer(*texts, padding=True, return_offsets_mapping=True, return_tensors="pt")
        offsets = inputs.pop("offset_mapping")
        if offsets.shape[1] > self.sizes["max_tokens"]:
            raise ValueError(f"{offsets.shape[1]} tokens in a text; the encoder reads {self.sizes['max_tokens']}")
        return self.encoder(**inputs).last_hidden_state, offsets

    def in_story(self, sentences):
        """[N, H]: of each sentence the mean of its tokens, the story encoded as one text."""
        [hidden], [offsets] = self.encode([" ".join(sentences)])
        start, end = offsets.T.contiguous()
        ends = torch.tensor([len(sentence) + 1 for sentence in sentences]).cumsum(0)
        is_in = (torch.bucketize(end, ends) == torch.arange(len(sentences)).unsqueeze(1)) & (start < end)
        return is_in.float() @ hidden / is_in.sum(1, keepdim=True).clamp(min=1)

    def read(self, entities, sentences):
        """[E, N, H], the first token of entity and sentence; of 20 states before and 20 after it, [E, N, classes]."""
        pairs = map(list, zip(*product(entities, sentences)))
        x = embeddings = self.encode(*pairs)[0][:, 0].unflatten(0, (-1, len(sentences)))
        if self.about["state_context"] == "story":
            x = x + self.linear("state_context", self.in_story(sentences))
        logits, classes = [], [attribute["classes"] for attribute in self.attributes]
        for side in ("preconditions", "effects"):
            hidden = self.linear(f"{side}.dense", x).tanh().unflatten(-1, (len(classes), -1)).unbind(-2)
            logits += map(linear, hidden, *(self.weights[f"{side}.out.{p}"].split(classes) for p in ("weight", "bias")))
        return embeddings, logits

    def beliefs(self, embeddings, logits):
        """[E, N]: that the sentence takes part in a conflict of the entity (TRIP, appendix B)."""
        halves = []
        for name, x, alone in (("embedding", embeddings, "embeddings"), ("states", torch.cat(logits, -1), "states")):
            if self.detector["standardize"]:
                mean, variance = (self.weights[f"detector.{name}_norm.running_{part}"] for part in ("mean", "var"))
                x = (x - mean) / (variance + 1e-5).sqrt()
            halves.append(self.linear(f"detector.{name}", x) * (self.detector["inputs"] in ("both", alone)))
        hidden = pad(self.layers(torch.cat(halves, -1)), (0, 0, 0, self.sizes["max_sentences"] - embeddings.shape[1]))
        return self.linear("detector.out", hidden.flatten(1))[:, :embeddings.shape[1]].sigmoid()

    def places(self, sentences, embeddings, logits):
        """[E, N, N]: scores of a conflict of sentences i < j about the entity; [1, N, N] if about any."""
        x = 0
        if self.detector["inputs"] != "states":
            x = self.in_story(sentences) if self.detector["context"] == "story" else embeddings.mean(0)
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
        """Of each story how plausible it is, beliefs [N], support of a conflict [N, N], its likeliest entity [N, N]."""
        if self.detector["kind"] == "belief":
            return [(-b.sum() / 2, b.amax(0), b.T @ b, None) for b in map(self.beliefs, embeddings, logits)]
        scores = list(map(self.places, sentences, embeddings, logits))
        total = torch.cat([s.flatten() for s in scores]).logsumexp(0)  # of both stories: one place is the conflict
        judged = [(s, (s - total).exp()) for s in scores]
        return [(-s.logsumexp((0, 1, 2)), (p.sum(1) + p.sum(2)).amax(0), p.sum(0), s.argmax(0)) for s, p in judged]

    def conflicts(self, implausible, beliefs, supports):
        """The sentences in conflict of each story, decoded as this detector is made for."""
        if self.decode == "threshold":
            return [(of_story >= 0.5).nonzero().flatten().tolist() for of_story in beliefs]
        pairs = ((i, j) for j in range(len(beliefs[implausible])) for i in range(j))
        best = list(max(pairs, key=supports[implausible].__getitem__))
        return [best if story == implausible else [] for story in range(2)]

    def states(self, entities, logits, conflict, may_add):
        """What is asserted after a conflict's sentences but the last and before those but the first, with probabilities."""
        threshold, _, surest = self.about["decode"]["states"].partition(",")
        asserted, others = [], []
        before = [(n, ("precondition", "before", logits)) for n in conflict[1:]]
        after = [(n, ("effect", "after", logits[20:])) for n in conflict[:-1]]
        for n, (side, when, parts) in sorted(before + after, key=lambda place: place[0]):
            for (e, entity), (attribute, part) in product(enumerate(entities), zip(self.attributes, parts)):
                p = part[e, n].softmax(0).tolist()
                likeliest = max((c for c in range(1, len(p)) if c != attribute["default"]), key=p.__getitem__)
                words = f"{when} sentence {n + 1}: {noun(entity)} {attribute[f'{side}s'][likeliest]}"
                state = {"sentence": n + 1, "side": side, "entity": entity, "attribute": attribute["name"],
                         "class": likeliest, "words": words}
                is_asserted = p[likeliest] >= (max(p) if threshold == "argmax" else float(threshold))
                (asserted if is_asserted else others).append((p[likeliest], state))
        if surest and may_add and others and not asserted:
            asserted = [max(others, key=lambda other: other[0])]
        return [(probability, state) for probability, state in asserted if probability >= 0.02]

    @torch.no_grad()
    def predict(self, stories):
        """The answer of `tiered predict --json`, and the probabilities of its states."""
        entities, sentences = ([story[part] for story in stories] for part in ("entities", "sentences"))
        most = self.sizes["max_sentences"]
        if len(stories) != 2 or not all(entities) or not all(2 <= len(story) <= most for story in sentences):
            raise ValueError(f"two stories are compared, each with entities and of 2 to {most} sentences")
        if sentences[0] == sentences[1]:
            raise ValueError("the two stories are the same; one of them has to differ")
        embeddings, logits = zip(*map(self.read, entities, sentences))
        scores, beliefs, supports, subjects = zip(*self.judge(sentences, embeddings, logits))
        probs = (torch.stack(scores) / self.about["decode"]["temperature"]).softmax(0).tolist()
        s = int(probs[0] >= probs[1])  # the story that was not chosen
        conflicts = self.conflicts(s, beliefs, supports)
        conflict, in_all = conflicts[s], set().union(*conflicts)
        states = self.states(entities[s], logits[s], conflict, may_add=len(conflict) == len(in_all) == 2)
        told = [[{"text": text, "belief": belief} for text, belief in zip(story, of_story.tolist())]
                for story, of_story in zip(sentences, beliefs)]
        subject = entities[s][subjects[s][tuple(conflict)]] if self.detector["entities"] and len(conflict) == 2 else None
        return {
            "stories": [{"id": str(number), "sentences": story} for number, story in enumerate(told, 1)],
            "plausible": {"story": 2 - s, "probability": probs[1 - s]},
            "decode": self.decode,
            "conflict_believed": max(sentence["belief"] for sentence in told[0] + told[1]) >= 0.5,
            "conflict": [{"story": of + 1, "sentence": n + 1, **told[of][n]} for of in range(2) for n in conflicts[of]],
            **({"subject": subject} if subject else {}),
            "states": [{"story": s + 1, **state} for _, state in states],
        }, [probability for probability, _ in states]


def noun(entity):
    """Names, which have capitals, as they are; things with an article."""
    return entity if entity[0].isupper() or entity.startswith(("the ", "a ", "an ")) else f"the {entity}"


def in_words(told, probabilities):
    believed, states, (story, p) = told["conflict_believed"], told["states"], told["plausible"].values()
    hardly = f"hardly more likely than story {3 - story} to be the plausible one"
    yield f"Story {story} is {'plausible' if p >= 0.6 else hardly} (probability {p:.1%})."
    if not told["conflict"]:
        belief, story, n = max((sentence["belief"], -s, -n) for s, one in enumerate(told["stories"], 1)
                               for n, sentence in enumerate(one["sentences"], 1))
        where = f"the largest is {belief:.2f}, at story {-story}, sentence {-n}"
        yield f"No sentence reaches a belief of 0.5 in a conflict; {where} (--decode pair names the likeliest two)."
        return
    unsure = "The sentences most likely in conflict, though no belief reaches one half:"
    yield "\n" + ("Sentences in conflict:" if believed else unsure)
    yield from map('  story {story}, sentence {sentence}: "{text}" (belief {belief:.2f})'.format_map, told["conflict"])
    if "subject" in told:
        yield f"It is about {noun(told['subject'])}."
    if sum(sentence["story"] != story for sentence in told["conflict"]) < 2:
        remedy = "(--decode pair names the likeliest two)"
        yield f"\nNo two sentences of the implausible story conflict, so that no states explain it {remedy}."
        return
    title = "States that explain it:" if believed else "States asserted there:"
    yield "\n" + (title if states else "No state is asserted that explains it.")
    for state, p in zip(states, probabilities):
        yield f"  {state['words']}" + (f" (a guess: probability {p:.1%})" if p < 0.5 else "")


def read_stories(file):
    lines = [line.strip() for line in Path(file).read_text(encoding="utf-8-sig").split("\n")]
    lines = [line if re.search(r"[^\W_]", line) else "" for line in lines if not line.startswith("#")]
    text = "\n".join("\n" + line if line.lower().startswith("entities:") else line for line in lines).strip()
    stories = []
    for head, *sentences in (story.split("\n") for story in re.split("\n\n+", text)):
        if not head.lower().startswith("entities:"):
            raise ValueError(f"{file}: a story must begin with a line `entities: a, b`")
        names = list(dict.fromkeys(filter(None, map(str.strip, re.split("[,;]", head[len("entities:"):])))))
        unmarked = [re.fullmatch(r"([-*•–]|[0-9]+[.)])\s+(.*)", sentence) for sentence in sentences]
        stories.append({"sentences": [m[2] for m in unmarked] if all(unmarked) else sentences, "entities": names})
    return stories


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("stories", metavar="STORIES.txt")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--decode", choices=["threshold", "pair"], help="default: what the detector is made for")
    asked = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        said = Reader(asked.folder, asked.decode).predict(read_stories(asked.stories))
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    print(json.dumps(said[0], indent=2, ensure_ascii=False) if asked.json else "\n".join(in_words(*said)))
