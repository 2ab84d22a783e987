/** Formats the state of a server as text and as JSON. */

import { positionText, transportWord } from "@fairlead/console/server/words/server-details";
import { redact } from "@fairlead/console/server/words/server-redaction";
import type { SignInState } from "@fairlead/core/auth";
import type { ErrorCode } from "@fairlead/core/errors";
import type { CatalogCounts, ServerState } from "@fairlead/core/events";
import type { CachedCatalogInfo, FailedStart, ServerFlag } from "@fairlead/core/host";
import { groupBy, waitWords } from "@fairlead/core/plain-text";
import { initialServerState, notConnectedError } from "@fairlead/core/server";
import { type ConfiguredServer, type SharedBy, sandboxDocument, sandboxLine } from "@fairlead/core/settings";
import { joinSafe, repeatSafe, type SafeText, safe, toSafeLine, toVisibleLine } from "@fairlead/core/text/safe-text";
import type { Admission } from "@fairlead/core/trust";
import { count, errorDocument, type Output, spacedNumber, unlessEmpty } from "../output.ts";
import { ageWords } from "../time-text.ts";
import { clipWords, width, wrapMessage } from "../wrap.ts";

/** A server with everything that `mcp list` shows. `changed` names the tools with a changed definition. */
export interface ListedServer {
  readonly server: ConfiguredServer;
  readonly state: ServerState;
  /** The cached catalog, for a server that is not connected now. */
  readonly cachedCatalog?: CachedCatalogInfo | undefined;
  readonly changed?: readonly string[] | undefined;
  readonly signIn?: SignInState | undefined;
  /** Estimated tokens that the server's tool definitions cost a model. */
  readonly tokens?: number | undefined;
  /**
   * The server's latest failure, in this run or an earlier one. Commands that do not name the server skip it for a
   * while.
   */
  readonly failed?: FailedStart | undefined;
  /** What is suspicious in the texts of the server. */
  readonly flags?: readonly ServerFlag[] | undefined;
  /** How clients of the gateway share connections to the server. */
  readonly share?: SharedBy | undefined;
}

/** Whether the connection attempt is over: Fairlead has read the server's lists, or cannot connect. */
export function isConnectSettled(state: ServerState): boolean {
  switch (state.status) {
    case "connected":
      return state.offer !== undefined;
    case "disconnected":
      return state.reason !== "lazy";
    case "connecting":
    case "disconnecting":
      return false;
    case "needs_auth":
    case "disabled":
    case "blocked":
      return true;
  }
}

/** Returns the state in words. With `now`, adds the time until the next attempt: `reconnecting (in 12 s)`. */
export function stateWords(state: ServerState, now?: number): SafeText {
  switch (state.status) {
    case "connected":
      return state.offer === undefined ? safe`connected` : safe`connected: ${catalogWords(state.offer)}`;
    case "connecting":
    case "disconnecting":
      return toSafeLine(state.status);
    case "needs_auth":
      return safe`needs sign-in`;
    case "disabled":
      return safe`disabled`;
    case "disconnected":
      if (state.reason === "backoff") return reconnectingWords(state.nextTryAt, now);
      return disconnectedWords(state.reason);
    case "blocked":
      return safe`blocked: ${blockedWords[state.reason]}`;
  }
}

function reconnectingWords(nextTryAt: number, now: number | undefined): SafeText {
  return now === undefined ? safe`reconnecting` : safe`reconnecting (in ${toSafeLine(waitWords(nextTryAt - now))})`;
}

function problemWord(reason: "backoff" | ErrorCode): SafeText {
  if (reason === "backoff") return safe`reconnecting`;
  return reason === "settings_invalid" || reason === "variable_unset" ? safe`cannot start` : safe`failed`;
}

function disconnectedWords(reason: "lazy" | ErrorCode): SafeText {
  if (reason === "lazy") return safe`idle`;
  if (reason === "settings_invalid") return safe`cannot start: invalid settings`;
  if (reason === "variable_unset") return safe`cannot start: variable not set`;
  return safe`failed: ${toSafeLine(reason.replaceAll("_", " "))}`;
}

const blockedWords: Readonly<Record<Extract<ServerState, { status: "blocked" }>["reason"], SafeText>> = {
  awaiting_approval: safe`awaiting approval`,
  untrusted_folder: safe`folder not trusted`,
  not_allowed: safe`not in mcp.allowed`,
  excluded: safe`in mcp.excluded`,
};

