/** The keys of `fairlead.clients.<name>`, and the key of a tool budget. */

import type { LeafKey, ObjectKey, WorkspaceRule } from "./key.ts";

const never: WorkspaceRule = "never: set it in user or system settings";

interface BudgetTexts {
  readonly description: string;
  readonly workspace: WorkspaceRule;
  readonly tokens: string;
  readonly tools: string;
}

/** Creates the key of a tool budget. Its value is `{ tokens?, tools? }`, or a number, which sets `tokens`. */
export function toolBudgetKey({ description, workspace, tokens, tools }: BudgetTexts): ObjectKey {
  const count = (maximum: number, about: string): LeafKey => ({
    type: "number",
    minimum: 1,
    maximum,
    workspace,
    description: about,
  });
  return {
    type: "object",
    description,
    instead: count(1_000_000_000, "A number instead of an object sets `tokens`."),
    insteadSets: "tokens",
    properties: { tokens: count(1_000_000_000, tokens), tools: count(10_000, tools) },
  };
}

/** The keys that limit what one client of the gateway may use. */
export const clientProfileSchema: ObjectKey = {
  type: "object",
  description: "The servers and tools that one client of the gateway may use.",
  properties: {
    servers: {
      type: "list",
      workspace: never,
      description:
        "The servers that the client may use. Default: all. With an empty list, the client can use no server.",
      examples: [["github", "files"]],
    },
    tools: {
      type: "list",
      workspace: never,
      description:
        "The tools that the client may use, as `server.tool`; `*` matches any characters. Default: all tools of the servers that the client may use.",
      examples: [["github.search_*", "files.*"]],
    },
    toolBudget: toolBudgetKey({
      description:
        "The limit on the tools that the gateway lists to the client. A number instead of an object sets `tokens`. The client finds the other tools with `search_tools` and calls them with `call_tool`. Default: the gateway lists all tools.",
      workspace: never,
      tokens: "How many tokens the listed tools may take.",
      tools: "How many tools the gateway may list.",
    }),
  },
};
