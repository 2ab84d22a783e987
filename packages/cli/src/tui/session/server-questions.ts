/**
 * Asks the user when the host needs a decision: may a tool run, how to answer an elicitation, may a server use the
 * model (sampling).
 */

import { HostError } from "@fairlead/core/errors";
import type { OpenHostOptions } from "@fairlead/core/host";
import type { Model } from "@fairlead/core/model";
import type { Content, Part } from "@fairlead/core/normalise";
import { toShellWord } from "@fairlead/core/plain-text";
import {
  type ConfirmationAnswer,
  type ConfirmationView,
  choiceText,
  outcomeOf,
  requestName,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
  toConfirmationView,
} from "@fairlead/core/policy";
import { toVisibleLine } from "@fairlead/core/text/safe-text";
import type { GivenAnswer, SharedConfirmation } from "@fairlead/gateway/consent/shared-confirmations";
import type { JsonObject } from "@fairlead/wire";
import { listOf, member } from "@fairlead/wire/json";
import type { AnswersByKind, SampledAnswer } from "../state/questions.ts";
import type { QuestionQueue } from "./question-queue.ts";

/** The functions with which the app asks the user and shows notes. */
export interface ServerQuestionsOptions {
  readonly questions: () => Pick<QuestionQueue, "ask">;
  readonly model: () => Model;
  /** Whether the call needs no confirmation, because the user typed it. */
  readonly isConsented: (details: ToolCallConfirmationDetails) => Promise<boolean>;
  /** The input schema of a tool, as its server sent it. */
  readonly schemaOf: (server: string, tool: string) => unknown;
  readonly note: (text: string, next?: string) => void;
  /** Puts a confirmation into the inbox, where other programs show it too. Default: only the app shows it. */
  readonly share?: (view: ConfirmationView, isOutdated: () => boolean) => Promise<SharedConfirmation>;
  /** Opens the address in a browser. Resolves to false if no browser could be opened. */
  readonly openUrl: (url: string) => Promise<boolean>;
  readonly tell: (text: string) => void;
}

type Answerers = Required<Pick<OpenHostOptions, "confirm" | "elicit" | "sample" | "onUnaskable">>;

const longestAddress = 300;
/** Where the user answers, as other programs show it. */
const answeredBy = "the terminal app";

