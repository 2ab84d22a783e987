/**
 * `mcp add NAME` of a server in a registry: finds it, proves its package, asks the inputs, shows exactly what will run,
 * and adds it after a yes. Until then Fairlead reads metadata only.
 */

import { existsSync } from "node:fs";
import { type Field, layout } from "@fairlead/console/server/words/server-details";
import { whyNoSandbox } from "@fairlead/core/connect";
import { HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import { type Configuration, programPlace } from "@fairlead/core/trust";
import {
  findPublished,
  type PublishedName,
  type PublishedVersion,
  publishedOrigin,
} from "@fairlead/registry/registry/find-published";
import type { InputAnswers } from "@fairlead/registry/registry/inputs";
import {
  choicesOf,
  type PlannedEntry,
  planEntry,
  questionsOf,
  type ServerChoice,
} from "@fairlead/registry/registry/launch";
import { type PackageProof, type PackageSource, packageSource, provePackage } from "@fairlead/registry/registry/proof";
import { ageWords } from "../../../output/time-text.ts";
import { configurationOf } from "../../../shell/configuration.ts";
import { canAsk, choose, confirm } from "../../../shell/prompt.ts";
import type { Context } from "../../../shell/verb.ts";
import { askInputs, chooseFrom, readInputs } from "../registry/ask-inputs.ts";
import { secretNames, storeInputSecrets } from "../registry/input-secrets.ts";
import { registriesFor, typedLine } from "../registry/open-registries.ts";
import { withVariables } from "../registry/published-servers.ts";
import { type AddChoices, addServers } from "./add-servers.ts";
import { newServerName } from "./destination.ts";
import type { SandboxChange, SandboxProfile } from "./sandbox-offer.ts";

/** The options of `mcp add` for a server of a registry. */
export interface PublishedOptions {
  readonly registry?: readonly string[];
  readonly kind?: string;
  readonly input?: readonly string[];
  readonly name?: string;
  readonly unproven?: boolean;
  readonly yes?: boolean;
}

/** Everything that is decided before the yes. */
export interface PublishedPlan {
  readonly name: string;
  readonly found: PublishedVersion;
  readonly choice: ServerChoice;
  readonly planned: PlannedEntry;
  readonly proof: PackageProof;
  readonly sandbox: SandboxChange | undefined;
}

/** @throws HostError if nothing was added */
export async function addPublished(
  wanted: PublishedName,
  options: PublishedOptions,
  choices: AddChoices,
  context: Context,
): Promise<void> {
  const { io, globals, out } = context;
  const configuration = await configurationOf(context);
  const name = newServerName(options.name ?? usualName(wanted), choices, configuration);
  const registries = registriesFor(configuration, io, options.registry);
  const found = await findPublished(registries, wanted);
  const isInteractive = canAsk(io) && !globals.json;
  if (isInteractive) out.exactly(headText(found));
  const choice = await choiceOf(found, options.kind, isInteractive, context);
  if (choice.kind === "mcpb") return addPublishedBundle(found, choice, { ...options, ...choices, name }, context);
  const { proof, source } = await readPackage(found, choice, configuration, io.signal);
  refuseMismatch(found, proof);
  const questions = questionsOf(choice);
  const answers = await askInputs(questions, readInputs(options.input ?? [], questions, io), context);
  const secretName = await secretNames(name, configuration);
  const plain = planEntry(choice, answers, secretName);
  const sandbox = await sandboxOf(choice, answers, choices.sandbox, { configuration, context, isInteractive, source });
  const planned = entryInSandbox(plain, sandbox, source);
  const server = { name, found, choice, planned, proof, sandbox };
  if (!globals.json) out.exactly(planText(server, isInteractive));
  const chosen = await askForYes(server, options, isInteractive, context);
  await addPlanned({ ...server, sandbox: chosen }, choices, configuration, context);
}

/** What package registries say about the package of a server. */
export interface ReadPackage {
  readonly proof: PackageProof;
  readonly source: PackageSource;
}

/** Reads whether the package belongs to the server, and where it comes from. */
export async function readPackage(
  { server }: PublishedVersion,
  choice: ServerChoice,
  { environment, locations }: Configuration,
  signal: AbortSignal,
): Promise<ReadPackage> {
  const reading = { environment, state: locations.state, signal };
  const [proof, source] = await Promise.all([
    provePackage(server.name, choice, reading),
    packageSource(choice, reading),
  ]);
  return { proof, source };
}

/** The entry in its sandbox: there, the program needs to be told where its package comes from. */
export function entryInSandbox(
  planned: PlannedEntry,
  sandbox: SandboxChange | undefined,
  { env }: PackageSource,
): PlannedEntry {
  return sandbox === "off" ? planned : { ...planned, entry: withVariables(planned.entry, env) };
}

/** Writes what was planned. The user has said yes to it. */
export async function addPlanned(
  { name, found, choice, planned, proof, sandbox }: PublishedPlan,
  choices: AddChoices,
  configuration: Configuration,
  context: Context,
): Promise<void> {
  await storeInputSecrets(planned.secrets, configuration, context);
  const origin = publishedOrigin(found, choice, planned, proof);
  const proposed = { name, entry: planned.entry, serverOptions: { origin } };
  await addServers([proposed], { ...choices, ...(choice.runs === "program" && { sandbox }) }, context);
}

/** A bundle has its own description, which Fairlead reads from the file. Its digest proves that it is the publisher's. */
async function addPublishedBundle(
  found: PublishedVersion,
  choice: ServerChoice,
  options: PublishedOptions & AddChoices & { readonly name: string },
  context: Context,
): Promise<void> {
  const { identifier: url = "", fileSha256: sha256 = "" } = choice.package ?? {};
  const { io, globals } = context;
  if (options.yes !== true) {
    if (!canAsk(io) || globals.json) throw needsYes();
    const question = safe`Download ${toVisibleLine(url)} (SHA-256 ${toVisibleLine(sha256.slice(0, 12))}…) to look at it?`;
    if (!(await confirm(io, question))) throw new HostError("denied", "nothing was changed");
  }
  const { addBundle } = await import("./add-bundle.ts");
  const origin = { ...publishedOrigin(found, choice, { inputs: {} }, { kind: "proven", by: "SHA-256 of the bundle" }) };
  await addBundle({ url, sha256, origin }, options, context);
}

function needsYes(): HostError {
  return new HostError(
    "usage",
    "mcp add asks before it adds a server of a registry, and there is no terminal to ask on",
    { next: "add --yes" },
  );
}

/** The name in the settings, unless the user chooses another: the part behind the slash. */
export function usualName({ name }: Pick<PublishedName, "name">): string {
  return name.slice(name.indexOf("/") + 1);
}

/** The way to use the server: that of `--kind`, the only one, or the one that the user chooses. */
async function choiceOf(
  { server }: PublishedVersion,
  kind: string | undefined,
  isInteractive: boolean,
  context: Context,
): Promise<ServerChoice> {
  const all = choicesOf(server);
  const asked = kind === undefined ? all : all.filter((one) => one.kind === kind);
  const usable = asked.filter(({ unusable }) => unusable === undefined);
  const [first] = usable;
  if (first === undefined) {
    const reasons = asked.map(({ kind: each, label, unusable = "" }) => `${each} ${label}: ${unusable}`);
    const why =
      reasons.length > 0
        ? reasons.join("; ")
        : `it is published as ${all.map((one) => one.kind).join(", ") || "nothing"}`;
    throw new HostError("usage", `Fairlead cannot run ${server.name} ${server.version}: ${why}`, {
      next: kind === undefined ? "add it by its command or URL: fairlead mcp add --help" : "leave --kind out",
    });
  }
  if (usable.length === 1 || !isInteractive) return first;
  const lines = usable.map((one) => safe`${toVisibleLine(one.kind)}  ${toVisibleLine(one.label)}  ${runsWords(one)}`);
  return usable[await chooseFrom(safe`How do you want to use it?`, lines, 0, context)] ?? first;
}

function runsWords({ runs }: ServerChoice): SafeText {
  switch (runs) {
    case "program":
      return safe`(a program on this machine)`;
    case "container":
      return safe`(a container)`;
    case "remote":
      return safe`(remote)`;
  }
}

/** @throws HostError `denied` */
export function refuseMismatch({ server }: PublishedVersion, proof: PackageProof): void {
  if (proof.kind !== "mismatch") return;
  throw new HostError("denied", `the package belongs to another server, ${proof.found}, by the ${proof.by}`, {
    next: `tell the publisher of ${server.name}; Fairlead does not add it`,
  });
}

interface SandboxQuestion {
  readonly configuration: Configuration;
  readonly context: Context;
  readonly isInteractive: boolean;
  readonly source: PackageSource;
}

/** A server of a registry runs in a sandbox, unless the user says otherwise. Undefined for containers and remotes. */
async function sandboxOf(
  choice: ServerChoice,
  answers: InputAnswers,
  said: SandboxChange | undefined,
  { configuration, context, isInteractive, source }: SandboxQuestion,
): Promise<SandboxChange | undefined> {
  if (choice.runs !== "program" || said !== undefined) return said;
  if (!isInteractive) await refuseUnboxable(configuration);
  const missing = await whyNoSandbox(programPlace(configuration));
  if (missing !== undefined) {
    context.out.warn(
      safe`This program cannot run in a sandbox: ${toSafeLine(missing.why)}\n  next: ${toSafeLine(missing.fix)}`,
    );
    if (await confirm(context.io, safe`Add it without a sandbox, with all your rights?`)) return "off";
    throw new HostError("denied", "nothing was changed");
  }
  refuseAbsent(choice, answers);
  return sandboxWith(choice, answers, source);
}

/** @throws HostError `usage` if a file that an answer names does not exist: no sandbox could show it */
function refuseAbsent(choice: ServerChoice, answers: InputAnswers): void {
  const absent = filesIn(choice, answers).find((path) => !existsSync(path));
  if (absent === undefined) return;
  throw new HostError("usage", `there is no ${absent}, and a sandbox shows only what exists; nothing was changed`, {
    next: "create it first, or name another with --input",
  });
}

function filesIn(choice: ServerChoice, answers: InputAnswers): readonly string[] {
  return questionsOf(choice).flatMap(({ kind, name }) => (kind === "file" ? (answers.get(name) ?? []) : []));
}

/** @throws HostError `sandbox_unavailable` */
export async function refuseUnboxable(configuration: Configuration): Promise<void> {
  const missing = await whyNoSandbox(programPlace(configuration));
  if (missing === undefined) return;
  throw new HostError("sandbox_unavailable", `the server cannot run in a sandbox: ${missing.why}`, {
    next: `${missing.fix}, or add --sandbox off: it then runs with all your rights`,
  });
}

/** A sandbox in which the program reads the files that the answers name, and its package can be fetched. */
export function sandboxWith(choice: ServerChoice, answers: InputAnswers, { hosts }: PackageSource): SandboxProfile {
  const read = [...new Set(filesIn(choice, answers))];
  if (read.length + hosts.length === 0) return "on";
  return { ...(read.length > 0 && { read }), ...(hosts.length > 0 && { hosts }) };
}

/** The sandbox in which the program may also change what it reads. The same one if it reads nothing. */
export function withWriting(sandbox: SandboxProfile): SandboxProfile {
  if (typeof sandbox === "string" || !Array.isArray(sandbox["read"])) return sandbox;
  const { read, ...others } = sandbox;
  return { write: read, ...others };
}

function headText({ server, registry, kept: cached }: PublishedVersion): SafeText {
  const { name, version, title, description, publishedAt, repository, status, statusMessage } = server;
  const age =
    publishedAt === undefined ? safe`` : safe`, ${ageWords(Math.max(0, Date.now() - Date.parse(publishedAt)))} old`;
  const words = [title, description].flatMap((text) =>
    text === undefined || text === "" ? [] : [toVisibleLine(text)],
  );
  return joinSafe([
    safe`${toVisibleLine(name)} ${toVisibleLine(version)}${age}, from ${toVisibleLine(registry)}`,
    ...(words.length > 0 ? [safe`  ${joinSafe(words, safe`: `)}`] : []),
    ...(repository === undefined ? [] : [safe`  ${toVisibleLine(repository)}`]),
    ...(status === "active"
      ? []
      : [safe`  ${toSafeLine(status)}: ${toVisibleLine(statusMessage ?? "the publisher gives no reason")}`]),
    ...(cached === undefined
      ? []
      : [safe`  ${toSafeLine(cached.why.message)}; this is the registry's answer of ${ageWords(cached.age)} ago`]),
  ]);
}

function planText(server: PublishedPlan, isHeadShown: boolean): SafeText {
  const shown = layout(planFields(server), safe`  `);
  return isHeadShown ? shown : joinSafe([headText(server.found), shown]);
}

/** What will run, exactly. */
export function planFields(server: PublishedPlan): readonly Field[] {
  const { name, choice, planned, proof, sandbox } = server;
  const { command, args, env, headers, url, httpUrl } = planned.entry as {
    readonly command?: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly url?: string;
    readonly httpUrl?: string;
  };
  const line = command === undefined ? [] : [command, ...(args ?? [])].map(asRun);
  const address = httpUrl ?? url;
  const named = (values: Readonly<Record<string, string>> = {}, between: string): SafeText[] =>
    Object.entries(values).map(([key, value]) => toVisibleLine(`${key}${between}${asRun(value)}`));
  const optional = questionsOf(choice)
    .filter((question) => !question.isRequired && planned.inputs[question.name] === undefined)
    .map((question) => toVisibleLine(question.name));
  const fields: Field[] = [
    { label: safe`server`, values: [safe`"${toVisibleLine(name)}"`] },
    { label: safe`runs`, values: line.length === 0 ? [] : [toVisibleLine(typedLine(line))] },
    { label: safe`remote`, values: address === undefined ? [] : [toVisibleLine(asRun(address))] },
    { label: safe`variables`, values: named(env, "=") },
    { label: safe`headers`, values: named(headers, ": ") },
    {
      label: safe`secrets`,
      values: planned.secrets.map((secret) => safe`${toVisibleLine(secret.name)}, to the secret store`),
    },
    { label: safe`where`, values: [whereText(choice, sandbox)] },
    { label: safe`package`, values: [proofText(proof)].flat() },
    {
      label: safe`also takes`,
      values: optional.length === 0 ? [] : [safe`--input ${joinSafe(optional, safe`, `)} (optional)`],
    },
  ];
  return fields.filter(({ values }) => values.length > 0);
}

/** A value as the program gets it. A secret stays named. */
function asRun(value: string): string {
  return value.replaceAll("$$", "$");
}

function whereText({ runs }: ServerChoice, sandbox: SandboxChange | undefined): SafeText {
  if (runs === "remote") return safe`remote: nothing runs on this machine`;
  if (runs === "container") return safe`container`;
  if (sandbox === "off" || sandbox === undefined) return safe`without a sandbox, with all your rights`;
  if (sandbox === "default") return safe`in a sandbox, if fairlead.sandbox of your settings is on`;
  if (sandbox === "on") return safe`in a sandbox: it sees nothing of your home and reaches no host`;
  const parts = Object.entries(sandbox).map(
    ([key, list]) => safe`${toSafeLine(key)} ${toVisibleLine([list].flat().join(", "))}`,
  );
  return safe`in a sandbox: ${joinSafe(parts, safe`; `)}; nothing else of your home and the network`;
}

export function proofText(proof: PackageProof): SafeText | [] {
  switch (proof.kind) {
    case "proven":
      return safe`proven: the ${toSafeLine(proof.by)} names this server`;
    case "unproven":
      return safe`unproven: ${toSafeLine(proof.why)}`;
    case "mismatch":
    case "none":
      return [];
  }
}

/** Returns the sandbox that the user says yes to. @throws HostError `denied` */
async function askForYes(
  { name, found, proof, sandbox }: PublishedPlan,
  { unproven = false, yes = false }: PublishedOptions,
  isInteractive: boolean,
  { io }: Context,
): Promise<SandboxChange | undefined> {
  if (!unproven && (yes || !isInteractive)) refuseUnproven(found, proof);
  if (yes) return sandbox;
  if (!isInteractive) throw needsYes();
  const warning = proof.kind === "unproven" ? safe` It is unproven that the package belongs to this server.` : safe``;
  const question = safe`Add "${toVisibleLine(name)}"?${warning}`;
  if (typeof sandbox === "object" && Array.isArray(sandbox["read"])) {
    const words = safe`${question} y: yes; w: yes, and it may change what it reads; n: no`;
    const letter = await choose(io, words, ["n", "y", "w"]);
    if (letter === "y") return sandbox;
    if (letter === "w") return withWriting(sandbox);
  } else if (await confirm(io, question)) return sandbox;
  throw new HostError("denied", "nothing was changed");
}

/** @throws HostError `denied` */
export function refuseUnproven({ server }: PublishedVersion, proof: PackageProof): void {
  if (proof.kind !== "unproven") return;
  throw new HostError("denied", `the package of ${server.name} is unproven: ${proof.why}`, {
    next: "look at the package; to add it nevertheless, add --unproven",
  });
}
