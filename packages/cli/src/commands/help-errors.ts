/** `fairlead help errors`: explains every error code offline. */

import { type ErrorCode, exitCodeOf, HostError } from "@fairlead/core/errors";
import { closest } from "@fairlead/core/text/closest";
import { joinSafe, type SafeText, safe, toSafeLine } from "@fairlead/core/text/safe-text";
import { table } from "../output/output.ts";
import type { Verb } from "../shell/verb.ts";

interface Explanation {
  readonly meaning: string;
  readonly next: string;
}

const explanations: Readonly<Record<ErrorCode, Explanation>> = {
  usage: {
    meaning: "The command line has a mistake.",
    next: "Add --help to the command to see its arguments, options and examples.",
  },
  server_unknown: {
    meaning: "No server with that name is configured here.",
    next: "fairlead mcp list shows the names; fairlead settings path shows which settings files apply here.",
  },
  tool_unknown: {
    meaning: "The server has no tool with that name, or a filter (includeTools, excludeTools) removed it.",
    next: "fairlead tools SERVER lists the tools.",
  },
  arguments_invalid: {
    meaning: "The arguments do not match the tool's input schema. Nothing was sent to the server.",
    next: "fairlead tools SERVER --json shows the schema. key=text passes text, key:=json passes any JSON value.",
  },
  settings_invalid: {
    meaning:
      "A settings file has a syntax error, or an entry in it is invalid. Fairlead ignores a broken file and never writes to it.",
    next: "fairlead settings validate lists every problem with file, line and column.",
  },
  variable_unset: {
    meaning:
      "An entry refers to an environment variable or a secret that does not exist. Fairlead does not start the server with an empty value.",
    next: "Set the variable, write ${NAME:-default}, put it into ~/.gemini/.env, or store a secret: fairlead secret set NAME.",
  },
  command_not_found: {
    meaning: "The server's command was not found, or is not an executable program.",
    next: "fairlead mcp test SERVER shows the command and the PATH. Install the program, or use an absolute path.",
  },
  server_exited: {
    meaning: "The server's process exited. The message ends with its last stderr lines.",
    next: "fairlead mcp logs SERVER shows its stderr. The usual cause is a missing variable: a server gets only the variables in the env of its entry.",
  },
  not_mcp: {
    meaning:
      "The response is not a Model Context Protocol message: often a web page, or a program that prints other text to stdout.",
    next: "Check the URL (many end in /mcp or /sse) or the command. A stdio server must write only protocol messages to stdout.",
  },
  connect_timeout: {
    meaning: "Connecting to the server timed out.",
    next: "Raise fairlead.connectTimeout, or the entry's timeout if that is shorter. The first run of npx, uvx or docker downloads the server.",
  },
  unreachable: {
    meaning:
      "Fairlead could not connect to the server's address: wrong host or port, no server listening, or no network.",
    next: "Check the URL in fairlead mcp get SERVER, and that the server is running.",
  },
  tls: {
    meaning: "The server's TLS certificate is not trusted.",
    next: "For a private certificate authority, set NODE_EXTRA_CA_CERTS to a file with its certificate.",
  },
  proxy: {
    meaning: "The HTTP proxy refused the connection or failed.",
    next: "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
  },
  http_status: {
    meaning: "The server answered with an HTTP error status; the message names it.",
    next: "Check the URL and the headers: fairlead mcp get SERVER.",
  },
  protocol: {
    meaning: "The server sent a message that violates the protocol.",
    next: "Update the server, or send its author the log: fairlead mcp test SERVER --debug, then fairlead mcp logs SERVER.",
  },
  no_capabilities: {
    meaning: "The server offers no tools, prompts or resources, or a filter removed all of them.",
    next: "Check includeTools and excludeTools in fairlead mcp get SERVER.",
  },
  start_limit: {
    meaning: "The server exited five times shortly after its start, so Fairlead stopped restarting it.",
    next: "Read why it exits: fairlead mcp logs SERVER.",
  },
  auth_required: {
    meaning: "Sign-in required, and there is no terminal to ask on.",
    next: "In a terminal: fairlead mcp auth SERVER (add --no-browser or --device if no browser can open). Or add a header with a credential: fairlead mcp add -H 'Authorization: Bearer ${secret:NAME}' …",
  },
  auth_failed: {
    meaning: "The sign-in failed at the step that the message names, or the server rejected the credential.",
    next: "Try again: fairlead mcp auth SERVER. Check oauth and headers in fairlead mcp get SERVER. To start over: fairlead mcp logout SERVER.",
  },
  denied: {
    meaning:
      "A rule, a setting or a person denied the request, or it needs confirmation and there is no terminal to ask on. Nothing was run.",
    next: "fairlead policy explain SERVER.TOOL shows the rule with its file and line. --yes confirms in advance. fairlead mcp enable SERVER undoes a disable.",
  },
  changed: {
    meaning:
      "The definition differs from the one that you accepted or locked, so trust and approvals do not apply to it. Nothing was run.",
    next: "Read the difference. To accept it: fairlead call … --yes; with a lock file: fairlead lock update SERVER.",
  },
  awaiting_approval: {
    meaning: "A server of the workspace has no approval, or its entry changed since you approved it.",
    next: "fairlead trust add shows the entries and asks; without a terminal, add --yes.",
  },
  untrusted_folder: {
    meaning: "The folder is not trusted, so Fairlead ignores its settings.",
    next: "fairlead trust add shows its servers before it asks.",
  },
  tool_error: {
    meaning: "The tool ran and reported an error.",
    next: "Read the message: the tool wrote it.",
  },
  call_timeout: {
    meaning:
      "The call timed out: no response or progress within the entry's timeout, or it took longer than fairlead.limits.callTotal.",
    next: "Raise the limit that the message names. The tool may have run anyway.",
  },
  lost: {
    meaning:
      "The call was sent and no usable response came back: the connection was lost, the response was empty, or the server was busy or failed (HTTP 408, 429, 500 and above). The tool may or may not have run; Fairlead does not repeat the call.",
    next: "Check what the tool did before you repeat the call.",
  },
  busy: {
    meaning: "Too many calls are already waiting for this server.",
    next: "Try again when some have finished.",
  },
  too_large: {
    meaning: "A message is larger than the limit.",
    next: "Ask the tool for less at a time.",
  },
  quarantined: {
    meaning: "The tool's definition is invalid, so models do not see it. The server's other tools work.",
    next: "fairlead tools SERVER --json shows the reason under quarantined.",
  },
  model: {
    meaning: "The model's API failed.",
    next: "Check the API key, the quota and the model name.",
  },
  internal: {
    meaning: "A bug in Fairlead.",
    next: "Please report it with the command line and the message.",
  },
  cancelled: {
    meaning: "You, or the program that started Fairlead, cancelled the command.",
    next: "Nothing to do.",
  },
};

