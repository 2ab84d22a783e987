// A launcher with relatives of every kind; says which processes there are. With "stubborn" nobody heeds SIGTERM or the
// end of stdin; with "orphans" the launcher exits and leaves the others behind.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const how = process.argv.slice(2);
const ignore = how.includes("stubborn") ? "trap '' TERM; " : "";
// Says its number, then stays.
const stay = `${ignore}echo $$; while :; do sleep 1; done`;
const shell = (code, options) => spawn("/bin/sh", ["-c", code], { stdio: ["ignore", "pipe", "inherit"], ...options });

if (how.includes("stubborn")) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 60_000);
} else {
  process.stdin.on("end", () => process.exit(0)).resume();
}

const relatives = [
  // In our group, holding our stdout open.
  shell(stay, { stdio: ["ignore", "pipe", "inherit", 1] }),
  // In our group, without the environment.
  shell(`exec env -i /bin/sh -c "${stay.replaceAll("$$", "\\$\\$")}"`),
  // In a session of its own.
  shell(stay, { detached: true }),
  // Forked twice: its parent is gone.
  shell(`(${stay.replace("echo $$", "sh -c 'echo $PPID'")}) &`, { detached: true }),
];
const numbers = await Promise.all(
  relatives.map(async ({ stdout }) => {
    for await (const line of createInterface({ input: stdout })) return Number(line);
  }),
);
process.stdout.write(
  `${JSON.stringify({ jsonrpc: "2.0", method: "family", params: { pids: [process.pid, ...numbers] } })}\n`,
);
if (how.includes("orphans")) setImmediate(() => process.exit(3));
