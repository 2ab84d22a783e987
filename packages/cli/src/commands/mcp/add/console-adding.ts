/**
 * Adds servers of MCP registries for the console's view "Add". The steps and their checks are those of `fairlead mcp search`
 * and `fairlead mcp add NAME`; the page takes the place of the terminal.
 */

import { Readable, Writable } from "node:stream";
import type { AddChoices, PublishedRow, UnreachedRegistry } from "@fairlead/console/protocol/adding";
import type { AddOffer, AddPlan, ServerAdding } from "@fairlead/console/server/state/adding";
import { whyNoSandbox } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import type { OpenedHost } from "@fairlead/core/host";
import { type Configuration, type ConfigurationOptions, type IdeTrust, programPlace } from "@fairlead/core/trust";
import { findPublished, type PublishedVersion } from "@fairlead/registry/registry/find-published";
import { choicesOf, planEntry, questionsOf, type ServerChoice } from "@fairlead/registry/registry/launch";
import type { McpRegistry } from "@fairlead/registry/registry/mcp-registry";
import type { PackageProof } from "@fairlead/registry/registry/proof";
import { type FoundServer, searchRegistries, serverKinds } from "@fairlead/registry/registry/search";
import { listOf, member, stringOf, textIn } from "@fairlead/wire/json";
import { Command } from "commander";
import { createOutput } from "../../../output/output.ts";
import type { Context, Io } from "../../../shell/verb.ts";
import { readInputs } from "../registry/ask-inputs.ts";
import { secretNames } from "../registry/input-secrets.ts";
import { registriesFor } from "../registry/open-registries.ts";
import { newServerName } from "./destination.ts";
import {
  addPlanned,
  entryInSandbox,
  type PublishedPlan,
  planFields,
  proofText,
  type ReadPackage,
  readPackage,
  refuseMismatch,
  refuseUnboxable,
  refuseUnproven,
  sandboxWith,
  usualName,
  withWriting,
} from "./published-server.ts";

/** The host of the console, and how its settings were found. */
export interface AddingHost {
  readonly host: OpenedHost;
  readonly from: ConfigurationOptions;
  readonly openIde: () => IdeTrust;
}

/** Servers on one page of a search. */
const pageSize = 20;
/** Ends with the process: what was confirmed is written whole, also if the console closes. */
const lasting = new AbortController().signal;

export function consoleAdding(adding: AddingHost): ServerAdding {
  const { host } = adding;
  return {
    async search({ words, cursor }, signal) {
      const registries = registriesFor(host.configuration, { signal });
      const wanted = words.split(/\s+/).filter((word) => word !== "");
      if (wanted.length === 0) throw new HostError("usage", "there is no word to search for");
      const result = await searchRegistries(registries, { words: wanted, limit: pageSize, cursor });
      return {
        servers: result.found.map(toRow),
        registries: registries.map(({ address }) => address),
        unreached: [...result.kept, ...result.failed].map(toUnreached),
        refused: result.refused.length,
        nextCursor: result.nextCursor,
      };
    },
    async find({ name, version, registry, way }, signal) {
      const { configuration } = host;
      const found = await findPublished(registriesNamed(registry, configuration, signal), { name, version });
      const ways = choicesOf(found.server).map(forPage);
      const usable = ways.findIndex(({ unusable }) => unusable === undefined);
      const at = way ?? usable;
      const choice = ways[at];
      const isUsable = choice !== undefined && choice.unusable === undefined;
      const read = isUsable ? await readPackage(found, choice, configuration, signal) : undefined;
      const proof = read?.proof ?? { kind: "none" };
      const unboxable =
        isUsable && choice.runs === "program" ? await whyNoSandbox(programPlace(configuration)) : undefined;
      return {
        shown: {
          server: toRow(found),
          repository: found.server.repository,
          website: found.server.websiteUrl,
          versions: found.versions.filter(({ status }) => status !== "deleted").map((each) => each.version),
          unreached: found.kept && toUnreached({ registry: found.registry, ...found.kept }),
          ways: ways.map(({ kind, label, runs, unusable }) => ({ kind, label, runs, unusable })),
          way: isUsable ? at : undefined,
          proof: { kind: proof.kind, text: textOf(proof) },
          inputs: isUsable ? questionsOf(choice) : [],
          unboxable: unboxable && { why: unboxable.why, next: unboxable.fix },
          name: usualName(found.server),
          scopes: configuration.locations.files.workspace === undefined ? ["user"] : ["project", "user"],
        },
        plan: (choices) => {
          if (!isUsable || read === undefined)
            throw new HostError("usage", choice?.unusable ?? `${name} cannot be used in this way`);
          return plan({ found, choice, ...read }, choices, adding);
        },
      } satisfies AddOffer;
    },
  };
}

/** The registries of the settings, or the one of them that the page names. */
function registriesNamed(
  address: string | undefined,
  configuration: Configuration,
  signal: AbortSignal,
): readonly McpRegistry[] {
  const all = registriesFor(configuration, { signal });
  if (address === undefined) return all;
  const named = all.filter((registry) => registry.address === address);
  if (named.length > 0) return named;
  throw new HostError("usage", `the registry ${address} is not one of fairlead.registries`, {
    next: "search again",
  });
}