function catalogWords({ tools, prompts, resources, resourceTemplates, skills = 0 }: CatalogCounts): SafeText {
  const parts = [
    count(tools, "tool"),
    ...(prompts > 0 ? [count(prompts, "prompt")] : []),
    ...(resources > 0 ? [count(resources, "resource")] : []),
    ...(resourceTemplates > 0 ? [count(resourceTemplates, "resource template")] : []),
    ...(skills > 0 ? [count(skills, "skill")] : []),
  ];
  return joinSafe(parts, safe`, `);
}

/** How `mcp list` shows servers. */
export interface ServerTextOptions extends Pick<Output, "style" | "typed"> {
  /** Whether to show every fact about the server. Default: its state, and what needs the user's attention. */
  readonly verbose: boolean;
  /** Whether to show how clients of the gateway share the server. */
  readonly showsSharing: boolean;
  /** The width of the terminal; infinite without one. On a terminal the first lines are cut, not wrapped. */
  readonly columns: number;
  /** The width of the longest name, in columns. On a terminal the states begin in one column. */
  readonly widestName: number;
}

/** Returns the width of the longest name, in columns. */
export function widestOf(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => width(toVisibleLine(name))));
}

/** Formats a server as `mcp list` shows it: one line, and a second one if the user should do something. */
export function serverText(listed: ListedServer, options: ServerTextOptions): SafeText {
  const { columns } = options;
  if (options.verbose) return wrapMessage(joinSafe(verboseLines(listed, options)), columns);
  const [head = safe``, ...others] = shortLines(listed, options);
  return joinSafe([head, ...others.map((line) => wrapMessage(line, columns))]);
}

/** Names up to this width are followed by the state in one column. */
const widestColumn = 24;

function shortLines(
  listed: ListedServer,
  { style, typed, columns, widestName }: ServerTextOptions,
): readonly SafeText[] {
  const { server, state, changed = [] } = listed;
  const name = toVisibleLine(server.name);
  const next = nextLine(state);
  const column = columns === Number.POSITIVE_INFINITY ? 0 : Math.min(widestName, widestColumn);
  const gap = repeatSafe(safe` `, Math.max(0, column - width(name)) + 2);
  const words = clipWords(shortWords(listed), Math.max(20, columns - width(name) - gap.length));
  return [
    safe`${style.bold(name)}${gap}${style[colourOf(state)](words)}`,
    ...(server.definition?.sandbox === undefined ? [] : sandboxLines(server)),
    ...(next === undefined ? [] : [typed(next)]),
    ...noteLines(state),
    ...(changed.length > 0 ? [changedLine(changed)] : []),
    ...flagLinesOf(listed),
    ...problemLinesOf(listed),
  ];
}

/** Returns the state with its reason, unless the words of the state already say what the user needs. */
function shortWords({ state, cachedCatalog, tokens }: ListedServer): SafeText {
  const cost = costWords(tokens);
  if (state.status === "connected") return safe`${stateWords(state)}${cost}`;
  if (state.status === "disconnected" && "message" in state)
    return safe`${problemWord(state.reason)}: ${toSafeLine(state.message)}`;
  const cached = cachedWords(cachedCatalog, cost);
  return cached === undefined ? stateWords(state) : safe`${stateWords(state)}; ${cached}`;
}

/** What the user can do. A server that the user has disabled or excluded needs nothing. */
function nextLine(state: ServerState): SafeText | undefined {
  if (state.status === "disabled" || !("next" in state) || state.next === undefined) return undefined;
  if (state.status === "blocked" && (state.reason === "excluded" || state.reason === "not_allowed")) return undefined;
  return safe`  next: ${toSafeLine(state.next)}`;
}

function verboseLines(listed: ListedServer, { style, typed, showsSharing }: ServerTextOptions): readonly SafeText[] {
  const { server, state, cachedCatalog, changed = [], signIn, tokens, failed, share } = listed;
  const { name, scope, origin, shadows } = server;
  const cost = costWords(tokens);
  const words = state.status === "connected" ? safe`${stateWords(state)}${cost}` : stateWords(state);
  const cached = cachedWords(cachedCatalog, cost);
  return [
    safe`${style.bold(toVisibleLine(name))}  ${style[colourOf(state)](words)}`,
    safe`  ${toSafeLine(transportOf({ server, state, cachedCatalog }))}: ${target(server)}`,
    safe`  from ${positionText(origin)} (${toSafeLine(scope)})`,
    ...sandboxLines(server),
    ...(signIn?.state === "signed_in" && state.status !== "needs_auth" ? [safe`  ${signInWords(signIn)}`] : []),
    ...(cached === undefined ? [] : [safe`  ${cached}`]),
    ...(changed.length > 0 ? [changedLine(changed)] : []),
    ...flagLinesOf(listed),
    ...shadows.map((shadowed) => safe`  replaces ${positionText(shadowed)} (${toSafeLine(shadowed.scope)})`),
    ...(share === undefined || !showsSharing ? [] : [safe`  gateway: ${shareWords[share]}`]),
    ...explanationLines(state).map(typed),
    ...failedLines(state, failed),
    ...problemLinesOf(listed),
  ];
}

