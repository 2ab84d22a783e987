/** The table of commands: name, summary, and the module that is loaded when the command runs. */

import type { Verb } from "./verb.ts";

/** One command: its name (`words`), its line in `--help`, and its module. */
export interface CommandRow {
  readonly words: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

/** Loads one command of a file that has several. */
function one<Word extends string>(
  load: () => Promise<{ readonly verbs: Readonly<Record<Word, Verb>> }>,
  word: Word,
): CommandRow["load"] {
  return async () => ({ verb: (await load()).verbs[word] });
}

const connections = () => import("../commands/connect.ts");
const recordings = () => import("../commands/recordings.ts");
const prompts = () => import("../commands/prompts.ts");
const resources = () => import("../commands/resources.ts");
const skills = () => import("../commands/skills.ts");
const policies = () => import("../commands/policy/list.ts");
const rules = () => import("../commands/policy/rules.ts");
const conversations = () => import("../commands/conversations.ts");
const switches = () => import("../commands/mcp/set-enabled.ts");
const controls = () => import("../commands/mcp/control.ts");
const approvals = () => import("../commands/gateway/approvals.ts");
const daemon = () => import("../commands/gateway/daemon.ts");
const lock = () => import("../commands/lock.ts");
const secrets = () => import("../commands/secret.ts");
const generators = () => import("../commands/generate.ts");
const settings = () => import("../commands/settings.ts");
const team = () => import("../commands/team/status.ts");
const teamApprovals = () => import("../commands/team/approvals.ts");
const teamKeys = () => import("../commands/team/keys.ts");
const teamPolicy = () => import("../commands/team/policy.ts");
const trust = () => import("../commands/trust.ts");

const rows: readonly (readonly [words: string, summary: string, load: CommandRow["load"]])[] = [
  ["", "open the app: chat with a model, or call tools yourself", () => import("../commands/start.ts")],
  ["-p", "send one prompt to a model, let it use tools, and print its answer", () => import("../commands/headless.ts")],
  ["mcp add", "add a server to the settings", () => import("../commands/mcp/add.ts")],
  ["mcp search", "find servers in MCP registries", () => import("../commands/mcp/search.ts")],
  ["mcp remove", "remove a server from the settings", () => import("../commands/mcp/remove.ts")],
  ["mcp list", "connect to all servers and show their status", () => import("../commands/mcp/list.ts")],
  ["mcp get", "show one server's definition and status", () => import("../commands/mcp/get.ts")],
  ["mcp test", "connect to one server and show each step", () => import("../commands/mcp/test.ts")],
  ["mcp auth", "sign in to a server", () => import("../commands/mcp/auth.ts")],
  ["mcp logout", "sign out of servers", () => import("../commands/mcp/logout.ts")],
  ["mcp logs", "show a server's log", () => import("../commands/mcp/logs.ts")],
  ["mcp restart", "restart a server that the background host runs", one(controls, "restart")],
  ["mcp stop", "stop a server that the background host runs", one(controls, "stop")],
  ["mcp enable", "allow a disabled server to start again", one(switches, "enable")],
  ["mcp disable", "prevent a server from starting", one(switches, "disable")],
  ["mcp import", "copy servers from other programs' settings", () => import("../commands/mcp/import.ts")],
  [
    "mcp sandbox",
    "show what a server sees in its sandbox, or open a shell in it",
    () => import("../commands/mcp/sandbox.ts"),
  ],
  [
    "mcp outdated",
    "show newer versions of servers that come from a registry",
    () => import("../commands/mcp/outdated.ts"),
  ],
  ["mcp update", "replace a server of a registry by a newer version", () => import("../commands/mcp/update.ts")],
  ["mcp pin", "write a server's exact version into the settings", () => import("../commands/mcp/pin.ts")],
  ["connect", "make your servers available in other MCP clients", one(connections, "connect")],
  ["disconnect", "undo connect", one(connections, "disconnect")],
  ["tools", "list tools", () => import("../commands/tools.ts")],
  ["call", "call a tool", () => import("../commands/call.ts")],
  ["resources", "list resources", one(resources, "list")],
  ["read", "read a resource", one(resources, "read")],
  ["prompts", "list prompts", one(prompts, "prompts")],
  ["prompt", "get a prompt with its arguments filled in", one(prompts, "prompt")],
  ["skills", "list skills of servers", one(skills, "list")],
  ["skills show", "print a skill with its files", one(skills, "show")],
  ["skills get", "copy a skill's verified files into a folder", one(skills, "get")],
  ["record", "record the messages between a client and a server", one(recordings, "record")],
  ["serve-recording", "answer MCP clients from a recording", one(recordings, "serve")],
  ["test", "run checks against servers", () => import("../commands/test.ts")],
  [
    "serve",
    "run the gateway that serves your servers to other MCP clients",
    () => import("../commands/gateway/serve.ts"),
  ],
  [
    "console",
    "open a page that shows and controls servers, calls and questions",
    () => import("../commands/console.ts"),
  ],
  ["approvals", "show MCP clients' requests that wait for your approval", one(approvals, "list")],
  ["approvals list", "show MCP clients' requests that wait for your approval", one(approvals, "list")],
  ["approvals show", "show one waiting request with its arguments", one(approvals, "show")],
  ["approvals allow", "let a waiting request run", one(approvals, "allow")],
  ["approvals deny", "refuse a waiting request", one(approvals, "deny")],
  ["daemon status", "show the background host and its clients", one(daemon, "status")],
  ["daemon start", "start the background host, unless it runs", one(daemon, "start")],
  ["daemon stop", "stop the background host", one(daemon, "stop")],
  ["daemon restart", "stop the background host and start a new one", one(daemon, "restart")],
  ["daemon logs", "show the log of the background host", one(daemon, "logs")],
  ["history", "show past calls and the decision for each", () => import("../commands/history.ts")],
  ["conversations", "list recorded conversations", one(conversations, "list")],
  ["show", "print a recorded conversation", one(conversations, "show")],
  ["replay", "show a recorded conversation again, offline", () => import("../commands/replay.ts")],
  ["export", "print a recorded conversation as Markdown or JSON", one(conversations, "export")],
  ["clean", "remove recorded conversations", one(conversations, "clean")],
  ["doctor", "find problems and how to fix them", () => import("../commands/doctor.ts")],
  ["bundle", "write a bundle (.mcpb) of all your servers for Claude Desktop", () => import("../commands/bundle.ts")],
  ["bug-report", "write a file for a bug report, without secrets", () => import("../commands/bug-report.ts")],
  ["trust list", "show trusted folders and approvals", one(trust, "list")],
  ["trust add", "trust a folder and approve its servers", one(trust, "add")],
  ["trust remove", "stop trusting a folder", one(trust, "remove")],
  ["policy list", "show every rule that applies here", one(policies, "list")],
  ["policy explain", "show the decision for a tool and the rule behind it", one(policies, "explain")],
  ["policy allow", "let a tool run without asking", one(rules, "allow")],
  ["policy ask", "ask before a tool runs", one(rules, "ask")],
  ["policy deny", "prevent a tool from running", one(rules, "deny")],
  ["policy remove", "remove a rule", one(rules, "remove")],
  ["team status", "show the replicas of a team gateway, its policy and its requests", one(team, "status")],
  ["team migrate", "bring the tables of a team gateway to the version of this program", one(team, "migrate")],
  ["team audit", "show the requests of all users of a team", () => import("../commands/team/audit.ts")],
  ["team policy push", "make a file the policy of a team, after showing what would change", one(teamPolicy, "push")],
  ["team policy list", "list the versions of a team's policy", one(teamPolicy, "list")],
  ["team policy show", "print a team's policy", one(teamPolicy, "show")],
  ["team policy rollback", "make an earlier version a team's policy again", one(teamPolicy, "rollback")],
  ["team keys add", "make an API key for a machine", one(teamKeys, "add")],
  ["team keys list", "list the API keys of a team", one(teamKeys, "list")],
  ["team keys revoke", "revoke an API key", one(teamKeys, "revoke")],
  ["team approvals", "show the requests of a team's users that wait for a yes", one(teamApprovals, "list")],
  ["team approvals list", "show the requests of a team's users that wait for a yes", one(teamApprovals, "list")],
  ["team approvals show", "show one of them with its arguments", one(teamApprovals, "show")],
  ["team approvals allow", "let one of them run", one(teamApprovals, "allow")],
  ["team approvals deny", "refuse one of them", one(teamApprovals, "deny")],
  ["team revoke", "refuse a user's tokens, and remove the user's API keys and sign-ins", one(teamKeys, "revokeUser")],
  ["lock", "write the workspace's servers and their tools to a lock file", one(lock, "write")],
  ["lock verify", "compare the servers with the lock file", one(lock, "verify")],
  ["lock update", "update the lock file to the servers' current state", one(lock, "update")],
  ["secret set", "store a secret", one(secrets, "set")],
  ["secret list", "show the names of stored secrets", one(secrets, "list")],
  ["secret remove", "delete a secret", one(secrets, "remove")],
  ["settings schema", "print the JSON Schema of the settings", one(settings, "schema")],
  ["settings validate", "check the settings files", one(settings, "validate")],
  ["settings path", "show where the settings files are", one(settings, "path")],
  ["generate ts", "write TypeScript code that calls servers' tools", one(generators, "ts")],
  ["generate cli", "write a command-line program that calls a server's tools", one(generators, "cli")],
  ["completion", "complete commands with the Tab key in your shell", () => import("../commands/completion.ts")],
  ["help errors", "explain an error code", () => import("../commands/help-errors.ts")],
];
/** All commands. The command with the name "" opens the app. */
export const verbs: readonly CommandRow[] = rows.map(([words, summary, load]) => ({ words, summary, load }));

/** The heading of each command group in `fairlead --help`, by the group's name. */
export const commandGroups: ReadonlyMap<string, string> = new Map([
  ["mcp", "manage MCP servers"],
  ["skills", "read instructions and files that servers offer"],
  ["trust", "decide in which folders servers may start"],
  ["policy", "decide which calls may run"],
  ["approvals", "answer requests from MCP clients"],
  ["team", "administer the gateway of a team"],
  ["team policy", "decide which calls a team's users may run"],
  ["team approvals", "answer requests of a team's users"],
  ["team keys", "let machines use the gateway of a team"],
  ["daemon", "manage the background host, which keeps servers running"],
  ["lock", "detect changes in a workspace's servers"],
  ["secret", "keep secrets out of settings files"],
  ["settings", "find and check the settings files"],
  ["generate", "generate code that calls servers' tools"],
]);

/** The group of a command, such as `team policy` of `team policy push`, or the group itself. "": it is in none. */
export function groupOf(words: string): string {
  const inGroups = [...commandGroups.keys()].filter((group) => `${words} `.startsWith(`${group} `));
  return inGroups.reduce((longest, group) => (group.length > longest.length ? group : longest), "");
}
