"""Pairs -> one batch in which every (entity, sentence) is encoded once.

The authors encode it as often as it occurs, padded to 16 tokens: the same outputs in evaluation; in training copies of
one input share their dropout here, as they do in `tiered`.
"""
import torch


class Batch:
    def __init__(self, pairs, sentences, tokenizer=None):
        stories = [story for pair in pairs for story in pair.stories]
        rows = sum(len(story.entities) for story in stories)
        self.pairs = len(pairs)
        self.plausible = torch.tensor([pair.plausible for pair in pairs])
        self.cells = torch.zeros(rows, sentences, dtype=torch.long)  # which input
        self.mask = torch.zeros(rows, sentences, dtype=torch.bool)
        self.conflicts = torch.zeros(rows, sentences)
        self.row_story = torch.repeat_interleave(torch.arange(len(stories)),
                                                 torch.tensor([len(story.entities) for story in stories]))
        self.texts, row = {}, 0
        for story in stories:
            for e, entity in enumerate(story.entities):
                n = len(story.sentences)
                for i, sentence in enumerate(story.sentences):
                    self.cells[row, i] = self.texts.setdefault((entity, sentence), len(self.texts))
                self.mask[row, :n] = True
                self.conflicts[row, :n] = story.conflicts[e]
                row += 1
        self.labels = torch.cat([story.labels.flatten(1, 2) for story in stories], 1)  # [2, cells, 20]
        if tokenizer:
            entities, texts = zip(*self.texts)
            self.inputs = tokenizer(list(entities), list(texts), padding=True, return_tensors="pt")
