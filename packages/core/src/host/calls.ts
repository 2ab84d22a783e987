/** Calls of a host: whether they may run, whom they go to, and what a model and a person are told of them. */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { HostError } from "../errors.ts";
import type { CallResult } from "../execute/call-result.ts";
import type { Executor } from "../execute/executor.ts";
import type { Validator } from "../execute/validation/validator.ts";
import type { McpClient } from "../mcp/client.ts";
import type { LeftOut } from "../normalise/content/parts.ts";
import { type Consent, closed, type Pair } from "../policy/consent.ts";
import { closedBy } from "../policy/permissions.ts";
import type { ToolBinding } from "../registry/binding.ts";
import { toPlainArguments } from "../registry/plain-arguments.ts";
import type { HostSettings } from "../settings/definition.ts";
import { toShellWord } from "../text/shell-word.ts";
import type { ChangeMarks } from "./marks.ts";
import type { CallOptions } from "./types.ts";

export interface HostCalls {
  /** Someone wants exactly this call: only what is closed, and what has changed, stops it. */
  call(server: string, tool: string, args: unknown, options: CallOptions): Promise<CallResult>;
  /** For calls of a model. */
  readonly binding: ToolBinding;
  /** Puts what a model does not get whole into a file, and gives its path. */
  readonly keep: (file: LeftOut) => Promise<string>;
  close(): Promise<void>;
}

export interface HostCallsOptions {
  /** As they are now. */
  readonly settings: () => Pick<HostSettings, "limits" | "permissions">;
  readonly consent: Consent;
  readonly marks: ChangeMarks;
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
  const { settings, consent, marks, ready, use, timeoutOf, trustsAnnotations, state, clock } = options;
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

  /** `seen`: the changed definition that someone has said yes to, for this call alone. */
  async function run(tool: Pair, args: JsonObject, given: CallOptions, seen?: string): Promise<CallResult> {
    const { serverName, serverToolName } = tool;
    const { acceptChanged = false, timeout = timeoutOf(serverName), ...rest } = given;
    const release = use(serverName);
    try {
      const client = await ready(serverName, given.signal);
      // The lists have been read since: what was shown or approved may be no more.
      const change = marks.changeOf(tool);
      if (acceptChanged) marks.accept(tool);
      else if (change !== undefined && change !== seen) throw changed(tool);
      made ??= make();
      const { executor } = await made;
      const total = settings().limits.callTotal;
      const trustAnnotations = trustsAnnotations(serverName);
      return await executor.call({ client, tool: serverToolName, args }, { ...rest, timeout, total, trustAnnotations });
    } finally {
      release();
    }
  }

  async function keep(file: LeftOut): Promise<string> {
    const { keepResult } = await import("../files/result-files.ts");
    return keepResult(state, file);
  }

  return {
    keep,
    async call(serverName, serverToolName, args, given) {
      const tool = { serverName, serverToolName };
      const { permissions } = settings();
      if (closedBy(permissions, serverName, serverToolName) !== undefined) throw closed(permissions, tool);
      return run(tool, toPlainArguments(args, serverName), given);
    },

    binding: {
      async confirm(tool, params) {
        return consent.ask(tool, params);
      },
      async call(tool, params, signal) {
        const seen = consent.redeem(tool, params);
        const { content, structuredContent, isError } = await run(tool, params, signal ? { signal } : {}, seen);
        const [{ toModelParts }, { displayOf }] = await Promise.all([
          import("../normalise/content/parts.ts"),
          import("../normalise/content/display.ts"),
        ]);
        const { serverToolName: toolName } = tool;
        return {
          llmContent: await toModelParts(content, { toolName, structuredContent, isError, keep }),
          returnDisplay: displayOf(content, structuredContent),
          ...(isError && { error: toolError(tool) }),
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

function changed({ serverName, serverToolName }: Pair): HostError {
  const message = `${serverName}.${serverToolName} is no longer what was shown: the server has changed its definition`;
  return new HostError("changed", message, {
    serverName,
    next: `Look at it (fairlead tools ${toShellWord(serverName)}), then call it again.`,
  });
}

function toolError({ serverName, serverToolName }: Pair): HostError {
  return new HostError("tool_error", `${serverName}.${serverToolName} reported an error`, { serverName });
}