function sandboxLines({ definition }: ConfiguredServer): readonly SafeText[] {
  const line = definition && sandboxLine(definition);
  return line === undefined ? [] : [safe`  ${toVisibleLine(line)}`];
}

function costWords(tokens: number | undefined): SafeText {
  return tokens === undefined ? safe`` : safe`, about ${spacedNumber(tokens)} tokens`;
}

function flagLinesOf({ flags = [] }: ListedServer): readonly SafeText[] {
  return flags.length === 0 ? [] : [safe`  flagged: ${flaggedWords(flags)}`];
}

const mostFlagged = 5;

/** Returns what is flagged and why, such as `tool echo (keeps-from-user)`. */
export function flaggedWords(flags: readonly ServerFlag[]): SafeText {
  const items = [...groupBy(flags, ({ kind, name }) => `${kind} ${name}`.trim())].map(
    ([item, own]) =>
      safe`${toVisibleLine(item.slice(0, 200))} (${toSafeLine([...new Set(own.map(({ id }) => id))].join(", "))})`,
  );
  const more = items.length - mostFlagged;
  return joinSafe([...items.slice(0, mostFlagged), ...(more > 0 ? [safe`${more} more`] : [])], safe`, `);
}

function changedLine(changed: readonly string[]): SafeText {
  return safe`  changed definitions: ${toVisibleLine(changed.join(", "))}`;
}

/** The mistakes in the server's entry, except the one that the server's state already names. */
function problemLinesOf({ server: { problems }, state }: ListedServer): readonly SafeText[] {
  const isTold = (message: string): boolean => "message" in state && state.message.startsWith(message);
  return problems
    .filter(({ message }) => !isTold(message))
    .map(({ severity, message }) => safe`  ${toSafeLine(severity)}: ${toSafeLine(message)}`);
}

const shareWords: Readonly<Record<SharedBy, SafeText>> = {
  all: safe`shared by all clients`,
  client: safe`one connection for each client`,
};

function cachedWords(cachedCatalog: CachedCatalogInfo | undefined, cost: SafeText): SafeText | undefined {
  if (cachedCatalog?.savedAt === undefined) return undefined;
  return safe`cached: ${catalogWords(cachedCatalog.offer)}${cost} (${ageWords(Date.now() - cachedCatalog.savedAt)} ago)`;
}

/** Formats an earlier failure of the server. Adds the reason, unless the server's state already has a message. */
function failedLines(state: ServerState, failed: FailedStart | undefined): SafeText[] {
  if (failed === undefined) return [];
  const { failures, failedAt, nextTryAt, message } = failed;
  const now = Date.now();
  const why = "message" in state ? [] : [safe`  why: ${toSafeLine(message)} (${ageWords(now - failedAt)} ago)`];
  const wait = toSafeLine(waitWords(nextTryAt - now));
  return [
    ...why,
    safe`  failed ${count(failures, "time")} in a row: commands that do not name this server skip it for ${wait}`,
  ];
}

function explanationLines(state: ServerState): SafeText[] {
  if (state.status === "connected") return noteLines(state);
  if (!("message" in state)) return [];
  const next = state.next === undefined ? [] : [safe`  next: ${toSafeLine(state.next)}`];
  return [safe`  why: ${toSafeLine(state.message)}`, ...next];
}

function noteLines(state: ServerState): SafeText[] {
  const note = state.status === "connected" ? state.offer?.note : undefined;
  return note === undefined ? [] : [safe`  note: ${toSafeLine(note)}`];
}

/** Returns the colour of a state. The colour is never the only sign of the state. */
export function colourOf({ status }: ServerState): "green" | "red" | "yellow" {
  if (status === "connected") return "green";
  return status === "disconnected" ? "red" : "yellow";
}

function target({ definition }: ConfiguredServer): SafeText {
  if (!definition) return safe`?`;
  const shown = redact(definition.transport);
  return toVisibleLine(shown.kind === "stdio" ? [shown.command, ...shown.args].join(" ") : shown.url);
}

