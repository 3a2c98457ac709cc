// The two sentences of the conflict.
import { t } from "./words.js";

/** Marks a sentence as in the conflict: the first one waits for the second. `halfBase` is what the annotator saw when choosing it. */
export async function mark(state, { edit, say }, sentence) {
  const { conflict, sentences, revision, kind } = state.view;
  if (!kind) return say(t("conflict_plausible"));
  const place = (id) => sentences.findIndex((other) => other.id === id);
  const first = () => say(t("conflict_first", place(state.half) + 1));
  const { half, halfBase: base } = state;
  if (half === sentence) {
    state.half = null;
    return say(conflict ? "" : t("conflict_none"));
  }
  if (half !== null) {
    const [evidence, breakpoint] = [half, sentence].sort((a, b) => place(a) - place(b));
    state.half = null;
    return edit([{ op: "conflict", evidence, breakpoint }], { base, then: () => say(t("conflict_set")) });
  }
  const marked = conflict ? [conflict.evidence, conflict.breakpoint] : [];
  Object.assign(state, { half: marked.includes(sentence) ? marked.find((id) => id !== sentence) : sentence, halfBase: revision });
  if (!conflict) return first();
  const answer = await edit([{ op: "conflict", evidence: null, breakpoint: null }]);
  if (!answer || answer.view?.conflict) state.half = null; // it stayed
  else if (state.half !== null) {
    state.halfBase = answer.revision;
    first();
  }
}
