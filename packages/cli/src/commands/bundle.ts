/** `fairlead bundle`: writes the gateway as a bundle (.mcpb), which Claude Desktop installs by a double click. */

import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { explain, systemCode } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import { safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { refuseNested } from "@fairlead/core/trust";
import { writeZip } from "@fairlead/registry/bundles/write-zip";
import { gatewayCommand } from "../clients/client-entry.ts";
import { configurationOf } from "../shell/configuration.ts";
import type { Verb } from "../shell/verb.ts";
import { version } from "../shell/version.ts";

export const verb: Verb = {
  help: `
Open the file with Claude Desktop: it then has all servers of your settings, through your rules, as after
fairlead connect claude-desktop. The bundle contains no server and no secret, only the command of this Fairlead. On a machine
without Fairlead it says how to install it. The same Fairlead writes the same bytes each time.

Examples:
  fairlead bundle
  fairlead bundle -o ~/Desktop/fairlead.mcpb`,

  define(command) {
    command.option("-o, --output <file>", "the file to write; default: fairlead.mcpb in the current folder");
  },

  async run(context) {
    const { io, out, globals, command } = context;
    refuseNested(io.env);
    const { output = "fairlead.mcpb" } = command.opts<{ readonly output?: string }>();
    const configuration = await configurationOf(context);
    const words = ["--client", "claude-desktop"];
    const { isTemporary, ...start } = await gatewayCommand(words, configuration, context);
    const bytes = gatewayBundle(start, version());
    const file = resolve(io.cwd, output);
    try {
      await writeFile(file, bytes, { flag: "wx" });
    } catch (cause) {
      const isThere = systemCode(cause) === "EEXIST";
      const why = isThere ? "the file exists" : explain(cause);
      const next = isThere ? "choose another file with -o" : `mkdir -p ${toShellWord(dirname(file))}`;
      throw new HostError("usage", `${file} cannot be written: ${why}`, { next, cause });
    }
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (globals.json) return out.json({ file, sha256, version: version(), command: start.command, args: start.args });
    out.show(safe`written: ${toVisibleLine(file)}`);
    out.show(safe`SHA-256: ${toSafeLine(sha256)}`);
    if (isTemporary)
      out.warn(
        safe`warning: Fairlead runs from npm's cache, which npm may clear; install it (docs/install.md), then run fairlead bundle again`,
      );
    out.say(safe`next: open the file with Claude Desktop`);
  },
};

interface StartCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Returns the bytes of the bundle. They depend on nothing but the parameters. */
export function gatewayBundle(start: StartCommand, ownVersion: string): Buffer {
  const manifest = {
    manifest_version: "0.3",
    name: "fairlead",
    display_name: "Fairlead",
    version: ownVersion,
    description: "All MCP servers of your Fairlead settings, through your rules",
    long_description:
      "Starts `fairlead serve` on this machine. Which servers and tools there are, and what may run without a question, is in the settings of Fairlead.",
    author: { name: "Fairlead", url: "https://github.com/fairlead/fairlead" },
    homepage: "https://github.com/fairlead/fairlead#readme",
    documentation: "https://github.com/fairlead/fairlead/blob/main/docs/gateway.md",
    license: "Apache-2.0",
    server: {
      type: "node",
      entry_point: "server/index.js",
      mcp_config: { command: "node", args: ["${__dirname}/server/index.js"], env: {} },
    },
    tools_generated: true,
    prompts_generated: true,
  };
  return writeZip([
    { path: "manifest.json", content: Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`) },
    { path: "server/index.js", content: Buffer.from(startScript(start)) },
  ]);
}

/**
 * The program of the bundle. It runs in the Node of Claude Desktop, so it is plain CommonJS. If there is no Fairlead, it
 * answers the first request with the reason: the stderr of this program is not read.
 */
function startScript(start: StartCommand): string {
  return `"use strict";
// Starts the gateway of Fairlead, and passes its input and output on.
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { delimiter, isAbsolute, join } = require("node:path");

const written = ${JSON.stringify(start, undefined, 2)};
const words = ["serve", "--client", "claude-desktop"];

/** The command that wrote this bundle, else the one in PATH. */
function findCommand() {
  const files = [written.command, ...written.args.slice(0, 1)].filter((word) => isAbsolute(word));
  if (files.every((file) => existsSync(file))) return written;
  if (process.platform === "win32") return undefined;
  const folders = [...(process.env.PATH || "").split(delimiter), "/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"];
  const file = folders.filter((folder) => isAbsolute(folder)).map((folder) => join(folder, "fairlead")).find((path) => existsSync(path));
  return file && { command: file, args: words, env: {} };
}

function explain(why) {
  const message = why + ". Install Fairlead: npm install -g fairlead. Then write a new bundle: fairlead bundle";
  process.stderr.write(message + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    try {
      const { id } = JSON.parse(line);
      if (id === undefined) return;
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message } }) + "\\n");
    } catch {
      // A line that is no request has no answer.
    }
  });
}

const command = findCommand();
if (command === undefined) explain("Fairlead is not installed on this machine");
else {
  const child = spawn(command.command, command.args, {
    env: { ...process.env, ...command.env },
    stdio: "inherit",
    windowsHide: true,
  });
  child.on("error", (error) => explain("Fairlead cannot be started: " + error.message));
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 1));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
}
`;
}
