/** Turns a failed connection attempt into a `HostError` that says what happened, why, and what to do. */

import type { WireError } from "@fairlead/wire";
import { objectOf } from "@fairlead/wire/json";
import { type ErrorCode, HostError } from "../errors.ts";
import { type UnavailableCause, unavailable } from "../sandbox/unavailable.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { ConnectTimeout } from "./connect-step.ts";
import type { NpmLog } from "./npm-log.ts";
import type { Redact } from "./redact.ts";

/** What is known about a failed connection attempt. */
export interface ConnectFacts {
  readonly definition: ServerDefinition;
  readonly timeout: ConnectTimeout;
  /** True if the connect timeout ended the attempt, false if the caller cancelled it. */
  readonly isTimedOut: boolean;
  /**
   * The method of the request that failed: the last one sent while connecting, or one that exceeded the connect
   * timeout. Undefined if there is none.
   */
  readonly lastRequest: string | undefined;
  /** True if the server sent at least one JSON-RPC message. */
  readonly hasSentMessage: boolean;
  /** Diagnostics from `@fairlead/wire` (for example about a log line on stdout). */
  readonly diagnostics: readonly string[];
  /** The last lines of the program's stderr. */
  readonly stderr: readonly string[];
  /** Why this system could not make the server's sandbox. */
  readonly noSandbox?: UnavailableCause | undefined;
  /** npm's own log of the start, if npm starts the server. */
  readonly npmLog?: NpmLog | undefined;
  /** True if the program's file was found. */
  readonly isFound: boolean;
  /** Environment variables that Fairlead has but does not pass to the program. */
  readonly withheld: readonly string[];
  /** Entries of `PATH` that were ignored because the current folder is not trusted. */
  readonly droppedPath: readonly string[];
  readonly redact: Redact;
}

interface Failure {
  readonly code: ErrorCode;
  /** The message after the server's name (for example "did not start"). */
  readonly what: string;
  readonly next?: string | undefined;
}

const shownCharacters = 200;

/** Returns the error for the user. Secrets in its message and evidence are redacted. */
export function describeFailure(error: WireError, facts: ConnectFacts): HostError {
  const { definition, stderr, redact, isTimedOut } = facts;
  // The other gateway's words name neither this entry nor what to do.
  if (objectOf(error.evidence.rpc?.data)["reason"] === loopReason) return loopError(definition.name);
  const own = signInErrorIn(error);
  if (own)
    return new HostError(own.code, redact(own.message), {
      serverName: definition.name,
      cause: error,
      next: own.next,
      evidence: own.evidence === undefined ? undefined : redact(own.evidence),
    });
  if (facts.noSandbox !== undefined && error.code === "exited") return unavailable(definition.name, facts.noSandbox);
  const failure = isTimedOut && error.code === "cancelled" ? timedOut(facts) : failureOf(error, facts);
  const { code, what, next } = definition.sandbox === undefined ? failure : withLearning(failure, definition);
  const evidence = stderr.length > 0 ? stderr.join("\n") : error.evidence.firstBytes;
  return new HostError(code, redact(`"${definition.name}" ${what}`), {
    serverName: definition.name,
    cause: error,
    next,
    evidence: evidence !== undefined && evidence !== "" ? redact(evidence) : undefined,
  });
}

/** A program that fails in a sandbox may need what the sandbox closes. */
function withLearning({ code, what, next }: Failure, definition: ServerDefinition): Failure {
  const { name } = definition;
  const isOwn = code === "server_exited" || code === "connect_timeout" || code === "not_mcp";
  if (!isOwn) return { code, what, next };
  const learn = `fairlead mcp sandbox ${toShellWord(name)} --learn`;
  const isForLogs = next === undefined || next === logs(definition);
  return { code, what: `${what} (in its sandbox)`, next: isForLogs ? learn : next };
}

