/** Rules for binary data in a conversation, and for references to it. */

import { invalidArgument } from "../errors.ts";
import { type GeminiPart, partsOf } from "../request.ts";
import type { Rule } from "./rule.ts";

/**
 * The media types on the pages about image, audio, video and document understanding (ai.google.dev/gemini-api/docs).
 * Text may be sent as bytes too.
 */
const accepted =
  /^(image\/(png|jpeg|webp|heic|heif)|audio\/(wav|mp3|mpeg|aiff|aac|ogg|flac)|video\/(mp4|mpeg|mov|quicktime|avi|x-flv|mpg|webm|wmv|3gpp)|application\/pdf|text\/[a-z]+)$/;

/** The error for an unsupported media type: charmbracelet/crush #995, googleapis/python-genai #744. */
const type: Rule = ({ body: { contents = [] } }) => {
  const parts = contents.flatMap(partsOf).flatMap((part) => [part, ...(part.functionResponse?.parts ?? [])]);
  const types = parts.flatMap(({ inlineData }) => (inlineData ? [inlineData.mimeType ?? ""] : []));
  const refused = types.find((each) => !accepted.test(each));
  return refused === undefined ? undefined : invalidArgument(`Unsupported MIME type: ${refused}`);
};

/** Only Gemini 3 and later accept media in results: google-gemini/gemini-cli #19436. */
const inResponses: Rule = ({ body: { contents = [] }, settings }) =>
  !settings.takesMediaInResponses && responsesIn(contents.flatMap(partsOf)).some(({ parts }) => parts !== undefined)
    ? invalidArgument(
        "Unable to submit request because `function_response.parts` is not supported for this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling",
      )
    : undefined;

/** The API takes any `$ref` in a result for a reference to its media: NousResearch/hermes-agent #93014. */
const references: Rule = ({ body: { contents = [] } }) => {
  for (const { response, parts = [] } of responsesIn(contents.flatMap(partsOf))) {
    const names = parts.flatMap(({ inlineData }) =>
      inlineData && "displayName" in inlineData ? inlineData.displayName : [],
    );
    const dangling = referencesIn(response).find((name) => !names.includes(name));
    if (dangling === undefined) continue;
    return invalidArgument(
      `The referenced name \`${dangling}\` in function_response.response does not match to a display_name in the function_response.parts.`,
    );
  }
  return undefined;
};

function responsesIn(parts: readonly GeminiPart[]) {
  return parts.flatMap(({ functionResponse }) => functionResponse ?? []);
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { $ref } = value as { readonly $ref?: unknown };
  return [...(typeof $ref === "string" ? [$ref] : []), ...Object.values(value).flatMap(referencesIn)];
}

export const mediaRules: readonly Rule[] = [type, inResponses, references];
