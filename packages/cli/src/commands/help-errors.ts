/** `fairlead help errors`: explains every error code offline. */

import { type ErrorCode, exitCodeOf, HostError } from "@fairlead/core/errors";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { table } from "../output/output.ts";
import { nameHint, type Verb } from "../shell/verb.ts";

const explanations: Readonly<Record<ErrorCode, readonly [meaning: string, next: string]>> = {
  usage: ["The command line has a mistake.", "Add --help to the command to see its arguments, options and examples."],
  server_unknown: [
    "No server with that name is configured here.",
    "fairlead mcp list shows the names; fairlead settings path shows which settings files apply here.",
  ],
  tool_unknown: [
    "The server has no tool with that name, or a filter (includeTools, excludeTools) removed it.",
    "fairlead tools SERVER lists the tools.",
  ],
  arguments_invalid: [
    "The arguments do not match the tool's input schema. Nothing was sent to the server.",
    "fairlead tools SERVER --json shows the schema. key=text passes text, key:=json passes any JSON value.",
  ],
  not_found: [
    "There is no recording, conversation or stored result with that name or id.",
    "fairlead conversations lists the ids; an old conversation may have been removed automatically. To record a server: fairlead record SERVER -o FILE.",
  ],
  settings_invalid: [
    "A settings file has a syntax error, or an entry in it is invalid. Fairlead ignores a broken file and never writes to it.",
    "fairlead settings validate lists every problem with file, line and column.",
  ],
  variable_unset: [
    "An entry refers to an environment variable or a secret that does not exist. Fairlead does not start the server with an empty value.",
    "Set the variable in your shell or in ~/.gemini/.env, write ${NAME:-default} in the entry, or store a secret: fairlead secret set NAME.",
  ],
  command_not_found: [
    "The server's command was not found, or is not an executable program.",
    "fairlead mcp test SERVER shows the command and the PATH. Install the program, or use an absolute path.",
  ],
  server_exited: [
    "The server's process exited. The message ends with its last stderr lines.",
    "fairlead mcp logs SERVER shows its stderr. The usual cause is a missing variable: a server does not inherit your environment. Set the variable in env of its entry.",
  ],
  not_mcp: [
    "The response is not a Model Context Protocol message. Often it is a web page, or other text that a program prints to stdout.",
    "Check the URL (many end in /mcp or /sse) or the command. A stdio server must write only protocol messages to stdout.",
  ],
  connect_timeout: [
    "Connecting to the server timed out.",
    "Raise fairlead.connectTimeout, or the entry's timeout if that is shorter. The first run of npx, uvx or docker downloads the server.",
  ],
  unreachable: [
    "Fairlead could not connect to the server's address: wrong host or port, no server listening, or no network.",
    "Check the URL (fairlead mcp get SERVER), and check that the server is running.",
  ],
  tls: [
    "The server's TLS certificate is not trusted.",
    "For a private certificate authority, set NODE_EXTRA_CA_CERTS to a file with its certificate.",
  ],
  proxy: ["The HTTP proxy refused the connection or failed.", "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY."],
  http_status: [
    "The server answered with an HTTP error status, which the message names.",
    "Check the URL and the headers: fairlead mcp get SERVER.",
  ],
  protocol: [
    "The server sent a message that violates the protocol.",
    "Update the server, or send its author the log: fairlead mcp test SERVER --debug, then fairlead mcp logs SERVER.",
  ],
  no_capabilities: [
    "The server offers no tools, prompts or resources, or a filter removed all of them.",
    "Check includeTools and excludeTools in fairlead mcp get SERVER.",
  ],
  start_limit: [
    "The server exited five times shortly after its start, so Fairlead stopped restarting it.",
    "Read why the server exits: fairlead mcp logs SERVER.",
  ],
  sandbox_unavailable: [
    "The server must run in a sandbox, and this system has none: bubblewrap is missing or too old, user namespaces are not allowed, or the system is not Linux. Fairlead never starts such a server without its sandbox.",
    'Install bubblewrap, or set "sandbox": "off" in fairlead.servers.NAME. fairlead doctor says what is missing.',
  ],
  flooding: [
    "For several seconds, the server sent far more stderr, blank lines, requests or notifications than Fairlead can handle. Fairlead disconnected it to protect the other servers, and does not reconnect it automatically.",
    "Read what the server sends: fairlead mcp logs SERVER. Lower the server's log level, or update the server. Then: fairlead mcp test SERVER.",
  ],
  auth_required: [
    "Sign-in required, and there is no terminal to ask on.",
    "In a terminal: fairlead mcp auth SERVER (add --no-browser or --device if no browser can open). Or add a header with a credential: fairlead mcp add -H 'Authorization: Bearer ${secret:NAME}' …",
  ],
  auth_failed: [
    "The sign-in failed at the step that the message names, or the server rejected the credential.",
    "Try again: fairlead mcp auth SERVER; with machineAuth: fairlead mcp test SERVER. Check oauth and headers in fairlead mcp get SERVER. To start over: fairlead mcp logout SERVER.",
  ],
  denied: [
    "A rule, a setting or a person denied the request, or it needs confirmation and there is no terminal to ask on. Nothing was run.",
    "fairlead policy explain SERVER.TOOL shows the rule with its file and line. --yes confirms in advance. fairlead mcp enable SERVER allows a disabled server to start.",
  ],
  changed: [
    "Either the tool's definition differs from the definition that you accepted or locked, or a file has changed since Fairlead wrote it. Nothing was run or written.",
    "Read the difference. To accept it: fairlead call … --yes; with a lock file: fairlead lock update SERVER.",
  ],
  awaiting_approval: [
    "A server of the workspace has no approval, or its entry changed since you approved it.",
    "Read and approve the entries: fairlead trust add. Without a terminal: fairlead trust add --yes.",
  ],
  untrusted_folder: [
    "The folder is not trusted, so Fairlead ignores its settings.",
    "fairlead trust add shows the folder's servers, then asks whether to trust the folder.",
  ],
  tool_error: ["The tool ran and reported an error.", "Read the message: the tool wrote it."],
  call_timeout: [
    "The call timed out: no response or progress within the entry's timeout, or it took longer than fairlead.limits.callTotal.",
    "Raise the limit that the message names. The tool may or may not have run: check before you repeat the call.",
  ],
  lost: [
    "The call was sent and no usable response came back: the connection was lost, the response was empty, or the server was busy or failed (HTTP 408, 429, 500 and above). The tool may or may not have run; Fairlead does not repeat the call.",
    "Check what the tool did before you repeat the call.",
  ],
  busy: ["Too many calls are already waiting for this server.", "Try again when some calls have finished."],
  too_large: [
    "A message is larger than the limit. If it was the result of a call, the tool has run.",
    "Ask for less data in one call, for example for one page or a smaller range.",
  ],
  quarantined: [
    "The tool's definition is invalid, so models do not see the tool. The server's other tools work.",
    "fairlead tools SERVER --json shows the reason under quarantined.",
  ],
  diverged: [
    "fairlead serve-recording: a client sent a request that was not recorded, or the recording has no successful handshake. fairlead test: a check failed, or a file could not be tested.",
    "Record again: fairlead record SERVER -o FILE. To ignore the arguments of requests: fairlead serve-recording FILE --loose.",
  ],
  model: ["The model's API failed.", "Check the API key, the quota and the model name."],
  internal: [
    "A bug in Fairlead.",
    "Please report the bug with the command line, the message and the file that fairlead bug-report writes.",
  ],
  cancelled: ["You, or the program that started Fairlead, cancelled the command.", "Nothing to do."],
};

