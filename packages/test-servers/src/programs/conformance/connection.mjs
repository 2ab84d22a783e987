// One client of the conformance server, in either protocol era: receives its messages and sends messages to it.

import { text } from "./content.mjs";
import { complete, getPrompt, promptsOf } from "./prompts.mjs";
import { InputRequired, legacyQuestions, modernQuestions } from "./questions.mjs";
import { readResource, resources, templates } from "./resources.mjs";
import {
  codes,
  errorBody,
  isObject,
  legacyVersions,
  metaPrefix,
  modernVersion,
  RpcError,
  ToolFailure,
} from "./rpc-error.mjs";
import { getSkill, listSkills, readFolder, skillsExtension } from "./skills.mjs";
import { tasksExtension } from "./tasks.mjs";

const serverInfo = { name: "conformance-server", version: "1.0.0" };
const instructions = "Tools, prompts and resources for conformance tests.";
const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  extensions: { [skillsExtension]: { directoryRead: true } },
};
/** Tasks exist only in the modern era. */
const modernCapabilities = { ...capabilities, extensions: { ...capabilities.extensions, [tasksExtension]: {} } };
const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const filters = { tools: "toolsListChanged", prompts: "promptsListChanged", resources: "resourcesListChanged" };
/** Methods whose results say how long they may be cached. */
const cacheable = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "skills/list",
  "skills/get",
]);

const taskMethods = new Set(["tasks/get", "tasks/update", "tasks/cancel"]);

/**
 * @param eras The protocol eras that are served: "legacy", "modern" or both.
 * @param send Sends a message; its second argument is the client's request that the message belongs to.
 */
