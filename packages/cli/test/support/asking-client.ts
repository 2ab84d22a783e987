/** A client of the gateway whose request waits for a yes in a machine's inbox. */

import { join } from "node:path";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/policy/confirmation";
import { Consent } from "@fairlead/gateway/consent/consent";
import { errorMessage } from "@fairlead/wire/text";
import type { Machine } from "./machine.ts";

export interface AskingClient extends AsyncDisposable {
  /** Requests to write a file with this text; resolves with `yes`, or with the reason why it was not run. */
  request(text: string, signal?: AbortSignal): Promise<string>;
  /** The answers that reached the host. */
  readonly outcomes: readonly string[];
}

/** @param isOutdated Whether the tool's definition changes while a request waits. */
export function askingClient({ home }: Machine, isOutdated = false): AskingClient {
  let last = 0;
  /** No two requests have the same time, by which the inbox sorts them. */
  const now = (): number => {
    last = Math.max(last + 1, Date.now());
    return last;
  };
  const consent = new Consent({ stateFolder: join(home, ".fairlead"), now });
  const { ProceedOnce, ProceedAlwaysTool, Cancel } = ToolConfirmationOutcome;
  const outcomes: string[] = [];
  return {
    outcomes,
    async request(text, signal = new AbortController().signal) {
      const details: ToolCallConfirmationDetails = {
        type: "mcp",
        title: "Confirm",
        serverName: "files",
        toolName: "write_file",
        toolDisplayName: "write_file",
        description: "Writes a file",
        args: { path: "a.txt", text },
        annotations: { destructiveHint: true },
        rule: { decision: "ask_user", tier: "user", text: "rule 1 of fairlead.toml" },
        outcomes: [ProceedOnce, ProceedAlwaysTool, Cancel],
        onConfirm: async (outcome) => void outcomes.push(outcome),
        isOutdated: () => isOutdated,
      };
      const client = {
        name: "cursor",
        conversation: "c1",
        elicitation: { form: false, url: false },
        elicit: () => Promise.reject(new Error("it cannot ask")),
      };
      return consent
        .port(
          client,
          signal,
        )(async () => details)
        .then(() => "yes", errorMessage);
    },
    [Symbol.asyncDispose]: () => consent[Symbol.asyncDispose](),
  };
}
