/** `fairlead mcp update`: replaces a server of a registry by another version, after showing what changes and what it then lists. */

import { HostError } from "@fairlead/core/errors";
import { parseJsonc, readText } from "@fairlead/core/files";
import { toShellWord } from "@fairlead/core/plain-text";
import { type ConfiguredServer, childNode, type PublishedOrigin, plainValueOf } from "@fairlead/core/settings";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { AdmittedServer, Configuration } from "@fairlead/core/trust";
import { publishedOrigin } from "@fairlead/registry/registry/find-published";
import type { InputAnswers } from "@fairlead/registry/registry/inputs";
import { choicesOf, planEntry, questionsOf, type ServerChoice } from "@fairlead/registry/registry/launch";
import { type PackageProof, packageSource, provePackage } from "@fairlead/registry/registry/proof";
import type { RegistryServer } from "@fairlead/registry/registry/server-json";
import { objectOf } from "@fairlead/wire/json";
import { configurationOf } from "../../shell/configuration.ts";
import { canAsk, confirm } from "../../shell/prompt.ts";
import type { Context, Verb } from "../../shell/verb.ts";
import { addServers } from "./add/add-servers.ts";
import { placeWords } from "./add/destination.ts";
import type { Entry } from "./add/new-entry.ts";
import { findServer } from "./find-server.ts";
import { askInputs, readInputs } from "./registry/ask-inputs.ts";
import { secretNames, storeInputSecrets } from "./registry/input-secrets.ts";
import { typedLine } from "./registry/open-registries.ts";
import { findUpdate, registryOf, withVariables } from "./registry/published-servers.ts";
import { definitionsText, type TriedDefinitions, type TriedVersion, tryVersion } from "./registry/try-version.ts";

interface Options {
  readonly to?: string;
  readonly input?: readonly string[];
  readonly unproven?: boolean;
  readonly yes?: boolean;
  readonly test: boolean;
}

export const verb: Verb = {
  help: `
Replaces a server that fairlead mcp add took from a registry by its newest version, or by that of --to. Shows first what
changes: the command, its arguments, variables and headers, and its sandbox. Your answers of mcp add are kept; a new required
input is asked. After a first yes, Fairlead starts the new version once, as the server runs now, lists what it has, calls
nothing, and shows which tools, prompts and resources are added, removed or changed. Only the second yes writes the entry and
accepts these definitions. --yes answers both. With --no-test nothing is started, and changed tools are asked about at their
next call.

Examples:
  fairlead mcp update weather
  fairlead mcp update weather --to 1.2.0
  fairlead mcp update weather --yes`,

  define(command) {
    command
      .argument("<name>", "name of the server (see: fairlead mcp outdated)")
      .option("--to <version>", "this version instead of the newest")
      .option(
        "--input <NAME=VALUE>",
        "an input of the new version, instead of the answer that is kept (repeatable)",
        (word: string, before?: readonly string[]): readonly string[] => [...(before ?? []), word],
      )
      .option("--unproven", "update also if nothing proves that the package belongs to the server")
      .option("--yes", "do not ask")
      .option("--no-test", "do not start the new version now, and do not compare definitions");
  },

  async run(context) {
    const { io, out, globals, operands, command } = context;
    const { to, input = [], unproven = false, yes = false, test } = command.opts<Options>();
    const configuration = await configurationOf(context);
    const found = findServer(configuration, operands[0] ?? "");
    const { server } = found;
    const { name } = server;
    const origin = originOf(server);
    const published = await findUpdate(registryOf({ server, origin }, configuration, io), origin, to);
    const { version } = published.server;
    if (version === origin.version) {
      if (globals.json) return out.json({ name, version, changed: false });
      return out.say(
        safe`"${toVisibleLine(name)}" has ${to === undefined ? safe`the newest version` : safe`this version`} already: ${toVisibleLine(version)}`,
      );
    }
    const choice = sameChoice(published.server, origin);
    const state = { environment: configuration.environment, state: configuration.locations.state, signal: io.signal };
    const proof = await provePackage(published.server.name, choice, state);
    refuseUnproven(published.server, proof, unproven);
    const questions = questionsOf(choice);
    const given = new Map([...earlierInputs(origin, choice), ...readInputs(input, questions, io)]);
    const answers = await askInputs(questions, given, context);
    const planned = planEntry(choice, answers, await secretNames(name, configuration));
    const before = await entryIn(server);
    const source = server.definition?.sandbox === undefined ? { env: {} } : await packageSource(choice, state);
    const entry = { ...without(before), ...withVariables(planned.entry, source.env) };
    if (!globals.json) {
      out.exactly(
        safe`"${toVisibleLine(name)}": ${toVisibleLine(origin.name)} ${toVisibleLine(origin.version)} → ${toVisibleLine(version)}`,
      );
      out.exactly(joinSafe(changesOf(before, entry).concat(boxText(server, choice))));
    }
    const asker = askerOf(yes, context);
    const tried = test
      ? await tryAfterYes(found, { entry, version, secrets: planned.secrets }, asker, configuration)
      : undefined;
    await asker.ask(safe`Update "${toVisibleLine(name)}" to ${toVisibleLine(version)}?`);
    await storeInputSecrets(planned.secrets, configuration, context);
    const undo = `fairlead mcp update ${placeWords(globals)}${toShellWord(name)} --to ${toShellWord(origin.version)} --yes`;
    await addServers(
      [{ name, entry, serverOptions: { origin: publishedOrigin(published, choice, planned, proof) }, undo, tried }],
      { scope: server.scope === "user" ? "user" : "project", replace: true, approve: true, test },
      context,
    );
  },
};

