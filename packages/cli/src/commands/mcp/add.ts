/** `fairlead mcp add`: writes a server into the settings, prints the entry and an undo command, and tests the connection. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HostError } from "@fairlead/core/errors";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { readPublishedName } from "@fairlead/registry/registry/find-published";
import { isObject, parseJson } from "@fairlead/wire/json";
import { parseUrl } from "@fairlead/wire/text";
import { Option } from "commander";
import { type Context, usageError, type Verb } from "../../shell/verb.ts";
import { addServers } from "./add/add-servers.ts";
import { type ScopeWord, scopeOption } from "./add/destination.ts";
import { type AddOptions, lookalikes, newServers, splitAddWords } from "./add/new-entry.ts";
import type { PublishedOptions } from "./add/published-server.ts";
import { readSandboxOption, type SandboxChange } from "./add/sandbox-offer.ts";

interface Options extends AddOptions {
  readonly scope?: ScopeWord;
  readonly replace?: boolean;
  readonly test: boolean;
  readonly approve: boolean;
  readonly sandbox?: SandboxChange;
  readonly name?: string;
  readonly input?: readonly string[];
  readonly sha256?: string;
  readonly registry?: readonly string[];
  readonly kind?: string;
  readonly unproven?: boolean;
  readonly yes?: boolean;
  readonly origin?: Readonly<Record<string, unknown>>;
}

export const verb: Verb = {
  help: `
COMMAND_OR_URL is one of
  a command and its words      npx -y some-package      (or quoted as one word: "npx -y some-package")
  a URL                        https://example.com/mcp
  a JSON snippet               '{"command": "npx", "args": ["-y", "some-package"]}'
                               also '{"mcpServers": {…}}' as found in READMEs; NAME may then be left out
or a bundle (.mcpb), without NAME: a file, or an https address with --sha256. Fairlead shows what it would run, asks for
its values and for your yes, and unpacks it read-only. --input answers in scripts, --yes says yes.
or a domain (example.com), without NAME: Fairlead reads its catalog of MCP servers and their cards, and you choose.

Instead of both, give the NAME of a server in an MCP registry (fairlead mcp search), with @VERSION for another version than
the newest. Fairlead then shows exactly what will run, proves that the package belongs to the server, asks for its inputs
(secrets go to the secret store), and adds it after a yes, in a sandbox and under the part of NAME behind the slash. Until the
yes it reads metadata only. In a script: --input NAME=VALUE, --yes, and --unproven if the package proves nothing.

All words after a command belong to the server; options for fairlead come before NAME. A "--" in between is accepted.
Values are stored as you type them. When the server starts, Fairlead replaces $NAME and \${NAME} by the variable,
\${secret:NAME} by the stored secret, and $$ by a dollar sign. Quote them, or your shell expands them first.
You approve a project's server by adding it; other users of the project approve it with fairlead trust add. If the
folder is not trusted yet, Fairlead asks on a terminal whether to trust it: a project's server starts only then.
Then Fairlead connects to the server and shows its tools or the error. The entry stays in both cases, with exit code 0;
in a script, fairlead mcp test NAME returns the error's exit code. On a terminal, Fairlead then offers to sign in, if the
server needs it, and to write the exact version of a downloaded package into the entry.

On a terminal, Fairlead first offers a sandbox (Linux): the program then sees its own files and what you list. In a script
it has none without --sandbox on. --replace keeps the sandbox that the settings have for the name.

Examples:
  fairlead mcp add -s user files npx -y @modelcontextprotocol/server-filesystem ~/notes
  fairlead mcp add -e GITHUB_TOKEN github docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server
  fairlead mcp add -s user -t http -H 'Authorization: Bearer \${secret:API_TOKEN}' search https://example.com/mcp
  fairlead mcp add --include-tools read_file,list_directory files npx -y @modelcontextprotocol/server-filesystem .
  fairlead mcp add -s user --sandbox '{"read": ["~/notes"]}' notes npx -y @modelcontextprotocol/server-filesystem ~/notes
  fairlead mcp add io.github.acme/weather
  fairlead mcp add io.github.acme/weather@1.2.0 --input folder=~/notes --yes
  fairlead mcp add weather.mcpb
  fairlead mcp add example.com
  fairlead mcp add --yes --input folder=~/notes --name notes ./notes-1.2.0.mcpb
  fairlead mcp add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'`,

  split: splitAddWords,

  define(command) {
    const repeat = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
    command.usage("[options] NAME [COMMAND_OR_URL] [ARGS...]").argument("<name>").argument("[target]");
    scopeOption(command, "user: for all your folders; project: for this folder (default)");
    command
      .addOption(
        new Option("-t, --transport <kind>", "stdio for a command; http or sse for a URL").choices([
          "stdio",
          "sse",
          "http",
        ]),
      )
      .option(
        "-e, --env <NAME=VALUE>",
        "environment variable for the command; NAME alone passes on your own value (repeatable)",
        repeat,
      )
      .option("-H, --header <Name: value>", "a header for the URL (repeatable)", repeat)
      .option("--cwd <dir>", "working folder of the command")
      .option("--timeout <time>", "give up a request after this time without a response or progress: 500ms, 10s, 2m")
      .option("--trust", "run the server's tools without confirmation")
      .option("--description <text>", "a description of the server")
      .option("--include-tools <a,b>", "use only these tools of the server")
      .option("--exclude-tools <a,b>", "use all tools of the server except these")
      .addOption(
        new Option(
          "--sandbox <profile>",
          "run the command in a sandbox: on; off; default, as fairlead.sandbox says; or a profile as JSON",
        )
          .choices(["on", "off", "default"])
          .argParser(readSandboxOption),
      )
      .option(
        "--name <name>",
        "the name of a registry's, bundle's or domain's server in the settings; default: its own",
      )
      .option(
        "--input <name=value>",
        "a value that a registry's, bundle's or domain's server asks for (repeatable)",
        repeat,
      )
      .option("--sha256 <digest>", "the SHA-256 of a bundle; needed for an https address")
      .option("--registry <address>", "read this registry instead of those of the settings (repeatable)", repeat)
      .option("--kind <kind>", "how to use a registry's server: npm, pypi, oci, nuget, mcpb or remote")
      .option("--unproven", "add a registry's server also if nothing proves that its package belongs to it")
      .addOption(
        new Option("--origin <json>", "where the entry comes from, as undo lines have it").argParser(readOrigin),
      )
      .option("-y, --yes", "add a registry's server, a bundle or the only server of a domain without asking")
      .option("--replace", "replace an entry with the same name without asking")
      .option("--no-test", "do not connect to the server now")
      .option("--no-approve", "do not approve a project's server now; use fairlead trust add later");
  },

  async run(context) {
    const { io, out, command, operands, rest } = context;
    const { scope, replace = false, approve, test, sandbox, origin: typedOrigin, ...all } = command.opts<Options>();
    const { name, input, sha256, yes, registry, kind, unproven, ...options } = all;
    const ofEntry = { ...options, origin: typedOrigin };
    const choices = { scope, replace, approve, test, sandbox };
    const isFile = (path: string): boolean =>
      statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isFile() ?? false;
    const [first = "", second] = operands;
    if (second === undefined && namesBundle(first)) {
      refuseEntryOptions(ofEntry, "a bundle, which brings its own entry", context);
      const { addBundle } = await import("./add/add-bundle.ts");
      return addBundle(first, { ...choices, name, input, sha256, yes }, context);
    }
    const published = second === undefined && !isFile(first) ? readPublishedName(first) : undefined;
    if (published !== undefined) {
      refuseEntryOptions(ofEntry, "a server of a registry; give its inputs with --input NAME=VALUE", context);
      const { addPublished } = await import("./add/published-server.ts");
      return addPublished(published, { registry, kind, input, name, unproven, yes }, choices, context);
    }
    refusePublishedOptions({ registry, kind, unproven });
    const origin = second === undefined && !isFile(first) ? await originOf(first) : undefined;
    if (origin !== undefined) {
      refuseEntryOptions(ofEntry, "a domain, whose server card brings its own entry", context);
      const { addFromDomain } = await import("./add/add-domain.ts");
      return addFromDomain(origin, { ...choices, name, input, yes }, context);
    }
    const servers = newServers({ operands, rest, isFile }, options);
    const ours = lookalikes(rest);
    if (ours.length > 0)
      out.say(
        safe`note: ${toSafeLine(ours.join(", "))} passed to the server; options for fairlead must come before NAME`,
      );
    const serverOptions = typedOrigin && { origin: typedOrigin };
    await addServers(
      servers.map((server) => ({ ...server, ...(serverOptions && { serverOptions }) })),
      choices,
      context,
    );
  },
};

/** Options of an entry that the user writes. @throws HostError `usage` */
function refuseEntryOptions(options: AddOptions & Pick<Options, "origin">, instead: string, context: Context): void {
  const { transport, env, header, cwd, timeout, trust, description, includeTools, excludeTools, origin } = options;
  const ofEntry = { transport, env, header, cwd, timeout, trust, description, includeTools, excludeTools, origin };
  const [option] = Object.entries(ofEntry).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined) return;
  const word = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(`--${word} does not work with ${instead}`, context);
}