export function createConnection({ catalog, eras, send }) {
  /** The client's open requests, by id. */
  const open = new Map();
  /** The server's open requests to the client, by id. */
  const questions = new Map();
  /** Open `subscriptions/listen` requests of the modern era: the requested changes, by the request's id. */
  const listens = new Map();
  const legacy = { capabilities: {}, level: "info", subscriptions: new Set(), isReady: false };
  let lastQuestion = 0;

  const say = (message, about) => send({ jsonrpc: "2.0", ...message }, about);
  const notify = (method, params, about) => say({ method, ...(params && { params }) }, about);

  function tellChange({ list, uri }) {
    const method = list ? `notifications/${list}/list_changed` : "notifications/resources/updated";
    const params = list ? undefined : { uri };
    if (legacy.isReady && (list || legacy.subscriptions.has(uri))) notify(method, params);
    for (const [id, wanted] of listens)
      if (list ? wanted[filters[list]] === true : wanted.resourceSubscriptions?.includes(uri))
        notify(method, { ...params, _meta: { [`${metaPrefix}subscriptionId`]: id } }, id);
  }

  const stopListening = catalog.onChange(tellChange);

  function ask(method, params, about) {
    lastQuestion += 1;
    const id = `question-${lastQuestion}`;
    return new Promise((resolve, reject) => {
      questions.set(id, { resolve, reject });
      say({ id, method, params }, about);
    });
  }

  function settle({ id, result, error }) {
    const question = questions.get(id);
    questions.delete(id);
    if (error) question?.reject(new ToolFailure(`The client refused: ${error.message}`));
    else question?.resolve(result);
  }

  /** The functions that tools and prompts may use. */
  function createCall({ id, era, params, signal }) {
    const meta = isObject(params._meta) ? params._meta : {};
    const wanted = era === "modern" ? meta[`${metaPrefix}logLevel`] : legacy.level;
    const subject = String(params.name);
    const questions =
      era === "modern"
        ? modernQuestions({ capabilities: meta[`${metaPrefix}clientCapabilities`], params, subject })
        : legacyQuestions({
            capabilities: legacy.capabilities,
            request: (method, question) => ask(method, question, id),
          });
    return {
      ...questions,
      catalog,
      signal,
      args: isObject(params.arguments) ? params.arguments : {},
      log(level, data) {
        if (levels.indexOf(level) < levels.indexOf(wanted) || wanted === undefined) return;
        notify("notifications/message", { level, logger: "conformance", data }, id);
      },
      progress(progress, total) {
        const { progressToken } = meta;
        if (progressToken !== undefined) notify("notifications/progress", { progressToken, progress, total }, id);
      },
    };
  }

  async function callTool(request) {
    const { name } = request.params;
    const found = catalog.tools().find(({ definition }) => definition.name === name);
    if (found === undefined) throw new RpcError(codes.invalidParams, "no such tool", { name });
    try {
      const call = createCall(request);
      if (found.task === undefined) return { content: await found.run(call) };
      return await callTaskTool(found, call, request);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      return { content: [text(error.message)], isError: true };
    }
  }

  async function callTaskTool({ run, task: { support, first } }, call, { era, params }) {
    const isTask = era === "modern" && declaresTasks(params);
    if (!isTask && support === "required" && era === "modern") throw missingTasks();
    const answers = await first(call);
    if (!isTask) return { content: await run({ ...call, answers }) };
    return catalog.tasks.start((work) => run({ ...call, ...work, answers }));
  }

  /** The methods of both eras. */
  async function respond(request) {
    const { method, params, era } = request;
    const definitions = (items) => items.map(({ definition }) => definition);
    switch (method) {
      case "tools/list":
        return { tools: definitions(catalog.tools()) };
      case "tools/call":
        return callTool(request);
      case "prompts/list":
        return { prompts: definitions(promptsOf(catalog)) };
      case "prompts/get":
        return getPrompt(createCall(request), params.name);
      case "resources/list":
        return { resources };
      case "resources/templates/list":
        return { resourceTemplates: templates };
      case "resources/read":
        return readResource(params.uri, era);
      case "skills/list":
        return listSkills();
      case "skills/get":
        return getSkill(params);
      case "resources/directory/read":
        return readFolder(params);
      case "completion/complete":
        return complete(params);
      default:
        throw new RpcError(codes.methodNotFound, `no method ${method}`);
    }
  }

  async function respondLegacy(request) {
    const { method, params } = request;
    switch (method) {
      case "initialize": {
        legacy.capabilities = isObject(params.capabilities) ? params.capabilities : {};
        legacy.isReady = true;
        const protocolVersion = legacyVersions.find((version) => version === params.protocolVersion);
        return { protocolVersion: protocolVersion ?? legacyVersions[0], capabilities, serverInfo, instructions };
      }
      case "ping":
        return {};
      case "logging/setLevel":
        if (!levels.includes(params.level)) throw new RpcError(codes.invalidParams, "no such level");
        legacy.level = params.level;
        return {};
      case "resources/subscribe":
        legacy.subscriptions.add(params.uri);
        return {};
      case "resources/unsubscribe":
        legacy.subscriptions.delete(params.uri);
        return {};
      default:
        return respond(request);
    }
  }

  async function respondModern(request) {
    const { method, params } = request;
    const meta = isObject(params._meta) ? params._meta : {};
    const requested = meta[`${metaPrefix}protocolVersion`];
    if (requested === undefined) throw new RpcError(codes.invalidParams, "the request has no protocol version");
    if (requested !== modernVersion) throw unsupported(requested);
    if (!isObject(meta[`${metaPrefix}clientCapabilities`]))
      throw new RpcError(codes.invalidParams, "the request has no client capabilities");
    if (method === "subscriptions/listen") return listen(request);
    if (taskMethods.has(method)) {
      if (!declaresTasks(params)) throw missingTasks();
      return { resultType: "complete", ...catalog.tasks.respond(method, params) };
    }
    const result =
      method === "server/discover"
        ? {
            supportedVersions: [modernVersion],
            capabilities: modernCapabilities,
            instructions,
            _meta: { [`${metaPrefix}serverInfo`]: serverInfo },
          }
        : await respond(request);
    return { resultType: "complete", ...(cacheable.has(method) && { ttlMs: 0, cacheScope: "private" }), ...result };
  }

  /** Answers `subscriptions/listen`. The request stays open until the client ends it. */
  async function listen({ id, params, signal }) {
    const wanted = isObject(params.notifications) ? params.notifications : {};
    const _meta = { [`${metaPrefix}subscriptionId`]: id };
    notify("notifications/subscriptions/acknowledged", { notifications: wanted, _meta }, id);
    listens.set(id, wanted);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    listens.delete(id);
    return { resultType: "complete", _meta };
  }

  function eraOf(method, params) {
    if (params._meta?.[`${metaPrefix}protocolVersion`] !== undefined) return "modern";
    if (eras.includes("legacy")) return "legacy";
    if (method === "initialize") throw unsupported(params.protocolVersion);
    return "modern";
  }

  async function resultOf({ id, method, params, signal }) {
    try {
      const era = eraOf(method, params);
      if (!eras.includes(era)) throw new RpcError(codes.methodNotFound, `no method ${method}`);
      const request = { id, method, params, signal, era };
      return { result: await (era === "modern" ? respondModern(request) : respondLegacy(request)) };
    } catch (error) {
      return error instanceof InputRequired ? { result: error.result } : { error: errorBody(error) };
    }
  }

  async function answer(id, method, params) {
    const controller = new AbortController();
    const { signal } = controller;
    open.set(id, controller);
    const body = await resultOf({ id, method, params, signal });
    open.delete(id);
    if (!signal.aborted) say({ id, ...body }, id);
  }

  return {
    take(message) {
      const { id, method, params } = message;
      if (method === undefined) return settle(message);
      if (id !== undefined) return void answer(id, method, isObject(params) ? params : {});
      if (method === "notifications/cancelled") open.get(params?.requestId)?.abort();
    },
    close() {
      stopListening();
      for (const controller of open.values()) controller.abort();
      for (const { reject } of questions.values()) reject(new ToolFailure("The client has gone."));
    },
  };
}

function declaresTasks(params) {
  return isObject(params._meta?.[`${metaPrefix}clientCapabilities`]?.extensions?.[tasksExtension]);
}

function missingTasks() {
  return new RpcError(codes.missingCapability, "the client does not declare tasks", {
    requiredCapabilities: { extensions: { [tasksExtension]: {} } },
  });
}

function unsupported(requested) {
  return new RpcError(codes.unsupportedVersion, "the protocol version is not supported", {
    supported: [modernVersion],
    requested,
  });
}
