// A server on stdin and stdout that does what its first argument, JSON, says:
//   delay     milliseconds before it reads anything
//   discover, initialize   "silent", "die", {"result": …}, {"error": …}; an object may also have "after" (milliseconds), "last" (exits then),
//             "held" (leaves together with the next answer; "once": only at the server's first start)
//   other     the same, for every other request; without it the request comes back as its own result
//   notices   a file to which it adds a line for each start and for each message
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.argv[2] ?? "{}");
const note = (line) => plan.notices && appendFileSync(plan.notices, `${line}\n`);
const lineOf = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
let held = "";

function say(message) {
  process.stdout.write(held + lineOf(message));
  held = "";
}

function isFirstStart() {
  return readFileSync(plan.notices, "utf8").match(/^start$/gm).length === 1;
}

function answer({ id, method, params }, how) {
  if (how === "silent") return;
  if (how === "die") {
    process.stderr.write(`cannot live with ${method}\n`);
    process.exit(3);
  }
  const { after = 0, last = false, held: hold = false, ...rest } = how ?? { result: { method, params } };
  if (hold === "once" ? isFirstStart() : hold) held += lineOf({ id, ...rest });
  else if (after > 0) setTimeout(say, after, { id, ...rest });
  else say({ id, ...rest });
  if (last) process.exit(4);
}

function listen() {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    note(message.method);
    if (message.id === undefined) return;
    if (message.method === "server/discover") answer(message, plan.discover ?? plan.other);
    else if (message.method === "initialize") answer(message, plan.initialize ?? plan.other);
    else answer(message, plan.other);
  });
}

note("start");
setTimeout(listen, plan.delay ?? 0);
