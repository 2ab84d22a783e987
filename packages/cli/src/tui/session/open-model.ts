/** The app's models, and manual mode: without a model, the app runs each typed line as a tool call. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { ModelChoice, ModelList } from "@fairlead/core/model/choose-model";
import { createManualModel } from "@fairlead/core/model/manual";
import type { Model } from "@fairlead/core/model/model";
import type { ToolCallConfirmationDetails } from "@fairlead/core/registry/confirmation";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { readManualLine } from "../../headless/manual-line.ts";
import type { Context } from "../../shell/verb.ts";
import { typedHere } from "../slash/typed-here.ts";

/** Creates the model for manual mode. It parses each line as `fairlead call` does, and shows errors as its answer. */
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

/**
 * The models that the app can switch to. `find` searches by name, or chooses one if no name is given. `list` asks the
 * configured APIs for their models.
 */
export interface Models {
  /** The model for manual mode, which turns each typed line into a tool call. */
  readonly manual: Model;
  readonly find: (wanted?: string) => Promise<ModelChoice>;
  readonly list: () => Promise<ModelList>;
}

/**
 * Whether a call needs no confirmation because the user typed it, as with `fairlead call`. Returns false if the tool's
 * definition has changed, or if a rule explicitly asks or denies.
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
