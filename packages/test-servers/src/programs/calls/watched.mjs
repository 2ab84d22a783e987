/*
 * Has one resource that clients can subscribe to. The tool `touch` changes it, `cut` ends the subscriptions, `exit`
 * ends the program. The first argument is "legacy" or "modern". Requests about subscriptions are written to the file in
 * the second argument, one for each line. With the third argument "changing", the resource changes at once after each
 * subscription.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [era = "legacy", notes, changing] = process.argv.slice(2);
const isModern = era === "modern";
const uri = "watched://it";
const resources = { subscribe: true };
const complete = isModern ? { resultType: "complete" } : {};
const tools = ["touch", "cut", "exit"].map((name) => ({ name, inputSchema: { type: "object" } }));
const followed = new Set();
/** Open subscription requests, by id. */
const listening = new Map();

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = (line) => notes && appendFileSync(notes, `${line}\n`);
const tell = (method, params, id) =>
  say({
    method: `notifications/${method}`,
    params: { ...params, ...(isModern && { _meta: { "io.modelcontextprotocol/subscriptionId": id } }) },
  });

const calls = {
  touch() {
    if (followed.has(uri)) tell("resources/updated", { uri });
    for (const [id, uris] of listening) if (uris.includes(uri)) tell("resources/updated", { uri }, id);
  },
  cut() {
    for (const id of listening.keys()) say({ id, result: complete });
    listening.clear();
  },
  exit: () => process.exit(1),
};

const answers = {
  ...(isModern
    ? {
        "server/discover": () => ({
          supportedVersions: ["2026-07-28"],
          capabilities: { tools: {}, resources },
          serverInfo: { name: "watched", version: "1.0.0" },
        }),
      }
    : {
        initialize: () => ({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, resources },
          serverInfo: { name: "watched", version: "1.0.0" },
        }),
        "resources/subscribe"(params) {
          note(`subscribe ${params.uri}`);
          followed.add(params.uri);
          return {};
        },
        "resources/unsubscribe"(params) {
          note(`unsubscribe ${params.uri}`);
          followed.delete(params.uri);
          return {};
        },
        ping: () => ({}),
      }),
  "tools/list": () => ({ tools }),
  "resources/list": () => ({ resources: [{ uri, name: "it" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "tools/call"({ name }) {
    calls[name]();
    return { content: [] };
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === "notifications/cancelled" && listening.delete(params.requestId)) note("cancelled");
  if (id === undefined) return;
  if (isModern && method === "subscriptions/listen") {
    const { resourceSubscriptions = [] } = params.notifications;
    note(`listen ${resourceSubscriptions.join(" ")}`);
    listening.set(id, resourceSubscriptions);
    tell("subscriptions/acknowledged", { notifications: params.notifications }, id);
    if (changing) calls.touch();
    return;
  }
  const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
  if (answer) say({ id, result: { ...complete, ...answer(params) } });
  else say({ id, error: { code: -32601, message: `no ${method} here` } });
  if (changing && method === "resources/subscribe") calls.touch();
});
