"""The three tiers of TRIP, section 4.1, for conflicts decoded by `threshold` (the papers') and by `pair`."""
import torch

from stories import CLASSES, is_nontrivial


def by_threshold(probs):
    """Numbers of the sentences, of either story, that some entity gives at least 1/2; `probs`: two of [E, N]"""
    return sorted({i for story in probs for i in (story >= 0.5).any(0).nonzero().flatten().tolist()})


def by_pair(probs, implausible):
    """The two sentences of the implausible story with the largest sum over entities of the product of their probabilities"""
    story = probs[implausible]
    support = torch.triu(story.T @ story, 1)
    n = support.shape[0]
    best = max(((i, j) for i in range(n) for j in range(i + 1, n)), key=lambda pair: support[pair].item())
    return list(best)


def is_verifiable(story, conflict, states):
    """`states` [2, E, N, 20] predicted classes. Some state is predicted at the conflict, and every one that is, is right."""
    (first, second), gold = conflict, story.labels
    predicted = torch.cat([states[1, :, first], states[0, :, second]])
    labels = torch.cat([gold[1, :, first], gold[0, :, second]])
    said = is_nontrivial(predicted)
    return bool(said.any()) and bool((predicted == labels)[said].all())


def tiers(pair, conflict_probs, scores, states):
    """-> {decoding: (accurate, consistent, verifiable)}; `states` None where none are predicted"""
    chosen = int(scores[1] > scores[0])
    gold = list(pair.conflict)
    named = {"threshold": by_threshold(conflict_probs), "pair": by_pair(conflict_probs, 1 - chosen)}
    accurate = chosen == pair.plausible
    verifiable = states is not None and is_verifiable(pair.stories[1 - pair.plausible], pair.conflict, states[1 - pair.plausible])
    return {name: (accurate, accurate and sentences == gold, accurate and sentences == gold and verifiable)
            for name, sentences in named.items()}


def most_likely(state_logits):
    """[.., 132] -> [2, .., 20] classes"""
    parts = [part.argmax(-1) for part in state_logits.split(CLASSES + CLASSES, -1)]
    return torch.stack(parts).unflatten(0, (2, len(CLASSES))).movedim(1, -1)


def evaluate(pairs, batches, predict):
    """Percent of pairs by decoding. `predict(batch)` -> state logits [U, 132] or None, conflict logits [R, N], scores [B, 2]"""
    counts, start = {}, 0
    for batch in batches:
        states, conflicts, scores = predict(batch)
        probs, row = conflicts.sigmoid(), 0
        for b in range(batch.pairs):
            pair, of_stories, of_states = pairs[start + b], [], []
            for story in pair.stories:
                rows = slice(row, row + len(story.entities))
                of_stories.append(probs[rows, :len(story.sentences)])
                of_states.append(None if states is None else most_likely(states[batch.cells[rows, :len(story.sentences)]]))
                row = rows.stop
            for name, tier in tiers(pair, of_stories, scores[b], None if states is None else of_states).items():
                counts[name] = [a + b for a, b in zip(counts.get(name, [0, 0, 0]), tier)]
        start += batch.pairs
    return {name: [round(100 * count / len(pairs), 1) for count in values] for name, values in counts.items()}