/** Reads `--origin`. Its members are checked when the settings are read. @throws HostError `usage` */
function readOrigin(word: string): Readonly<Record<string, unknown>> {
  const value = parseJson(word);
  if (isObject(value)) return value;
  throw new HostError("usage", `--origin "${word}" is not a JSON object`, { next: "copy it from an undo line" });
}

/** The origin of a bare domain, such as example.com. */
async function originOf(word: string): Promise<string | undefined> {
  if (!/^[\w.:-]+$/.test(word)) return undefined;
  const { originOfDomain } = await import("@fairlead/registry/cards/find-cards");
  return originOfDomain(word);
}

/** Whether the only operand names a bundle: a path or an address that ends like one. No domain and no program does. */
function namesBundle(word: string): boolean {
  const url = /^https?:/i.test(word) ? parseUrl(word) : undefined;
  return url === undefined ? /\.(?:mcpb|dxt)$/i.test(word) : /\.(?:mcpb|dxt)$/i.test(url.pathname);
}

function refusePublishedOptions(options: PublishedOptions): void {
  const option = Object.entries(options).find(([, value]) => value !== undefined)?.[0];
  if (option === undefined) return;
  throw new HostError("usage", `--${option} works only with the name of a server in a registry`, {
    next: "fairlead mcp search WORDS",
  });
}