/** Returns the functions that the host calls when it needs a decision of the user. */
export function answerServers(options: ServerQuestionsOptions): Answerers {
  const { questions, model, isConsented, openUrl, tell } = options;

  /** Asks about a call. If the user stops editing its arguments, asks again. */
  async function askAboutCall(details: ToolCallConfirmationDetails, signal: AbortSignal): Promise<ConfirmationAnswer> {
    const { serverName, toolName } = details;
    const view = toConfirmationView(details, { who: model().provider === "manual" ? "user" : "model" });
    const answer = await askEverywhere(details, view, signal);
    if (answer === "always") {
      const tool = `${serverName}.${toolName}`;
      const savedText =
        view.kind === "host"
          ? `Saved: ${toVisibleLine(serverName)} may reach ${toVisibleLine(toolName)} from now on, until its entry or its sandbox changes.`
          : `Saved: ${toVisibleLine(tool)} runs without a question from now on, until its definition changes.`;
      options.note(savedText, `to remove the approval: /policy remove ${toShellWord(tool)}`);
    }
    if (typeof answer === "object") return answer;
    if (answer !== "edit") return outcomeOf(answer, view.kind);
    const { editArguments } = await import("./edit-arguments.ts");
    const args = await editArguments(details, options.schemaOf(serverName, toolName), questions(), signal);
    return args === undefined ? askAboutCall(details, signal) : { args };
  }

  /** Asks in the app and in the inbox at the same time. The first answer counts. */
  async function askEverywhere(
    details: ToolCallConfirmationDetails,
    view: ConfirmationView,
    signal: AbortSignal,
  ): Promise<AnswersByKind["confirmation"]> {
    const elsewhere = new AbortController();
    const until = AbortSignal.any([signal, elsewhere.signal]);
    const here = questions().ask("confirmation", { kind: "confirmation", view }, until);
    // If the inbox cannot be written, the question stands in the app alone.
    const sharing = options.share?.(view, () => details.isOutdated?.() === true).catch(() => undefined);
    const answeredThere = sharing?.then((shared) => shared?.answered ?? new Promise<never>(() => {}));
    const given = await Promise.race([here.then(() => undefined), ...(answeredThere ? [answeredThere] : [])]);
    if (given !== undefined) {
      elsewhere.abort();
      return answerFrom(given, view);
    }
    const [shared, answer] = [await sharing, await here];
    const choice = typeof answer === "object" ? "no" : answer;
    if (signal.aborted || choice === "edit") {
      await shared?.withdraw();
      return answer;
    }
    const counted = await shared?.answer(choice, answeredBy).catch(() => undefined);
    return counted === undefined || counted.isFirst ? answer : answerFrom(counted, view);
  }

  /** The answer that the user has given in another program. */
  function answerFrom({ answer, by, because }: GivenAnswer, view: ConfirmationView): AnswersByKind["confirmation"] {
    const what = answer === "no" ? "no" : choiceText(answer, view);
    options.note(`${requestName(view)}: answered in ${toVisibleLine(by)}: ${toVisibleLine(what)}.`);
    return answer === "no" && because !== undefined ? { because } : answer;
  }

  return {
    async confirm(details, signal) {
      const { ask } = questions();
      if (details.kind !== "sampling") {
        if (await isConsented(details)) {
          await details.onConfirm(ToolConfirmationOutcome.ProceedOnce, "typed");
          return ToolConfirmationOutcome.ProceedOnce;
        }
        return askAboutCall(details, signal);
      }
      const { serverName, args: params } = details;
      if (model().provider === "manual") {
        tell(
          `"${toVisibleLine(serverName)}" asked to use your model, but no model is configured. To choose a model: /model`,
        );
        return ToolConfirmationOutcome.Cancel;
      }
      const isAllowed = await ask("sampling", { kind: "sampling", serverName, params, model: model().name }, signal);
      return isAllowed ? ToolConfirmationOutcome.ProceedOnce : ToolConfirmationOutcome.Cancel;
    },

    async elicit(request, signal) {
      const { ask } = questions();
      const { serverName, message } = request;
      if (request.mode === "form") {
        const { requestedSchema: schema } = request;
        return ask("form", { kind: "form", serverName, message, schema, purpose: "elicitation" }, signal);
      }
      const { url } = request;
      const answer = await ask("url", { kind: "url", serverName, message, url, purpose: "elicitation" }, signal);
      if (answer === "decline" || answer === "cancel") return { action: answer };
      if (answer === "open" && !(await openUrl(url)))
        tell(`No browser could be opened here. Open this address yourself: ${url}`);
      return { action: "accept" };
    },

    onUnaskable({ serverName, url }) {
      const what =
        url === undefined
          ? "asked a question with an invalid form"
          : `asked you to open an unsafe address: ${toVisibleLine(url.slice(0, longestAddress))}`;
      tell(`"${toVisibleLine(serverName)}" ${what}. Fairlead declined the request.`);
    },

    async sample({ serverName, params }, signal) {
      const asked = model();
      const answer = await sampleModel(asked, serverName, params, signal);
      const isGiven = await questions().ask(
        "sampling",
        { kind: "sampling", serverName, params, model: asked.name, answer },
        signal,
      );
      if (!isGiven)
        throw new HostError("denied", "the user did not allow the server to get the model's answer", { serverName });
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

interface Sampled extends SampledAnswer {
  /** Whether the answer was cut at `maxTokens`. */
  readonly isCut: boolean;
}

/** A rough estimate, to cut the model's answer to about `maxTokens`. */
const charactersPerToken = 4;

/** Sends a server's sampling request to the user's model. The model does not see the conversation. */
async function sampleModel(
  model: Model,
  serverName: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Sampled> {
  if (model.provider === "manual") throw new HostError("model", "no model configured", { serverName, next: "/model" });
  const system = member(params, "systemPrompt");
  const most = member(params, "maxTokens");
  const room = typeof most === "number" && most > 0 ? most * charactersPerToken : Number.POSITIVE_INFINITY;
  const messages = listOf(member(params, "messages")).map(toContent);
  let text = "";
  let usage = {};
  let isCut = false;
  for await (const event of model.stream(messages, [], signal, typeof system === "string" ? { system } : {})) {
    if (event.type === "text") text += event.text;
    if (event.type === "usage") usage = { inputTokens: event.inputTokens, outputTokens: event.outputTokens };
    if (event.type === "rejected") throw new HostError("model", event.message, { serverName });
    if (event.type === "finish") isCut = event.reason === "length";
    if (text.length > room) return { ...usage, text: text.slice(0, room), isCut: true };
  }
  return { ...usage, text, isCut };
}

function toContent(message: unknown): Content {
  const role = member(message, "role") === "assistant" ? "model" : "user";
  return { role, parts: [member(message, "content")].flat().map(toPart) };
}

function toPart(block: unknown): Part {
  const [text, data, mimeType] = ["text", "data", "mimeType"].map((name) => member(block, name));
  if (typeof data === "string" && typeof mimeType === "string") return { inlineData: { mimeType, data } };
  return { text: typeof text === "string" ? text : JSON.stringify(block) };
}
