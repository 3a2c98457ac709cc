// What the page says, in English and Italian.
import { memory } from "./dom.js";

const WORDS = {
  en: {
    skip: "Skip to the content", language: "Language", pages: "Pages", try: "Try", annotate: "Annotate",
    theme: "Theme", theme_auto: "as the system", theme_light: "light", theme_dark: "dark",
    closed: "This page is closed", closed_why: "Open the address that tiered app printed in the terminal, or paste it here.",
    address: "Address or token", open: "Open", unreachable: "The server does not answer. Is tiered app still running?",
    token_wrong: "the token is missing or wrong; open the address that tiered app printed",
    no_models: "No run is loaded. Start the program with run folders: tiered app RUN",
    story: (n) => `Story ${n}`, stories: "Stories", one_a_line: "One sentence a line.", second: "Leave it empty to judge story 1 alone.",
    entities: "People and things", entities_hint: "Separated by commas. Left empty, they are found in the sentences.",
    entities_hint_second: "Separated by commas. Left empty: those named for story 1, else they are found.",
    runs: "Runs", decode: "Sentences in conflict", decode_own: "as usual for the run", decode_pair: "the most likely pair",
    decode_threshold: "every sentence above 50 %", decode_contrast: "the most likely pair that differs",
    example: "Example", choose: "Choose …", copy: "Copy link", copied: "The link is copied. It holds the stories, not the secret.",
    copy_by_hand: "The link is in the address bar.", hold: "Compare with this answer", held: "Compared with the held answer",
    clear: "Clear", write: "Write a story of at least two sentences, or choose an example.",
    two_sentences: (n) => `Story ${n} needs at least two sentences: one a line.`, same: "The two stories are the same. Change one of them.",
    needs_two: "This run compares two stories. Write the second one.", working: "…",
    plausible: (n) => `Story ${n} is plausible`, slightly: (n) => `Story ${n} is only slightly more likely`,
    one_plausible: "The story is plausible", one_implausible: "The story is implausible", one_slightly_plausible: "The story is only slightly more likely plausible",
    one_slightly_implausible: "The story is only slightly more likely implausible",
    conflict: "A conflict is detected", no_conflict: "No conflict is detected",
    in_conflict: "in conflict", likely_pair: "most likely pair, below 50 %", about: (name) => `The conflict is about: ${name}`,
    conflict_probability: "Conflict probability", because: "States that explain it", guessed: "States at these sentences", no_states: "No state is predicted at the conflict.",
    click: "Click a state to see why.", uncertain: "uncertain", before: (n) => `before sentence ${n}`, after: (n) => `after sentence ${n}`,
    before_row: "before", after_row: "after", part: "in the conflict", sentence: (n) => `Sentence ${n}`,
    why: (name, attribute) => `${name}: ${attribute}, sentence by sentence`, others: (name) => `Other states of ${name}`,
    legend: "The likeliest state and its probability. Bold: predicted. Empty: below 2 %.", found: "found in the sentences",
    changes: "What changed", nothing_changed: "Nothing changed.", new_state: (words) => `now: ${words}`, gone_state: (words) => `no longer: ${words}`,
    change_conflict: (story, n, from, to) => `Story ${story}, sentence ${n}: conflict probability ${from} → ${to}`,
    change_choice: (from, to) => `${from} → ${to}`, notes: "About the text",
  },
  it: {
    skip: "Vai al contenuto", language: "Lingua", pages: "Pagine", try: "Prova", annotate: "Annota",
    theme: "Tema", theme_auto: "come il sistema", theme_light: "chiaro", theme_dark: "scuro",
    closed: "Questa pagina è chiusa", closed_why: "Apri l'indirizzo che tiered app ha stampato nel terminale, oppure incollalo qui.",
    address: "Indirizzo o codice", open: "Apri", unreachable: "Il server non risponde. tiered app è ancora in esecuzione?",
    token_wrong: "il codice manca o è sbagliato; apri l'indirizzo che tiered app ha stampato",
    no_models: "Nessun modello è caricato. Avvia il programma con le cartelle dei modelli: tiered app RUN",
    story: (n) => `Storia ${n}`, stories: "Storie", one_a_line: "Una frase per riga.", second: "Lasciala vuota per giudicare solo la storia 1.",
    entities: "Persone e cose", entities_hint: "Separate da virgole. Se il campo è vuoto, si trovano nelle frasi.",
    entities_hint_second: "Separate da virgole. Se il campo è vuoto: quelle della storia 1, o si trovano nelle frasi.",
    runs: "Modelli", decode: "Frasi in conflitto", decode_own: "come di solito per il modello", decode_pair: "la coppia più probabile",
    decode_threshold: "ogni frase sopra il 50 %", decode_contrast: "la coppia più probabile fra quelle diverse",
    example: "Esempio", choose: "Scegli …", copy: "Copia il link", copied: "Link copiato. Contiene le storie, non il segreto.",
    copy_by_hand: "Il link è nella barra degli indirizzi.", hold: "Confronta con questa risposta", held: "A confronto con la risposta tenuta",
    clear: "Svuota", write: "Scrivi una storia di almeno due frasi, o scegli un esempio.",
    two_sentences: (n) => `La storia ${n} ha bisogno di almeno due frasi: una per riga.`, same: "Le due storie sono uguali. Cambiane una.",
    needs_two: "Questo modello confronta due storie. Scrivi la seconda.", working: "…",
    plausible: (n) => `La storia ${n} è plausibile`, slightly: (n) => `La storia ${n} è solo un po' più probabile`,
    one_plausible: "La storia è plausibile", one_implausible: "La storia non è plausibile", one_slightly_plausible: "La storia è plausibile, ma con poca certezza",
    one_slightly_implausible: "La storia non è plausibile, ma con poca certezza",
    conflict: "C'è un conflitto", no_conflict: "Non c'è conflitto",
    in_conflict: "in conflitto", likely_pair: "coppia più probabile, sotto il 50 %", about: (name) => `Il conflitto riguarda: ${name}`,
    conflict_probability: "Probabilità di conflitto", because: "Stati che lo spiegano", guessed: "Stati in queste frasi", no_states: "Nessuno stato è previsto nel conflitto.",
    click: "Scegli uno stato per vedere perché.", uncertain: "incerto", before: (n) => `prima della frase ${n}`, after: (n) => `dopo la frase ${n}`,
    before_row: "prima", after_row: "dopo", part: "nel conflitto", sentence: (n) => `Frase ${n}`,
    why: (name, attribute) => `${name}: ${attribute}, frase per frase`, others: (name) => `Altri stati di ${name}`,
    legend: "Lo stato più probabile e la sua probabilità. In grassetto: previsto. Vuoto: sotto il 2 %.", found: "trovate nelle frasi",
    changes: "Che cosa è cambiato", nothing_changed: "Non è cambiato nulla.", new_state: (words) => `ora: ${words}`, gone_state: (words) => `non più: ${words}`,
    change_conflict: (story, n, from, to) => `Storia ${story}, frase ${n}: probabilità di conflitto ${from} → ${to}`,
    change_choice: (from, to) => `${from} → ${to}`, notes: "Sul testo",
  },
};

