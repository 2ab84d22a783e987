/** Requests of gateway clients. The host returns the server's results unchanged. */

import type { JsonObject } from "@fairlead/wire";
import { objectOf, stringOf } from "@fairlead/wire/json";
import { HostError } from "../errors.ts";
import { requestOptions } from "../execute/repeat.ts";
import type { ForwardedRequest, ForwardOptions } from "../host/gateway-types.ts";
import type { AskedTool } from "../policy/confirmation.ts";
import type { ToolOnConnection } from "../policy/decide.ts";
import { viewIn } from "../server/accepted-views.ts";
import { declaresSkills, readsDirectories } from "../skills/skill.ts";
import {
  completedSubject,
  decidedMethods,
  invalidParameter,
  type Request,
  type RequestTarget,
  shownRead,
} from "./request.ts";
import { ask, type RequestHost, runRequest } from "./run.ts";
import { readSkill, type SkillAsker, skillAt, toResource } from "./skills.ts";

/** The parts of a host that forwarding uses. */
export interface ForwardingHost extends RequestHost {
  /** The tool as the confirmation shows it, with its definition from the catalog. */
  readonly shownTool: (tool: ToolOnConnection) => AskedTool;
}

/**
 * Methods that need no permission. A log level affects only log messages. A task belongs to a call that was already
 * allowed.
 */
const undecided: ReadonlySet<string> = new Set(["logging/setLevel", "tasks/get", "tasks/update", "tasks/cancel"]);

/** Runs a client's request, or refuses it. */
export function forward(request: ForwardedRequest, given: ForwardOptions, host: ForwardingHost): Promise<JsonObject> {
  const { server: serverName, method, params } = request;
  if (undecided.has(method)) return send(request, given, host);
  if (method === "completion/complete") return complete(request, given, host);
  if (skillLists.has(method)) return listSkill(request, given, host);
  const problem = invalidParameter(method, params);
  if (problem !== undefined) return Promise.reject(invalid(serverName, method, problem));
  if (method === "resources/read") return forwardRead(request, given, host);
  return forwardDecided(request, given, host);
}

/** Runs a read. A file of a skill is read as such: its rules and its approval count, not those for resources. */
async function forwardRead(
  request: ForwardedRequest,
  given: ForwardOptions,
  host: ForwardingHost,
): Promise<JsonObject> {
  const { client, server, params } = request;
  const uri = String(params["uri"]);
  const { signal, confirm, confirmed, turn, connection, timeout, skill, actingOn } = given;
  const asker: SkillAsker = {
    who: "client",
    client: client.name,
    conversation: client.conversation,
    connection,
    signal,
    confirm,
    confirmed,
    turn,
    timeout,
    actingOn,
    meta: given.meta,
    received: given.received,
  };
  const found = skill === undefined ? await skillAt(server, uri, asker, host) : { skill: { uri: skill }, file: uri };
  if (found === undefined) return forwardDecided(request, given, host);
  return toResource(await readSkill({ server, skill: found.skill.uri, file: found.file }, asker, host));
}

/** Runs a request that the rules decide about. */
function forwardDecided(request: ForwardedRequest, given: ForwardOptions, host: ForwardingHost): Promise<JsonObject> {
  const { server: serverName, method, params } = request;
  const name = String(params[decidedMethods.get(method)?.named ?? "name"]);
  const subject = subjectOf(request, name, objectOf(params["arguments"]), given, host);
  if (subject === undefined) {
    const message = `${method.slice(0, 100)} cannot be forwarded: the method is not supported`;
    return Promise.reject(new HostError("usage", message, { serverName }));
  }
  const { signal, stop, confirm, confirmed, turn, onProgress, connection, actingOn } = given;
  const { name: client, conversation } = request.client;
  // Lists every member: V8 adds members to a spread object more slowly than the request is sent.
  return runRequest(
    {
      who: "client",
      client,
      conversation,
      serverName,
      serverToolName: subject.serverToolName,
      kind: subject.kind,
      args: subject.args,
      shown: subject.shown,
      target: subject.target,
      viewIn: subject.viewIn,
      signal,
      stop,
      confirm,
      confirmed,
      turn,
      connection,
      actingOn,
      meta: given.meta,
      received: given.received,
      watch: { onProgress },
    },
    host,
  );
}

type Subject = Pick<Request<JsonObject>, "kind" | "serverToolName" | "args" | "shown" | "target" | "viewIn">;

