/** Formats the tools, prompts and resources of a server as text. */

import type { HiddenTool, HostPrompt, HostResource, HostTool, ServerFlag } from "@fairlead/core/host";
import { fold, parametersOf, resolved, toKey } from "@fairlead/core/normalise";
import { flagWords, type Group, groupBy, sizeWords, toShellWord } from "@fairlead/core/plain-text";
import { typedPromptName } from "@fairlead/core/request";
import type { QuarantinedTool } from "@fairlead/core/server";
import {
  joinSafe,
  type SafeText,
  safe,
  splitSafe,
  toSafeLine,
  toSafeText,
  toVisibleLine,
} from "@fairlead/core/text/safe-text";
import { member } from "@fairlead/wire/json";
import { clip } from "@fairlead/wire/text";
import { variablesOf } from "../../arguments/named-values.ts";
import { count, type Style } from "../output.ts";
import { fill, words } from "../wrap.ts";
import { brief, full, hasSamples, toSignature } from "./signature.ts";

interface ListOptions {
  readonly style: Style;
  readonly columns: number;
}

/** How to print a list of resources. */
interface ResourceListOptions extends ListOptions {
  /** Whether several servers have this URI or template. If so, the list shows it as `server:uri`. */
  readonly isShared?: (uri: string) => boolean;
}

/** Returns a function that says whether several servers have a URI or template. */
export function sharedUris(resources: readonly HostResource[]): (uri: string) => boolean {
  const servers = new Map<string, Set<string>>();
  for (const resource of resources) {
    const uri = resource.kind === "resource" ? resource.uri : resource.uriTemplate;
    servers.set(uri, (servers.get(uri) ?? new Set()).add(resource.server));
  }
  return (uri) => (servers.get(uri)?.size ?? 0) > 1;
}

/** How to print a list of tools. */
export interface ToolListOptions extends ListOptions {
  /** Whether to show every parameter and the whole description. */
  readonly all: boolean;
  /** What is suspicious in the tools. */
  readonly flags?: readonly ServerFlag[];
}

/** Formats the flags of what has this name on this server, or of everything in the list. */
export function flagLines(
  flags: readonly ServerFlag[],
  style: Style,
  indented: SafeText = indent,
): readonly SafeText[] {
  return flags.map((flag) => safe`${indented}${style.yellow(safe`flag: ${toVisibleLine(flagWords(flag))}`)}`);
}

/** Returns the flags of one tool, prompt or resource. */
function flagsFor(
  flags: readonly ServerFlag[],
  wanted: Pick<ServerFlag, "server" | "kind" | "name">,
): readonly ServerFlag[] {
  return flags.filter((flag) =>
    (["server", "kind", "name"] as const).every((member) => flag[member] === wanted[member]),
  );
}

/**
 * Formats the tools, prompts or resources (`items`) of each server, with an empty line between servers. Returns
 * undefined if there are no items.
 */
export function textByServer<T extends { readonly server: string }>(
  items: readonly T[],
  toText: (server: string, own: readonly T[]) => SafeText,
): SafeText | undefined {
  const texts = [...groupBy(items, ({ server }) => server)].map(([server, own]) => toText(server, own));
  return texts.length === 0 ? undefined : joinSafe(texts, safe`\n\n`);
}

/**
 * Formats the tools of a server: signatures, annotations and descriptions. `hidden`: tools that `includeTools` or
 * `excludeTools` removes.
 */
export function serverToolsText(
  server: string,
  tools: readonly HostTool[],
  options: ToolListOptions,
  hidden: readonly Pick<HiddenTool, "setting">[] = [],
): SafeText {
  const title = toolsTitle(server, tools, options, hidden);
  return joinSafe([title, ...tools.map((tool) => toolText(tool, options))], safe`\n\n`);
}

/**
 * Formats only the names of a server's tools. Without a terminal, each name is on its own line, in the form that
 * `fairlead call` accepts.
 */
