"""TRIP's model (section 3.1, appendix B) and losses (section 3.2), in PyTorch."""
import torch
from torch import nn
from torch.nn import functional as F

from stories import ATTRIBUTES, CLASSES

LOGITS = sum(CLASSES)  # of one side: 66


def half_precision():
    """bf16 where the processor has it; elsewhere it is emulated, and slower than float32."""
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=torch.cpu._is_avx512_bf16_supported())


class StateHead(nn.Sequential):
    def __init__(self, hidden, classes, dropout):
        super().__init__(nn.Dropout(dropout), nn.Linear(hidden, hidden), nn.Tanh(),
                         nn.Dropout(dropout), nn.Linear(hidden, classes))


class ConflictDetector(nn.Module):
    """`norm` "after" and 6 layers are the paper's."""

    def __init__(self, hidden, sentences, dropout, inputs="both", layers=6, norm="after", width=512, states=2 * LOGITS):
        super().__init__()
        self.inputs, self.dropout = inputs, nn.Dropout(dropout)
        self.embedding, self.states = nn.Linear(hidden, width // 2), nn.Linear(states, width // 2)
        layer = nn.TransformerEncoderLayer(width, 8, 2048, dropout, batch_first=True, norm_first=norm == "before")
        self.transformer = nn.TransformerEncoder(
            layer, layers, nn.LayerNorm(width) if norm == "before" else None, enable_nested_tensor=False)
        self.out = nn.Linear(sentences * width, sentences)

    @torch.no_grad()
    def scale(self, embeddings, states, residual=0.1):
        """Starts the projections at mean 0 on these, that of the embeddings at deviation 1 too, and each layer at a tenth
        of what it adds to its input. [C, H], [C, 132]"""
        deviation, mean = torch.std_mean(self.embedding(embeddings), 0, correction=0)
        self.embedding.bias.copy_((self.embedding.bias - mean) / deviation)
        self.embedding.weight /= deviation[:, None]
        self.states.bias -= self.states(states).mean(0)
        for layer in self.transformer.layers:
            layer.self_attn.out_proj.weight *= residual
            layer.linear2.weight *= residual

    def forward(self, embeddings, states, mask):
        """[R, N, H], [R, N, 132], [R, N] true where there is a sentence -> logits of the conflict probabilities [R, N]"""
        embedding = self.embedding(self.dropout(embeddings)) * (self.inputs != "states")
        state = self.states(self.dropout(states.detach())) * (self.inputs != "embeddings")
        x = self.transformer(self.dropout(torch.cat([embedding, state], 2)), src_key_padding_mask=~mask)
        return self.out(self.dropout((x * mask[..., None]).flatten(1))).float()


class TieredModel(nn.Module):
    def __init__(self, encoder, sentences, dropout, **detector):
        super().__init__()
        hidden = encoder.config.hidden_size
        self.encoder = encoder
        self.preconditions = nn.ModuleList(StateHead(hidden, classes, dropout) for classes in CLASSES)
        self.effects = nn.ModuleList(StateHead(hidden, classes, dropout) for classes in CLASSES)
        self.detector = ConflictDetector(hidden, sentences, dropout, **detector)

    def forward(self, batch):
        """-> [U, 132] state logits, [R, N] logits of the conflict probabilities"""
        embeddings = self.encoder(**batch.inputs).last_hidden_state[:, 0]  # [U, H]
        states = torch.cat([head(embeddings) for head in [*self.preconditions, *self.effects]], 1).float()
        return states, self.detector(embeddings[batch.cells], states[batch.cells], batch.mask)


def story_scores(conflict_logits, batch):
    """[R, N] -> [B, 2] minus half the sum of a story's conflict probabilities"""
    sums = (conflict_logits.sigmoid() * batch.mask).sum(1)
    return -0.5 * torch.zeros(batch.pairs * 2).index_add(0, batch.row_story, sums).view(-1, 2)


def state_losses(states, batch):
    """Cross-entropy averaged over cells (entity, sentence), summed over the attributes, divided by 20: Lp, Lf"""
    parts = states[batch.cells[batch.mask]].split(CLASSES + CLASSES, 1)
    labels = torch.cat([batch.labels[0], batch.labels[1]], 1).unbind(1)  # 40 times [cells]
    losses = torch.stack([F.cross_entropy(part, label) for part, label in zip(parts, labels)])
    return losses.view(2, len(ATTRIBUTES)).sum(1) / len(ATTRIBUTES)


def conflict_losses(conflict_logits, batch):
    """Lc, averaged over cells, and Ls"""
    conflicts = F.binary_cross_entropy_with_logits(conflict_logits[batch.mask], batch.conflicts[batch.mask])
    return conflicts, F.cross_entropy(story_scores(conflict_logits, batch), batch.plausible)
