/** `fairlead help errors`: every error code, what it means and what to do about it; needs nothing but this file. */

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
    meaning: "The command line was not understood, or asks for something that cannot be done that way.",
    next: "Add --help to the command to see its words, options and examples.",
  },
  server_unknown: {
    meaning: "No server of that name is configured here.",
    next: "fairlead mcp list shows the names; the workspace root decides which settings are read (fairlead settings path).",
  },
  tool_unknown: {
    meaning: "The server does not offer a tool of that name, or a filter (includeTools, excludeTools) removed it.",
    next: "fairlead tools SERVER lists the tools.",
  },
  arguments_invalid: {
    meaning: "The arguments do not fit what the tool says it accepts; nothing was sent to the server.",
    next: "fairlead tools SERVER --json shows the schema. key=text passes text, key:=json passes any JSON value.",
  },
  settings_invalid: {
    meaning:
      "A settings file has a syntax error, or an entry in it makes no sense. A broken file is left out and never written to.",
    next: "fairlead settings validate lists every problem with file, line and column.",
  },
  variable_unset: {
    meaning:
      "An entry mentions a variable or a stored secret that does not exist. Nothing is started with an empty value in its place.",
    next: "Set the variable, write ${NAME:-default}, put it into ~/.gemini/.env, or store a secret: fairlead secret set NAME.",
  },
  command_not_found: {
    meaning: "The server's command is not a program that can be found and run.",
    next: "fairlead mcp test SERVER shows what is looked for and where. Use an absolute path, or install the program.",
  },
  server_exited: {
    meaning: "The server's process ended; the message has the end of what it wrote to stderr.",
    next: "fairlead mcp test SERVER shows how far it came, fairlead mcp logs SERVER what it wrote. A missing variable in env is the usual cause: only what the entry names is passed on.",
  },
  not_mcp: {
    meaning:
      "Something answered, but not in the Model Context Protocol: often a web page, or a program that prints to stdout.",
    next: "Check the address (many end in /mcp or /sse) or the command; a server must keep stdout for protocol messages.",
  },
  connect_timeout: {
    meaning: "The server did not finish connecting in time.",
    next: "Raise fairlead.connectTimeout, or the entry's timeout if that is shorter. A first run of npx, uvx or docker downloads.",
  },
  unreachable: {
    meaning: "No connection to the server's address came about: wrong name or port, nothing listening, or no network.",
    next: "Check the URL in fairlead mcp get SERVER, and that the server is running.",
  },
  tls: {
    meaning: "The server's certificate was not accepted.",
    next: "For a certificate of your own, set NODE_EXTRA_CA_CERTS to a file with the issuing certificate.",
  },
  proxy: {
    meaning: "The proxy between here and the server refused or failed.",
    next: "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.",
  },
  http_status: {
    meaning: "The server answered with an HTTP status that stands for failure; the message names it.",
    next: "Check the path of the URL and the headers in fairlead mcp get SERVER.",
  },
  protocol: {
    meaning: "The server broke the rules of the protocol in a way that cannot be worked around.",
    next: "Update the server, or report it to its author with the messages: fairlead mcp test SERVER --debug, then fairlead mcp logs SERVER.",
  },
  no_capabilities: {
    meaning: "The server offers no tools, prompts or resources, or a filter removed all of them.",
    next: "Check includeTools and excludeTools in fairlead mcp get SERVER.",
  },
  start_limit: {
    meaning: "The server ended five times shortly after it was started, and is left alone.",
    next: "Find out why it ends: fairlead mcp logs SERVER.",
  },
  auth_required: {
    meaning: "The server wants you to sign in, and nobody could be asked.",
    next: "In a terminal: fairlead mcp auth SERVER (fairlead mcp auth shows who needs it; --no-browser and --device where no browser can open). Or give it a header with a credential: fairlead mcp add -H 'Authorization: Bearer ${secret:NAME}' …",
  },
  auth_failed: {
    meaning:
      "Signing in was tried and ended at the step that the message names, or the server does not accept the credential that it was given.",
    next: "fairlead mcp auth SERVER tries again; check oauth and headers in fairlead mcp get SERVER. A token that may still work was not thrown away; fairlead mcp logout SERVER forgets all and begins anew.",
  },
  denied: {
    meaning:
      "A rule, a setting or a person said no, or a rule asks and there was nobody to ask; the message names which. Nothing was run.",
    next: "fairlead policy explain SERVER.TOOL names every rule that has a say, with its file and line. Change that one, if you do want this; --yes answers a rule that asks. fairlead mcp enable SERVER undoes a disable.",
  },
  changed: {
    meaning:
      "What would run is not what was shown, approved or locked before: the server has changed its definition, so no trust and no approval speaks for it. Nothing was run.",
    next: "Read the difference. fairlead call … --yes runs it as it is now; fairlead lock update SERVER accepts it where there is a lock file.",
  },
  awaiting_approval: {
    meaning: "The workspace wants to start a server that you have not approved, or that changed since you did.",
    next: "fairlead trust add shows what would run and asks; --yes answers for you where there is no terminal.",
  },
  untrusted_folder: {
    meaning: "The folder is not trusted, so nothing in its settings has any effect.",
    next: "fairlead trust add, after a look at what it shows.",
  },
  tool_error: {
    meaning: "The tool ran and reported a failure of its own.",
    next: "Read the message: it is the tool's.",
  },
  call_timeout: {
    meaning:
      "The tool was silent for longer than the entry's timeout, or the call took longer than fairlead.limits.callTotal.",
    next: "Raise the limit that the message names. The tool may have done its work all the same.",
  },
  lost: {
    meaning:
      "The connection broke in the middle of a call, or the server broke down over it (HTTP 500 and above). The call may or may not have run; it is not repeated by itself.",
    next: "Check what the tool did before you repeat the call.",
  },
  busy: {
    meaning: "Too many calls wait for this server already.",
    next: "Try again when some have finished.",
  },
  too_large: {
    meaning: "A message is larger than the limit.",
    next: "Ask the tool for less at a time.",
  },
  quarantined: {
    meaning: "The tool's definition cannot be given to a model; the server's other tools work.",
    next: "fairlead tools SERVER --json names the reason under quarantined.",
  },
  model: {
    meaning: "The model, or the service that runs it, failed.",
    next: "Check the key, the quota and the name of the model in the message.",
  },
  internal: {
    meaning: "A fault of Fairlead itself.",
    next: "Please report it, with the command line and the message.",
  },
  cancelled: {
    meaning: "You, or the program that started this, stopped it.",
    next: "Nothing to do.",
  },
};

const codes = Object.keys(explanations) as ErrorCode[];

export const verb: Verb = {
  define(command) {
    command
      .argument("[code]", "the code to explain; without it, all of them")
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
  throw new HostError("usage", `there is no error code "${word}"${hint}`, { next: "fairlead help errors" });
}

function overview(): SafeText {
  const rows = codes.map((code) => [
    safe`${toSafeLine(code)}`,
    safe`${exitCodeOf(code)}`,
    toSafeLine(explanations[code].meaning),
  ]);
  return safe`${table([[safe`code`, safe`exit`, safe`meaning`], ...rows])}

What to do about one of them: fairlead help errors CODE`;
}

function whole(code: ErrorCode): SafeText {
  const { meaning, next } = explanations[code];
  return safe`${toSafeLine(code)} (exit code ${exitCodeOf(code)})
  ${toSafeLine(meaning)}
  next: ${toSafeLine(next)}`;
}
