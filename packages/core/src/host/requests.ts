/** Runs the requests of a host. Each call, read, prompt and sampling request goes through the same steps. */

import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { Emitter } from "../events.ts";
import type { CallResult, Executor } from "../execute/executor.ts";
import type { Validator } from "../execute/validation/validator.ts";
import { once } from "../files/once.ts";
import type { StoredFile } from "../files/result-files.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import type { CallableTool, FunctionCall, Part } from "../normalise/model-types.ts";
import { confirmThrough } from "../policy/confirmation.ts";
import type { ToolIdentity, ToolOnConnection } from "../policy/decide.ts";
import { callForUser, modelCalls } from "../request/calls.ts";
import { type ForwardingHost, forward } from "../request/forward.ts";
import { createHostLedger } from "../request/ledger.ts";
import type { OpenWork } from "../request/open-work.ts";
import { expandReferences, getPromptForUser, readForUser } from "../request/reads.ts";
import { samplingRequest, shownRead } from "../request/request.ts";
import { runRequest } from "../request/run.ts";
import type { Subscriptions } from "../resources/subscriptions.ts";
import type { Connection } from "../server/connection.ts";
import { openRelayTo } from "../server/opener.ts";
import { ConversationTools } from "../server/pinned-tools.ts";
import type { RegisteredTool } from "../server/registered-tool.ts";
import type { Sample } from "../server/requests.ts";
import type { Servers } from "../server/servers.ts";
import { closest } from "../text/closest.ts";
import { createHostConversations } from "./conversations.ts";
import { createHostDecisions, type HostDecisions } from "./decisions.ts";
import { checkCallAsModelOptions } from "./options.ts";
import { HostRegistries } from "./registries.ts";
import type { HostSecrets } from "./secrets.ts";
import { createHostSearch, type HostSearch } from "./tool-search.ts";
import type { CallOptions, GatewayHost, Host, OpenHostOptions } from "./types.ts";

