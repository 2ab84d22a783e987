/** Whether a call may run: what is closed stays closed, what is trusted runs, and anything else needs a person's word for exactly these arguments. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import { createAllowList } from "../registry/allow-list.ts";
import {
  type AskedTool,
  askAbout,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
} from "../registry/confirmation.ts";
import type { HostSettings } from "../settings/definition.ts";
import { canonicalJson } from "../text/canonical-json.ts";
import { closedBy } from "./permissions.ts";

export interface ConsentOptions {
  /** As they are now. */
  readonly permissions: () => HostSettings["permissions"];
  /** The entry says so, in a trusted folder. */
  readonly isTrusted: (serverName: string) => boolean;
  /** Its new definition, if that is not the one that was shown: neither trust nor an earlier "always" speaks for it. */
  readonly changeOf: (tool: Pair) => string | undefined;
  /** A person has seen the new definition and wants it from now on. */
  readonly accept: (tool: Pair) => void;
}

/** Who is meant. */
export type Pair = Pick<AskedTool, "serverName" | "serverToolName">;

export interface Consent {
  readonly decide: (tool: Pair) => "allow" | "ask_user" | "deny";
  /** `false`: may run. Throws `denied`, naming the setting. */
  readonly ask: (tool: AskedTool, args: JsonObject) => ToolCallConfirmationDetails | false;
  /** Throws `denied` unless it may run, now, with these arguments. A yes for once is used up. */
  readonly redeem: (tool: Pair, args: JsonObject) => string | undefined;
}

/** The allow-list belongs to one host. */
export function createConsent({ permissions, isTrusted, changeOf, accept }: ConsentOptions): Consent {
  const allowed = createAllowList();
  /** How often what was shown may still run. */
  const confirmed = new Map<string, number>();

  function decide(tool: Pair): "allow" | "ask_user" | "deny" {
    const { serverName, serverToolName } = tool;
    if (closedBy(permissions(), serverName, serverToolName) !== undefined) return "deny";
    if (changeOf(tool) !== undefined) return "ask_user";
    return isTrusted(serverName) || allowed.allows(serverName, serverToolName) ? "allow" : "ask_user";
  }

  function take(tool: Pair, key: string, outcome: ToolConfirmationOutcome): void {
    switch (outcome) {
      case ToolConfirmationOutcome.ProceedAlwaysServer:
        accept(tool);
        allowed.addServer(tool.serverName);
        break;
      case ToolConfirmationOutcome.ProceedAlwaysTool:
        accept(tool);
        allowed.addTool(tool.serverName, tool.serverToolName);
        break;
      case ToolConfirmationOutcome.ProceedOnce:
        confirmed.set(key, (confirmed.get(key) ?? 0) + 1);
        break;
      // Whatever else a program passes on is no yes either.
      case ToolConfirmationOutcome.Cancel:
    }
  }

  /** What a yes for once is for: these arguments of this tool, as it is defined now. */
  function keyOf(tool: Pair, args: JsonObject): string {
    return canonicalJson([tool.serverName, tool.serverToolName, args, changeOf(tool) ?? null]);
  }

  return {
    decide,

    ask(tool, args) {
      const decision = decide(tool);
      if (decision === "deny") throw closed(permissions(), tool);
      if (decision === "allow") return false;
      const key = keyOf(tool, args);
      return askAbout(tool, args, (outcome) => take(tool, key, outcome));
    },

    redeem(tool, args) {
      const decision = decide(tool);
      if (decision === "deny") throw closed(permissions(), tool);
      if (decision === "allow") return undefined;
      const key = keyOf(tool, args);
      const left = confirmed.get(key) ?? 0;
      if (left === 0) throw notConfirmed(tool);
      if (left === 1) confirmed.delete(key);
      else confirmed.set(key, left - 1);
      return changeOf(tool);
    },
  };
}

/** A setting closes the tool to everyone. */
export function closed(permissions: HostSettings["permissions"], { serverName, serverToolName }: Pair): HostError {
  const setting = closedBy(permissions, serverName, serverToolName) ?? "fairlead.permissions";
  return new HostError("denied", `${setting} in the settings does not permit ${serverName}.${serverToolName}`, {
    serverName,
    next: `Change ${setting} in the settings.`,
  });
}

function notConfirmed({ serverName, serverToolName }: Pair): HostError {
  return new HostError("denied", `${serverName}.${serverToolName} was not confirmed with these arguments`, {
    serverName,
    next: `Ask first, or set "trust": true for "${serverName}" in the settings.`,
  });
}
