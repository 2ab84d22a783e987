/** Answers requests from servers: confirmations, elicitation and sampling. The user decides each one. */

import { HostError } from "@fairlead/core/errors";
import type { OpenHostOptions } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model/model";
import { type ToolCallConfirmationDetails, ToolConfirmationOutcome } from "@fairlead/core/registry/confirmation";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import type { QuestionQueue } from "./question-queue.ts";
import { sampleModel } from "./sample-model.ts";

export interface ServerQuestionsOptions {
  readonly asking: () => Pick<QuestionQueue, "ask">;
  readonly model: () => Model;
  /** Whether the user has consented by typing the call. */
  readonly isConsented: (details: ToolCallConfirmationDetails) => Promise<boolean>;
  /** Resolves to false if no browser could be opened. */
  readonly openUrl: (url: string) => Promise<boolean>;
  readonly tell: (text: string) => void;
}

type Answerers = Required<Pick<OpenHostOptions, "confirm" | "elicit" | "sample" | "onUnaskable">>;

/** The host's name for a sampling request; no tool can have this name. */
const samplingName = "sampling/createMessage";

const longestAddress = 300;

export function answerServers({ asking, model, isConsented, openUrl, tell }: ServerQuestionsOptions): Answerers {
  return {
    async confirm(details, signal) {
      const { ask } = asking();
      if (details.toolDisplayName !== samplingName) {
        if (await isConsented(details)) return ToolConfirmationOutcome.ProceedOnce;
        return ask("confirmation", { kind: "confirmation", details }, signal);
      }
      const { serverName, args: params } = details;
      if (model().provider === "manual") {
        tell(`"${toVisibleLine(serverName)}" asked to use your model, but no model is configured: /model`);
        return ToolConfirmationOutcome.Cancel;
      }
      const isAllowed = await ask("sampling", { kind: "sampling", serverName, params, model: model().name }, signal);
      return isAllowed ? ToolConfirmationOutcome.ProceedOnce : ToolConfirmationOutcome.Cancel;
    },

    async elicit(request, signal) {
      const { ask } = asking();
      const { serverName, message } = request;
      if (request.mode === "form") {
        const { requestedSchema: schema } = request;
        return ask("form", { kind: "form", serverName, message, schema, purpose: "elicitation" }, signal);
      }
      const { url } = request;
      const answer = await ask("url", { kind: "url", serverName, message, url, purpose: "elicitation" }, signal);
      if (answer === "decline" || answer === "cancel") return { action: answer };
      if (answer === "open" && !(await openUrl(url))) tell(`No browser could be opened here. Open it yourself: ${url}`);
      return { action: "accept" };
    },

    onUnaskable({ serverName, url }) {
      const what =
        url === undefined
          ? "sent a question that is not a valid form"
          : `asked you to open an unsafe address: ${toVisibleLine(url.slice(0, longestAddress))}`;
      tell(`"${toVisibleLine(serverName)}" ${what}. Fairlead declined it.`);
    },

    async sample({ serverName, params }, signal) {
      const asked = model();
      const answer = await sampleModel(asked, serverName, params, signal);
      const isGiven = await asking().ask(
        "sampling",
        { kind: "sampling", serverName, params, model: asked.name, answer },
        signal,
      );
      if (!isGiven) throw new HostError("denied", "the user did not release the answer of the model", { serverName });
      const { text, isCut } = answer;
      return {
        role: "assistant",
        content: { type: "text", text },
        model: asked.name,
        stopReason: isCut ? "maxTokens" : "endTurn",
      };
    },
  };
}
