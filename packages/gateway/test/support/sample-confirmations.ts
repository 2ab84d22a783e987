/** A host's confirmation and a client, for tests of consent. */

import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import type { JsonObject } from "@fairlead/wire";
import type { AskedClient } from "../../src/gateway-client.ts";

export interface SampleConfirmation {
  readonly details: ToolCallConfirmationDetails;
  /** The answers that reached the host, with the place where they were given. */
  readonly outcomes: (readonly [string, string | undefined])[];
}

export function sampleConfirmation(changes: Partial<ToolCallConfirmationDetails> = {}): SampleConfirmation {
  const outcomes: (readonly [string, string | undefined])[] = [];
  const { ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel } = ToolConfirmationOutcome;
  return {
    outcomes,
    details: {
      type: "mcp",
      title: "Confirm",
      serverName: "files",
      toolName: "write_file",
      toolDisplayName: "write_file",
      description: "Writes a file",
      args: { path: "a.txt", text: "hello" },
      rule: { decision: "ask_user", tier: "user", text: "rule 1 of fairlead.toml" },
      outcomes: [ProceedOnce, ProceedAlwaysTool, ProceedAlwaysServer, ProceedAlwaysAndSave, Cancel],
      async onConfirm(outcome, how) {
        outcomes.push([outcome, how]);
      },
      ...changes,
    },
  };
}

export const writeFile = { server: "files", kind: "tool", name: "write_file" } as const;

/** A client that answers elicitations with this function; without it, it declares none. */
export function sampleClient(
  declares: Partial<AskedClient["elicitation"]> = {},
  elicit: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject> = () =>
    Promise.reject(new Error("not asked")),
  changes: Partial<AskedClient> = {},
): AskedClient {
  return {
    name: "claude-code",
    conversation: "c1",
    elicitation: { form: false, url: false, ...declares },
    elicit,
    ...changes,
  };
}
