/** Says why a connection did not come about: a code, what happened with the evidence at hand, and what to do next. */

import type { WireError } from "@fairlead/wire";
import { type ErrorCode, HostError } from "../errors.ts";
import type { ServerDefinition } from "../settings/define/definition.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { ConnectTimeout } from "./connect-step.ts";
import { credentialHint } from "./credential-hint.ts";
import type { Redact } from "./redact.ts";

/** What was known when it failed. */
export interface ConnectFacts {
  readonly definition: ServerDefinition;
  readonly timeout: ConnectTimeout;
  /** Our own timeout came to its end, not the caller's. */
  readonly isTimedOut: boolean;
  /** The request that was sent last. */
  readonly lastRequest: string | undefined;
  /** Whether the server sent a message of the protocol at all. */
  readonly hasSentMessage: boolean;
  /** What the wire found odd: first of all, what a program printed that is no message. */
  readonly diagnostics: readonly string[];
  /** The last lines that a program wrote to stderr. */
  readonly stderr: readonly string[];
  /** Whether the file of a program was found. */
  readonly isFound: boolean;
  /** Variables of ours that a program does not see. */
  readonly withheld: readonly string[];
  /** Entries of `PATH` that were left out. */
  readonly droppedPath: readonly string[];
  readonly redact: Redact;
}

interface Failure {
  readonly code: ErrorCode;
  /** Continues after the server's name. */
  readonly what: string;
  readonly next?: string | undefined;
}

const shownCharacters = 200;

export function describeFailure(error: WireError, facts: ConnectFacts): HostError {
  const { definition, stderr, redact, isTimedOut } = facts;
  const own = signInErrorIn(error);
  if (own)
    return new HostError(own.code, redact(own.message), {
      serverName: definition.name,
      cause: error,
      ...(own.next !== undefined && { next: own.next }),
    });
  const { code, what, next } = isTimedOut && error.code === "cancelled" ? late(facts) : failureOf(error, facts);
  const evidence = stderr.length > 0 ? stderr.join("\n") : error.evidence.firstBytes;
  return new HostError(code, redact(`"${definition.name}" ${what}`), {
    serverName: definition.name,
    cause: error,
    ...(next !== undefined && { next }),
    ...(evidence !== undefined && evidence !== "" && { evidence: redact(evidence) }),
  });
}