function failureOf(error: WireError, facts: ConnectFacts): Failure {
  const { code, message, evidence } = error;
  const { definition } = facts;
  switch (code) {
    case "cancelled":
      return { code, what: "was not connected: cancelled" };
    case "timeout":
      return timedOut(facts);
    case "spawn_failed":
      return notStarted(error, facts);
    case "exited":
    case "closed":
      return ended(error, facts);
    case "unreachable":
    case "session_expired":
    case "stream_lost":
    case "task_lost":
      return {
        code: "unreachable",
        what: `cannot be reached: ${message.replace(" cannot be reached: ", ": ")}`,
        next: checkAddress(definition),
      };
    case "tls":
      return { code, what: `cannot be reached over TLS: ${message}`, next: secureAdvice(error, definition) };
    case "proxy":
      return { code, what: `cannot be reached: ${message}`, next: checkProxy };
    case "http_status":
      return refused(error, facts);
    case "unauthorized":
      return isForbidden(error) ? refused(error, facts) : signIn(error, facts);
    case "too_large":
      return { code, what: `was not connected: ${message}`, next: logs(definition) };
    case "flooding":
      return { code, what: `was disconnected: ${message.replace(/^the server /, "it ")}`, next: logs(definition) };
    case "bad_message":
      return invalid(error, facts);
    case "send_blocked":
      return { code: "protocol", what: `does not read its input: ${message}`, next: logs(definition) };
    case "unanswered":
      return { code: "protocol", what: `was not connected: ${message}`, next: logs(definition) };
    case "rpc":
      return {
        code: "protocol",
        what: `answered ${evidence.step ?? "the handshake"} with an error: ${message} (${evidence.rpc?.code ?? 0})`,
        next: credentialHint([message], facts) ?? logs(definition),
      };
  }
}

const extraAuthority =
  "If your own certificate authority signed the certificate, set NODE_EXTRA_CA_CERTS to the authority's certificate file.";
const checkNetwork = "Check the network, its name server (DNS) and the proxy of this machine.";
const checkProxy = "Check HTTPS_PROXY and HTTP_PROXY, or add the host to NO_PROXY.";

/** `@fairlead/wire` begins its diagnostic about a log line on stdout with this text. */
const noisePrefix = "a line on stdout is not a message: ";

function timedOut(facts: ConnectFacts): Failure {
  const { timeout, lastRequest, diagnostics, hasSentMessage, stderr, definition } = facts;
  const seconds = timeout.milliseconds / 1000;
  const cause = lastRequest === undefined ? "the program did not start" : `no response to ${lastRequest}`;
  const noise = hasSentMessage ? undefined : diagnostics.find((diagnostic) => diagnostic.startsWith(noisePrefix));
  // The program has already started and printed text, so a longer timeout would not help.
  if (noise !== undefined)
    return {
      code: "not_mcp",
      what: `is not an MCP server: ${cause} within ${seconds} s, and its stdout is not MCP: ${noise.slice(noisePrefix.length)}`,
      next: checkCommand(definition),
    };
  const code = "connect_timeout";
  const silence = hasSentMessage ? undefined : silenceOf(facts);
  if (silence?.network !== undefined)
    return { code, what: `timed out after ${seconds} s: ${silence.network}`, next: silence.next };
  const evidence = (hasSentMessage ? undefined : diagnostics[0]) ?? stderrLine(stderr);
  const raise =
    timeout.setting === "timeout"
      ? `raise "timeout" of "${definition.name}" (${fileAndLine(definition)})`
      : 'raise "fairlead.connectTimeout" in settings.json';
  return {
    code,
    what: `timed out after ${seconds} s: ${cause}${evidence === undefined ? "" : `; ${evidence}`}`,
    next: silence === undefined ? raise : `${silence.next}, or ${raise}`,
  };
}

/** What npm's log says about a program that printed no reason. */
interface Silence {
  /** Why npm could not reach the registry. Undefined if the log does not say that. */
  readonly network?: string;
  readonly next: string;
}

function silenceOf({ stderr, npmLog }: ConnectFacts): Silence | undefined {
  const npm = npmFailure(stderr);
  if (npm?.isNetwork) return { network: `stderr: ${npm.text}`, next: checkNetwork };
  if (npmLog === undefined || !isSilent(stderr)) return undefined;
  if (npmLog.failed === undefined) return { next: `see npm's own log, ${npmLog.path}` };
  return { network: fetchFailure(npmLog.failed), next: `${checkNetwork} npm's own log: ${npmLog.path}` };
}

function secureAdvice(error: WireError, definition: ServerDefinition): string {
  const cause = rootCauseOf(error);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  // OpenSSL reports these codes if the server does not use TLS.
  if (/^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/.test(code))
    return `If the server speaks plain HTTP, write http:// instead of https:// (${fileAndLine(definition)}).`;
  return code.startsWith("ERR_SSL") ? checkAddress(definition) : extraAuthority;
}

/** Where the programs that start most servers come from. */
const installers: ReadonlyMap<string, string> = new Map([
  ["npx", "Node.js: https://nodejs.org"],
  ["npm", "Node.js: https://nodejs.org"],
  ["node", "Node.js: https://nodejs.org"],
  ["uvx", "uv: https://docs.astral.sh/uv"],
  ["uv", "uv: https://docs.astral.sh/uv"],
  ["pipx", "pipx: https://pipx.pypa.io"],
  ["bunx", "Bun: https://bun.sh"],
  ["bun", "Bun: https://bun.sh"],
  ["deno", "Deno: https://deno.com"],
  ["docker", "Docker: https://docs.docker.com/get-docker"],
]);

