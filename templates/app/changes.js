// What differs between two answers of a run, in words.
import { percent, t } from "./words.js";

/** A conflict probability that moves by less than this is not worth a line. */
const WORTH = 0.05;

export function changes(before, now, verdict) {
  const said = ([words, probability]) => (probability === null ? words : `${words} (${percent(probability)})`);
  const [from, to] = [said(verdict(before)), said(verdict(now))];
  return [...(from === to ? [] : [t("change_choice", from, to)]), ...conflicts(before, now), ...states(before, now)];
}

function conflicts(before, now) {
  return now.stories.flatMap((story, s) => story.sentences.flatMap(({ conflict_prob }, n) => {
    const old = before.stories[s]?.sentences[n]?.conflict_prob;
    const isWorth = old !== undefined && Math.abs(old - conflict_prob) >= WORTH;
    return isWorth ? [t("change_conflict", s + 1, n + 1, percent(old), percent(conflict_prob))] : [];
  }));
}

function states(before, now) {
  const inWords = (answer) => new Set(answer.states.map(({ side, sentence, words }) =>
    `${t(side === "effect" ? "after" : "before", sentence + 1)}: ${words}`));
  const [old, current] = [inWords(before), inWords(now)];
  return [
    ...[...current].filter((words) => !old.has(words)).map((words) => t("new_state", words)),
    ...[...old].filter((words) => !current.has(words)).map((words) => t("gone_state", words)),
  ];
}
