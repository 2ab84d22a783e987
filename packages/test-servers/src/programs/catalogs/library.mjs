/*
 * Offers the resources and prompts in the JSON file that its first argument names. Members of the file: `resources`,
 * `resourceTemplates`, `prompts`, optionally `tools`; `contents` to read, by URI; `results` of prompts, by name;
 * `instructions`. A request for a member that is null is never answered. The server writes each request to the file in
 * its second argument.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { onLine, runIfMain } from "../program.mjs";

/** @param {import("../program.mjs").Io} io */
export function library({ args, input, output }) {
  const [file, diary] = args;
  const say = (message) => output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const held = () => ({
    resources: [],
    resourceTemplates: [],
    prompts: [],
    contents: {},
    results: {},
    ...JSON.parse(readFileSync(file, "utf8")),
  });

  const answers = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      // The capability is declared even if there are no resources at the moment.
      capabilities: { resources: { listChanged: true }, prompts: {}, ...(held().tools && { tools: {} }) },
      serverInfo: { name: "library", version: "1.0.0" },
      instructions: held().instructions,
    }),
    "resources/list": () => ({ resources: held().resources }),
    "resources/templates/list": () => ({ resourceTemplates: held().resourceTemplates }),
    "prompts/list": () => ({ prompts: held().prompts }),
    "tools/list": () => ({ tools: held().tools }),
    "tools/call": () => ({ content: [] }),
    "resources/read"({ uri }) {
      const contents = held().contents[uri];
      return contents && { contents };
    },
    "prompts/get": ({ name }) => held().results[name],
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (diary) appendFileSync(diary, `${[method, params.uri ?? params.name ?? ""].join(" ").trim()}\n`);
    if (id === undefined) return;
    const result = Object.hasOwn(answers, method) ? answers[method](params) : undefined;
    if (result === undefined) say({ id, error: { code: -32002, message: `nobody \u001b[2Jhas\nseen that` } });
    else if (result !== null) say({ id, result });
  });
}

runIfMain(import.meta.url, library);
