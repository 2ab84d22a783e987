/*
 * Starts child processes of every kind that keep running when it exits, then works as a server. Its tool returns their
 * process ids. If it has an argument, it also writes the ids to that file.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { serve } from "../serve.mjs";

const stay = "while :; do sleep 1; done";
const shell = (code, options = {}) =>
  spawn("/bin/sh", ["-c", code], { stdio: ["ignore", "pipe", "ignore"], ...options });

const relatives = [
  // A child process in the same process group.
  shell(`echo $$; ${stay}`),
  // A child process in the same process group, with an empty environment.
  shell(`exec env -i /bin/sh -c 'echo $$; ${stay}'`),
  // A child process in its own session.
  shell(`echo $$; ${stay}`, { detached: true }),
  // A process in its own session whose parent has exited, because the shell that started it does not wait.
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
