/*
 * The minimal MCP server on stdin and stdout, which the other programs change. Each program's file says what is special
 * about it.
 */
import { onLine } from "./program.mjs";

const echo = {
  name: "echo",
  description: "Says what it is told.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

/** @type {Record<string, (params: any) => object>} */
const usual = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "test", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [echo] }),
  "tools/call": ({ arguments: { text } }) => ({ content: [{ type: "text", text }] }),
};

/**
 * @param {Record<string, ((params: any) => object) | undefined>} [unusual] What it answers instead, by method.
 * @param {(text: string) => void} [write] Takes every message it says.
 * @param {Pick<import("./program.mjs").Io, "input" | "output">} [io] By default that of the process.
 */
export function serve(unusual = {}, write, io = { input: process.stdin, output: process.stdout }) {
  const answers = { ...usual, ...unusual };
  const say = write ?? ((text) => void io.output.write(text));
  onLine(io, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
    const body = answer ? { result: answer(params) } : { error: { code: -32601, message: `no ${method} here` } };
    say(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  });
}
