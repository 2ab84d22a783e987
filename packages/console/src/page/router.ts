/**
 * The address of what the page shows: `#/servers/files`, `#/history?outcome=denied`. Everything that a person can look at
 * has an address, so that it can be bookmarked, sent to a colleague and reached with "back". Secrets never enter it.
 */

import { type Flusher, Live } from "./live.ts";

/** An address in parts. `path` has no empty parts. */
export interface Route {
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** What a view gets of its address: the parts after its name. */
export interface ViewAddress {
  readonly path: readonly string[];
}

/** Writes an address. Parameters without a value are left out. */
export function toAddress(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${encoded(name)}=${encoded(value)}`],
  );
  const search = parameters.length === 0 ? "" : `?${parameters.join("&")}`;
  return `#/${path.map(encoded).join("/")}${search}`;
}

/** Half of a surrogate pair has no encoding. Texts of servers can contain it, and an address of it leads nowhere. */
function encoded(part: string): string {
  return encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}

/** Reads an address. A part that is not encoded correctly is taken as it is. */
export function readAddress(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export class Router {
  readonly route: Live<Route>;
  readonly #flusher: Flusher;
  #movesFocus = false;

  constructor(flusher: Flusher) {
    this.#flusher = flusher;
    this.route = new Live<Route>(readAddress(location.hash), flusher);
    addEventListener("hashchange", () => this.#goneTo());
    // A view that is loaded late must not take the focus from where the person has put it meanwhile.
    const settle = (event: Event): void => {
      if (!isRepeated(event)) this.#movesFocus = false;
    };
    addEventListener("keydown", settle, { capture: true });
    addEventListener("pointerdown", settle, { capture: true });
  }

  /**
   * Whether a view that appears now takes the focus to its heading: an address has led to it, and the person has pressed
   * nothing since. The first view of a page leaves the focus where the browser puts it.
   */
  get movesFocus(): boolean {
    return this.#movesFocus;
  }

  /** Shows an address that `toAddress` has written. */
  go(address: string): void {
    if (location.hash === address) return;
    history.pushState(null, "", address);
    this.#goneTo();
  }

  /** Changes parameters of the address in place, as a filter does: "back" leaves the view. */
  setQuery(query: Readonly<Record<string, string | undefined>>): void {
    const { path, query: before } = this.route.value;
    history.replaceState(null, "", toAddress(path, { ...before, ...query }));
    this.#read();
  }

  #goneTo(): void {
    this.#movesFocus = true;
    this.#read();
  }

  #read(): void {
    this.route.set(readAddress(location.hash));
    this.#flusher.flush();
  }
}

/** Whether a key is held down, such as the Enter that has followed a link. */
function isRepeated(event: Event): boolean {
  return event instanceof KeyboardEvent && event.repeat;
}
