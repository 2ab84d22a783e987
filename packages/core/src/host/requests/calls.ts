/**
 * Runs the tool calls of a host: connects the server, executes the call, and prepares the result for a model or a user.
 */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import type { CallResult } from "../../execute/call-result.ts";
import type { Executor } from "../../execute/executor.ts";
import type { Validator } from "../../execute/validation/validator.ts";
import type { StoredFile } from "../../files/result-files.ts";
import type { ServerClient } from "../../mcp/client.ts";
import type { LeftOut } from "../../normalise/content/parts.ts";
import type { ToolIdentity } from "../../policy/decide.ts";
import type { LargeResults, ToolBinding, ToolExecution } from "../../registry/binding.ts";
import type { AskedTool } from "../../registry/confirmation.ts";
import { toPlainArguments } from "../../registry/plain-arguments.ts";
import type { Catalogs } from "../catalogs/catalogs.ts";
import { type OpenWork, once } from "../open-work.ts";
import type { HostSecrets } from "../secrets.ts";
import type { LiveConfiguration } from "../servers/live-configuration.ts";
import type { HostServers } from "../servers/servers.ts";
import type { CallOptions } from "../types.ts";
import { confirmTyped } from "./confirm-typed.ts";
import type { Spine } from "./spine.ts";
import { type CallParts, ToolCall } from "./tool-call.ts";

/** Runs the tool calls of a host. */
export interface HostCalls {
  /** Runs a call from the user or a program, not from a model. */
  call(server: string, tool: string, args: unknown, options: CallOptions): Promise<CallResult>;
  /** Confirms and runs the tool calls of a model. */
  readonly binding: ToolBinding;
  readonly parts: CallParts;
  /** Writes content that is too large for a model into a file. Hides secrets in texts. */
  readonly keep: (file: LeftOut) => Promise<StoredFile>;
  close(): Promise<void>;
}

/** The parts of the host that tool calls use. */
export interface HostCallsOptions {
  readonly configuration: LiveConfiguration;
  readonly servers: Pick<HostServers, "connected" | "ready" | "use">;
  readonly catalogs: Pick<Catalogs, "acceptedSaved" | "changed">;
  readonly spine: Spine;
  readonly secrets: Pick<HostSecrets, "redactor">;
  readonly work: OpenWork;
  readonly clock: Clock;
}

/** Creates the calls of a host. The executor is loaded with the first call. */
export function createHostCalls(options: HostCallsOptions): HostCalls {
  const { configuration, servers, spine, work, clock } = options;
  const { acceptedSaved, changed } = options.catalogs;
  const { connected, ready, use } = servers;
  const settings = () => configuration.current().settings.host;
  let opening: Promise<Running> | undefined;
  let opened: Running | undefined;

  /** The executor is the largest part of a host, so only the first call imports it. */
  const open = once(async (): Promise<Running> => {
    const [{ createExecutor }, { createValidator }] = await Promise.all([
      import("../../execute/executor.ts"),
      import("../../execute/validation/validator.ts"),
    ]);
    const validator = createValidator();
    const { limits } = settings();
    return {
      executor: createExecutor({ limits, validator, reconnect: ready, closing: work.closing, abortsAll: true, clock }),
      validator,
    };
  });

  const parts: CallParts = {
    use,
    connected,
    ready,
    acceptedSaved,
    configuration,
    shownTool({ serverName, serverToolName }) {
      const { description = "", annotations } = changed.toolOf({ serverName, serverToolName }) ?? {};
      return { serverName, serverToolName, name: serverToolName, description, annotations };
    },
    executor: () => opened?.executor,
    async openExecutor() {
      opening ??= open();
      opened ??= await opening;
      return opened.executor;
    },
  };

  /** Closing the host waits until the file is written. */
  function keep(file: LeftOut): Promise<StoredFile> {
    return work.run(async () => {
      const { keepResult } = await import("../../files/result-files.ts");
      const hide = await options.secrets.redactor();
      const data = file.encoding === "utf8" ? hide(file.data) : file.data;
      return keepResult(configuration.current().locations.state, { ...file, data });
    });
  }

  /** Creates the parts for the model and the text for the user from a result. */
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
    parts,
    call(serverName, serverToolName, params, options) {
      let args: JsonObject;
      try {
        args = toPlainArguments(params, serverName);
      } catch (error) {
        return Promise.reject(error);
      }
      const shown = { serverName, serverToolName, name: serverToolName, description: "" };
      const confirm = options.confirm && confirmTyped(options.confirm);
      return spine.run(new ToolCall("user", shown, args, options, confirm, parts, asIs));
    },

    binding: {
      confirm: (tool, args) => spine.ask({ who: "model", ...pairOf(tool), args, shown: tool }),
      call(tool, args, signal, { results, confirm, ...watch } = {}) {
        const show = (result: CallResult): Promise<ToolExecution> => present(tool, result, results);
        return spine.run(new ToolCall("model", tool, args, { ...watch, signal }, confirm, parts, show));
      },
    },

    async close() {
      const running = await opening;
      await running?.executor.close();
      await running?.validator.close();
    },
  };
}

function asIs(result: CallResult): CallResult {
  return result;
}

interface Running {
  readonly executor: Executor<ServerClient>;
  readonly validator: Validator;
}

function pairOf({ serverName, serverToolName }: AskedTool): ToolIdentity {
  return { serverName, serverToolName };
}

function toolError({ serverName, serverToolName }: ToolIdentity): HostError {
  return new HostError("tool_error", `${serverName}.${serverToolName} reported an error`, { serverName });
}