export function serverNamesText(
  server: string,
  tools: readonly HostTool[],
  { style, columns }: ListOptions,
  hidden: readonly Pick<HiddenTool, "setting">[] = [],
): SafeText {
  if (columns === Number.POSITIVE_INFINITY)
    return joinSafe(tools.map(({ serverToolName }) => toVisibleLine(`${server}.${serverToolName}`)));
  const last = tools.length - 1;
  const names = tools.map(
    ({ serverToolName }, at) => safe`${style.cyan(toVisibleLine(serverToolName))}${at === last ? safe`` : safe`,`}`,
  );
  const rows = fill(names, { columns, indent: safe`  `, hanging: safe`  ` });
  return joinSafe([toolsTitle(server, tools, { style }, hidden), ...rows]);
}

function toolsTitle(
  server: string,
  tools: readonly HostTool[],
  { style }: Pick<ListOptions, "style">,
  hidden: readonly Pick<HiddenTool, "setting">[],
): SafeText {
  const settings = [...new Set(hidden.map(({ setting }) => setting))].sort().join(" and ");
  const more = hidden.length === 0 ? safe`` : safe` (${hidden.length} more hidden by ${toSafeLine(settings)})`;
  return safe`${style.bold(toVisibleLine(server))}: ${count(tools.length, "tool")}${more}`;
}

/** Formats one tool: its signature, annotations and description. */
export function toolText(tool: HostTool, options: ToolListOptions): SafeText {
  const { columns, style, all } = options;
  const talk = [...descriptionLines(tool.description, { columns, all }), ...(all ? parameterLines(tool, columns) : [])];
  const own = flagsFor(options.flags ?? [], { server: tool.server, kind: "tool", name: tool.serverToolName });
  return joinSafe([...signatureLines(tool, options), ...talk.map((line) => style.dim(line)), ...flagLines(own, style)]);
}

function signatureLines(tool: HostTool, { style, columns, all }: ToolListOptions): readonly SafeText[] {
  const { name, parameters, output } = toSignature(tool, all ? full : brief);
  const last = parameters.length - 1;
  const [first = safe`)`, ...others] = parameters.map((one, at) => (at === last ? safe`${one})` : safe`${one},`));
  const pieces = [
    safe`${style.cyan(name)}(${first}`,
    ...others,
    ...(output === undefined ? [] : [safe`→ ${output}`]),
    ...badges(tool, style),
    ...ruled(tool, style),
    ...(tool.name === tool.serverToolName ? [] : [style.dim(safe`as ${toVisibleLine(tool.name)}`)]),
  ];
  return fill(pieces, { columns, indent: safe`  `, hanging: safe`    ` });
}

function parameterLines({ inputSchema }: HostTool, columns: number): readonly SafeText[] {
  return parametersOf(inputSchema)
    .slice(0, full.parameters)
    .flatMap(({ name, schema }) => remarkLines(name, member(resolved(schema, inputSchema), "description"), columns));
}

const indent: SafeText = safe`      `;

const longestParagraph = 400;
const longestText = 20_000;
const longestRemark = 2000;

/** Formats the description of a tool, prompt or resource as indented lines: its first paragraph, or the whole text. */
export function descriptionLines(
  description: string,
  { columns, all }: { readonly columns: number; readonly all: boolean },
): readonly SafeText[] {
  const text = all ? clip(description.trim(), longestText) : firstParagraph(description.trim());
  const layout = { columns, indent, hanging: indent };
  return lines(text).flatMap((line) => (line.trim() === "" ? [safe``] : fill(words(line), layout)));
}

function remarkLines(name: string, remark: unknown, columns: number): readonly SafeText[] {
  if (typeof remark !== "string" || remark.trim() === "") return [];
  const text = clip(remark.replaceAll(/\s+/g, " ").trim(), longestRemark);
  const line = safe`${toVisibleLine(toKey(name))}: ${toSafeText(text)}`;
  return fill(words(line), { columns, indent, hanging: safe`${indent}  ` });
}

