/** Visits a confirmation page as its script does, without a browser. */

import { request } from "node:http";

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface SentRequest {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request. As a browser does, it does not send the address's fragment. */
export function send(url: string, { method = "GET", body = "", headers = {} }: SentRequest = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    sent.on("error", reject).end(body);
  });
}

/** Sends one step of the page's script, with this secret in its header. */
export function step(url: string, name: string, secret: string, { body, headers }: SentRequest = {}): Promise<Reply> {
  const path = url.replace(/#.*/, "");
  return send(`${path}/${name}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, ...headers },
    ...(body !== undefined && { body }),
  });
}

export interface Visitor {
  readonly session: string;
  readonly question: () => Promise<Reply>;
  readonly answer: (decision: string) => Promise<Reply>;
}

/** Exchanges the code in the address for a session. */
export async function visitPage(url: string): Promise<Visitor> {
  const { status, body: session } = await step(url, "visit", url.slice(url.indexOf("#") + 1));
  if (status !== 200) throw new Error(`the page refused the visit with status ${status}`);
  return {
    session,
    question: () => step(url, "question", session),
    answer: (decision) => step(url, "answer", session, { body: decision }),
  };
}
