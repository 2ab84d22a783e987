// Works, once it has relatives of every kind that stay when it goes. Its tool tells their process numbers; so does the file
// that its argument names, if it has one.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { serve } from "./serve.mjs";

const stay = "while :; do sleep 1; done";
const shell = (code, options = {}) =>
  spawn("/bin/sh", ["-c", code], { stdio: ["ignore", "pipe", "ignore"], ...options });

const relatives = [
  // In our group.
  shell(`echo $$; ${stay}`),
  // In our group, with nothing in its environment.
  shell(`exec env -i /bin/sh -c 'echo $$; ${stay}'`),
  // In a session of its own.
  shell(`echo $$; ${stay}`, { detached: true }),
  // The same, and its parent is gone: the shell that started it does not wait.
  shell(`setsid /bin/sh -c 'echo $$; ${stay}' &`),
];
const pids = await Promise.all(
  relatives.map(async ({ stdout }) => {
    for await (const line of createInterface({ input: stdout })) return Number(line);
  }),
);

const text = [process.pid, ...pids].join(" ");
const file = process.argv.at(2);
if (file !== undefined) writeFileSync(file, text);
serve({ "tools/call": () => ({ content: [{ type: "text", text }] }) });
