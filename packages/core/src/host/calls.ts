/** Calls of a host: whether they may run, whom they go to, and what a model and a person are told of them. */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { definitionDigest } from "../discover/tool-changes.ts";
import { HostError } from "../errors.ts";
import type { CallResult } from "../execute/call-result.ts";
import type { Executor } from "../execute/executor.ts";
import type { Validator } from "../execute/validation/validator.ts";
import type { McpClient } from "../mcp/client.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import type { Pair } from "../policy/judge.ts";
import type { CallWatch, ToolBinding } from "../registry/binding.ts";
import { toPlainArguments } from "../registry/plain-arguments.ts";
import type { HostSettings } from "../settings/definition.ts";
import type { Came, Gate } from "./gate.ts";
import type { ChangeMarks } from "./marks.ts";
import type { CallOptions } from "./types.ts";

export interface HostCalls {
  /** Someone wants exactly this call. */
  call(server: string, tool: string, args: unknown, options: CallOptions): Promise<CallResult>;
  /** For calls of a model. */
  readonly binding: ToolBinding;
  /** Puts what a model does not get whole into a file, and gives its path. */
  readonly keep: (file: LeftOut) => Promise<string>;
  close(): Promise<void>;
}

export interface HostCallsOptions {
  /** As they are now. */
  readonly settings: () => Pick<HostSettings, "limits">;
  readonly gate: Gate;
  readonly marks: ChangeMarks;
  /** A person wants the tool as it is now. */
  readonly accept: (tool: Pair) => Promise<void>;
  /** The server's client, connected and discovered. */
  readonly ready: (server: string, signal?: AbortSignal) => Promise<McpClient>;
  /** Keeps the server from being stopped until the returned function is called. */
  readonly use: (server: string) => () => void;
  readonly timeoutOf: (server: string) => number;
  readonly trustsAnnotations: (server: string) => boolean;
  /** Where the state of ours lives. */
  readonly state: string;
  readonly clock: Clock;
}

export function createHostCalls(options: HostCallsOptions): HostCalls {
  const { settings, gate, marks, accept, ready, use, timeoutOf, trustsAnnotations, state, clock } = options;
  let made: Promise<Running> | undefined;

  /** Loaded with the first call: it is the heaviest part of a host. */
  async function make(): Promise<Running> {
    const [{ createExecutor }, { createValidator }] = await Promise.all([
      import("../execute/executor.ts"),
      import("../execute/validation/validator.ts"),
    ]);
    const validator = createValidator();
    const { limits } = settings();
    const executor = createExecutor({ limits, validator, reconnect: (server, signal) => ready(server, signal), clock });
    return { executor, validator };
  }

  /** `admit` throws if it may not run after all: the lists have been read since, and what was shown or approved may be no more. */
  async function run(
    { serverName, serverToolName }: Pair,
    args: JsonObject,
    { timeout = timeoutOf(serverName), signal, onProgress, onStart }: CallOptions & CallWatch,
    admit: () => Promise<void>,
  ): Promise<CallResult> {
    const release = use(serverName);
    try {
      const client = await ready(serverName, signal);
      await admit();
      made ??= make();
      const { executor } = await made;
      const total = settings().limits.callTotal;
      const trustAnnotations = trustsAnnotations(serverName);
      const how = { timeout, total, trustAnnotations, ...(signal && { signal }), ...(onProgress && { onProgress }) };
      return await executor.call({ client, tool: serverToolName, args }, { ...how, onStart });
    } finally {
      release();
    }
  }

  async function refuseChanged(tool: Pair, seen: string | undefined): Promise<void> {
    const now = marks.changeOf(tool) && marks.toolOf(tool);
    if (now === undefined || definitionDigest(now) === seen) return;
    const { changed } = await import("../policy/refusal.ts");
    throw changed(tool);
  }

  async function keep(file: LeftOut): Promise<string> {
    const { keepResult } = await import("../files/result-files.ts");
    return keepResult(state, file);
  }

  return {
    keep,
    async call(serverName, serverToolName, params, given) {
      const tool = { serverName, serverToolName };
      const args = toPlainArguments(params, serverName);
      const request = { ...tool, args, confirmed: given.confirmed };
      const admit = async (): Promise<void> => {
        if (given.acceptChanged === true && marks.changeOf(tool)) await accept(tool);
        await gate.recheck(request);
      };
      return gate.typed(request, () => run(tool, args, given, admit), came);
    },

    binding: {
      confirm: gate.confirm,
      async call(tool, params, signal, watch = {}) {
        const result = await gate.redeem(
          tool,
          params,
          (seen) => run(tool, params, { ...watch, ...(signal && { signal }) }, () => refuseChanged(tool, seen)),
          came,
        );
        const { content, structuredContent, isError, warnings } = result;
        const [{ toModelParts }, { displayOf }] = await Promise.all([
          import("../normalise/content/parts.ts"),
          import("../normalise/content/display.ts"),
        ]);
        const { serverToolName: toolName } = tool;
        const files: string[] = [];
        const llmContent = await toModelParts(content, {
          toolName,
          structuredContent,
          isError,
          keep: async (file) => {
            const path = await keep(file);
            files.push(path);
            return path;
          },
        });
        return {
          llmContent,
          returnDisplay: displayOf(content, structuredContent),
          ...(isError && { error: toolError(tool) }),
          ...(files.length > 0 && { files }),
          ...(warnings && { warnings }),
        };
      },
    },

    async close() {
      const running = await made;
      await running?.executor.close();
      await running?.validator.close();
    },
  };
}

interface Running {
  readonly executor: Executor;
  readonly validator: Validator;
}

const came: Came<CallResult> = ({ isError }) => (isError ? "tool_error" : "ok");

function toolError({ serverName, serverToolName }: Pair): HostError {
  return new HostError("tool_error", `${serverName}.${serverToolName} reported an error`, { serverName });
}