function firstParagraph(text: string): string {
  const [paragraph = ""] = text.split(/\n[^\S\n]*\n|\r\n[^\S\n]*\r\n/, 1);
  if (paragraph.length > longestParagraph) return clip(paragraph, longestParagraph).replace(/\s+\S*$/, " …");
  return paragraph.length < text.length ? `${paragraph.trimEnd()} …` : paragraph;
}

function lines(text: string): readonly SafeText[] {
  return text === "" ? [] : splitSafe(toSafeText(text));
}

type Annotated = Pick<HostTool, "annotations">;

/** Returns labels for annotations that are `true`. A tool without annotations may still be destructive. */
export function badges({ annotations }: Annotated, style: Style): readonly SafeText[] {
  const isSet = (hint: string): boolean => member(annotations, hint) === true;
  return [
    ...(isSet("readOnlyHint") ? [style.green(safe`[read-only]`)] : []),
    ...(isSet("destructiveHint") ? [style.yellow(safe`[destructive]`)] : []),
    // A read-only tool is always idempotent, so it does not get the label [idempotent].
    ...(isSet("idempotentHint") && !isSet("readOnlyHint") ? [style.dim(safe`[idempotent]`)] : []),
    ...(isSet("openWorldHint") ? [style.dim(safe`[open world]`)] : []),
  ];
}

/** Returns the label for the decision about a model's call. `ask` is the most frequent decision and has no label. */
function ruled({ decision }: Pick<HostTool, "decision">, style: Style): readonly SafeText[] {
  if (decision === "allow") return [style.green(safe`[allowed]`)];
  return decision === "deny" ? [style.red(safe`[denied]`)] : [];
}

/** Names of tools that usually only read, for servers without annotations. */
const readingName =
  /^(?:describe|echo|fetch|find|get|help|list|lookup|ping|query|read|search|show|status|version|whoami)/i;

/**
 * Returns a tool for an example that works: it is not deprecated, it only reads, and sample values fit its required
 * parameters. A tool that is said to be read-only comes before one that only has such a name.
 */
export function toolToTry<T extends TriedTool>(tools: readonly T[]): T | undefined {
  const usable = tools.filter(
    (tool) =>
      !isDeprecated(tool) &&
      member(tool.annotations, "destructiveHint") !== true &&
      member(tool.annotations, "readOnlyHint") !== false &&
      hasSamples(tool),
  );
  return (
    usable.find(({ annotations }) => member(annotations, "readOnlyHint") === true) ??
    usable.find(({ serverToolName }) => readingName.test(serverToolName))
  );
}

type TriedTool = Annotated & Pick<HostTool, "serverToolName" | "description" | "inputSchema">;

/** Whether the server says that a tool or prompt should no longer be used. */
export function isDeprecated({ description = "" }: { readonly description?: string | undefined }): boolean {
  return /\bdeprecated\b/i.test(description);
}

const mostArguments = 40;

/** Formats the prompts of a server: signatures, descriptions and arguments. */
export function promptsText(server: string, prompts: readonly HostPrompt[], options: ListOptions): SafeText {
  const title = safe`${options.style.bold(toVisibleLine(server))}: ${count(prompts.length, "prompt")}`;
  return joinSafe([title, ...prompts.map((prompt) => promptText(prompt, options))], safe`\n\n`);
}

function promptText(prompt: HostPrompt, { style, columns }: ListOptions): SafeText {
  const wanted = requiredFirst(prompt);
  const words = fold(wanted, mostArguments, ({ name, required }) => `${toKey(name)}${required ? "" : "?"}`);
  const last = words.length - 1;
  const [first = safe`)`, ...others] = words.map((word, at) => toVisibleLine(`${word}${at === last ? ")" : ","}`));
  const talk = [
    ...descriptionLines(prompt.description ?? prompt.title ?? "", { columns, all: false }),
    ...wanted.slice(0, mostArguments).flatMap(({ name, description }) => remarkLines(name, description, columns)),
  ];
  return joinSafe([
    ...fill([safe`${style.cyan(toVisibleLine(`/${typedName(prompt)}`))}(${first}`, ...others], {
      columns,
      indent: safe`  `,
      hanging: safe`    `,
    }),
    ...talk.map((line) => style.dim(line)),
  ]);
}

