/** The table of commands: name, summary, and the module that is loaded when the command runs. */

import type { Verb } from "./verb.ts";

/** One command: its name (`words`), its line in `--help`, and its module. */
export interface CommandRow {
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

type Load = CommandRow["load"];

const rows: readonly (readonly [words: string, summary: string, load: Load])[] = [
  ["", "open the app: chat with a model, or call tools yourself", () => import("../commands/start.ts")],
  ["-p", "send one prompt to a model, let it use tools, and print its answer", () => import("../commands/headless.ts")],
  ["mcp add", "add a server to the settings", () => import("../commands/mcp/add.ts")],
  ["mcp remove", "remove a server from the settings", () => import("../commands/mcp/remove.ts")],
  ["mcp list", "connect to all servers and show their status", () => import("../commands/mcp/list.ts")],
  ["mcp get", "show one server's definition and status", () => import("../commands/mcp/get.ts")],
  ["mcp test", "connect to one server and show each step", () => import("../commands/mcp/test.ts")],
  ["mcp auth", "sign in to a server", () => import("../commands/mcp/auth.ts")],
  ["mcp logout", "sign out of servers", () => import("../commands/mcp/logout.ts")],
  ["mcp logs", "show a server's log", () => import("../commands/mcp/logs.ts")],
  ["mcp enable", "allow a disabled server to start again", switchVerb("enable")],
  ["mcp disable", "prevent a server from starting", switchVerb("disable")],
  ["mcp import", "copy servers from other programs' settings", () => import("../commands/mcp/import.ts")],
  ["mcp pin", "write a server's exact version into the settings", () => import("../commands/mcp/pin.ts")],
  ["connect", "make your servers available in other MCP clients", () => import("../commands/connect.ts")],
  ["disconnect", "undo connect", () => import("../commands/disconnect.ts")],
  ["tools", "list tools", () => import("../commands/tools.ts")],
  ["call", "call a tool", () => import("../commands/call.ts")],
  ["resources", "list resources", () => import("../commands/resources.ts")],
  ["read", "read a resource", () => import("../commands/read.ts")],
  ["prompts", "list prompts", () => import("../commands/prompts.ts")],
  ["prompt", "get a prompt with its arguments filled in", () => import("../commands/prompt.ts")],
  ["record", "record the messages between a client and a server", () => import("../commands/record.ts")],
  ["serve-recording", "answer MCP clients from a recording", () => import("../commands/serve-recording.ts")],
  ["test", "run checks against servers", () => import("../commands/test.ts")],
  [
    "serve",
    "run the gateway that serves your servers to other MCP clients",
    () => import("../commands/gateway/serve.ts"),
  ],
  ["approvals", "show MCP clients' requests that wait for your approval", approvalVerb("list")],
  ["approvals list", "show MCP clients' requests that wait for your approval", approvalVerb("list")],
  ["approvals show", "show one waiting request with its arguments", approvalVerb("show")],
  ["approvals allow", "let a waiting request run", approvalVerb("allow")],
  ["approvals deny", "refuse a waiting request", approvalVerb("deny")],
  ["daemon status", "show the background host and its clients", daemonVerb("status")],
  ["daemon stop", "stop the background host", daemonVerb("stop")],
  ["daemon restart", "stop the background host and start a new one", daemonVerb("restart")],
  ["daemon logs", "show the log of the background host", daemonVerb("logs")],
  ["history", "show past calls and the decision for each", () => import("../commands/history.ts")],
  ["conversations", "list recorded conversations", () => import("../commands/conversations/list.ts")],
  ["show", "print a recorded conversation", showVerb("show")],
  ["replay", "show a recorded conversation again, offline", () => import("../commands/conversations/replay.ts")],
  ["export", "print a recorded conversation as Markdown or JSON", showVerb("export")],
  ["clean", "remove recorded conversations", () => import("../commands/conversations/clean.ts")],
  ["doctor", "find problems and how to fix them", () => import("../commands/doctor.ts")],
  ["bug-report", "write a file for a bug report, without secrets", () => import("../commands/bug-report.ts")],
  ["trust list", "show trusted folders and approvals", () => import("../commands/trust/list.ts")],
  ["trust add", "trust a folder and approve its servers", () => import("../commands/trust/add.ts")],
  ["trust remove", "stop trusting a folder", () => import("../commands/trust/remove.ts")],
  ["policy list", "show every rule that applies here", () => import("../commands/policy/list.ts")],
  [
    "policy explain",
    "show the decision for a tool and the rule behind it",
    () => import("../commands/policy/explain.ts"),
  ],
  ["policy allow", "let a tool run without asking", ruleVerb("allow")],
  ["policy ask", "ask before a tool runs", ruleVerb("ask")],
  ["policy deny", "prevent a tool from running", ruleVerb("deny")],
  ["policy remove", "remove a rule", () => import("../commands/policy/remove.ts")],
  ["lock", "write the workspace's servers and their tools to a lock file", lockVerb("write")],
  ["lock verify", "compare the servers with the lock file", () => import("../commands/lock/verify.ts")],
  ["lock update", "update the lock file to the servers' current state", lockVerb("update")],
  ["secret set", "store a secret", secretVerb("set")],
  ["secret list", "show the names of stored secrets", secretVerb("list")],
  ["secret remove", "delete a secret", secretVerb("remove")],
  ["settings schema", "print the JSON Schema of the settings", settingsVerb("schema")],
  ["settings validate", "check the settings files", settingsVerb("validate")],
  ["settings path", "show where the settings files are", settingsVerb("path")],
  ["generate ts", "write TypeScript code that calls servers' tools", generateVerb("ts")],
  ["generate cli", "write a command-line program that calls a server's tools", generateVerb("cli")],
  ["completion", "complete commands with the Tab key in your shell", () => import("../commands/completion.ts")],
  ["help errors", "explain an error code", () => import("../commands/help-errors.ts")],
];
/** All commands. The command with the name "" opens the app. */
export const verbs: readonly CommandRow[] = rows.map(([words, summary, load]) => ({ words, summary, load }));

function ruleVerb(word: "allow" | "ask" | "deny"): Load {
  return async () => ({ verb: (await import("../commands/policy/rule-verb.ts")).ruleVerbs[word] });
}

function showVerb(word: "show" | "export"): Load {
  return async () => ({ verb: (await import("../commands/conversations/show.ts")).showVerbs[word] });
}

function switchVerb(word: "enable" | "disable"): Load {
  return async () => ({ verb: (await import("../commands/mcp/set-enabled.ts")).switchVerbs[word] });
}

function approvalVerb(word: "list" | "show" | "allow" | "deny"): Load {
  return async () => ({ verb: (await import("../commands/gateway/approvals.ts")).approvalVerbs[word] });
}

function daemonVerb(word: "status" | "stop" | "restart" | "logs"): Load {
  return async () => ({ verb: (await import("../commands/gateway/daemon.ts")).daemonVerbs[word] });
}

function lockVerb(word: "write" | "update"): Load {
  return async () => ({ verb: (await import("../commands/lock/write.ts")).lockVerbs[word] });
}

function secretVerb(word: "set" | "list" | "remove"): Load {
  return async () => ({ verb: (await import("../commands/secret.ts")).secretVerbs[word] });
}

function generateVerb(word: "ts" | "cli"): Load {
  return async () => ({ verb: (await import("../commands/generate.ts")).generateVerbs[word] });
}

function settingsVerb(word: "path" | "schema" | "validate"): Load {
  return async () => ({ verb: (await import("../commands/settings.ts")).settingsVerbs[word] });
}

/** The heading of each command group in `fairlead --help`, by the group's name. */
export const commandGroups: ReadonlyMap<string, string> = new Map([
  ["mcp", "manage MCP servers"],
  ["trust", "decide in which folders servers may start"],
  ["policy", "decide which calls may run"],
  ["approvals", "answer requests from MCP clients"],
  ["daemon", "manage the background host of fairlead serve"],
  ["lock", "detect changes in a workspace's servers"],
  ["secret", "keep secrets out of settings files"],
  ["settings", "find and check the settings files"],
  ["generate", "generate code that calls servers' tools"],
]);
