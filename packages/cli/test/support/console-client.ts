/** Opens the address of a console as its page does, without a browser. */

import { get } from "node:http";
import type { Readable } from "node:stream";

export interface ConsoleSession {
  readonly origin: string;
  /** Sends a command of the page; resolves with status and answer. */
  run(verb: string, params: object): Promise<{ readonly status: number; readonly body: unknown }>;
  /** The first event of the stream. */
  snapshot(): Promise<{
    readonly servers: readonly { readonly name: string }[];
    readonly calls: readonly object[];
    readonly questions: readonly { readonly id: string }[];
    readonly workspace: object;
  }>;
}

/** @throws Error if the address was used before */
export async function visitConsole(address: string): Promise<ConsoleSession> {
  const { origin, pathname, hash } = new URL(address.trim());
  const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(origin + path, {
      method: "POST",
      headers: { origin, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const exchanged = await post("/api/session", { code: hash.slice(3), path: pathname });
  if (!exchanged.ok) throw new Error(`status ${exchanged.status}: ${await exchanged.text()}`);
  const { bearer } = (await exchanged.json()) as { readonly bearer: string };
  const authorization = `Bearer ${bearer}`;
  let commands = 0;
  return {
    origin,
    async run(verb, params) {
      commands += 1;
      const answer = await post(`/api/${verb}`, params, { authorization, "idempotency-key": `${commands}` });
      return { status: answer.status, body: await answer.json() };
    },
    async snapshot() {
      const leaving = new AbortController();
      const { body } = await fetch(`${origin}/api/events`, { headers: { authorization }, signal: leaving.signal });
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        if (text.includes("\n\n")) break;
      }
      leaving.abort();
      return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "").snapshot;
    },
  };
}

/** Opens the address of a page, as a window does. */
export function openPageAt(url: string): Promise<{ readonly type: string | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ type: response.headers["content-type"], text }));
    }).on("error", reject);
  });
}

/** Resolves with the first line from now on that matches. */
export function lineOf(stream: Readable, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    function onData(chunk: unknown): void {
      text += String(chunk);
      const line = text
        .split("\n")
        .slice(0, -1)
        .find((each) => pattern.test(each));
      if (line === undefined) return;
      stream.off("data", onData).off("end", onEnd);
      resolve(line);
    }
    function onEnd(): void {
      reject(new Error(`the stream ended without ${pattern}: ${text}`));
    }
    stream.on("data", onData).on("end", onEnd);
  });
}
