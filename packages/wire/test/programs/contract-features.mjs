/** What the contract server can do: one tool for every case of the suite. */

import { EventEmitter, once } from "node:events";
import { inputRequired, inputResponse, ProtocolError, Server } from "@modelcontextprotocol/server";

const pageSize = 5;
const text = (value) => ({ content: [{ type: "text", text: value }] });

/** Shared by all sessions of this process, so that one can ask what became of another's request. */
const cancelled = new Set();
const cancellations = new EventEmitter();

const textSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const sumSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
const nameSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

/** @type {Record<string, { inputSchema?: object, outputSchema?: object, run: Function }>} */
const tools = {
  echo: { inputSchema: textSchema, run: ({ text: given }) => text(given) },
  add: {
    outputSchema: sumSchema,
    run: ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  },
  /** The last progress and the result leave together. */
  count: {
    run: async ({ to }, { mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      const sent = [];
      for (let progress = 1; progress <= to; progress += 1)
        sent.push(
          mcpReq.notify({
            method: "notifications/progress",
            params: { progressToken, progress, total: to, message: `${progress} of ${to}` },
          }),
        );
      await Promise.all(sent);
      return text(`counted to ${to}`);
    },
  },
  /** Says that it has begun, and then nothing more. */
  wait: {
    run: async ({ label }, { mcpReq }) => {
      const { progressToken } = mcpReq._meta ?? {};
      const begun = { method: "notifications/progress", params: { progressToken, progress: 0 } };
      if (progressToken !== undefined) await mcpReq.notify(begun);
      if (!mcpReq.signal.aborted) await once(mcpReq.signal, "abort");
      cancelled.add(label);
      cancellations.emit(label);
      return text("nobody waits for this");
    },
  },
  /** Says that it has begun, and waits to be called with `now`: then it is gone. */
  exit: {
    run: async ({ now = false }, { mcpReq }) => {
      if (now) process.exit(7);
      const { progressToken } = mcpReq._meta ?? {};
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 0 } });
      return new Promise(() => {});
    },
  },
  cancelled: {
    run: async ({ label }) => {
      if (!cancelled.has(label)) await once(cancellations, label);
      return text(`${label} was cancelled`);
    },
  },
  fail: { run: () => ({ ...text("this went wrong"), isError: true }) },
  refuse: {
    run: () => {
      throw new ProtocolError(-31999, "not today", { until: "tomorrow" });
    },
  },
  ask: {
    run: (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "name");
      if (answer.kind === "elicit") return text([answer.action, answer.content?.name].join(" "));
      const question = { mode: "form", message: "What is your name?", requestedSchema: nameSchema };
      return inputRequired({ inputRequests: { name: inputRequired.elicit(question) } });
    },
  },
  sample: {
    run: (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "text");
      if (answer.kind === "sampling") return text(`${answer.result.model}: ${answer.result.content.text}`);
      const messages = [{ role: "user", content: { type: "text", text: "Say something." } }];
      return inputRequired({ inputRequests: { text: inputRequired.createMessage({ messages, maxTokens: 10 }) } });
    },
  },
  roots: {
    run: (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "roots");
      if (answer.kind === "roots") return text(answer.roots.map(({ uri }) => uri).join(" "));
      return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
    },
  },
  change: {
    run: async (_, { news }) => {
      await news.toolsChanged();
      return text("changed");
    },
  },
  touch: {
    run: async ({ uri }, { news }) => {
      await news.resourceUpdated(uri);
      return text(`touched ${uri}`);
    },
  },
  log: {
    run: async ({ level, text: given }, { mcpReq }) => {
      await mcpReq.log(level, given, "contract");
      return text("logged");
    },
  },
};

const resources = Array.from({ length: 12 }, (_, index) => ({
  uri: `test://resource/${index}`,
  name: `resource ${index}`,
}));

/** @param {object} [news] How changes are told where a request has a server of its own. */
export function createContractServer(news) {
  const server = new Server(
    { name: "contract", version: "1.2.3", title: "The contract" },
    {
      instructions: "Use it to compare engines.",
      capabilities: {
        tools: { listChanged: true },
        prompts: {},
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  const told = news ?? {
    toolsChanged: () => server.sendToolListChanged(),
    resourceUpdated: (uri) => server.sendResourceUpdated({ uri }),
  };

  const listed = Object.entries(tools).map(([name, { inputSchema = { type: "object" }, outputSchema }]) => ({
    name,
    description: `The tool called ${name}.`,
    inputSchema,
    ...(outputSchema && { outputSchema }),
  }));
  server.setRequestHandler("tools/list", ({ params }) => page("tools", listed, params));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
    if (tool === undefined) throw new ProtocolError(-32602, `there is no tool called ${params.name}`);
    return tool.run(params.arguments ?? {}, { mcpReq: context.mcpReq, news: told });
  });
  server.setRequestHandler("resources/list", ({ params }) => page("resources", resources, params));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://resource/{index}", name: "a resource" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => ({
    contents: [{ uri, mimeType: "text/plain", text: `the text of ${uri}` }],
  }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("prompts/list", () => ({
    prompts: [{ name: "greet", arguments: [{ name: "name", required: true }] }],
  }));
  server.setRequestHandler("prompts/get", ({ params }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${params.arguments?.name}.` } }],
  }));
  server.setRequestHandler("completion/complete", ({ params }) => ({
    completion: { values: ["Ada", "Alan"].filter((name) => name.startsWith(params.argument.value)) },
  }));
  return server;
}

function page(member, items, { cursor = "0" } = {}) {
  const begin = Number(cursor);
  const end = begin + pageSize;
  return { [member]: items.slice(begin, end), ...(end < items.length && { nextCursor: String(end) }) };
}