function originOf({ name, scope, definition }: ConfiguredServer): PublishedOrigin {
  const origin = definition?.extras.origin;
  if (scope !== "user" && scope !== "workspace")
    throw new HostError("usage", `"${name}" is in a system file that Fairlead does not edit`);
  if (origin?.registry !== undefined) return origin;
  throw new HostError("usage", `"${name}" does not come from a registry`, {
    next: `write its exact version: fairlead mcp pin ${toShellWord(name)}`,
  });
}

/** The same package in the other version; else the only one of the same kind. */
function sameChoice({ name, version, ...server }: RegistryServer, origin: PublishedOrigin): ServerChoice {
  const all = choicesOf({ name, version, ...server }).filter(({ kind }) => kind === origin.kind);
  const same = all.find(({ package: program, label }) => (program?.identifier ?? label) === origin.package);
  const choice = same ?? (all.length === 1 ? all[0] : undefined);
  if (choice !== undefined && choice.unusable === undefined && choice.kind !== "mcpb") return choice;
  const bundle = choice?.kind === "mcpb" ? "a bundle is read anew, with its own description" : undefined;
  const why = choice?.unusable ?? bundle ?? `it is no longer published as ${origin.kind} ${origin.package ?? ""}`;
  throw new HostError("usage", `${name} ${version} cannot replace ${origin.version}: ${why}`, {
    next: `add it anew: fairlead mcp add --replace ${name}@${version}`,
  });
}

function refuseUnproven({ name }: RegistryServer, proof: PackageProof, unproven: boolean): void {
  if (proof.kind === "mismatch")
    throw new HostError("denied", `the package belongs to another server, ${proof.found}, by the ${proof.by}`, {
      next: `keep your version, and tell the publisher of ${name}`,
    });
  if (proof.kind === "unproven" && !unproven)
    throw new HostError("denied", `the package of ${name} is unproven: ${proof.why}`, {
      next: "look at the package; to update nevertheless, add --unproven",
    });
}