function installAdvice(definition: ServerDefinition): string {
  const { transport } = definition;
  const command = transport.kind === "stdio" ? transport.command : "";
  const source = installers.get(command);
  const what = source === undefined ? "Install the command" : `Install ${command}, which is part of ${source}`;
  return `${what}, or correct ${source === undefined ? "it" : "the command"} (${fileAndLine(definition)}).`;
}

function notStarted(error: WireError, { definition, droppedPath, isFound }: ConnectFacts): Failure {
  const ignored = isSearchedFor(definition) ? droppedPath.map((entry) => JSON.stringify(entry)).join(", ") : "";
  const dropped = ignored === "" ? "" : `; PATH entries ignored because this folder is not trusted: ${ignored}`;
  const what = `did not start: ${error.message}${dropped}`;
  const cause = rootCauseOf(error);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "ENOEXEC")
    return { code: "command_not_found", what, next: isFound ? checkCommand(definition) : installAdvice(definition) };
  if (code === "E2BIG" || code === "ERR_INVALID_ARG_VALUE")
    return { code: "settings_invalid", what, next: checkCommand(definition) };
  // The cause may pass (for example too many open files), so a later attempt may succeed.
  return { code: "unreachable", what };
}

function ended({ code, message, evidence }: WireError, facts: ConnectFacts): Failure {
  const { definition, lastRequest, hasSentMessage, diagnostics, stderr } = facts;
  const end = code === "exited" ? message.replace(/^the server /, "") : `closed the connection (${message})`;
  if (!hasSentMessage && diagnostics[0] !== undefined && evidence.exitCode === 0)
    return {
      code: "not_mcp",
      what: `is not an MCP server: ${diagnostics[0]}; then it ${end}`,
      next: checkCommand(definition),
    };
  const when = lastRequest === undefined ? "" : ` during ${lastRequest}`;
  const silence = hasSentMessage ? undefined : silenceOf(facts);
  const said = stderrLine(stderr) ?? silence?.network ?? diagnostics[0];
  return {
    code: "server_exited",
    what: `${end}${when}${said === undefined ? "" : `; ${said}`}`,
    next: npmFailure(stderr)?.isPackage
      ? checkPackage(definition)
      : (silence?.next ??
        credentialHint(stderr, facts) ??
        (stderr.length > 0 ? logs(definition) : checkCommand(definition))),
  };
}

function refused({ message, evidence }: WireError, { definition }: ConnectFacts): Failure {
  const { httpStatus = 0, retryAfter, firstBytes = "" } = evidence;
  const later = retryAfter === undefined ? "" : `; Retry-After: ${retryAfter}`;
  const said = firstBytes === "" ? "" : `; response begins ${beginning(firstBytes)}`;
  const next = httpStatus >= 500 || httpStatus === 429 ? "Try again later." : checkAddress(definition);
  if (httpStatus === 403)
    return {
      code: "http_status",
      what: `refused access: ${message}${said}`,
      next: `Check the address and "headers" of "${definition.name}" (${fileAndLine(definition)}).`,
    };
  return { code: "http_status", what: `cannot be used: ${message}${later}${said}`, next };
}

function signIn(error: WireError, { definition }: ConnectFacts): Failure {
  const { message, evidence } = error;
  const cause = rootCauseOf(error);
  const next = `fairlead mcp auth ${toShellWord(definition.name)}`;
  if (cause !== undefined) return { code: "auth_failed", what: `sign-in failed: ${message}`, next };
  const status = `HTTP ${evidence.httpStatus ?? 401}`;
  const sent = definition.transport.kind === "stdio" ? [] : [...definition.transport.headers.keys()];
  if (sent.length === 0) return { code: "auth_required", what: `requires sign-in (${status})`, next };
  return {
    code: "auth_required",
    what: `requires sign-in (${status}) and rejected the configured headers: ${sent.join(", ")}`,
    // If the settings contain an `Authorization` header, Fairlead does not sign in, unless `oauth.enabled` is true.
    next: sent.some((name) => name.toLowerCase() === "authorization")
      ? `Correct "headers" of "${definition.name}" (${fileAndLine(definition)}). Or remove the Authorization header, then run: ${next}`
      : next,
  };
}

