/*
 * Offers the tools, prompts, resources and resource templates in the JSON file that its first argument names, and reads
 * the file again for each request. Each result says the name in its second argument, and then has the `content` or
 * `messages` of the member `shown` of the file. Its tool `announce`, which it does
 * not list, reports changes of the `lists` in its arguments, as often as `times` says; `fails: true` makes it refuse to
 * list tools from then on. It writes the names of called tools and prompts and of read resources to the file in its third
 * argument.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { onLine, runIfMain } from "../program.mjs";

/** @param {import("../program.mjs").Io} io */
export function contender({ args, input, output }) {
  const [file, name, notes] = args;
  const say = (message) => output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = {};
  const held = () => {
    try {
      last = JSON.parse(readFileSync(file, "utf8"));
    } catch {
      // The test is writing the file.
    }
    const { tools = [], prompts = [], resources = [], resourceTemplates = [], shown = {} } = last;
    return { tools, prompts, resources, resourceTemplates, shown };
  };
  const changing = { listChanged: true };
  let fails = false;

  const answers = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: {
        tools: changing,
        prompts: changing,
        resources: { ...changing, subscribe: true },
        completions: {},
      },
      serverInfo: { name, version: "1.0.0" },
    }),
    ping: () => ({}),
    "tools/list": () => (fails ? undefined : { tools: held().tools }),
    "prompts/list": () => ({ prompts: held().prompts }),
    "resources/list": () => ({ resources: held().resources }),
    "resources/templates/list": () => ({ resourceTemplates: held().resourceTemplates }),
    "tools/call"({ name: tool, arguments: given = {} }) {
      if (tool === "announce") {
        fails = given.fails === true;
        for (let told = 0; told < (given.times ?? 1); told += 1)
          for (const list of given.lists ?? ["tools"]) say({ method: `notifications/${list}/list_changed` });
      }
      return { content: [{ type: "text", text: name }, ...(held().shown.content ?? [])] };
    },
    "prompts/get": () => ({
      messages: [{ role: "user", content: { type: "text", text: name } }, ...(held().shown.messages ?? [])],
    }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: name }] }),
    "resources/subscribe": () => ({}),
    "resources/unsubscribe": () => ({}),
    "completion/complete": () => ({ completion: { values: [name] } }),
  };

  onLine({ input, output }, (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (id === undefined) return;
    const used = params.name ?? (method === "resources/read" ? params.uri : undefined);
    if (notes && used !== undefined) appendFileSync(notes, `${name} ${used}\n`);
    const result = Object.hasOwn(answers, method) ? answers[method](params) : undefined;
    say(result === undefined ? { id, error: { code: -32000, message: `no ${method} now` } } : { id, result });
  });
}

runIfMain(import.meta.url, contender);