/** Returns the negotiated transport. If the server has never connected, returns the configured transport. */
function transportOf({ server, state, cachedCatalog }: ListedServer): string {
  const { peer } = state.status === "connected" ? state : (cachedCatalog ?? {});
  return peer?.transport ?? transportWord(server.kind);
}

/** Returns a server as it appears in `--json` documents. */
export function serverDocument(listed: ListedServer): object {
  const { server, state, cachedCatalog, changed = [], signIn, tokens, failed, share, flags = [] } = listed;
  const { offer: sizes } = state.status === "connected" ? state : (cachedCatalog ?? {});
  return {
    name: server.name,
    status: state.status,
    reason: "reason" in state ? state.reason : undefined,
    transport: transportOf({ server, state, cachedCatalog }),
    scope: server.scope,
    sandbox: server.definition && sandboxDocument(server.definition),
    tools: sizes?.tools ?? 0,
    prompts: sizes?.prompts ?? 0,
    resources: sizes?.resources ?? 0,
    skills: sizes?.skills,
    tokens,
    protocolVersion: state.status === "connected" ? state.peer.protocolVersion : undefined,
    share,
    signIn: signIn && signInDocument(signIn),
    changed: unlessEmpty(changed),
    flags: unlessEmpty(flags),
    savedAt: cachedCatalog?.savedAt === undefined ? undefined : new Date(cachedCatalog.savedAt).toISOString(),
    skipped: failed && skippedDocument(failed),
    error: "message" in state ? errorDocument(notConnectedError(state)) : undefined,
  };
}

function skippedDocument({ failures, failedAt, nextTryAt }: FailedStart): object {
  return { failures, failedAt: new Date(failedAt).toISOString(), until: new Date(nextTryAt).toISOString() };
}

/** Returns `status`, `reason` and `error` of a server, as they appear in `--json` documents. */
export function statusDocument(admission: Admission): object {
  if (admission.status === "admitted") return { status: "disconnected", reason: "lazy" };
  const { status, reason, message, next } = admission;
  const { code } = notConnectedError(initialServerState("", admission, 0));
  return { status, reason, error: errorDocument({ code, message, next }) };
}

/** Returns in words whether the server may start, and why not. */
export function statusWords(admission: Admission): SafeText {
  return admission.status === "admitted" ? safe`ready to start` : stateWords(initialServerState("", admission, 0));
}

/** Formats the sign-in state of a server. */
export function signInWords(signIn: SignInState): SafeText {
  switch (signIn.state) {
    case "none":
      return signIn.problem === undefined
        ? byItselfWords[signIn.by]
        : safe`cannot sign in: ${toVisibleLine(signIn.problem)}`;
    case "signed_in": {
      const { account, issuer, tokenHost, scopes } = signIn;
      const who = account === undefined ? safe`signed in` : safe`signed in as ${toVisibleLine(account)}`;
      const what = scopes.length === 0 ? safe`` : safe`, for ${joinSafe(scopes.map(toVisibleLine), safe`, `)}`;
      const from = tokenHost === undefined ? safe`` : safe`, tokens from ${toVisibleLine(tokenHost)}`;
      return safe`${who} at ${toVisibleLine(issuer)}${from}${what}${endWords(signIn)}`;
    }
    case "needed":
      return safe`needs sign-in`;
    case "unknown":
      return safe`not signed in; the server has not asked for a sign-in`;
  }
}

const byItselfWords: Readonly<Record<Extract<SignInState, { state: "none" }>["by"], SafeText>> = {
  program: safe`no sign-in: a local program takes its credentials from "env" in settings.json`,
  header: safe`no sign-in: settings.json sets an Authorization header`,
  google: safe`automatic, with the Google credentials of this machine`,
  service_account: safe`automatic, as a Google service account`,
  machine: safe`automatic, with the credentials under machineAuth`,
};

/** Returns when a token expires. The text is empty for a token that Fairlead renews itself. */
function endWords({ expiresAt, isRenewable }: Extract<SignInState, { state: "signed_in" }>): SafeText {
  if (isRenewable || expiresAt === undefined) return safe``;
  return safe`, until ${toSafeLine(new Date(expiresAt).toISOString())}`;
}

/** Returns the sign-in state as it appears in `--json` documents. */
export function signInDocument(signIn: SignInState): object {
  if (signIn.state !== "signed_in") return signIn;
  const { expiresAt, ...rest } = signIn;
  return { ...rest, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString() };
}
