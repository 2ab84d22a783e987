/** Runs the requests of a host. Each call, read, prompt and sampling request goes through the same steps. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { Emitter } from "../../events.ts";
import type { Sample } from "../../mcp/requests.ts";
import { toAbortSignal } from "../../mcp/unless-aborted.ts";
import type { CallableTool, FunctionCall, Part } from "../../normalise/model-types.ts";
import { confirmThrough } from "../../registry/confirmation.ts";
import { type ConversationTools, openConversation } from "../../registry/pinned-tools.ts";
import type { RegisteredTool } from "../../registry/registered-tool.ts";
import { closest } from "../../text/closest.ts";
import type { TurnHost } from "../../turn/turn-host.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import type { OpenWork } from "../open-work.ts";
import { checkCallAsModelOptions } from "../options.ts";
import type { HostSecrets } from "../secrets.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { Host, OpenHostOptions } from "../types.ts";
import { createHostCalls, type HostCalls } from "./calls.ts";
import { createHostConversations } from "./conversations.ts";
import { createHostDecisions, type HostDecisions } from "./decisions.ts";
import { createForwarding } from "./forward.ts";
import { createHostLedger } from "./ledger.ts";
import { createHostReads, type HostReads } from "./reads.ts";
import { createSpine } from "./spine.ts";
import { createHostSearch } from "./tool-search.ts";

/** The parts and options of the host that requests use. */
export interface HostRequestsOptions extends Omit<OpenHostOptions, "clock" | "now" | "today">, Emitter {
  readonly configuration: LiveConfiguration;
  readonly servers: HostServers;
  readonly catalogs: Catalogs;
  readonly work: OpenWork;
  readonly secrets: Pick<HostSecrets, "redactor">;
  readonly clock: Clock;
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number;
}

/** The members of a host that send requests. */
export interface HostRequests
  extends Pick<HostCalls, "call" | "binding">,
    Omit<HostReads, "close" | "readForModel">,
    Pick<
      Host,
      | "conversation"
      | "conversations"
      | "runTurn"
      | "asCallableTool"
      | "callAsModel"
      | "relay"
      | "flushHistory"
      | "searchTools"
      | "toolOffers"
      | "forward"
      | "sampleThrough"
      | "toolsWithin"
    > {
  readonly decisions: HostDecisions;
  /** Answers a server's sampling request with the user's model. */
  readonly sample: Sample;
  /** Resolves when no request is running and the ledger is on disk. */
  close(): Promise<void>;
}

/** Creates everything that runs requests: decisions, ledger, calls, reads and conversations. */
export function createHostRequests(options: HostRequestsOptions): HostRequests {
  const { configuration, catalogs, work, confirm, sample, allow, clock, now, emit } = options;
  const { approvalMode: mode = "default", interactive = true } = options;
  const decisions = createHostDecisions({ ...options, mode, interactive, flags: allow ? { allow } : {} });
  const ledger = createHostLedger({
    state: configuration.current().locations.state,
    keepArguments: () => configuration.current().settings.host.audit.arguments,
    workspace: () => configuration.current().locations.root,
    mode,
    now,
    clock,
    emit,
  });
  const spine = createSpine({ current: decisions.current, record: ledger.record, work, clock });
  const calls = createHostCalls({ ...options, spine });
  const reads = createHostReads({ ...options, spine, keep: calls.keep });
  const { forward } = createForwarding({ ...options, calls: calls.parts, spine });
  const { closing } = work;
  const isDenied: TurnHost["isDenied"] = (tool) => decisions.decisionOf(tool) === "deny";
  const search = createHostSearch({
    catalogs,
    isDenied,
    deniedTo: decisions.deniedTo,
    isMeantByAll: configuration.isMeantByAll,
  });
  const { approvals } = decisions;
  const { close: closeConversations, ...conversations } = createHostConversations({
    ...options,
    calls,
    reads,
    search,
    isDenied,
    usedTools: ledger.usedTools,
    approvals,
    closing,
  });

  return {
    decisions,
    searchTools: (...wanted) => work.run(() => search.searchTools(...wanted)),
    ...calls,
    ...reads,
    ...conversations,

    async callAsModel(name, args = {}, given = {}) {
      checkCallAsModelOptions(given);
      const { signal, confirm: ask = confirm } = given;
      const tool = catalogs.tools.getTool(name);
      if (tool === undefined) {
        const { explainUnknown } = await import("../../turn/failure-messages.ts");
        const toolNames = catalogs.tools
          .getAllTools()
          .map(({ name: each, serverName: server, serverToolName }) => ({ name: each, server, serverToolName }));
        throw new HostError("tool_unknown", explainUnknown(name, undefined, toolNames));
      }
      return tool.execute(args, signal, { confirm: confirmThrough(ask, signal ?? closing, true) });
    },

    asCallableTool: () =>
      createCallableTool({ open: () => openConversation(catalogs.tools), confirm, signal: closing }),

    forward,

    toolsWithin: (tools, budget) =>
      work.run(async () => {
        const { toolsWithin } = await import("./tools-within.ts");
        const isAlwaysLoaded = (server: string): boolean =>
          configuration.definition(server)?.extras.alwaysLoad ?? false;
        return toolsWithin(tools, budget, { isAlwaysLoaded, used: await ledger.usedTools() });
      }),

    sampleThrough: (serverName, params, ask, { signal, confirm: port, client } = {}) =>
      spine.run({
        who: "server",
        kind: "sampling",
        client: client?.name,
        conversation: client?.conversation,
        serverName,
        serverToolName: "",
        args: params,
        shown: theModel(serverName),
        signal,
        confirm: port,
        execute: (until) => ask(toAbortSignal(until)),
        present: (result) => result,
      }),

    sample: ({ serverName, params }, signal) =>
      spine.run({
        who: "server",
        kind: "sampling",
        serverName,
        serverToolName: "",
        args: params,
        shown: theModel(serverName),
        signal,
        confirm: confirmThrough(confirm, signal),
        execute: async (until) => {
          if (sample === undefined) throw new HostError("usage", 'sampling refused: this host has no "sample" option');
          return sample({ serverName, params }, toAbortSignal(until));
        },
        present: (result) => result,
      }),

    relay: (server, client, { signal } = {}) =>
      work.run(async (until) => {
        const { relayClient } = await import("./relay.ts");
        const { relay, mayHaveRoots } = options.servers;
        return relayClient(server, client, { relay, mayHaveRoots, spine, signal: until });
      }, signal),

    flushHistory: ledger.flush,

    async close() {
      await Promise.all([calls.close(), reads.close()]);
      await closeConversations();
      await ledger.flush();
    },
  };
}

/** What the confirmation of a sampling request shows. */
function theModel(serverName: string) {
  const method = "sampling/createMessage";
  return {
    serverName,
    serverToolName: method,
    name: method,
    description: "Sends a request to your model and uses your tokens.",
  };
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
