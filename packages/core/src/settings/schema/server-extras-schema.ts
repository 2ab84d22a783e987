/** The keys of `fairlead.servers.<name>`. */

import type { ObjectKey, WorkspaceRule } from "./key.ts";
import { machineAuthSchema } from "./machine-auth-schema.ts";

const trusted: WorkspaceRule = "once the folder is trusted";
const tightens: WorkspaceRule = "only to restrict further, in a trusted folder";
const never: WorkspaceRule = "never: set it in user or system settings";

/** Describes Fairlead's own settings for one server. */
export const serverExtras: ObjectKey = {
  type: "object",
  description: "Fairlead's own options for a server of `mcpServers`.",
  properties: {
    enabled: {
      type: "switch",
      default: true,
      workspace: tightens,
      description: "`false` in any file disables the server (`fairlead mcp disable`).",
    },
    start: {
      type: "text",
      oneOf: ["background", "lazy"],
      workspace: trusted,
      description: "Like `fairlead.start`, but only for this server.",
    },
    trustAnnotations: {
      type: "switch",
      default: false,
      workspace: never,
      description: "Trust the server's annotations of its tools (read-only, destructive).",
    },
    sampling: {
      type: "switch",
      default: false,
      workspace: never,
      description: "The server may send requests to your model (sampling).",
    },
    roots: {
      type: "switch",
      default: false,
      workspace: never,
      description:
        "Send the workspace root to the server as its MCP root, in a trusted folder. Some servers (`server-filesystem`) then access this folder instead of the folders in their arguments.",
    },
    machineAuth: machineAuthSchema,
    hideResults: {
      type: "switch",
      default: false,
      workspace: tightens,
      description:
        "Keep the server's results out of recorded conversations and recordings: they are replaced by `(hidden)`. `fairlead test` writes no snapshots of them.",
    },
    alwaysLoad: {
      type: "switch",
      default: false,
      workspace: trusted,
      description:
        "Offer the server's tools to models directly, before those of other servers, as far as `fairlead.toolBudget` has room for them.",
    },
    share: {
      type: "text",
      oneOf: ["auto", "all", "client"],
      default: "auto",
      workspace: never,
      description:
        "How clients of the gateway (`fairlead serve`) share connections to the server. `all`: all clients share one connection. `client`: each client has its own connection. `auto`: clients share a connection to a server with the stateless protocol (2026-07-28) and to most stdio programs; each client has its own connection to an HTTP server with an older protocol, and to a program that keeps state for one user (browser, shell, debugger), that asks questions without saying which client they concern, or that gets `roots`.",
    },
    issuerOverride: {
      type: "text",
      format: "url",
      workspace: never,
      description: "Accept this issuer although the server's metadata names another issuer.",
    },
  },
};
