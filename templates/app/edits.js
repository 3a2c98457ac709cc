// Sends edits one after another. An edit that was not acknowledged is sent again, with its number, until it is.
import { Refused, ask } from "./api.js";

const AGAIN = 2000;
/** Milliseconds after which the server counts as not answering. It makes what is sent again only once. */
const LIMIT = 10_000, IMPORT_LIMIT = 120_000;

/** How many requests no server has answered for good. They are lost with the page. */
let undelivered = 0;
addEventListener("beforeunload", (event) => { if (undelivered) event.preventDefault(); });

/** Why nothing is sent any more: another project is served at this address. */
let end = null;

export class Edits {
  /** `told` gets ("view", answer), ("clash", error, decide), ("refused", error), ("unsaved", error or null), ("waiting"). */
  constructor({ who, pass }, told) {
    Object.assign(this, { who, pass, told, base: 0, number: 0, waiting: 0 });
    this.window = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(36)).join("").slice(0, 32);
    this.queue = Promise.resolve();
  }

  /** Changes a story; all operations are one edit. `base` is the revision of what the annotator looked at. */
  edit(story, ops, base) {
    return this.send("annotate/edit", { story, ops, base });
  }

  /** Resolves when all edits so far are saved or refused. */
  settled() { return this.queue; }

  undo() { return this.send("annotate/undo", {}); }
  redo() { return this.send("annotate/redo", {}); }

  send(path, request) {
    undelivered += 1;
    this.waiting += 1;
    this.told("waiting");
    const sent = this.queue.then(() => this.deliver(path, request)).finally(() => {
      undelivered -= 1;
      this.waiting -= 1;
    });
    this.queue = sent.catch(() => {}); // what went wrong was told; the next edit follows
    return sent;
  }

  async deliver(path, request, choice = { on_clash: "tell" }) {
    const { who, pass, window } = this;
    this.number += 1;
    const body = { ...request, who, pass, window, n: this.number, base: request.base ?? this.base, ...choice };
    for (;;) {
      try {
        if (end) throw end;
        const answer = await ask(path, { body, signal: AbortSignal.timeout(path === "annotate/import" ? IMPORT_LIMIT : LIMIT) });
        this.told("unsaved", null);
        this.base = answer.revision;
        this.told("view", answer);
        return answer;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const isLater = [0, 401].includes(error.status) || ["io", "unreachable"].includes(error.kind); // 401: a server started anew
        if (!isLater) this.told("unsaved", null);
        if (error.kind === "other_project") end = error;
        if (error.kind === "clash") {
          const on_clash = await new Promise((decide) => this.told("clash", error, decide));
          // What is changed after this was told is told as well.
          return this.deliver(path, request, { on_clash, seen: on_clash === "override" ? error.body.revision : choice.seen });
        }
        if (!isLater) {
          error.isTold = true;
          this.told("refused", error);
          throw error;
        }
        this.told("unsaved", error);
        await new Promise((later) => setTimeout(later, AGAIN));
      }
    }
  }
}