/** The parts and options of the host that requests use. */
export interface HostRequestsOptions extends Omit<OpenHostOptions, "clock" | "now">, Emitter {
  readonly servers: Servers;
  readonly work: OpenWork;
  readonly secrets: Pick<HostSecrets, "redactor">;
  readonly clock: Clock;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The members of a host that send requests. */
export interface HostRequests
  extends Pick<
      Host,
      | "readResource"
      | "getPrompt"
      | "complete"
      | "expandReferences"
      | "conversation"
      | "conversations"
      | "runTurn"
      | "asCallableTool"
      | "callAsModel"
      | "relay"
      | "flushHistory"
      | "searchTools"
      | "toolOffers"
    >,
    Pick<GatewayHost, "forward" | "sampleThrough" | "subscribe" | "toolsWithin"> {
  /** Runs a call from the user or a program, not from a model. */
  call(server: string, tool: string, args: unknown, options: CallOptions): Promise<CallResult>;
  readonly registries: HostRegistries;
  readonly decisions: HostDecisions;
  /** Answers a server's sampling request with the user's model. */
  readonly sample: Sample;
  /** Resolves when no request is running and the ledger is on disk. */
  close(): Promise<void>;
}

/** The parts of a host that its requests and conversations share. */
export interface HostParts extends ForwardingHost {
  readonly registries: HostRegistries;
  readonly decisions: HostDecisions;
  readonly search: HostSearch;
  /** The tools that were used before in this workspace, latest first. Reads the ledger only once. */
  readonly usedTools: () => Promise<readonly ToolIdentity[]>;
  /** Writes content that is too large for a model into a file. Closing the host waits until the file is written. */
  readonly keep: (file: LeftOut) => Promise<StoredFile>;
  readonly confirm?: OpenHostOptions["confirm"];
}

/** Creates everything that runs requests: decisions, ledger, calls, reads and conversations. */
export function createHostRequests(options: HostRequestsOptions): HostRequests {
  const { servers, work, confirm, sample, allow, clock, now, on, emit } = options;
  const { approvalMode: mode = "default", interactive = true } = options;
  const decisions = createHostDecisions({ ...options, mode, interactive, flags: allow ? { allow } : {} });
  const ledger = createHostLedger({
    state: servers.configuration.locations.state,
    keepArguments: () => servers.configuration.settings.host.audit.arguments,
    workspace: () => servers.configuration.locations.root,
    mode,
    now,
    clock,
    emit,
  });
  const { closing } = work;
  const settings = () => servers.configuration.settings.host;
  let opening: Promise<Running> | undefined;
  let subscribing: Promise<Subscriptions> | undefined;

  /** The executor is the largest part of a host, so only the first call imports it. */
  async function open(): Promise<Running> {
    const [{ createExecutor }, { createValidator }] = await Promise.all([
      import("../execute/executor.ts"),
      import("../execute/validation/validator.ts"),
    ]);
    const validator = createValidator();
    return {
      executor: createExecutor({
        limits: () => settings().limits,
        validator,
        reconnect: (client, signal) => client.ready(signal),
        abortsAll: true,
        clock,
      }),
      validator,
    };
  }

  const host: HostParts = {
    servers,
    get registries() {
      return registries;
    },
    decisions,
    search: createHostSearch(() => registries, servers, decisions),
    usedTools: once(ledger.usedTools),
    confirm,
    rules: decisions.current,
    record: ledger.record,
    work,
    clock,
    async executor() {
      opening ??= open();
      return (await opening).executor;
    },
    shownTool({ serverName, serverToolName, connection }: ToolOnConnection) {
      const { description = "", annotations } =
        servers.find(serverName)?.listedBy(connection).toolOf(serverToolName) ?? {};
      return { serverName, serverToolName, name: serverToolName, description, annotations };
    },
    keep: (file) =>
      work.run(async () => {
        const { keepResult } = await import("../files/result-files.ts");
        const hide = await options.secrets.redactor();
        const data = file.encoding === "utf8" ? hide(file.data) : file.data;
        return keepResult(servers.configuration.locations.state, { ...file, data });
      }),
  };

  const getPrompt: Host["getPrompt"] = (server, prompt, args = {}, given = {}) =>
    getPromptForUser(server, prompt, args, given, host);
  const registries = new HostRegistries({
    tools: modelCalls(host, host.keep),
    getPrompt: (server, name, values, signal) => getPrompt(server, name, values, { signal }),
  });
  const { close: closeConversations, ...conversations } = createHostConversations(host, options);

  function openSubscriptions(): Promise<Subscriptions> {
    subscribing ??= import("../resources/subscriptions.ts").then(({ createSubscriptions }) =>
      createSubscriptions({ servers, on, emit, clock }),
    );
    return subscribing;
  }

  return {
    decisions,
    registries,
    searchTools: (...wanted) => work.run(() => host.search.searchTools(...wanted)),
    ...conversations,

    call: (server, tool, args, given) => callForUser(server, tool, args, given, host),
    readResource: (server, uri, given = {}) => readForUser(server, uri, given, host),
    getPrompt,
    expandReferences: (text, given = {}) => expandReferences(text, given, host, host.keep),

    complete: (request, { signal: given } = {}) =>
      work.run(async (signal) => {
        const { completeArgument } = await import("../resources/completion.ts");
        const server = servers.get(request.of.server);
        const release = server.use();
        return completeArgument(request, { server, signal }).finally(release);
      }, given),

    subscribe: (serverName, uri, { signal, client, connection, confirm: port }) =>
      runRequest(
        {
          who: client === undefined ? "user" : "client",
          client: client?.name,
          conversation: client?.conversation,
          kind: "resource",
          serverName,
          serverToolName: uri,
          shown: shownRead(serverName, uri),
          connection,
          signal,
          confirm: port,
          target: {
            kind: "direct",
            send: async (until) => (await openSubscriptions()).subscribe(serverName, uri, until, connection),
          },
        },
        host,
      ),

    async callAsModel(name, args = {}, given = {}) {
      checkCallAsModelOptions(given);
      const { signal, confirm: port = confirm } = given;
      const tool = registries.tools.getTool(name);
      if (tool === undefined) {
        const { explainUnknown } = await import("../turn/failure-messages.ts");
        const toolNames = registries.tools
          .getAllTools()
          .map(({ name: each, serverName: server, serverToolName }) => ({ name: each, server, serverToolName }));
        throw new HostError("tool_unknown", explainUnknown(name, undefined, toolNames));
      }
      return tool.execute(args, signal, { confirm: confirmThrough(port, signal ?? closing, true) });
    },

    asCallableTool: () =>
      createCallableTool({ open: () => new ConversationTools(registries.tools), confirm, signal: closing }),

    forward: (request, given = {}) => forward(request, given, host),

    toolsWithin: (tools, budget) =>
      work.run(async () => {
        const { toolsWithin } = await import("./tools-within.ts");
        const isAlwaysLoaded = (server: string): boolean =>
          servers.find(server)?.definition?.extras.alwaysLoad ?? false;
        return toolsWithin(tools, budget, { isAlwaysLoaded, used: await ledger.usedTools() });
      }),

    sampleThrough: (serverName, params, send, { signal, confirm: port, client } = {}) =>
      runRequest(
        {
          ...samplingRequest(serverName, params),
          client: client?.name,
          conversation: client?.conversation,
          signal,
          confirm: port,
          target: { kind: "direct", send },
        },
        host,
      ),

    sample: ({ serverName, params }, signal) =>
      runRequest(
        {
          ...samplingRequest(serverName, params),
          signal,
          confirm: confirmThrough(confirm, signal),
          target: {
            kind: "direct",
            async send(until) {
              if (sample === undefined)
                throw new HostError("usage", 'sampling refused: this host has no "sample" option');
              return sample({ serverName, params }, until);
            },
          },
        },
        host,
      ),

    relay: (server, client, { signal } = {}) =>
      work.run(async (until) => {
        const { relayClient } = await import("../request/relay.ts");
        const target = servers.get(server);
        return relayClient(server, client, {
          relay: (how) => openRelayTo(target, servers.context, how),
          mayHaveRoots: () => target.mayHaveRoots,
          run: (request) => runRequest(request, host),
          signal: until,
        });
      }, signal),

    flushHistory: ledger.flush,

    async close() {
      const running = await opening;
      await running?.executor.close();
      await running?.validator.close();
      (await subscribing)?.[Symbol.dispose]();
      await closeConversations();
      await ledger.flush();
    },
  };
}

interface Running {
  readonly executor: Executor<Connection>;
  readonly validator: Validator;
}

interface CallableOptions {
  readonly open: () => ConversationTools;
  readonly confirm: OpenHostOptions["confirm"];
  /** A signal that is aborted when the host is closed. */
  readonly signal: AbortSignal;
}

/**
 * Combines all tools of a host into one `CallableTool` of `@google/genai`. Calls ask for confirmation if the rules
 * require it. The model gets failures as responses.
 */
function createCallableTool({ open, confirm, signal }: CallableOptions): CallableTool {
  let opened: ConversationTools | undefined;
  /** The tools of the conversation. Their names stay the same after the model has seen them. */
  function conversation(): ConversationTools {
    opened ??= open();
    return opened;
  }

  async function run(tool: RegisteredTool, args: Record<string, unknown>): Promise<Answer> {
    const { llmContent, error } = await tool.execute(args, signal, { confirm: confirmThrough(confirm, signal, true) });
    const text = llmContent.flatMap((part) => part.text ?? []).join("\n");
    const media = llmContent.filter(({ inlineData }) => inlineData !== undefined);
    return { response: error === undefined ? { output: text } : { error: text || error.message }, media };
  }

  async function answer({ name = "", args = {} }: FunctionCall): Promise<Answer> {
    const tool = conversation().getTool(name);
    if (tool === undefined) return { response: { error: unknownTool(name, conversation()) }, media: [] };
    try {
      return await run(tool, args);
    } catch (error) {
      // A denied or failed call becomes a response, so that the model can continue.
      if (!(error instanceof HostError) || signal.aborted) throw error;
      return { response: { error: `${error.code}: ${error.message}` }, media: [] };
    }
  }

  return {
    tool: async () => ({ functionDeclarations: conversation().getFunctionDeclarations() }),
    async callTool(functionCalls) {
      const answers = await Promise.all(
        functionCalls.map(async (call): Promise<Part[]> => {
          const { response, media } = await answer(call);
          const { id, name } = call;
          const functionResponse = { ...(id !== undefined && { id }), ...(name !== undefined && { name }), response };
          return [{ functionResponse }, ...media];
        }),
      );
      return answers.flat();
    },
  };
}

interface Answer {
  readonly response: Record<string, unknown>;
  /** Media is sent next to the response, because not every model accepts media inside a response. */
  readonly media: readonly Part[];
}

function unknownTool(name: string, tools: ConversationTools): string {
  const near = closest(
    name,
    tools.getAllTools().map((tool) => tool.name),
  );
  return `tool_unknown: there is no tool "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}
