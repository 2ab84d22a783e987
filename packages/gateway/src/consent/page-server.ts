/** Serves the pages on which a person answers confirmations, on the loopback address. */

import { hash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@fairlead/core/clock";
import type { ConsentAnswer, ConsentQuestion } from "./confirmed-request.ts";
import { messagePage, pageHeaders, questionPage } from "./consent-page.ts";
import { questionTime } from "./inbox-folder.ts";

/** A confirmation, with the function that accepts the person's answer. */
export interface PageQuestion {
  readonly question: ConsentQuestion;
  /** Stores the answer. Returns a sentence for the person, which says whether the answer counts. */
  readonly answer: (answer: ConsentAnswer) => Promise<string>;
}

export interface PageServer extends AsyncDisposable {
  /** Creates a page. Its URL contains a nonce that other programs cannot guess. `close` removes the page. */
  open(shown: PageQuestion): Promise<{ readonly url: string; readonly close: () => void }>;
}

const loopback = "127.0.0.1";
const bodyBytes = 1024;
const requestTime = 10_000;
const mostConnections = 64;
/** Maximum number of open pages. A further page closes the oldest page. */
const mostPages = 64;

/** Creates the server. It begins to listen when the first page is opened. */
export function createPageServer(clock: Pick<Clock, "after">): PageServer {
  /** Confirmations by the digest of their nonce. With digests, the time of a lookup does not help to guess a nonce. */
  const pages = new Map<string, PageQuestion>();
  const timers = new Map<string, () => void>();
  let listening: Promise<Server> | undefined;

  function end(key: string): void {
    timers.get(key)?.();
    timers.delete(key);
    pages.delete(key);
  }

  function send(response: ServerResponse, status: number, body: string): void {
    response.writeHead(status, { ...pageHeaders, connection: "close", "content-length": Buffer.byteLength(body) });
    response.end(body);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { port = 0 } = request.socket.address() as Partial<AddressInfo>;
    const isOwn = (host: string): boolean => host === `${loopback}:${port}` || host === `localhost:${port}`;
    const { host = "", origin } = request.headers;
    const site = request.headers["sec-fetch-site"];
    // A request with another host name or origin comes from a foreign web page.
    if (!isOwn(host) || (origin !== undefined && !isOwn(origin.replace(/^http:\/\//, ""))))
      return send(response, 403, messagePage("Refused", "This request was not sent by the confirmation page."));
    const [, nonce] = /^\/approve\/([\w-]{43})\??$/.exec(request.url ?? "") ?? [];
    const key = hash("sha256", nonce ?? "");
    const shown = pages.get(key);
    if (shown === undefined)
      return send(response, 404, messagePage("Not found", "This question does not exist, or it was already answered."));
    if (request.method === "GET") return send(response, 200, questionPage(shown.question));
    if (request.method !== "POST" || (site !== undefined && site !== "same-origin"))
      return send(response, 405, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    const decision = new URLSearchParams(await readBody(request)).get("decision");
    const answer = shown.question.answers.find((each) => each === decision);
    if (answer === undefined)
      return send(response, 400, messagePage("Refused", "Use the buttons on the confirmation page to answer."));
    // The page is removed first, so that it can be answered only once.
    end(key);
    return send(response, 200, messagePage("Answered", await shown.answer(answer)));
  }

  function listen(): Promise<Server> {
    const server = createServer(
      { maxHeaderSize: 16 * 1024, requestTimeout: requestTime, headersTimeout: requestTime },
      (request, response) => {
        handle(request, response).catch(() => {
          if (response.headersSent) response.destroy();
          else send(response, 500, messagePage("Failed", "The answer could not be stored. Nothing was run."));
        });
      },
    );
    server.maxConnections = mostConnections;
    // Waiting for a person's answer does not keep the process alive.
    server.unref();
    return new Promise((resolve, reject) => {
      server.once("error", reject).listen({ host: loopback, port: 0, exclusive: true }, () => resolve(server));
    });
  }

  return {
    async open(shown) {
      listening ??= listen();
      const server = await listening.catch((error: unknown) => {
        listening = undefined;
        throw error;
      });
      const nonce = randomBytes(32).toString("base64url");
      const key = hash("sha256", nonce);
      pages.set(key, shown);
      const [oldest] = pages.keys();
      if (oldest !== undefined && pages.size > mostPages) end(oldest);
      timers.set(
        key,
        clock.after(questionTime, () => end(key), { background: true }),
      );
      const { port } = server.address() as AddressInfo;
      return { url: `http://${loopback}:${port}/approve/${nonce}`, close: () => end(key) };
    },
    async [Symbol.asyncDispose]() {
      for (const key of pages.keys()) end(key);
      const server = await listening?.catch(() => undefined);
      if (server === undefined) return;
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Reads the body of a request.
 * @throws Error if the body is larger than any valid answer
 */
async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > bodyBytes) throw new Error("the body is too large");
  }
  return text;
}
