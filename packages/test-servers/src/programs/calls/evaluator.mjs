// Runs the JavaScript that a call sends, and returns its value. For tests of what a sandboxed program can do.
import { execFileSync, execSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";

Object.assign(globalThis, { execFileSync, execSync, fs, http, https, net });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

async function evaluate(code) {
  try {
    return String(await runInThisContext(`(async () => {${code}})()`));
  } catch (error) {
    const { code: name = "", message } = error.cause ?? error;
    return `failed: ${name} ${message}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "evaluator", version: "1" },
    };
    send({ id, result });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object", properties: { code: { type: "string" } }, required: ["code"] };
    send({ id, result: { tools: [{ name: "run", inputSchema }] } });
  } else if (method === "tools/call") {
    void evaluate(params.arguments.code).then((text) => send({ id, result: { content: [{ type: "text", text }] } }));
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}
