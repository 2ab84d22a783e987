/** Talks to the door as the page does, without a browser. */

import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { ConsoleEvent } from "../../src/protocol/events.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface SentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends one request. As a browser does, it does not send the fragment of the address. */
export async function send(url: string, { method = "GET", headers = {}, body = "" }: SentRequest = {}): Promise<Reply> {
  const { response } = await begin(url, { method, headers, body });
  let text = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, body: text };
}

interface Begun {
  readonly sent: ClientRequest;
  readonly response: IncomingMessage;
}

function begin(url: string, { method = "GET", headers = {}, body = "" }: SentRequest): Promise<Begun> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => resolve({ sent, response }));
    sent.on("error", reject).end(body);
  });
}

/** Posts JSON as the page does. */
export function post(
  origin: string,
  path: string,
  body: unknown,
  headers: SentRequest["headers"] = {},
): Promise<Reply> {
  return send(`${origin}${path}`, {
    method: "POST",
    headers: { origin, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** Exchanges the code of an address. */
export function exchange(address: string): Promise<Reply> {
  const { origin, pathname, hash } = new URL(address);
  return post(origin, "/api/session", { code: hash.replace("#k=", ""), path: pathname });
}

/** Exchanges the code of an address for the bearer, as a header. */
export async function signIn(address: string): Promise<{ readonly authorization: string }> {
  const { status, body } = await exchange(address);
  if (status !== 200) throw new Error(`the exchange of the code failed with status ${status}: ${body}`);
  return { authorization: `Bearer ${(JSON.parse(body) as { bearer: string }).bearer}` };
}

export interface ReceivedEvent {
  /** Undefined for the news that the console is closed. */
  readonly id: number | undefined;
  readonly event: ConsoleEvent | { readonly type: "closed" };
}

export interface EventReader extends AsyncDisposable {
  readonly headers: IncomingMessage["headers"];
  /** The next event; undefined at the end of the stream. */
  next(): Promise<ReceivedEvent | undefined>;
  /** The lines that are no events. */
  readonly comments: readonly string[];
  /** Stops reading from the socket. */
  pause(): void;
  resume(): void;
  /** Cuts the connection. */
  cut(): void;
}

/** Opens the stream of events. `after`: the number of the last event that the page has. */
export async function readEvents(
  origin: string,
  headers: { readonly authorization: string },
  after?: number,
): Promise<EventReader> {
  const sent = { ...headers, ...(after !== undefined && { "last-event-id": String(after) }) };
  const { response } = await begin(`${origin}/api/events`, { headers: sent });
  if (response.statusCode !== 200) throw new Error(`the stream failed with status ${response.statusCode}`);
  const comments: string[] = [];
  const events = parse(response, comments);
  return {
    headers: response.headers,
    comments,
    async next() {
      const { value } = await events.next();
      return value;
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    cut: () => void response.destroy(),
    async [Symbol.asyncDispose]() {
      response.destroy();
    },
  };
}

async function* parse(response: IncomingMessage, comments: string[]): AsyncGenerator<ReceivedEvent, undefined> {
  let rest = "";
  try {
    for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
      const blocks = (rest + chunk).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        if (block.startsWith(":")) comments.push(block);
        else yield toEvent(block);
      }
    }
  } catch (error) {
    // The connection was cut.
    if (!response.destroyed) throw error;
  }
  return undefined;
}

function toEvent(block: string): ReceivedEvent {
  const lines = new Map(block.split("\n").map((line) => [line.replace(/:.*/, ""), line.replace(/^\w+: /, "")]));
  if (lines.get("event") === "closed") return { id: undefined, event: { type: "closed" } };
  return { id: Number(lines.get("id")), event: JSON.parse(lines.get("data") ?? "") as ConsoleEvent };
}
