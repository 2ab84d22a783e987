/** Rules for the conversation: the order of the roles, and that every call gets a response. */

import { invalidArgument } from "../errors.ts";
import { type GeminiContent, partsOf } from "../request.ts";
import { inRequest, type Rule } from "./rule.ts";

const callsOf = (content: GeminiContent | undefined) => partsOf(content).flatMap((part) => part.functionCall ?? []);
const responsesOf = (content: GeminiContent | undefined) =>
  partsOf(content).flatMap((part) => part.functionResponse ?? []);

/** `GenerateContentRequest.contents` is required. The text of the error is widely reported. */
const present: Rule = ({ body: { contents = [] } }) =>
  contents.length === 0 ? invalidArgument("* GenerateContentRequest.contents: contents is not specified\n") : undefined;

/** `Content.role` must be 'user' or 'model' (typings of @google/genai). The text of the error is widely reported. */
const role: Rule = ({ body: { contents = [] } }) =>
  contents.some((content) => content.role !== undefined && content.role !== "user" && content.role !== "model")
    ? invalidArgument("Please use a valid role: user, model.")
    : undefined;

/** Every content needs parts, and every part needs data. The texts of both errors are widely reported. */
const filled: Rule = ({ body: { contents = [] } }) => {
  const faults = contents.flatMap((content, at) => {
    if (partsOf(content).length === 0) return [`contents[${at}].parts: contents.parts must not be empty.`];
    return partsOf(content).flatMap((part, index) =>
      part.text === undefined &&
      !part.inlineData &&
      !part.functionCall &&
      !part.functionResponse &&
      !("fileData" in part)
        ? [`contents[${at}].parts[${index}].data: required oneof field 'data' must have one initialized field`]
        : [],
    );
  });
  return faults.length === 0 ? undefined : invalidArgument(inRequest(faults));
};

/**
 * `FunctionResponse.name` and `.response` are required (typings of @google/genai). The text of the first error is
 * widely reported.
 */
const named: Rule = ({ body: { contents = [] } }) => {
  const faults = contents.flatMap((content, at) =>
    partsOf(content).flatMap(({ functionResponse }, index) => {
      const path = `contents[${at}].parts[${index}].function_response`;
      if (!functionResponse) return [];
      if (!functionResponse.name) return [`${path}.name: Name cannot be empty.`];
      return typeof functionResponse.response === "object" ? [] : [`${path}.response: required field is not set.`];
    }),
  );
  return faults.length === 0 ? undefined : invalidArgument(inRequest(faults));
};

/** google-gemini/gemini-cli #11814. */
const callsAfterUser: Rule = ({ body: { contents = [] } }) =>
  contents.some((content, index) => callsOf(content).length > 0 && (contents[index - 1]?.role ?? "model") === "model")
    ? invalidArgument(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      )
    : undefined;

/** langchain #27799. */
const responsesAfterCalls: Rule = ({ body: { contents = [] } }) =>
  contents.some((content, index) => responsesOf(content).length > 0 && callsOf(contents[index - 1]).length === 0)
    ? invalidArgument("Please ensure that function response turn comes immediately after a function call turn.")
    : undefined;

/**
 * The number of responses must equal the number of calls: google-gemini/gemini-cli #3814. Other parts beside the
 * responses count as well: #16135.
 */
const everyCallAnswered: Rule = ({ body: { contents = [] } }) => {
  const isUneven = contents.some((content, index) => {
    const calls = callsOf(content);
    const next = contents[index + 1];
    if (calls.length === 0 || !next) return false;
    const counted = calls.length > 1 ? partsOf(next).length : responsesOf(next).length;
    return counted !== calls.length;
  });
  return isUneven
    ? invalidArgument(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      )
    : undefined;
};

/**
 * `FunctionResponse.id` must "match the corresponding function call `id`" (typings of @google/genai). The real text of
 * the error is not known.
 */
const idsMatch: Rule = ({ body: { contents = [] } }) =>
  contents.some((content, index) => {
    const ids = callsOf(contents[index - 1]).map(({ id }) => id);
    return responsesOf(content).some(({ id }) => id !== undefined && !ids.includes(id));
  })
    ? invalidArgument("Request contains an invalid argument.")
    : undefined;

/** The text of the error for a prompt that is too long is widely reported. */
const fits: Rule = ({ inputTokens, settings: { maxInputTokens } }) =>
  inputTokens > maxInputTokens
    ? invalidArgument(
        `The input token count (${inputTokens}) exceeds the maximum number of tokens allowed (${maxInputTokens}).`,
      )
    : undefined;

export const contentRules: readonly Rule[] = [
  present,
  role,
  filled,
  named,
  callsAfterUser,
  responsesAfterCalls,
  everyCallAnswered,
  idsMatch,
  fits,
];
