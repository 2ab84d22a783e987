/** Manual mode: parses typed lines as tool calls. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { createManualModel } from "@fairlead/core/model/manual";
import type { Model } from "@fairlead/core/model/model";
import type { ConversationTool } from "@fairlead/core/turn/conversation";
import { readManualLine } from "../../headless/manual-line.ts";
import type { Context } from "../../shell/verb.ts";
import { typedHere } from "../slash/typed-here.ts";

/** A model that parses each line as a call, in the syntax of `fairlead call`. */
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
