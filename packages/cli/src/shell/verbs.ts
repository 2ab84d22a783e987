/** The table of commands: name, summary, and the module that is loaded when the command runs. */

import type { Verb } from "./verb.ts";

export interface CommandRow {
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

export const verbs: readonly CommandRow[] = [
  {
    words: "",
    summary: "open the app: chat with a model, or call tools yourself",
    load: () => import("../commands/start.ts"),
  },
  {
    words: "-p",
    summary: "send one prompt to a model, let it use tools, and print its answer",
    load: () => import("../commands/headless.ts"),
  },
  { words: "mcp add", summary: "add a server to the settings", load: () => import("../commands/mcp/add.ts") },
  {
    words: "mcp remove",
    summary: "remove a server from the settings",
    load: () => import("../commands/mcp/remove.ts"),
  },
  {
    words: "mcp list",
    summary: "connect to all servers and show their status",
    load: () => import("../commands/mcp/list.ts"),
  },
  {
    words: "mcp get",
    summary: "show one server's definition and status",
    load: () => import("../commands/mcp/get.ts"),
  },
  {
    words: "mcp test",
    summary: "connect to one server and show each step",
    load: () => import("../commands/mcp/test.ts"),
  },
  { words: "mcp auth", summary: "sign in to a server", load: () => import("../commands/mcp/auth.ts") },
  { words: "mcp logout", summary: "sign out of servers", load: () => import("../commands/mcp/logout.ts") },
  { words: "mcp logs", summary: "show a server's log", load: () => import("../commands/mcp/logs.ts") },
  { words: "mcp enable", summary: "undo mcp disable", load: () => import("../commands/mcp/enable.ts") },
  { words: "mcp disable", summary: "prevent a server from starting", load: () => import("../commands/mcp/disable.ts") },
  {
    words: "mcp import",
    summary: "copy servers from other programs' settings",
    load: () => import("../commands/mcp/import.ts"),
  },
  {
    words: "mcp pin",
    summary: "write a server's exact version into the settings",
    load: () => import("../commands/mcp/pin.ts"),
  },
  { words: "tools", summary: "list tools", load: () => import("../commands/tools.ts") },
  { words: "call", summary: "call a tool", load: () => import("../commands/call.ts") },
  { words: "resources", summary: "list resources", load: () => import("../commands/resources.ts") },
  { words: "read", summary: "read a resource", load: () => import("../commands/read.ts") },
  { words: "prompts", summary: "list prompts", load: () => import("../commands/prompts.ts") },
  {
    words: "prompt",
    summary: "get a prompt with its arguments filled in",
    load: () => import("../commands/prompt.ts"),
  },
  {
    words: "history",
    summary: "show past calls and the decision for each",
    load: () => import("../commands/history.ts"),
  },
  { words: "doctor", summary: "find problems and how to fix them", load: () => import("../commands/doctor.ts") },
  {
    words: "trust list",
    summary: "show trusted folders and approvals",
    load: () => import("../commands/trust/list.ts"),
  },
  {
    words: "trust add",
    summary: "trust a folder and approve its servers",
    load: () => import("../commands/trust/add.ts"),
  },
  { words: "trust remove", summary: "stop trusting a folder", load: () => import("../commands/trust/remove.ts") },
  {
    words: "policy list",
    summary: "show every rule that applies here",
    load: () => import("../commands/policy/list.ts"),
  },
  {
    words: "policy explain",
    summary: "show the decision for a tool and the rule behind it",
    load: () => import("../commands/policy/explain.ts"),
  },
  {
    words: "policy allow",
    summary: "let a tool run without asking",
    load: () => import("../commands/policy/allow.ts"),
  },
  { words: "policy ask", summary: "ask before a tool runs", load: () => import("../commands/policy/ask.ts") },
  { words: "policy deny", summary: "prevent a tool from running", load: () => import("../commands/policy/deny.ts") },
  {
    words: "lock",
    summary: "write the workspace's servers and their tools to a lock file",
    load: () => import("../commands/lock/write.ts"),
  },
  {
    words: "lock verify",
    summary: "compare the servers with the lock file",
    load: () => import("../commands/lock/verify.ts"),
  },
  {
    words: "lock update",
    summary: "update the lock file to what the servers are now",
    load: () => import("../commands/lock/update.ts"),
  },
  { words: "secret set", summary: "store a secret", load: () => import("../commands/secret/set.ts") },
  {
    words: "secret list",
    summary: "show the names of stored secrets",
    load: () => import("../commands/secret/list.ts"),
  },
  { words: "secret remove", summary: "delete a secret", load: () => import("../commands/secret/remove.ts") },
  {
    words: "settings schema",
    summary: "print the JSON Schema for editors",
    load: () => import("../commands/settings/schema.ts"),
  },
  {
    words: "settings validate",
    summary: "check the settings files",
    load: () => import("../commands/settings/validate.ts"),
  },
  {
    words: "settings path",
    summary: "show where the settings files are",
    load: () => import("../commands/settings/path.ts"),
  },
  {
    words: "completion",
    summary: "complete commands with the Tab key in your shell",
    load: () => import("../commands/completion.ts"),
  },
  { words: "help errors", summary: "explain an error code", load: () => import("../commands/help-errors.ts") },
];

/** Command groups and their headings in the help. */
export const commandGroups: ReadonlyMap<string, string> = new Map([
  ["mcp", "manage MCP servers"],
  ["trust", "decide which folders may start servers"],
  ["policy", "decide which calls may run"],
  ["lock", "detect changes of a workspace's servers"],
  ["secret", "keep secrets out of settings files"],
  ["settings", "find and check the settings files"],
]);