const codes = Object.keys(explanations) as ErrorCode[];

export const verb: Verb = {
  help: "\nExamples:\n  fairlead help errors\n  fairlead help errors variable_unset",

  define: (command) => command.argument("[code]", "the code to explain; default: list all codes"),

  async run({ out, globals, operands: [word] }) {
    const chosen = word === undefined ? codes : [errorCodeOf(word)];
    if (globals.json) return out.json({ errors: chosen.map(toDocument) });
    out.show(word === undefined ? overview() : joinSafe(chosen.map(whole)));
  },
};

function toDocument(code: ErrorCode): object {
  const [meaning, next] = explanations[code];
  return { code, exitCode: exitCodeOf(code), meaning, next };
}

function errorCodeOf(word: string): ErrorCode {
  const code = codes.find((candidate) => candidate === word);
  if (code) return code;
  const hint = nameHint(word, codes);
  throw new HostError("usage", `unknown error code "${word}"${hint}`, { next: "fairlead help errors" });
}

function overview(): SafeText {
  const rows = codes.map((code) => [
    safe`${toSafeLine(code)}`,
    safe`${exitCodeOf(code)}`,
    toSafeLine(explanations[code][0]),
  ]);
  return safe`${table([[safe`code`, safe`exit`, safe`meaning`], ...rows])}

More about a code: fairlead help errors CODE`;
}

function whole(code: ErrorCode): SafeText {
  const [meaning, next] = explanations[code];
  return safe`${toSafeLine(code)} (exit code ${exitCodeOf(code)})
  ${toSafeLine(meaning)}
  next: ${toSafeLine(next)}`;
}
