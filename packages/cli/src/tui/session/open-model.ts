/** The models that the app can use, including manual mode, which parses typed lines as tool calls. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { ModelChoice } from "@fairlead/core/model/choose-model";
import { createManualModel } from "@fairlead/core/model/manual";
import type { Model } from "@fairlead/core/model/model";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { readManualLine } from "../../headless/manual-line.ts";
import type { Context } from "../../shell/verb.ts";
import { typedHere } from "../slash/typed-here.ts";

/** The model of manual mode: parses each line as a call, in the syntax of `fairlead call`. */
export function openManualModel(
  host: () => Host,
  tools: () => readonly ConversationTool[],
  context: Pick<Context, "io" | "out">,
): Model {
  return createManualModel({
    async parse(line) {
      try {
        return { kind: "call", call: await readManualLine(line, { host: host(), tools: tools() }, context) };
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        const { message, next } = error;
        return { kind: "message", text: next === undefined ? message : `${message}\n\nnext: ${typedHere(next)}` };
      }
    },
  });
}

export interface Models {
  /** The model of manual mode, which parses each line as a call. */
  readonly manual: Model;
  readonly find: (wanted?: string) => Promise<ModelChoice>;
}

/**
 * Whether a call typed in manual mode needs no confirmation, as with `fairlead call`. A call still needs confirmation
 * if the tool's definition has changed or if an ask rule of the user or an administrator applies. A deny rule still
 * denies the call.
 */
export async function isConsentedByTyping(
  host: Pick<Host, "decide">,
  { provider }: Pick<Model, "provider">,
  { serverName, toolName, args, change }: ToolCallConfirmationDetails,
): Promise<boolean> {
  if (provider !== "manual" || change !== undefined) return false;
  const { decision } = await host.decide(serverName, toolName, args, { typed: true });
  return decision === "allow";
}
