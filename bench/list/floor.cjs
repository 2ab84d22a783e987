// The floor: the least that a script written by hand does to list five servers. No settings, no limits, no clean-up but the end of stdin.
"use strict";
const { spawn } = require("node:child_process");
const path = require("node:path");

const lists = ["tools", "prompts", "resources"];

function list(name) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(__dirname, "server.cjs")], { stdio: ["pipe", "pipe", "inherit"] });
    const counts = {};
    let rest = "";
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const { id, result } = JSON.parse(line);
        if (id === 0) {
          send({ method: "notifications/initialized" });
          for (const [at, kind] of lists.entries()) send({ id: at + 1, method: `${kind}/list`, params: {} });
        } else {
          const kind = lists[id - 1];
          counts[kind] = result[kind].length;
          if (Object.keys(counts).length === lists.length) child.stdin.end();
        }
      }
    });
    child.on("close", () => resolve(`${name}  ${JSON.stringify(counts)}`));
    const clientInfo = { name: "floor", version: "1" };
    send({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  });
}

void Promise.all(process.argv.slice(2).map(list)).then((lines) => process.stdout.write(`${lines.join("\n")}\n`));
