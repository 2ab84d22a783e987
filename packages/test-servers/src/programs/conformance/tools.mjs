// Tools of the conformance server that ask no questions: content, errors, log messages, progress, changes of lists.
import { setTimeout as pause } from "node:timers/promises";
import { embedded, image, text, wav } from "./content.mjs";
import { ToolFailure } from "./rpc-error.mjs";

const step = 50;
const noArguments = { type: "object", properties: {}, additionalProperties: false };

export function tool(name, description, run, inputSchema = noArguments) {
  return { definition: { name, description, inputSchema }, run };
}

const contents = [
  tool("test_simple_text", "Answers with a line of text.", () => [text("A line of text.")]),
  tool("test_image_content", "Answers with an image.", () => [image]),
  tool("test_audio_content", "Answers with a sound.", () => [{ type: "audio", data: wav, mimeType: "audio/wav" }]),
  tool("test_embedded_resource", "Answers with an embedded resource.", () => [
    embedded("test://embedded-resource", "text/plain", "Text in a resource."),
  ]),
  tool("test_multiple_content_types", "Answers with a text, an image and a resource.", () => [
    text("Three blocks, of three types."),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"count":3}'),
  ]),
  tool("test_error_handling", "Fails always.", () => {
    throw new ToolFailure("This tool fails, as it should.");
  }),
];

const running = [
  tool("test_tool_with_logging", "Sends three log messages.", async ({ log, signal }) => {
    log("info", "begins");
    await pause(step, undefined, { signal });
    log("info", "goes on");
    await pause(step, undefined, { signal });
    log("info", "ends");
    return [text("Three messages were logged.")];
  }),
  tool("test_logging_tool", "Logs a message, if the client wants messages.", ({ log }) => {
    log("info", "The tool was called.");
    return [text("A message was logged, or not.")];
  }),
  tool("test_tool_with_progress", "Reports progress three times.", async ({ progress, signal }) => {
    progress(0, 100);
    await pause(step, undefined, { signal });
    progress(50, 100);
    await pause(step, undefined, { signal });
    progress(100, 100);
    return [text("All steps are done.")];
  }),
  tool("test_wait_for_cancel", "Answers when its request is cancelled, so never.", async ({ log, signal }) => {
    log("info", "waits");
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new ToolFailure("cancelled")), { once: true });
    });
  }),
];

const changing = [
  tool("test_trigger_tool_change", "Adds a tool, or removes it again.", ({ catalog }) => {
    catalog.change("tools");
    return [text("The list of tools has changed.")];
  }),
  tool("test_trigger_prompt_change", "Adds a prompt, or removes it again.", ({ catalog }) => {
    catalog.change("prompts");
    return [text("The list of prompts has changed.")];
  }),
  tool("test_update_watched_resource", "Changes the resource test://watched-resource.", ({ catalog }) => {
    catalog.update("test://watched-resource");
    return [text("The resource has changed.")];
  }),
];

const schemas = [
  tool(
    "test_region_header",
    "Has a parameter that HTTP clients repeat in a header.",
    ({ args }) => [text(`The region is ${args.region}.`)],
    {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
      required: ["region"],
    },
  ),
  tool(
    "json_schema_2020_12_tool",
    "Has a schema with the keywords of JSON Schema 2020-12.",
    ({ args }) => [text(JSON.stringify(args))],
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "address", type: "object", properties: { town: { type: "string" } } } },
      properties: {
        way: { type: "string", enum: ["letter", "message"] },
        address: { $ref: "#/$defs/address" },
        number: { type: "string" },
      },
      allOf: [{ anyOf: [{ required: ["address"] }, { required: ["number"] }] }],
      if: { properties: { way: { const: "letter" } }, required: ["way"] },
      // `then` is written through a list of names, because an object literal with a member `then` looks like a promise.
      ...Object.fromEntries(["then", "else"].map((word, at) => [word, { required: [["address"], ["number"]][at] }])),
      additionalProperties: false,
    },
  ),
];

export const plainTools = [...contents, ...running, ...changing, ...schemas];

/** The tool that other tools add and remove. */
export const extraTool = tool("test_extra_tool", "Is there after every other change.", () => [text("It is there.")]);
