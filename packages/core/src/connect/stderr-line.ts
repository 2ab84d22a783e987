/** Finds the stderr line that explains why a program failed. */

const shownCharacters = 200;

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
export function fetchFailure({ host, code }: { readonly host: string; readonly code: string }): string {
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