function toRow({ server, registry }: Pick<FoundServer, "server" | "registry">): PublishedRow {
  const { name, title, description, version, publishedAt, status, statusMessage } = server;
  return {
    name,
    title,
    description,
    version,
    publishedAt: publishedAt === undefined ? undefined : Date.parse(publishedAt),
    kinds: serverKinds(server),
    status,
    statusMessage,
    registry,
  };
}

function toUnreached(one: {
  readonly registry: string;
  readonly why: HostError;
  readonly age?: number;
}): UnreachedRegistry {
  return { registry: one.registry, why: one.why.message, age: one.age };
}

/** A bundle brings its own description and questions, which are read from its file. */
function forPage(choice: ServerChoice): ServerChoice {
  if (choice.kind !== "mcpb" || choice.unusable !== undefined) return choice;
  return { ...choice, unusable: "a bundle is added in a terminal, because its questions are in its file" };
}

function textOf(proof: PackageProof): string {
  if (proof.kind === "mismatch")
    return `the package belongs to another server, ${proof.found}, by the ${proof.by}. It cannot be added.`;
  return [proofText(proof)].flat().join("");
}

interface Offered extends ReadPackage {
  readonly found: PublishedVersion;
  readonly choice: ServerChoice;
}

async function plan(offered: Offered, wanted: AddChoices, adding: AddingHost): Promise<AddPlan> {
  const { found, choice, proof, source } = offered;
  const { configuration } = adding.host;
  const name = newServerName(wanted.name, { replace: false }, configuration);
  refuseMismatch(found, proof);
  const words = Object.entries(wanted.inputs).flatMap(([input, values]) =>
    values.filter((value) => value !== "").map((value) => `${input}=${value}`),
  );
  const answers = readInputs(words, questionsOf(choice), configuration.environment);
  const plain = planEntry(choice, answers, await secretNames(name, configuration));
  const isProgram = choice.runs === "program";
  const isUnboxed = isProgram && wanted.sandbox === "off";
  if (isProgram && !isUnboxed) await refuseUnboxable(configuration);
  const boxed = sandboxWith(choice, answers, source);
  const inBox = wanted.sandbox === "write" ? withWriting(boxed) : boxed;
  const sandbox = isUnboxed ? "off" : isProgram ? inBox : undefined;
  const server: PublishedPlan = {
    name,
    found,
    choice,
    planned: entryInSandbox(plain, sandbox, source),
    proof,
    sandbox,
  };
  return {
    shown: {
      name,
      fields: planFields(server),
      isUnproven: proof.kind === "unproven",
      isUnboxed,
    },
    async write(confirmed) {
      if (!confirmed.includes("unproven")) refuseUnproven(found, proof);
      if (isUnboxed && !confirmed.includes("unboxed"))
        throw new HostError("denied", "the server would run without a sandbox, with all your rights", {
          next: "confirm this too",
        });
      return write(server, wanted.scope, adding);
    },
  };
}

async function write(server: PublishedPlan, scope: AddChoices["scope"], { host, from, openIde }: AddingHost) {
  const ide = openIde();
  const said: string[] = [];
  let report: unknown;
  try {
    const context = silentContext(from, ide, {
      onJson: (document) => {
        report = document;
      },
      onLine: (line) => said.push(line),
    });
    // The page tests the connection on its own, step by step.
    const choices = { scope, replace: false, approve: true, test: false };
    await host.changeSettings(() => addPlanned(server, choices, host.configuration, context));
  } finally {
    await ide.close();
  }
  const [added] = listOf(member(report, "servers"));
  const problems = listOf(member(added, "problems")).map((problem) => textIn(problem, "message"));
  const notes = [...said, ...problems, ...listOf(member(added, "notes")).map(stringOf), trustNote(added)];
  return {
    name: server.name,
    file: textIn(added, "file") ?? "",
    scope: textIn(added, "scope") ?? "",
    undo: textIn(added, "undo"),
    mayStart: trustNote(added) === undefined,
    notes: notes.filter((note) => note !== undefined),
  };
}

/** Why a project's server does not start yet. */
function trustNote(added: unknown): string | undefined {
  if (member(added, "folderTrusted") === false)
    return "The folder is not trusted yet, so Fairlead ignores its settings. To trust it: fairlead trust add";
  return member(added, "approved") === false ? "It is not approved yet. To approve it: fairlead trust add" : undefined;
}

interface Listeners {
  readonly onJson: (document: object) => void;
  readonly onLine: (line: string) => void;
}

/** The context of a command with `--json` that can ask nothing, in the console's workspace. */
function silentContext(from: ConfigurationOptions, ide: IdeTrust, { onJson, onLine }: Listeners): Context {
  const { environment, workspace = true, trustWorkspace = false, root, settingsFile: settings } = from;
  const lines = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      onLine(String(chunk).trimEnd());
      done();
    },
  });
  const io: Io = { ...environment, stdin: Readable.from([]), stdout: lines, stderr: lines, signal: lasting };
  return {
    io,
    out: { ...createOutput(io, { quiet: false }), json: onJson },
    globals: { root, settings, workspace, trustWorkspace, json: true, quiet: false, debug: false },
    command: new Command("add"),
    operands: [],
    rest: [],
    runWords: async () => {
      throw new HostError("internal", "the console runs no command lines");
    },
    ide,
  };
}
