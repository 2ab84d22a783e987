/** The table of all settings keys. Validation, the JSON Schema and docs/settings.md use this table. */

import { defaults } from "./defaults.ts";
import { entrySchema } from "./entry-schema.ts";
import {
  type LeafKey,
  listKey,
  longestTime,
  numberKey,
  type ObjectKey,
  type SettingsKey,
  switchKey,
  textKey,
  type WorkspaceRule,
} from "./key.ts";
import { serverExtras } from "./server-extras-schema.ts";

const trusted = "once the folder is trusted";
const tightens = "only to restrict further, in a trusted folder";
const never = "never: set it in user or system settings";

/** Creates the key of a tool budget. Its value is `{ tokens?, tools? }`, or a number, which sets `tokens`. */
function toolBudgetKey(workspace: WorkspaceRule, description: string, tokens: string, tools: string): ObjectKey {
  const count = (maximum: number, about: string): LeafKey => numberKey(workspace, about, { minimum: 1, maximum });
  return {
    type: "object",
    description,
    instead: count(1_000_000_000, "A number instead of an object sets `tokens`."),
    insteadSets: "tokens",
    properties: { tokens: count(1_000_000_000, tokens), tools: count(10_000, tools) },
  };
}

/** The keys that limit what one client of the gateway may use. */
const clientProfileSchema: ObjectKey = {
  type: "object",
  description: "The servers and tools that one client of the gateway may use.",
  properties: {
    servers: listKey(
      never,
      "The servers that the client may use. Default: all. With an empty list, the client can use no server.",
      { examples: [["github", "files"]] },
    ),
    tools: listKey(
      never,
      "The tools that the client may use, as `server.tool`; `*` matches any characters. Default: all tools of the servers that the client may use.",
      { examples: [["github.search_*", "files.*"]] },
    ),
    toolBudget: toolBudgetKey(
      never,
      "The limit on the tools that the gateway lists to the client. A number instead of an object sets `tokens`. The client finds the other tools with `search_tools` and calls them with `call_tool`. Default: the gateway lists all tools.",
      "How many tokens the listed tools may take.",
      "How many tools the gateway may list.",
    ),
    loadSkill: switchKey(
      never,
      "Whether the client gets the tool `load_skill`, if its servers have skills. For clients that cannot load skills themselves.",
      { default: false },
    ),
  },
};

const fairlead: ObjectKey = {
  type: "object",
  description: "Fairlead's own settings.",
  properties: {
    start: textKey(
      trusted,
      "When Fairlead connects to servers: at once in the background, or when they are first used.",
      { oneOf: ["background", "lazy"], default: "background" },
    ),
    background: textKey(
      never,
      "Whether commands such as `fairlead call` use the background host, which keeps servers running between commands. `auto`: a command uses it if it runs, and starts it if the command has a terminal. `on`: every command starts it. `off`: each command starts its own servers. In CI (variable `CI`), each command starts its own servers.",
      { oneOf: ["auto", "on", "off"], default: "auto" },
    ),
    publicServerCards: switchKey(
      never,
      "Whether every program that reaches `fairlead serve --http` may read its server cards (`/mcp/server-card`, `/mcp/NAME/server-card`) without a token. They have the names of your servers.",
      { default: false },
    ),
    connectTimeout: numberKey(tightens, "How long connecting may take, in milliseconds.", {
      minimum: 1,
      maximum: longestTime,
      default: defaults.connectTimeout,
    }),
    limits: {
      type: "object",
      description: "Limits on calls; a workspace may lower them.",
      properties: {
        callTotal: numberKey(tightens, "How long a call may take in total, even with progress, in milliseconds.", {
          minimum: 1,
          maximum: longestTime,
          default: defaults.callTotal,
        }),
        callsPerServer: numberKey(tightens, "How many calls may run at the same time on one server.", {
          minimum: 1,
          maximum: 10_000,
          default: defaults.callsPerServer,
        }),
        callsTotal: numberKey(tightens, "How many calls may run at the same time on all servers.", {
          minimum: 1,
          maximum: 10_000,
          default: defaults.callsTotal,
        }),
        catalogBytes: numberKey(
          tightens,
          "The maximum size of one server's catalog, in bytes of JSON: tools, prompts and resources together. One page of a list may take a quarter of this size. Fairlead leaves out the items beyond the limit and says so in a note about the server.",
          { minimum: 1024, maximum: 1_000_000_000, default: defaults.catalogBytes },
        ),
      },
    },
    permissions: {
      type: "object",
      description:
        "Which tools may be called. Checked before all other rules; no other rule can allow a tool that is denied here.",
      properties: {
        servers: {
          type: "lists",
          workspace: tightens,
          description:
            "For each server, the only tools that may be called. If the workspace has a list too, a tool must be in both lists.",
          examples: [{ github: ["search_issues", "get_issue"] }],
        },
        denyTools: listKey(
          tightens,
          "Tools that are denied on every server. Write the name that the server gives the tool.",
        ),
      },
    },
    toolBudget: toolBudgetKey(
      tightens,
      "How much of a request to the model the tool definitions may take. A number instead of an object sets `tokens`. The model searches for the tools that do not fit.",
      "How many tokens the tool definitions may take. Default: 20000, or a tenth of the model's context if that is less.",
      "How many tools a request may declare. Default: as many as the model's API accepts.",
    ),
    contextTokens: numberKey(
      tightens,
      "The size of the model's context in tokens. Default: the model's known size, or else 128 000.",
      { minimum: 1_000, maximum: 1_000_000_000 },
    ),
    resultTokens: numberKey(
      tightens,
      "The largest result, in tokens, that the model gets completely. A larger result is stored: the model gets a preview and reads the result in parts.",
      { default: defaults.resultTokens, minimum: 100, maximum: 1_000_000_000 },
    ),
    resourceFunctions: switchKey(
      tightens,
      "Whether models get two functions, `list_resources` and `read_resource`, if a server has resources. Each read needs confirmation like a call.",
      { default: true },
    ),
    clientMetadataUrl: textKey(
      never,
      "The address of a client metadata document, which identifies Fairlead to authorization servers.",
      { format: "https-url" },
    ),
    googleHosts: listKey(
      never,
      "Hosts that may get Google tokens (`authProviderType: google_credentials`), in addition to `*.googleapis.com`, `luci.app` and `*.luci.app`; `*.example.com` means every host below `example.com`.",
      { examples: [["tools.example.com", "*.run.app"]] },
    ),
    audit: {
      type: "object",
      description: "Settings of the ledger, which records calls and decisions.",
      properties: {
        arguments: switchKey(never, "Store the arguments of calls in the ledger too, not only their digest.", {
          default: false,
        }),
      },
    },
    telemetry: {
      type: "object",
      description:
        "What spans contain if telemetry is on. Where it goes is set only by OpenTelemetry's environment variables: docs/telemetry.md.",
      properties: {
        arguments: switchKey(
          never,
          "Put the arguments of calls and prompts into spans. Secrets that Fairlead knows are hidden, others are not.",
          { default: false },
        ),
        results: switchKey(
          never,
          "Put the results of calls into spans. Secrets that Fairlead knows are hidden, others are not.",
          { default: false },
        ),
      },
    },
    recording: switchKey(
      tightens,
      "Record conversations in `~/.fairlead/conversations`, so that they can be resumed and replayed. `false` in any file turns recording off.",
      { default: true },
    ),
    team: {
      type: "section",
      workspace: "never: set it in system settings",
      description:
        "The gateway of a team, `fairlead serve --team`: where it listens, its store, its keys and who may use it. docs/team.md lists its keys.",
    },
    registries: listKey(
      never,
      "The MCP registries that `fairlead mcp search` and `fairlead mcp add` read, in this order: an https address with the API v0.1, or a JSON file or a folder of this machine. Default: the official registry.",
      { examples: [["https://registry.modelcontextprotocol.io", "~/registry.json"]] },
    ),
    sandbox: textKey(
      tightens,
      "Whether programs run in a sandbox if their entry does not say so (`fairlead.servers.<name>.sandbox`). Linux only.",
      { oneOf: ["off", "on"], default: "off" },
    ),
    servers: {
      type: "named",
      placeholder: "<name>",
      description: "Fairlead's own options for one server.",
      each: serverExtras,
    },
    clients: {
      type: "named",
      placeholder: "<name>",
      description: "The servers and tools that one client of the gateway may use (`fairlead serve --client NAME`).",
      each: clientProfileSchema,
    },
  },
};