const codes = Object.keys(explanations) as ErrorCode[];

export const verb: Verb = {
  define(command) {
    command
      .argument("[code]", "the code to explain; without it, list all codes")
      .addHelpText("after", "\nExamples:\n  fairlead help errors\n  fairlead help errors variable_unset");
  },

  async run({ out, globals, operands: [word] }) {
    const chosen = word === undefined ? codes : [known(word)];
    if (globals.json)
      return out.json({ errors: chosen.map((code) => ({ code, exitCode: exitCodeOf(code), ...explanations[code] })) });
    out.print(word === undefined ? overview() : joinSafe(chosen.map(whole)));
  },
};

function known(word: string): ErrorCode {
  const code = codes.find((candidate) => candidate === word);
  if (code) return code;
  const near = closest(word, codes);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  throw new HostError("usage", `unknown error code "${word}"${hint}`, { next: "fairlead help errors" });
}

function overview(): SafeText {
  const rows = codes.map((code) => [
    safe`${toSafeLine(code)}`,
    safe`${exitCodeOf(code)}`,
    toSafeLine(explanations[code].meaning),
  ]);
  return safe`${table([[safe`code`, safe`exit`, safe`meaning`], ...rows])}

More about a code: fairlead help errors CODE`;
}

function whole(code: ErrorCode): SafeText {
  const { meaning, next } = explanations[code];
  return safe`${toSafeLine(code)} (exit code ${exitCodeOf(code)})
  ${toSafeLine(meaning)}
  next: ${toSafeLine(next)}`;
}
