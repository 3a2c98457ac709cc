// Asks the server. The token comes with the address that the program printed; it is taken out of the address at once.
import { memory } from "./dom.js";
import { language, t } from "./words.js";

let typed = "";
function takeToken() {
  const rest = new URLSearchParams(location.hash.slice(1));
  const given = rest.get("token");
  if (!given) return;
  typed = given;
  rest.delete("token");
  history.replaceState(null, "", rest.size ? `#${rest}` : location.pathname);
}
takeToken();
addEventListener("hashchange", takeToken); // the address of a server that was started anew, opened in the same tab
/** Remembered is only what the server took: the link of another page may bring a wrong one. */
const token = () => typed || memory.get("token") || "";

/** Why the server did not answer as hoped. `kind` is for programs; `body` is the whole error. */
export class Refused extends Error {
  constructor(status, body) {
    super(status === 401 ? t("token_wrong") : body?.message ?? "");
    this.status = status;
    this.kind = body?.kind ?? "unreachable";
    this.body = body;
  }
}

/** Which project the page was loaded from, if the server says so. */
let project;

/** Whether this is the project of the page: the one that it was loaded from. */
export const isOwnProject = (id) => (project ??= id) === id;

let waiting = 0;

/** Tells programs that read the page, such as screen readers, whether it will change. */
function wait(by) {
  waiting += by;
  document.getElementById("main").setAttribute("aria-busy", String(waiting > 0));
}

/** Sends a request with the token. Another tab may have opened the address of a server that was started anew: then its token is taken. */
async function send(address, request) {
  const attempt = (sent) => fetch(address, { ...request, headers: { "x-tiered-token": sent } });
  const sent = token(), response = await attempt(sent);
  if (response.ok && sent === typed) memory.set("token", sent);
  const remembered = memory.get("token");
  if (response.status !== 401 || !remembered || remembered === sent) return response;
  typed = "";
  return attempt(remembered);
}

/** JSON from the server. A body that is no text is sent as JSON. What is asked of a project says which one is meant, and the language of the answer. */
export async function ask(path, { body, signal, ...query } = {}) {
  const ofPage = path.startsWith("annotate/") ? { lang: language(), project } : {};
  const known = Object.entries({ ...ofPage, ...query }).filter(([, value]) => value !== undefined && value !== null);
  const address = known.length ? `/api/${path}?${new URLSearchParams(known)}` : `/api/${path}`;
  const request = { signal, cache: "no-store" };
  if (body !== undefined) {
    request.method = "POST";
    request.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  wait(1);
  try {
    const response = await send(address, request);
    const answer = await response.json().catch((error) => {
      if (error.name === "AbortError") throw error;
      return null;
    });
    if (!response.ok || answer === null) throw new Refused(response.status, answer?.error);
    return answer;
  } catch (error) {
    if (error instanceof Refused || error.name === "AbortError") throw error;
    throw new Refused(0);
  } finally {
    wait(-1);
  }
}

/** Takes a token that a person typed, or the address with it. */
export function useToken(text) {
  typed = text.trim().replace(/^.*token=/, "");
}