/** The answers of `mcp add`, as far as the new version asks for them. */
function earlierInputs({ inputs }: PublishedOrigin, choice: ServerChoice): InputAnswers {
  const names = new Set(questionsOf(choice).map(({ name }) => name));
  const kept = Object.entries(inputs).filter(([name]) => names.has(name));
  return new Map(kept.map(([name, value]) => [name, value.split("\n")]));
}

const launchKeys = new Set(["command", "args", "env", "url", "httpUrl", "type", "transportType", "headers"]);

/** The user's own options of the entry, such as `timeout`, stay. */
function without(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !launchKeys.has(key)));
}

async function entryIn({ name, origin: { file } }: ConfiguredServer): Promise<Entry> {
  const read = await readText(file, 4_194_304);
  const node = read.kind === "text" ? childNode(parseJsonc(read.text).root, "mcpServers", name) : undefined;
  return objectOf(node && plainValueOf(node));
}

/** The difference of two entries, a line for each changed value. */
function changesOf(before: Entry, after: Entry): SafeText[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [old, now] = [valueText(key, before[key]), valueText(key, after[key])];
    if (old === now) return [];
    return [
      ...(old === "" ? [] : [safe`  - ${toVisibleLine(key)}  ${toVisibleLine(old)}`]),
      ...(now === "" ? [] : [safe`  + ${toVisibleLine(key)}  ${toVisibleLine(now)}`]),
    ];
  });
}

function valueText(key: string, value: unknown): string {
  if (value === undefined) return "";
  if (key === "args" && Array.isArray(value)) return typedLine(value.map(String));
  // Values of variables and headers may be secrets that the user has written here.
  if (key === "env" || key === "headers")
    return Object.entries(objectOf(value))
      .map(([name, each]) => `${name}=${/^\$\{[\w:.-]+\}$/.test(String(each)) ? String(each) : "…"}`)
      .join(" ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function boxText({ definition }: ConfiguredServer, { runs }: ServerChoice): SafeText {
  if (runs !== "program")
    return safe`  it runs ${runs === "remote" ? safe`elsewhere (remote)` : safe`in a container`}, as before`;
  const box = definition?.sandbox === undefined ? safe`without a sandbox` : safe`in the same sandbox`;
  return safe`  it runs ${box}, as before (fairlead mcp sandbox ${toSafeLine(toShellWord(definition?.name ?? ""))})`;
}

interface Asker {
  /** @throws HostError `denied` after a no, `usage` without a terminal */
  readonly ask: (question: SafeText) => Promise<void>;
  readonly context: Context;
}

function askerOf(yes: boolean, context: Context): Asker {
  const { io, globals } = context;
  const ask = async (question: SafeText): Promise<void> => {
    if (yes) return;
    if (!canAsk(io) || globals.json)
      throw new HostError("usage", "mcp update asks first, and there is no terminal to ask on", { next: "add --yes" });
    if (!(await confirm(io, question))) throw new HostError("denied", "nothing was changed");
  };
  return { ask, context };
}

/** Starts the version after a yes, and shows how its definitions differ. Undefined if the server may not start now. */
async function tryAfterYes(
  found: AdmittedServer,
  wanted: TriedVersion,
  { ask, context }: Asker,
  configuration: Configuration,
): Promise<TriedDefinitions | undefined> {
  const { out, globals } = context;
  const { name } = found.server;
  if (found.admission.status !== "admitted") {
    out.warn(safe`note: the definitions are not compared: ${toSafeLine(found.admission.message)}`);
    return undefined;
  }
  await ask(
    safe`Start ${toVisibleLine(wanted.version)} once, to list its tools? Nothing is called, and the entry stays as it is.`,
  );
  const tried = await tryVersion(found, wanted, configuration, context);
  if (!globals.json)
    out.exactly(
      joinSafe([
        safe`"${toVisibleLine(name)}" ${toVisibleLine(wanted.version)} lists:`,
        definitionsText(tried.differences, out.style),
      ]),
    );
  return tried;
}