function subjectOf(
  request: ForwardedRequest,
  name: string,
  args: JsonObject,
  given: ForwardOptions,
  { shownTool }: ForwardingHost,
): Subject | undefined {
  const { client, server, method, params } = request;
  const { conversation: owner } = client;
  const { timeout } = given;
  const identity = { serverName: server, serverToolName: name, connection: given.connection };
  const read = (what: string): RequestTarget<JsonObject> => ({
    kind: "read",
    timeout,
    send: (connection, times) => connection.request(what, method, params, requestOptions(times, given, owner)),
  });
  switch (method) {
    case "tools/call": {
      const target: RequestTarget<JsonObject> = { kind: "call", timeout, raw: { params, options: given, owner } };
      return { kind: "tool", serverToolName: name, args, shown: shownTool(identity), target };
    }
    case "resources/read":
      return {
        kind: "resource",
        serverToolName: name,
        shown: shownRead(server, name),
        target: read(`${name} of ${server}`),
        viewIn: name.startsWith("ui://") ? viewIn : undefined,
      };
    case "prompts/get": {
      const target = read(`prompt ${name} of ${server}`);
      return { kind: "prompt", serverToolName: name, args, shown: { ...identity, name, description: "" }, target };
    }
    default:
      return undefined;
  }
}

/** Sends a request that needs no decision. */
function send(request: ForwardedRequest, given: ForwardOptions, host: RequestHost): Promise<JsonObject> {
  const { server, method, params } = request;
  const { servers, work } = host;
  return work.run(async (signal) => {
    const { timeout: usual } = servers.get(server);
    const connection = given.connection ?? servers.get(server);
    const release = connection.use();
    let leave: (() => void) | undefined;
    try {
      const client = await connection.ready(signal);
      leave = await given.turn?.(servers.configuration.settings.host.limits, signal);
      const timeout = given.timeout ?? usual;
      const options = requestOptions({ signal, timeout }, given, request.client.conversation);
      return await client.request(`${method} of ${server}`, method, params, options);
    } finally {
      leave?.();
      release();
    }
  }, given.signal);
}

/** Runs a completion, unless the rules deny its prompt or template to the client. */
async function complete(request: ForwardedRequest, given: ForwardOptions, host: RequestHost): Promise<JsonObject> {
  const { client, server: serverName, method, params } = request;
  const subject = completedSubject(params);
  if (subject === undefined) throw invalid(serverName, method, invalidParameter(method, params));
  const shown = shownRead(serverName, subject.serverToolName);
  const { name, conversation } = client;
  // If a rule asks for confirmation, the completion runs anyway: Fairlead would otherwise ask after every typed
  // character.
  await ask({ who: "client", client: name, conversation, serverName, ...subject, shown }, host);
  return send(request, given, host);
}

/** Methods that return entries of skills and names of their files. */
const skillLists: ReadonlySet<string> = new Set(["skills/get", "resources/directory/read"]);

/** Gets the entry of a skill or the names in one of its folders, unless the rules deny the skill to the client. */
async function listSkill(request: ForwardedRequest, given: ForwardOptions, host: RequestHost): Promise<JsonObject> {
  const { client, server: serverName, method, params } = request;
  const uri = stringOf(params["uri"]);
  if (uri === undefined) throw invalid(serverName, method, "uri must be a string");
  const server = host.servers.get(serverName);
  const shown = shownRead(serverName, uri);
  const { name, conversation } = client;
  const asker = { who: "client", client: name, conversation, serverName, kind: "skill", shown } as const;
  // As for completions, a rule that asks does not stop a list.
  const allow = (): Promise<unknown> => ask({ ...asker, serverToolName: server.skills.around(uri)?.uri ?? uri }, host);
  await allow();
  if (server.facts(given.connection) === undefined) {
    await host.work.run((signal) => server.ready(signal, given.connection), given.signal);
    await allow();
  }
  const { capabilities = {} } = server.facts(given.connection) ?? {};
  const isSupported = method === "skills/get" ? declaresSkills(capabilities) : readsDirectories(capabilities);
  if (!isSupported) throw new HostError("usage", `"${serverName}" does not support ${method}`, { serverName });
  const result = await send(request, given, host);
  // The files are verified when the client reads them.
  if (method === "skills/get") server.skills.hold(uri, result);
  return result;
}

function invalid(serverName: string, method: string, problem: string | undefined): HostError {
  // Not `arguments_invalid`: this is a mistake of the client's program, not of its model.
  return new HostError("usage", `Invalid parameters of ${method.slice(0, 100)}: ${problem}`, { serverName });
}