/** Names of the attributes. */
const ATTRIBUTES = {
  h_location: ["location", "luogo"], conscious: ["conscious", "coscienza"], wearing: ["dressed", "vestiti"], h_wet: ["wet", "bagnato"],
  hygiene: ["clean", "pulizia"], location: ["location", "luogo"], exist: ["existence", "esistenza"], clean: ["clean", "pulizia"],
  power: ["power", "corrente"], functional: ["working", "funzionamento"], pieces: ["in pieces", "in pezzi"], wet: ["wet", "bagnato"],
  open: ["open", "apertura"], temperature: ["temperature", "temperatura"], solid: ["solid", "solidità"], contain: ["contents", "contenuto"],
  running: ["running", "in funzione"], moveable: ["movable", "spostabile"], mixed: ["mixed", "mescolato"], edible: ["edible", "commestibile"],
};

let current = memory.get("language") ?? (navigator.language.startsWith("it") ? "it" : "en");
const described = new Map();

export const language = () => current;

export function setLanguage(code) {
  current = code;
  memory.set("language", code);
}

/** Words of the page in its language. */
export function t(name, ...values) {
  const words = WORDS[current][name];
  return typeof words === "function" ? words(...values) : words;
}

/** Adds words of another part of the page. */
export function addWords(more) {
  for (const code of ["en", "it"]) Object.assign(WORDS[code], more[code]);
}

/** Takes what the server knows of the attributes. */
export function knowAttributes(attributes) {
  for (const attribute of attributes) described.set(attribute.name, attribute);
}

export const attributeName = (name) => ATTRIBUTES[name][current === "it" ? 1 : 0];

/** The label of a class of a side: "open", "there, then moved". */
export const className = (name, side, number) => described.get(name)[side][current][number] ?? "–";

export const percent = (share) => {
  const digits = share > 0.995 || share < 0.005 ? 1 : 0;
  return `${(100 * share).toLocaleString(current, { minimumFractionDigits: digits, maximumFractionDigits: digits })}\u00a0%`;
};
