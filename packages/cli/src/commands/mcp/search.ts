/** `fairlead mcp search`: finds servers in MCP registries. */

import { toShellWord } from "@fairlead/core/plain-text";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { type FoundServer, type SearchResult, searchRegistries, serverKinds } from "@fairlead/registry/registry/search";
import { clip } from "@fairlead/wire/text";
import { count, type Output } from "../../output/output.ts";
import { ageWords } from "../../output/time-text.ts";
import { configurationOf } from "../../shell/configuration.ts";
import { type Context, usageError, type Verb } from "../../shell/verb.ts";
import { registriesFor, registryOption } from "./registry/open-registries.ts";

interface Options {
  readonly registry?: readonly string[];
  readonly limit: string;
  readonly cursor?: string;
}

export const verb: Verb = {
  help: `
Finds servers whose name, title or description contain every word, in the MCP registries of fairlead.registries (default:
the official registry), and shows the newest version of each. Answers are kept on disk: if a registry cannot be reached,
Fairlead shows what it has, with its age. Names and descriptions are the publishers' own words. A name proves only who
published the server, not that it is safe.

Examples:
  fairlead mcp search github issues
  fairlead mcp search postgres --limit 5 --json
  fairlead mcp search notes --registry ~/registry.json
  fairlead mcp add io.github.acme/weather     add a server that you found`,

  define(command) {
    command.argument("<words...>", "words of the server's name, title or description");
    registryOption(command);
    command
      .option("--limit <n>", "how many servers to show, at most 1000", "20")
      .option("--cursor <cursor>", "show the next page: the cursor that the page before has printed");
  },

  async run(context) {
    const { out, globals, operands, command } = context;
    const { registry, limit, cursor } = command.opts<Options>();
    const words = operands.flatMap((word) => word.split(/\s+/)).filter((word) => word !== "");
    if (words.length === 0) throw usageError("there is no word to search for", context);
    const configuration = await configurationOf(context);
    const registries = registriesFor(configuration, context.io, registry);
    const result = await searchRegistries(registries, { words, limit: readLimit(limit, context), cursor });
    if (globals.json) return out.json(searchDocument(result));
    const typedRegistries = (registry ?? []).map((address) => `--registry ${toShellWord(address)} `).join("");
    print(result, typedRegistries, context);
    if (result.nextCursor !== undefined) {
      const typed = words.map(toShellWord).join(" ");
      out.say(
        safe`next page: fairlead mcp search ${toSafeLine(`${typedRegistries}--limit ${limit} --cursor ${result.nextCursor} ${typed}`)}`,
      );
    }
  },
};

function readLimit(word: string, context: Context): number {
  const limit = /^\d{1,4}$/.test(word) ? Number(word) : 0;
  if (limit >= 1 && limit <= 1_000) return limit;
  throw usageError(`--limit "${word}" is not a number from 1 to 1000`, context);
}

/** The JSON document of a search. `age`: milliseconds since the oldest registry that could not be reached answered. */
function searchDocument({ found, refused, nextCursor, kept, failed }: SearchResult): object {
  const age = kept.length === 0 ? undefined : Math.max(...kept.map((one) => one.age));
  return {
    servers: found.map(({ server, registry }) => ({
      name: server.name,
      title: server.title,
      description: server.description,
      version: server.version,
      publishedAt: server.publishedAt,
      status: server.status,
      statusMessage: server.statusMessage,
      kinds: serverKinds(server),
      registry,
    })),
    refused,
    age,
    unreachable: [...kept, ...failed].map(({ registry, why }) => ({
      registry,
      error: { code: why.code, message: why.message },
    })),
    nextCursor,
  };
}

function print(result: SearchResult, typedRegistries: string, { out }: Context): void {
  for (const one of result.found) out.print(foundText(one, out));
  printNotes(result, out);
  if (result.found.length === 0) out.say(safe`no server found`);
  // Not a deprecated or deleted one: Fairlead does not lead there.
  const first = result.found.find(({ server }) => server.status === "active");
  if (first !== undefined)
    out.say(safe`next: fairlead mcp add ${toSafeLine(`${typedRegistries}${first.server.name}`)}`);
}

function printNotes({ refused, kept, failed }: SearchResult, out: Output): void {
  for (const { registry, why, age } of kept)
    out.warn(safe`${toSafeLine(why.message)}; ${toSafeLine(registry)} is shown as of ${ageWords(age)} ago`);
  for (const { registry, why } of failed)
    out.warn(safe`${toSafeLine(why.message)}; nothing is shown of ${toSafeLine(registry)}`);
  const [first] = refused;
  if (first !== undefined)
    out.say(
      safe`left out: ${count(refused.length, "server")}, such as ${toSafeLine(first.name)}: ${toSafeLine(first.why)}`,
    );
}

/** A server in the list: its name, version, age and kinds, then the publisher's words. */
export function foundText({ server, registry }: FoundServer, { style }: Pick<Output, "style">): SafeText {
  const { name, title, version, publishedAt, status, statusMessage, description } = server;
  const age =
    publishedAt === undefined ? safe`` : safe` (${ageWords(Math.max(0, Date.now() - Date.parse(publishedAt)))} old)`;
  const kinds = serverKinds(server).map((kind) => toSafeLine(kind));
  const words = [title, description]
    .filter((text) => text !== undefined && text !== "")
    .map((text) => shortened(text ?? ""));
  const state =
    statusMessage === undefined ? toSafeLine(status) : safe`${toSafeLine(status)}: ${shortened(statusMessage)}`;
  return joinSafe([
    safe`${style.bold(toSafeLine(name))}  ${toSafeLine(version)}${age}  ${joinSafe(kinds, safe`, `)}`,
    ...(words.length > 0 ? [safe`  ${joinSafe(words, safe`: `)}`] : []),
    ...(status === "active" ? [] : [safe`  ${style.yellow(state)}`]),
    style.dim(safe`  ${toSafeLine(registry)}`),
  ]);
}

/** Registries limit a description to 100 characters, so only a stranger's own registry has longer ones. */
function shortened(text: string): SafeText {
  return toSafeLine(clip(text, 300));
}
