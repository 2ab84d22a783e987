/*
 * For tests of spans, in the era that its first argument names. `meta` returns the trace context of its request as
 * JSON, `echo` its arguments. `fail` reports an error, `wrong` is answered with a JSON-RPC error, `wait` with progress but never with a result. It has
 * one resource, and one prompt `hello`.
 */
import { onLine, runIfMain } from "../program.mjs";

const text = (words) => ({ content: [{ type: "text", text: words }] });
const complete = { resultType: "complete", ttlMs: 60_000, cacheScope: "private" };

/** @param {import("../program.mjs").Io} io */
export function traced({ args, input, output }) {
  const [era = "legacy"] = args;
  const isModern = era === "modern";
  const version = isModern ? "2026-07-28" : "2025-11-25";
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const serverInfo = { name: "traced", version: "1.0.0" };
  const tool = (name) => ({ name, inputSchema: { type: "object" } });

  const answers = {
    initialize: () => ({ protocolVersion: version, capabilities, serverInfo }),
    "server/discover": () => ({
      supportedVersions: [version],
      capabilities,
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: ["meta", "echo", "fail", "wrong", "wait"].map(tool) }),
    "prompts/list": () => ({ prompts: [{ name: "hello" }] }),
    "resources/list": () => ({ resources: [{ uri: "traced://it", name: "it" }] }),
    "resources/templates/list": () => ({ resourceTemplates: [] }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: "it" }] }),
    "prompts/get": () => ({ messages: [{ role: "user", content: { type: "text", text: "hello" } }] }),
    "tools/call": ({ name, arguments: given = {}, _meta: { traceparent, tracestate, baggage } = {} }) => {
      if (name === "meta") return text(JSON.stringify({ traceparent, tracestate, baggage }));
      if (name === "echo") return text(JSON.stringify(given));
      return name === "fail" ? { ...text("it failed"), isError: true } : undefined;
    },
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    if (params.name === "wait") {
      const { progressToken } = params._meta ?? {};
      const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } };
      if (progressToken !== undefined) output.write(`${JSON.stringify(progress)}\n`);
      return;
    }
    const isOfEra = isModern ? method !== "initialize" : method !== "server/discover";
    const result = isOfEra && Object.hasOwn(answers, method) ? answers[method](params) : undefined;
    const code = params.name === "wrong" ? -32602 : -32601;
    const body = result
      ? { result: isModern ? { ...complete, ...result } : result }
      : { error: { code, message: `no ${params.name ?? method} here` } };
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  });
}

runIfMain(import.meta.url, traced);