function invalid({ message, evidence }: WireError, { definition, hasSentMessage, diagnostics }: ConnectFacts): Failure {
  if (evidence.unsent)
    return {
      code: "settings_invalid",
      what: `was not connected: ${message}`,
      next: `Correct the settings of "${definition.name}" (${fileAndLine(definition)}).`,
    };
  if (hasSentMessage)
    return { code: "protocol", what: `violates the MCP protocol: ${message}`, next: logs(definition) };
  const { firstBytes = "" } = evidence;
  const why = message.replace(/^the program is not an MCP server: /, "");
  const begins = firstBytes === "" ? (diagnostics[0] ?? why) : `${why}; response begins ${beginning(firstBytes)}`;
  const next = definition.transport.kind === "stdio" ? checkCommand(definition) : checkAddress(definition);
  return { code: "not_mcp", what: `is not an MCP server: ${begins}`, next };
}

/** Returns the error of the sign-in that caused `error`, or undefined. It says more than "unauthorized". */
export function signInErrorIn(error: WireError): HostError | undefined {
  const cause = error.code === "unauthorized" ? rootCauseOf(error) : undefined;
  return cause instanceof HostError ? cause : undefined;
}

/** Whether the server answered HTTP 403 and asked for no sign-in. Then signing in would not help. */
export function isForbidden(error: WireError): boolean {
  const { httpStatus, wwwAuthenticate } = error.evidence;
  return httpStatus === 403 && wwwAuthenticate === undefined && rootCauseOf(error) === undefined;
}

/** True if the system searches for the command in `PATH`, false if the command is a path. */
function isSearchedFor({ resolved, transport }: ServerDefinition): boolean {
  const program = resolved ?? transport;
  return program.kind === "stdio" && !/[/\\]/.test(program.command);
}

/** Skips `WireError`s, because one may be the cause of another. */
function rootCauseOf(error: WireError): unknown {
  let cause: unknown = error;
  while (cause instanceof Error && cause.name === error.name) cause = cause.cause;
  return cause;
}

/** Returns the first characters of an unexpected response, in quotation marks. */
export function beginning(text: string): string {
  return JSON.stringify(text.slice(0, shownCharacters));
}

function fileAndLine({ origin }: ServerDefinition): string {
  return `${origin.file}:${origin.line}`;
}

function logs({ name }: ServerDefinition): string {
  return `fairlead mcp logs ${toShellWord(name)}`;
}

function checkAddress(definition: ServerDefinition): string {
  return `Check that the server is running and that its address is right (${fileAndLine(definition)}).`;
}

function checkCommand(definition: ServerDefinition): string {
  return `Check the command and its arguments (${fileAndLine(definition)}).`;
}

function checkPackage(definition: ServerDefinition): string {
  return `Check the package's name and version (${fileAndLine(definition)}).`;
}

const credentialWords =
  /api[ _-]?key|access[ _-]?key|token|credential|password|secret|unauthori[sz]ed|forbidden|authenticat|\b40[13]\b|log(ged)? ?in|sign(ed)? ?in/i;
const variableName = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/**
 * Advice for the user if the `lines` mention credentials or a withheld variable. Undefined otherwise, and for a server
 * that is not a program.
 */
export function credentialHint(
  lines: readonly string[],
  { definition, withheld }: Pick<ConnectFacts, "definition" | "withheld">,
): string | undefined {
  const { name, transport } = definition;
  if (transport.kind !== "stdio") return undefined;
  const text = lines.join("\n");
  const named = new Set(text.match(variableName));
  const where = fileAndLine(definition);
  const kept = withheld.find((variable) => named.has(variable));
  if (kept !== undefined)
    return `Add "env": {"${kept}": "$${kept}"} to "${name}" (${where}): servers get only the variables in their "env".`;
  if (!credentialWords.test(text)) return undefined;
  const set = [...transport.env.keys()];
  return set.length === 0
    ? `If the server needs credentials, add them to "env" of "${name}" (${where}): servers get only the variables in their "env".`
    : `Check the values in "env" of "${name}" (${where}): ${set.join(", ")}.`;
}

/** The `data.reason` of the JSON-RPC error with which a gateway refuses a client that leads back to it. */
export const loopReason = "gateway_loop";

/**
 * Returns the error for the entry of such a server.
 *
 * @param reason Continues the message after the server's name.
 */
export function loopError(
  serverName: string,
  reason = "leads back to this gateway: it would be a server of itself",
): HostError {
  return new HostError("usage", `"${serverName}" ${reason}`, {
    serverName,
    next: `Remove "${serverName}" from mcpServers in settings.json.`,
  });
}

