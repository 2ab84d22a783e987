/** The app's models, and manual mode: without a model, the app runs each typed line as a tool call. */

import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import { createManualModel, type Model, type ModelChoice, type ModelList } from "@fairlead/core/model";
import type { ToolCallConfirmationDetails } from "@fairlead/core/policy";
import type { ConversationTool } from "@fairlead/core/turn";
import { readManualLine } from "../../headless/manual-line.ts";
import type { Context } from "../../shell/verb.ts";
import { typedHere } from "../slash/typed-here.ts";

/** Creates the model for manual mode. It parses each line as `fairlead call` does, and shows errors as its answer. */
export function openManualModel(
  host: Host,
  tools: () => readonly ConversationTool[],
  context: Pick<Context, "io" | "out">,
  findModel: () => Promise<ModelChoice>,
): Model {
  return createManualModel({
    async parse(line) {
      if (isProse(line, host.states(), tools())) return { kind: "message", text: noModelText(await findModel()) };
      try {
        return { kind: "call", call: await readManualLine(line, { host, tools: tools() }, context) };
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        const { message, next } = error;
        return { kind: "message", text: next === undefined ? message : `${message}\n\nnext: ${typedHere(next)}` };
      }
    },
  });
}

/** Whether a line is a message to a model, and not a mistyped call such as `demo.gret name=Ada`. */
function isProse(
  line: string,
  servers: readonly { readonly name: string }[],
  tools: readonly ConversationTool[],
): boolean {
  const [word = "", ...words] = line.trim().split(/\s+/);
  if (tools.some(({ name }) => name === word) || servers.some(({ name }) => word.startsWith(`${name}.`))) return false;
  if (words.length === 0) return !/[.(]/.test(word) && !servers.some(({ name }) => name === word);
  return (
    word !== "call" && word !== "fairlead" && !/^[^\s=]+\(/.test(line) && !words.every((each) => /^[^=]+=/.test(each))
  );
}

/** Says how to get a model, and what the user can do without one. */
function noModelText(choice: ModelChoice): string {
  return [
    `There is no model to answer this. ${howToGetOne(choice)}`,
    "",
    "Without a model you can:",
    "- call tools yourself, for example: `demo.greet name=Ada`",
    "- see which tools there are: `/tools`",
    "- fill in a form for a call: `/form demo.greet`",
  ].join("\n");
}

function howToGetOne(choice: ModelChoice): string {
  switch (choice.kind) {
    case "model":
      return `To use ${choice.model.name}: \`/model ${choice.model.name}\``;
    case "offer":
      return `Ollama is running on this machine. To use it: \`/model ${choice.ollama.models[0] ?? "NAME"}\``;
    case "none":
      return `To get one: ${choice.next} Then start Fairlead again. Or store a key, \`fairlead secret set GEMINI_API_KEY\` (or ANTHROPIC_API_KEY), and choose a model with \`/model\`.`;
  }
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
  { serverName, toolName, kind, args, change }: ToolCallConfirmationDetails,
): Promise<boolean> {
  if (provider !== "manual" || change !== undefined || kind === "host") return false;
  const { decision } = await host.decide(serverName, toolName, args, { typed: true });
  return decision === "allow";
}
