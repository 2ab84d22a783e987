// Prompts of the conformance server, and the completion of their arguments.

import { embedded, image, text } from "./content.mjs";
import { elicit } from "./question-tools.mjs";
import { codes, RpcError } from "./rpc-error.mjs";

const user = (content) => ({ role: "user", content });
const argument = (name) => ({ name, description: `The value of ${name}.`, required: true });
const prompt = (name, description, messages, ...names) => ({
  definition: { name, description, ...(names.length > 0 && { arguments: names.map(argument) }) },
  messages,
});

const steady = [
  prompt("test_simple_prompt", "A prompt without arguments.", () => [user(text("Say something simple."))]),
  prompt(
    "test_prompt_with_arguments",
    "A prompt with two arguments.",
    ({ args }) => [user(text(`Compare ${args.arg1} with ${args.arg2}.`))],
    "arg1",
    "arg2",
  ),
  prompt(
    "test_prompt_with_embedded_resource",
    "A prompt with a resource.",
    ({ args }) => [
      user(embedded(args.resourceUri, "text/plain", "Text in a resource.")),
      user(text("Summarise the resource.")),
    ],
    "resourceUri",
  ),
  prompt("test_prompt_with_image", "A prompt with an image.", () => [user(image), user(text("Describe the image."))]),
  prompt("test_input_required_result_prompt", "A prompt that asks for its context.", async ({ ask }) => {
    const { user_context: answer } = await ask({
      user_context: elicit("In which context?", { context: { type: "string" } }),
    });
    return [user(text(`Think about ${answer.content?.context}.`))];
  }),
];
const extra = prompt("test_extra_prompt", "Is there after every other change.", () => [user(text("It is there."))]);

export const promptsOf = (catalog) => (catalog.has("prompts") ? [...steady, extra] : steady);

/**
 * Gets a prompt.
 * @returns the result of `prompts/get`
 */
export async function getPrompt(call, name) {
  const found = promptsOf(call.catalog).find(({ definition }) => definition.name === name);
  if (found === undefined) throw new RpcError(codes.invalidParams, "no such prompt", { name });
  return { description: found.definition.description, messages: await found.messages(call) };
}

const towns = ["Porto", "Paris", "Tallinn", "Turin"];

/**
 * Completes an argument.
 * @returns the result of `completion/complete`: the towns that begin with the value
 */
export function complete({ ref, argument: { value = "" } = {} }) {
  const isKnown = ref?.type === "ref/resource" || steady.some(({ definition }) => definition.name === ref?.name);
  if (!isKnown) throw new RpcError(codes.invalidParams, "nothing to complete");
  const values = towns.filter((town) => town.toLowerCase().startsWith(String(value).toLowerCase()));
  return { completion: { values, total: values.length, hasMore: false } };
}