/** All settings keys that Fairlead reads, with types, defaults and descriptions. */
export const settingsSchema: ObjectKey = {
  type: "object",
  description:
    "Settings of Gemini CLI and Fairlead. Keys that are not listed here belong to other programs and are left alone.",
  shared: true,
  properties: {
    $schema: textKey("no effect anywhere", "The address of this schema, for editors."),
    mcpServers: {
      type: "named",
      placeholder: "<name>",
      description:
        "The servers, by name. Of several entries with the same name, only the entry of the strongest scope is used.",
      each: entrySchema,
    },
    mcp: {
      type: "object",
      description: "Which servers may start.",
      properties: {
        allowed: listKey(
          tightens,
          "Only these servers may start. If several settings files have this list, a server must be in each of these lists; an empty list allows none. An entry of a workspace still needs approval.",
        ),
        excluded: listKey(
          tightens,
          "Fairlead does not start these servers. If several settings files have this list, all of these lists apply.",
        ),
        serverCommand: textKey(
          "once the folder is trusted and the entry approved",
          "A command line that becomes the server `mcp`, unless there is an entry of that name. Quotes work as in a shell; operators such as `|` are not allowed.",
          { expanded: true, examples: ["node ./server.js --port 8080"] },
        ),
      },
    },
    security: {
      type: "object",
      description: "Gemini CLI's security settings. Fairlead uses only `folderTrust.enabled`.",
      shared: true,
      properties: {
        folderTrust: {
          type: "object",
          description: "Trusted folders.",
          properties: {
            enabled: switchKey(
              never,
              "If `false`, Fairlead treats every folder as trusted. Entries of a workspace still need approval.",
              { default: true },
            ),
          },
        },
      },
    },
    ide: {
      type: "object",
      description: "Gemini CLI's settings about the IDE. Fairlead uses only `enabled`.",
      shared: true,
      properties: {
        enabled: switchKey(
          never,
          "If `false`, Fairlead does not ask the IDE whether it trusts the folder. Fairlead asks if it runs in the integrated terminal of an IDE with Gemini CLI's companion extension.",
          { default: true },
        ),
      },
    },
    fairlead,
  },
};

/** Lists every key that holds a value, with its path. `<name>` stands for a name that the user chooses. */
export function leafKeys(
  key: SettingsKey = settingsSchema,
  path: readonly string[] = [],
): readonly { path: readonly string[]; key: LeafKey }[] {
  if (key.type === "named") return leafKeys(key.each, [...path, key.placeholder]);
  if (key.type === "object")
    return Object.entries(key.properties).flatMap(([name, inner]) => leafKeys(inner, [...path, name]));
  return [{ path, key }];
}