function failureOf(error: WireError, facts: ConnectFacts): Failure {
  const { code, message, evidence } = error;
  const { definition } = facts;
  switch (code) {
    case "cancelled":
      return { code, what: "was not connected: cancelled" };
    case "timeout":
      return late(facts);
    case "spawn_failed":
      return notStarted(error, facts);
    case "exited":
    case "closed":
      return gone(error, facts);
    case "unreachable":
    case "session_expired":
    case "stream_lost":
    case "task_lost":
      return { code: "unreachable", what: `cannot be reached: ${message}`, next: checkAddress(definition) };
    case "tls":
      return { code, what: `cannot be reached safely: ${message}`, next: secureAdvice(error, definition) };
    case "proxy":
      return { code, what: `cannot be reached: ${message}`, next: checkProxy };
    case "http_status":
      return refused(error, facts);
    case "unauthorized":
      return isForbidden(error) ? refused(error, facts) : signIn(error, facts);
    case "too_large":
      return { code, what: `was not connected: ${message}`, next: logs(definition) };
    case "bad_message":
      return senseless(error, facts);
    case "send_blocked":
      return { code: "protocol", what: `does not read what it is sent: ${message}`, next: logs(definition) };
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
  "If its certificate is of your own authority, set NODE_EXTRA_CA_CERTS to the file with that authority's certificate.";
const checkProxy = "Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY to reach it directly.";

/** How the wire begins a diagnostic about what a program printed. */
const noisePrefix = "not a message on stdout: ";

function late({ timeout, lastRequest, diagnostics, hasSentMessage, stderr, definition }: ConnectFacts): Failure {
  const step = lastRequest === undefined ? "was not there" : `did not answer ${lastRequest}`;
  const silence = `${step} within ${timeout.milliseconds} ms`;
  const noise = hasSentMessage ? undefined : diagnostics.find((diagnostic) => diagnostic.startsWith(noisePrefix));
  // Whoever talks is up already: more time would change nothing.
  if (noise !== undefined)
    return {
      code: "not_mcp",
      what: `is not an MCP server: it ${silence}, and writes text to stdout that is no message: ${noise.slice(noisePrefix.length)}`,
      next: checkCommand(definition),
    };
  const said = (hasSentMessage ? undefined : diagnostics[0]) ?? lastWords(stderr);
  return {
    code: "connect_timeout",
    what: `${silence}${said === undefined ? "" : `; ${said}`}`,
    next:
      timeout.setting === "timeout"
        ? `If it needs longer, raise "timeout" in its entry (${place(definition)}).`
        : 'If it needs longer, raise "fairlead.connectTimeout" in your settings (milliseconds).',
  };
}

function secureAdvice(error: WireError, definition: ServerDefinition): string {
  const cause = rootCauseOf(error);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  // What answers in the clear looks like this from inside TLS.
  if (/^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/.test(code))
    return `If it speaks plain HTTP, write http:// instead of https:// in its entry (${place(definition)}).`;
  return code.startsWith("ERR_SSL") ? checkAddress(definition) : extraAuthority;
}

function notStarted(error: WireError, { definition, droppedPath, isFound }: ConnectFacts): Failure {
  const leftOut = isSearchedFor(definition) ? droppedPath.map((entry) => JSON.stringify(entry)).join(", ") : "";
  const dropped = leftOut === "" ? "" : `; left out of it, as this folder is not trusted: ${leftOut}`;
  const what = `did not start: ${error.message}${dropped}`;
  const cause = rootCauseOf(error);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const correct = `orrect its entry (${place(definition)}).`;
  if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES" || code === "ENOEXEC")
    return { code: "command_not_found", what, next: isFound ? `C${correct}` : `Install it, or c${correct}` };
  if (code === "E2BIG" || code === "ERR_INVALID_ARG_VALUE")
    return { code: "settings_invalid", what, next: `C${correct}` };
  // Too many files, too many processes: not the server's fault, and it may pass.
  return { code: "unreachable", what };
}

function gone({ code, message, evidence }: WireError, facts: ConnectFacts): Failure {
  const { definition, lastRequest, hasSentMessage, diagnostics, stderr } = facts;
  const end = code === "exited" ? message.replace(/^the server /, "") : `went away (${message})`;
  if (!hasSentMessage && diagnostics[0] !== undefined && evidence.exitCode === 0)
    return {
      code: "not_mcp",
      what: `is not an MCP server: ${diagnostics[0]}; then it ${end}`,
      next: checkCommand(definition),
    };
  const when = lastRequest === undefined ? "" : ` before it answered ${lastRequest}`;
  const words = lastWords(stderr) ?? diagnostics[0];
  return {
    code: "server_exited",
    what: `${end}${when}${words === undefined ? "" : `; ${words}`}`,
    next: credentialHint(stderr, facts) ?? (stderr.length > 0 ? logs(definition) : checkCommand(definition)),
  };
}

function refused({ message, evidence }: WireError, { definition }: ConnectFacts): Failure {
  const { httpStatus = 0, retryAfter, firstBytes = "" } = evidence;
  const later = retryAfter === undefined ? "" : ` (to be tried again after: ${retryAfter})`;
  const said = firstBytes === "" ? "" : `; it begins ${beginning(firstBytes)}`;
  const next = httpStatus >= 500 || httpStatus === 429 ? "Try again later." : checkAddress(definition);
  if (httpStatus === 403)
    return {
      code: "http_status",
      what: `does not let us in: ${message}${said}`,
      next: `Check the address and "headers" in its entry (${place(definition)}).`,
    };
  return { code: "http_status", what: `cannot be used: ${message}${later}${said}`, next };
}

function signIn(error: WireError, { definition }: ConnectFacts): Failure {
  const { message, evidence } = error;
  const cause = rootCauseOf(error);
  const next = `fairlead mcp auth ${toShellWord(definition.name)}`;
  if (cause !== undefined) return { code: "auth_failed", what: `did not let us in: ${message}`, next };
  const status = `HTTP ${evidence.httpStatus ?? 401}`;
  const sent = definition.transport.kind === "stdio" ? [] : [...definition.transport.headers.keys()];
  if (sent.length === 0) return { code: "auth_required", what: `wants you to sign in (${status})`, next };
  return {
    code: "auth_required",
    what: `wants you to sign in (${status}); what its entry sends was not enough: ${sent.join(", ")}`,
    // A header of its own is in the way of any other token.
    next: sent.some((name) => name.toLowerCase() === "authorization")
      ? `Correct "headers" in its entry (${place(definition)}); or take them out, then: ${next}`
      : next,
  };
}

function senseless(
  { message, evidence }: WireError,
  { definition, hasSentMessage, diagnostics }: ConnectFacts,
): Failure {
  if (evidence.unsent)
    return {
      code: "settings_invalid",
      what: `cannot be lastRequest: ${message}`,
      next: `Correct its entry (${place(definition)}).`,
    };
  if (hasSentMessage) return { code: "protocol", what: `breaks the protocol: ${message}`, next: logs(definition) };
  const { firstBytes = "" } = evidence;
  const why = message.replace(/^not an MCP server: /, "");
  const begins = firstBytes === "" ? (diagnostics[0] ?? why) : `${why}; it begins ${beginning(firstBytes)}`;
  const next = definition.transport.kind === "stdio" ? checkCommand(definition) : checkAddress(definition);
  return { code: "not_mcp", what: `is not an MCP server: ${begins}`, next };
}

/** What our own sign-in says about its failure; it says more than that there was one. */
export function signInErrorIn(error: WireError): HostError | undefined {
  const cause = error.code === "unauthorized" ? rootCauseOf(error) : undefined;
  return cause instanceof HostError ? cause : undefined;
}

/** A refusal that asks for nothing: signing in would not change it. */
export function isForbidden(error: WireError): boolean {
  const { httpStatus, wwwAuthenticate } = error.evidence;
  return httpStatus === 403 && wwwAuthenticate === undefined && rootCauseOf(error) === undefined;
}

/** A command that is a path is not looked for in `PATH`. */
function isSearchedFor({ resolved, transport }: ServerDefinition): boolean {
  const program = resolved ?? transport;
  return program.kind === "stdio" && !/[/\\]/.test(program.command);
}

/** What is below the wire's own words, which are repeated with every step that they pass. */
function rootCauseOf(error: WireError): unknown {
  let cause: unknown = error;
  while (cause instanceof Error && cause.name === error.name) cause = cause.cause;
  return cause;
}

/** The first of what was sent in place of an answer. */
export function beginning(text: string): string {
  return JSON.stringify(text.slice(0, shownCharacters));
}

/** The line that says most: programs in trouble often end with a trace. */
function lastWords(lines: readonly string[]): string | undefined {
  const telling = lines.findLast((line) =>
    /\b(error|exception|fatal|panic|denied|missing|required|cannot|unable)\b|Error:/i.test(line),
  );
  const line = (telling ?? lines.findLast((other) => other.trim() !== ""))?.trim();
  return line === undefined ? undefined : `its last words: ${line.slice(0, shownCharacters)}`;
}

function place({ origin }: ServerDefinition): string {
  return `${origin.file}:${origin.line}`;
}

function logs({ name }: ServerDefinition): string {
  return `fairlead mcp logs ${toShellWord(name)}`;
}

function checkAddress(definition: ServerDefinition): string {
  return `Check that it is running, and the address in its entry (${place(definition)}).`;
}

function checkCommand(definition: ServerDefinition): string {
  return `Check the command and its arguments (${place(definition)}).`;
}
