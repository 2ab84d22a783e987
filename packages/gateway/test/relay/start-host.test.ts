import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { temporaryFolder } from "@fairlead/test-servers";
import { buildSync } from "esbuild";
import { expect, it } from "vitest";
import { runFolderOf } from "../../src/relay/run-folder.ts";
import { findOrStartHost } from "../../src/relay/start-host.ts";

it.each(["linux", "win32"] as const)(
  "starts the host through a process that ends at once, and passes on why the host fails: %s",
  async (platform) => {
    await using temporary = await temporaryFolder();
    const folder = runFolderOf({
      state: temporary.path,
      installation: "one",
      temporary: temporary.path,
      platform: "linux",
    });
    const script = `require("node:fs").writeSync(3, [...process.argv.slice(1), process.env.MARK, process.ppid].join() + "\\n")`;
    const command = {
      file: process.execPath,
      args: ["-e", script, "a b"],
      env: { PATH: process.env["PATH"], MARK: "$HOME" },
      platform,
    };
    await expect(findOrStartHost(folder, { version: "1", wants: "status" }, command)).rejects.toThrow(
      new RegExp(`^the background host did not start: a b,[$]HOME,(?!${process.pid}$)\\d+$`),
    );
  },
);

/** Tries to start a host while only 3 file descriptors are free, and writes why that fails. */
const startWithFewFiles = `
import { closeSync, openSync, writeSync } from "node:fs";
import { runFolderOf } from "./run-folder.ts";
import { findOrStartHost } from "./start-host.ts";

const [, , state] = process.argv;
const folder = runFolderOf({ state, installation: "one", temporary: state, platform: "linux" });
const command = { file: "/bin/false", args: [], env: {}, platform: "linux" };
const held = [];
try {
  for (;;) held.push(openSync("/dev/null"));
} catch {
  for (const file of held.slice(-3)) closeSync(file);
}
writeSync(1, String(await findOrStartHost(folder, { version: "1", wants: "status" }, command).catch(String)));
`;

it.runIf(process.platform !== "win32")("says that too many files are open if the host cannot be started", async () => {
  await using temporary = await temporaryFolder();
  const outfile = join(temporary.path, "start.mjs");
  buildSync({
    stdin: { contents: startWithFewFiles, resolveDir: join(import.meta.dirname, "../../src/relay") },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["fairlead-source"],
    // A native module of the keychain: the door to core's files leads to it.
    external: ["@napi-rs/keyring"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  const limited = ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, outfile, temporary.path];
  expect(spawnSync("/bin/sh", limited, { encoding: "utf8" })).toMatchObject({
    stdout: "Error: the background host did not start: too many files are open",
    stderr: "",
    status: 0,
  });
});