/** Matches a line that npm itself wrote: `npm error code E404`, or `npm ERR! code E404` before npm 10. */
const npmLine = /^npm (?:error|ERR!|notice|warn|WARN)(?:\s|$)/;
const npmError = /^npm (?:error|ERR!)\s*(.*)$/;
/** npm's error codes for a wrong package name or version. */
const packageCodes: ReadonlySet<string> = new Set(["E404", "ETARGET", "EINVALIDPACKAGENAME", "ENOVERSIONS"]);
/** Codes for a host name that cannot be found, now or at all. */
const nameCodes: readonly string[] = ["EAI_AGAIN", "ENOTFOUND", "EAI_NODATA", "EAI_NONAME"];
const networkCodes: ReadonlySet<string> = new Set([
  ...nameCodes,
  ..."ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH ETIMEDOUT ERR_SOCKET_TIMEOUT".split(" "),
]);

/** Returns why npm got no response from the registry, such as "npm cannot find the host r.example (ENOTFOUND)". */
function fetchFailure({ host, code }: { readonly host: string; readonly code: string }): string {
  return `npm cannot ${nameCodes.includes(code) ? "find" : "reach"} the host ${host} (${code})`;
}

/** Whether the program printed nothing that explains a failure: nothing at all, or only npm's own warnings. */
export function isSilent(lines: readonly string[]): boolean {
  return npmFailure(lines) === undefined && lines.every((line) => line.trim() === "" || npmNote.test(line));
}

const npmNote = /^npm (?:notice|warn|WARN)(?:\s|$)/;

const tellingWords = /\b(error|exception|fatal|panic|denied|missing|required|cannot|unable|not found)\b|Error:/i;

/** Why npm could not start a server's package. */
interface NpmFailure {
  /** The reason in npm's words, such as `E404 '@x/y@*' is not in this registry`. */
  readonly text: string;
  /** True if the package's name or version in the settings is the cause. */
  readonly isPackage: boolean;
  /** True if npm could not reach the registry. */
  readonly isNetwork: boolean;
}

/**
 * The last line that names a problem, because failing programs often end with a stack trace. If no line names a
 * problem, the last line.
 */
export function stderrLine(lines: readonly string[]): string | undefined {
  const npm = npmFailure(lines);
  if (npm !== undefined) return `stderr: ${npm.text.slice(0, shownCharacters)}`;
  // Lines that npm adds after a failure, such as the path of its log, do not explain the failure.
  const own = lines.filter((line) => line.trim() !== "" && !npmLine.test(line));
  const line = (own.findLast((other) => tellingWords.test(other)) ?? own.at(-1) ?? lines.findLast(isNotBlank))?.trim();
  return line === undefined ? undefined : `stderr: ${line.slice(0, shownCharacters)}`;
}

/**
 * The failure that npm itself reports. Undefined if npm reports neither a code such as `E404` nor a missing executable,
 * for example after a script has failed.
 */
export function npmFailure(lines: readonly string[]): NpmFailure | undefined {
  const said = lines.flatMap((line) => npmError.exec(line)?.[1] ?? []);
  const code = said.flatMap((line) => /^code (E[A-Z0-9_]+)$/.exec(line.trim())?.[1] ?? []).at(-1);
  const isNoProgram = said.some((line) => line.startsWith("could not determine executable"));
  if (code === undefined && !isNoProgram) return undefined;
  const words = said.map((line) => withoutTag(line, code)).filter(isCause);
  const cause = words.find((line) => tellingOfNpm.test(line)) ?? words[0] ?? "";
  return {
    text: [code ?? "", cause].filter(isNotBlank).join(" "),
    isPackage: isNoProgram || packageCodes.has(code ?? ""),
    isNetwork: networkCodes.has(code ?? ""),
  };
}

const tellingOfNpm =
  /is not in this registry|could not be found|no matching version|failed, reason|could not determine executable|permission denied|invalid package name/i;

/**
 * Removes npm's tag from the start of a line, such as `404` in `404 Not Found` or `notarget` in `notarget No matching
 * version`.
 */
function withoutTag(line: string, code: string | undefined): string {
  const [first = "", ...others] = line.trim().split(/\s+/);
  const isTag =
    code !== undefined && (code.slice(1).toLowerCase() === first.toLowerCase() || /^(network|notarget)$/.test(first));
  return (isTag ? others : [first, ...others]).join(" ");
}

function isCause(line: string): boolean {
  return isNotBlank(line) && !/^code \S+$/.test(line) && !line.startsWith("A complete log of this run");
}

function isNotBlank(text: string): boolean {
  return text.trim() !== "";
}