type Callable = Pick<HostPrompt, "name" | "serverPromptName" | "arguments"> &
  (Pick<HostPrompt, "server"> | { readonly serverName: string });

function typedName(prompt: Callable): string {
  return typedPromptName({ ...prompt, serverName: "server" in prompt ? prompt.server : prompt.serverName });
}

/** Returns the words after `fairlead prompt`: required arguments, then optional arguments in brackets. */
export function promptCommandUsage(prompt: Callable): string {
  const words = requiredFirst(prompt).map(({ name, required }) => {
    const word = `${toShellWord(`${name}=`)}…`;
    return required ? word : `[${word}]`;
  });
  return [toShellWord(typedName(prompt)), ...words].join(" ");
}

/** Returns the words after `fairlead prompt`, with sample values for the required arguments. */
export function examplePrompt(prompt: Callable): string {
  const words = prompt.arguments.flatMap((argument) =>
    argument.required ? [toShellWord(`${argument.name}=text`)] : [],
  );
  return [toShellWord(typedName(prompt)), ...words].join(" ");
}

function requiredFirst({ arguments: wanted }: Pick<HostPrompt, "arguments">): HostPrompt["arguments"] {
  return [...wanted.filter(({ required }) => required), ...wanted.filter(({ required }) => !required)];
}

const longestUri = 2000;
const longestFact = 200;
const mostVariables = 20;

/** Formats the resources and resource templates of a server: URIs, variables, titles, types and sizes. */
export function resourcesText(
  server: string,
  resources: readonly HostResource[],
  options: ResourceListOptions,
): SafeText {
  const templates = resources.filter(({ kind }) => kind === "template").length;
  const listed = resources.length - templates;
  const counts = [
    ...(listed > 0 || templates === 0 ? [count(listed, "resource")] : []),
    ...(templates > 0 ? [count(templates, "template")] : []),
  ];
  const title = safe`${options.style.bold(toVisibleLine(server))}: ${joinSafe(counts, safe`, `)}`;
  return joinSafe([title, ...resources.map((resource) => resourceText(resource, options))], safe`\n\n`);
}

function resourceText(
  resource: HostResource,
  { style, columns, isShared = () => false }: ResourceListOptions,
): SafeText {
  const own = resource.kind === "resource" ? resource.uri : resource.uriTemplate;
  const uri = isShared(own) ? `${resource.server}:${own}` : own;
  const facts = factsOf(resource);
  const pieces = [
    style.cyan(toVisibleLine(clip(uri, longestUri))),
    ...(resource.kind === "template" ? valueWords(resource.uriTemplate) : []),
    ...(facts.length > 0 ? [safe`(${joinSafe(facts, safe`, `)})`] : []),
    ...(resource.kind === "template" && resource.unusable !== undefined
      ? [style.red(safe`[unusable: ${toVisibleLine(resource.unusable)}]`)]
      : []),
  ];
  const talk = descriptionLines(resource.description ?? "", { columns, all: false });
  return joinSafe([
    ...fill(pieces, { columns, indent: safe`  `, hanging: safe`    ` }),
    ...talk.map((line) => style.dim(line)),
  ]);
}

/** Returns the `--arg` options of a template. An optional variable is in brackets. */
function valueWords(uriTemplate: string): readonly SafeText[] {
  return fold(variablesOf(uriTemplate), mostVariables, ({ name, required }) => {
    const option = `--arg ${name}=…`;
    return required ? option : `[${option}]`;
  }).map(toVisibleLine);
}

function factsOf(resource: HostResource): readonly SafeText[] {
  const { name, title = name, mimeType } = resource;
  const size = resource.kind === "resource" ? resource.size : undefined;
  const facts = [title, mimeType, size === undefined ? undefined : sizeWords(size)];
  return facts.flatMap((fact) => (fact === undefined || fact === "" ? [] : [toSafeLine(clip(fact, longestFact))]));
}

// Formats schema changes that were made for a model's API, and quarantined tools.

