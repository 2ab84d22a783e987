/** Tool calls of a host: connects the server, executes the call and presents its result. */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { CallResult } from "../../execute/call-result.ts";
import type { Executor } from "../../execute/executor.ts";
import type { Validator } from "../../execute/validation/validator.ts";
import type { StoredFile } from "../../files/result-files.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { LeftOut } from "../../normalise/content/parts.ts";
import type { ToolIdentity } from "../../policy/decide.ts";
import type { CallWatch, LargeResults, ToolBinding, ToolExecution } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import { toPlainArguments } from "../../registry/plain-arguments.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import { type OpenWork, once } from "../open-work.ts";
import type { HostSecrets } from "../secrets.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { CallOptions } from "../types.ts";
import { confirmTyped } from "./confirm-typed.ts";
import type { HostRequest, Spine } from "./spine.ts";

export interface HostCalls {
  /** Runs a call that the user typed. */
  call(server: string, tool: string, args: unknown, options: CallOptions): Promise<CallResult>;
  /** Runs the calls of a model. */
  readonly binding: ToolBinding;
  /** Saves the part of a result that a model does not get into a file, without the secrets that the host knows. */
  readonly keep: (file: LeftOut) => Promise<StoredFile>;
  close(): Promise<void>;
}

export interface HostCallsOptions {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "connected" | "ready" | "use">;
  readonly catalogs: Pick<Catalogs, "acceptedSaved">;
  readonly spine: Spine;
  readonly secrets: Pick<HostSecrets, "redactor">;
  readonly work: OpenWork;
  readonly clock: Clock;
}

type CallSteps = Pick<HostRequest<CallResult, never>, "hold" | "connect" | "execute" | "outcomeOf">;

export function createHostCalls(options: HostCallsOptions): HostCalls {
  const { configuration, servers, spine, work, clock } = options;
  const { acceptedSaved } = options.catalogs;
  const { connected, ready, use } = servers;
  const settings = () => configuration.current().settings.host;
  let opening: Promise<Running> | undefined;
  let opened: Running | undefined;

  /** Loaded with the first call: the executor is the heaviest part of a host. */
  const open = once(async (): Promise<Running> => {
    const [{ createExecutor }, { createValidator }] = await Promise.all([
      import("../../execute/executor.ts"),
      import("../../execute/validation/validator.ts"),
    ]);
    const validator = createValidator();
    const { limits } = settings();
    return {
      executor: createExecutor({ limits, validator, reconnect: ready, closing: work.closing, clock }),
      validator,
    };
  });

  function steps({ serverName, serverToolName }: ToolIdentity, args: JsonObject, options: CallTiming): CallSteps {
    let client: McpClient | undefined;

    async function openAndSend(signal: AbortSignal): Promise<CallResult> {
      opening ??= open();
      opened ??= await opening;
      return send(opened.executor, client ?? (await ready(serverName, signal)), signal);
    }

    function send(executor: Executor, to: McpClient, signal: AbortSignal): Promise<CallResult> {
      const { timeout = configuration.timeoutOf(serverName), onProgress, onStart } = options;
      const total = settings().limits.callTotal;
      const trustAnnotations = configuration.definition(serverName)?.extras.trustAnnotations ?? false;
      const how = { timeout, total, trustAnnotations, signal, onProgress, onStart };
      return executor.call({ client: to, tool: serverToolName, args }, how);
    }

    return {
      hold: () => use(serverName),
      connect(signal) {
        client = connected(serverName);
        // A definition that cannot be saved needs confirmation.
        if (client !== undefined) return acceptedSaved(serverName);
        return ready(serverName, signal).then((reached) => {
          client = reached;
          return acceptedSaved(serverName);
        });
      },
      execute: (signal) => (opened && client ? send(opened.executor, client, signal) : openAndSend(signal)),
      outcomeOf: ({ isError }) => (isError ? "tool_error" : "ok"),
    };
  }

  /** Tracked as running work, so that `close` waits for it and nothing is written afterwards. */
  function keep(file: LeftOut): Promise<StoredFile> {
    return work.run(async () => {
      const { keepResult } = await import("../../files/result-files.ts");
      const hide = await options.secrets.redactor();
      const data = file.encoding === "utf8" ? hide(file.data) : file.data;
      return keepResult(configuration.current().locations.state, { ...file, data });
    });
  }

  /** Makes the parts for the model and the display for the user. */
  async function present(tool: ToolIdentity, result: CallResult, large?: LargeResults): Promise<ToolExecution> {
    const { content, structuredContent, isError, warnings } = result;
    const [{ toModelParts }, { displayOf, plainDisplay }] = await Promise.all([
      import("../../normalise/content/parts.ts"),
      import("../../normalise/content/display.ts"),
    ]);
    const files: string[] = [];
    const llmContent = await toModelParts(content, {
      toolName: tool.serverToolName,
      structuredContent,
      isError,
      ...(large && { limits: { tokens: large.tokens } }),
      keep: async (file) => {
        const kept = await (large?.keep(file) ?? keep(file));
        files.push(kept.path);
        return kept;
      },
    });
    const returnDisplay = displayOf(content, structuredContent);
    const plain = plainDisplay(content, structuredContent);
    return {
      llmContent,
      returnDisplay,
      ...(plain !== returnDisplay && { plainDisplay: plain }),
      ...(isError && { error: toolError(tool) }),
      ...(files.length > 0 && { files }),
      ...(warnings && { warnings }),
    };
  }

  return {
    keep,
    call(serverName, serverToolName, params, options) {
      const { signal, confirm, confirmed, acceptChanged } = options;
      let args: JsonObject;
      try {
        args = toPlainArguments(params, serverName);
      } catch (error) {
        return Promise.reject(error);
      }
      const { hold, connect, execute, outcomeOf } = steps({ serverName, serverToolName }, args, options);
      return spine.run({
        who: "user",
        serverName,
        serverToolName,
        args,
        shown: { serverName, serverToolName, name: serverToolName, description: "" },
        signal,
        confirm: confirm && confirmTyped(confirm),
        confirmed,
        acceptChanged,
        hold,
        connect,
        execute,
        outcomeOf,
        present: (result) => result,
      });
    },

    binding: {
      confirm: (tool, args) => spine.ask({ who: "model", ...pairOf(tool), args, shown: tool }),
      call: (tool, args, signal, { confirm, onAllowed, results, ...watch } = {}) =>
        spine.run({
          who: "model",
          ...pairOf(tool),
          args,
          shown: tool,
          signal,
          confirm,
          onAllowed,
          ...steps(tool, args, watch),
          present: (result) => present(tool, result, results),
        }),
    },

    async close() {
      const running = await opening;
      await running?.executor.close();
      await running?.validator.close();
    },
  };
}

type CallTiming = Pick<CallOptions, "timeout" | "onProgress"> & Pick<CallWatch, "onStart">;

interface Running {
  readonly executor: Executor;
  readonly validator: Validator;
}

function pairOf({ serverName, serverToolName }: AskedTool): ToolIdentity {
  return { serverName, serverToolName };
}

function toolError({ serverName, serverToolName }: ToolIdentity): HostError {
  return new HostError("tool_error", `${serverName}.${serverToolName} reported an error`, { serverName });
}
