/** `fairlead mcp add`: writes a server into the settings, prints the entry and an undo command, and tests the connection. */

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { parseUrl } from "@fairlead/wire/text";
import { Option } from "commander";
import { type Context, usageError, type Verb } from "../../shell/verb.ts";
import { addServers } from "./add/add-servers.ts";
import { type ScopeWord, scopeOption } from "./add/destination.ts";
import { type AddOptions, lookalikes, newServers, splitAddWords } from "./add/new-entry.ts";
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
  readonly yes?: boolean;
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
  fairlead mcp add weather.mcpb
  fairlead mcp add --yes --input folder=~/notes --name notes ./notes-1.2.0.mcpb
  fairlead mcp add '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'`,

  split: splitAddWords,

  define(command) {
    const repeat = (word: string, before: readonly string[] = []): readonly string[] => [...before, word];
    command.usage("[options] NAME COMMAND_OR_URL [ARGS...]").argument("<name>").argument("[target]");
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
      .option("--name <name>", "the name of a bundle's server; default: the name of the bundle")
      .option("--input <name=value>", "a value that a bundle asks for (repeatable)", repeat)
      .option("--sha256 <digest>", "the SHA-256 of a bundle; needed for an https address")
      .option("-y, --yes", "add a bundle without asking")
      .option("--replace", "replace an entry with the same name without asking")
      .option("--no-test", "do not connect to the server now")
      .option("--no-approve", "do not approve a project's server now; use fairlead trust add later");
  },

  async run(context) {
    const { io, out, command, operands, rest } = context;
    const {
      scope,
      replace = false,
      approve,
      test,
      sandbox,
      name,
      input,
      sha256,
      yes,
      ...options
    } = command.opts<Options>();
    const choices = { scope, replace, approve, test, sandbox };
    const isFile = (path: string): boolean =>
      statSync(resolve(io.cwd, path), { throwIfNoEntry: false })?.isFile() ?? false;
    const [first = "", second] = operands;
    if (second === undefined && namesBundle(first, isFile)) {
      refuseEntryOptions(options, context);
      const { addBundle } = await import("./add/add-bundle.ts");
      return addBundle(first, { ...choices, name, input, sha256, yes }, context);
    }
    const servers = newServers({ operands, rest, isFile }, options);
    const ours = lookalikes(rest);
    if (ours.length > 0)
      out.say(
        safe`note: ${toSafeLine(ours.join(", "))} passed to the server; options for fairlead must come before NAME`,
      );
    await addServers(servers, choices, context);
  },
};

/** Options of an entry that the user writes. A bundle brings its own. @throws HostError `usage` */
function refuseEntryOptions(options: AddOptions, context: Context): void {
  const { transport, env, header, cwd, timeout, trust, description, includeTools, excludeTools } = options;
  const ofEntry = { transport, env, header, cwd, timeout, trust, description, includeTools, excludeTools };
  const [option] = Object.entries(ofEntry).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined) return;
  const word = option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw usageError(`--${word} does not work with a bundle, which brings its own entry`, context);
}

/** Whether the only operand names a bundle: a file, or an address that ends like one. */
function namesBundle(word: string, isFile: (path: string) => boolean): boolean {
  const url = /^https?:/i.test(word) ? parseUrl(word) : undefined;
  return url === undefined ? /\.(?:mcpb|dxt)$/i.test(word) && isFile(word) : /\.(?:mcpb|dxt)$/i.test(url.pathname);
}
