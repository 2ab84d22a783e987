/** The table of commands: words, one line of help, and the file that is loaded only when the command is used. */

import type { Verb } from "./verb.ts";

export interface CommandRow {
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

export const verbs: readonly CommandRow[] = [
  {
    words: "",
    summary: "the app: talk to a model, or call tools yourself",
    load: () => import("../commands/start.ts"),
  },
  {
    words: "-p",
    summary: "ask a model, which uses the tools, and print what it says",
    load: () => import("../commands/headless.ts"),
  },
  { words: "mcp add", summary: "add a server to the settings", load: () => import("../commands/mcp/add.ts") },
  {
    words: "mcp remove",
    summary: "take a server out of the settings",
    load: () => import("../commands/mcp/remove.ts"),
  },
  { words: "mcp list", summary: "connect to the servers and show them", load: () => import("../commands/mcp/list.ts") },
  { words: "mcp get", summary: "show one server in full", load: () => import("../commands/mcp/get.ts") },
  { words: "mcp test", summary: "connect to one server, step by step", load: () => import("../commands/mcp/test.ts") },
  { words: "mcp auth", summary: "sign in to a server", load: () => import("../commands/mcp/auth.ts") },
  { words: "mcp logout", summary: "end sign-ins and forget them", load: () => import("../commands/mcp/logout.ts") },
  { words: "mcp logs", summary: "show what a server wrote", load: () => import("../commands/mcp/logs.ts") },
  { words: "mcp enable", summary: "let a server start again", load: () => import("../commands/mcp/enable.ts") },
  { words: "mcp disable", summary: "keep a server from starting", load: () => import("../commands/mcp/disable.ts") },
  {
    words: "mcp import",
    summary: "take over servers from other programs",
    load: () => import("../commands/mcp/import.ts"),
  },
  {
    words: "mcp pin",
    summary: "run the same version of a server from now on",
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
    summary: "show what was called, and why it could run",
    load: () => import("../commands/history.ts"),
  },
  { words: "doctor", summary: "find what is wrong, and how to fix it", load: () => import("../commands/doctor.ts") },
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
    summary: "show every rule that counts here",
    load: () => import("../commands/policy/list.ts"),
  },
  {
    words: "policy explain",
    summary: "say what may happen to a call, and which rule decides",
    load: () => import("../commands/policy/explain.ts"),
  },
  {
    words: "policy allow",
    summary: "let a tool run without asking",
    load: () => import("../commands/policy/allow.ts"),
  },
  { words: "policy ask", summary: "be asked before a tool runs", load: () => import("../commands/policy/ask.ts") },
  { words: "policy deny", summary: "keep a tool from running", load: () => import("../commands/policy/deny.ts") },
  {
    words: "lock",
    summary: "write down what the workspace's servers are",
    load: () => import("../commands/lock/write.ts"),
  },
  {
    words: "lock verify",
    summary: "check that the servers are as they were locked",
    load: () => import("../commands/lock/verify.ts"),
  },
  {
    words: "lock update",
    summary: "lock what servers are now",
    load: () => import("../commands/lock/update.ts"),
  },
  { words: "secret set", summary: "store a secret", load: () => import("../commands/secret/set.ts") },
  {
    words: "secret list",
    summary: "show the names of stored secrets",
    load: () => import("../commands/secret/list.ts"),
  },
  { words: "secret remove", summary: "forget a secret", load: () => import("../commands/secret/remove.ts") },
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
    summary: "let the Tab key complete commands in your shell",
    load: () => import("../commands/completion.ts"),
  },
  { words: "help errors", summary: "explain an error code", load: () => import("../commands/help-errors.ts") },
];

/** Groups of commands and their headings. */
export const commandGroups: ReadonlyMap<string, string> = new Map([
  ["mcp", "manage MCP servers"],
  ["trust", "decide which folders may start servers"],
  ["policy", "decide what may run"],
  ["lock", "notice when a workspace's servers change"],
  ["secret", "keep secrets out of settings files"],
  ["settings", "find and check the settings files"],
]);