type Repair = HostTool["repairs"][number];
type Repaired = Pick<HostTool, "server" | "serverToolName" | "repairs">;

const mostPlaces = 3;
const mostNames = 100;
const mostReasons = 10;
const longestPlace = 100;
const longestNote = 400;

/** Schema keywords whose removal does not matter to a caller of the tool. */
const usual: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "additionalProperties",
  "default",
  "examples",
  "example",
]);

/** Returns one sentence about the schema changes. Returns undefined if all changes are minor. */
export function repairSummary(tools: readonly Repaired[]): SafeText | undefined {
  const adapted = tools.filter(isAdapted).length;
  if (adapted === 0) return undefined;
  return safe`${adapted} of ${count(tools.length, "tool")} ${adapted === 1 ? safe`was` : safe`were`} adapted to the model's API`;
}

/** How to print schema changes. `columns` is the width at which lines wrap. */
interface RepairOptions {
  readonly style: Style;
  readonly columns: number;
}

/**
 * Formats the schema changes in each tool of one server. The same change in several places of a schema is listed once.
 */
export function repairsText(server: string, tools: readonly Repaired[], options: RepairOptions): SafeText {
  const others = tools.filter((tool) => tool.repairs.length > 0 && !isAdapted(tool));
  const keywords = [...new Set(others.flatMap(({ repairs }) => repairs.map(({ keyword }) => keyword)))].join(", ");
  const summary = repairSummary(tools) ?? (others.length > 0 ? safe`only minor changes` : safe`no changes`);
  return joinSafe(
    [
      safe`${options.style.bold(toVisibleLine(server))}: ${summary}`,
      ...tools.filter(isAdapted).map((tool) => toolRepairsText(tool, options)),
      ...(others.length > 0 ? [safe`  minor changes in ${count(others.length, "tool")}: ${toSafeLine(keywords)}`] : []),
    ],
    safe`\n\n`,
  );
}

function isAdapted({ repairs }: Repaired): boolean {
  return repairs.some(({ action, keyword }) => !usual.has(keyword) || (action !== "removed" && action !== "moved"));
}

function toolRepairsText({ serverToolName, repairs }: Repaired, { style, columns }: RepairOptions): SafeText {
  const alike = groupBy(repairs, ({ keyword, action, note }) => JSON.stringify([keyword, action, note]));
  const layout = { columns, indent: safe`      `, hanging: safe`        ` };
  const lines = [...alike.values()].flatMap((group) => fill(words(groupText(group)), layout));
  return joinSafe([safe`  ${style.cyan(toVisibleLine(serverToolName))}`, ...lines]);
}

function groupText(group: Group<Repair>): SafeText {
  const [{ keyword, action, note }] = group;
  const paths = fold(group, mostPlaces, ({ path }) => (path === "" ? "(root)" : clip(path, longestPlace)));
  const what = safe`${toVisibleLine(clip(keyword, longestPlace))} ${toSafeLine(action)}`;
  return safe`${what} at ${toVisibleLine(paths.join(", "))}: ${toSafeLine(clip(note, longestNote))}`;
}

/**
 * Formats quarantined tools by reason, because a server above the tool limit has thousands of tools with the same
 * reason.
 */
export function quarantineText(quarantined: readonly QuarantinedTool[], style: Style, all: boolean): SafeText {
  const reasons = [...groupBy(quarantined, ({ reason }) => reason)];
  const shown = all ? reasons : reasons.slice(0, mostReasons);
  const left = reasons.length - shown.length;
  return joinSafe([
    style.bold(safe`not offered to a model: ${count(quarantined.length, "tool")}`),
    ...shown.map(([reason, tools]) => {
      const names = fold(tools, all ? mostNames : mostPlaces, (tool) =>
        clip(`${tool.server}.${tool.serverToolName}`, longestPlace),
      );
      return safe`  ${toVisibleLine(names.join(", "))}: ${toSafeLine(clip(reason, longestNote))}`;
    }),
    ...(left > 0 ? [safe`  and for ${count(left, "other reason")} (--all)`] : []),
  ]);
}
