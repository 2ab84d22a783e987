/** Tool calls of the user and of models, as requests for `run`. */

import type { JsonObject } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import type { CallResult } from "../execute/executor.ts";
import { anObject, aString, expectArguments } from "../expect-arguments.ts";
import type { GatewayHost } from "../host/gateway-types.ts";
import type { RequestOptions } from "../host/types.ts";
import type { Keep } from "../normalise/content/parts.ts";
import { toPlainArguments } from "../normalise/plain-arguments.ts";
import { type AskedTool, type ConfirmPort, EditedCall } from "../policy/confirmation.ts";
import type { CallWatch, LargeResults, ToolBinding, ToolExecution } from "../server/registered-tool.ts";
import { ask, type RequestHost, runRequest } from "./run.ts";

/** Returns the function that calls a tool for the user or a program, not for a model. */
export function userCalls(host: RequestHost): GatewayHost["call"] {
  return function call(serverName, serverToolName, params = {}, options = {}) {
    let args: JsonObject;
    try {
      checkRequest("call()", serverName, "tool", serverToolName, options);
      args = toPlainArguments(params, serverName);
    } catch (error) {
      return Promise.reject(error);
    }
    const { signal, confirmed, acceptChanged, confirm, timeout, onProgress, connection, capabilities } = options;
    return runRequest(
      {
        who: "user",
        serverName,
        serverToolName,
        args,
        shown: { serverName, serverToolName, name: serverToolName, description: "" },
        target: { kind: "call", timeout, capabilities },
        connection,
        signal,
        confirm: confirm && confirmTyped(confirm),
        confirmed,
        acceptChanged,
        watch: { onProgress },
      },
      host,
    );
  };
}

/**
 * Checks what a program passes for a request. `parameter` is the name of the tool's, prompt's or address's parameter.
 *
 * @throws HostError `usage` that names the wrong argument
 */
export function checkRequest(call: string, server: unknown, parameter: string, name: unknown, options: unknown): void {
  // Each small call passes here, so the list of expected arguments is made only for the message.
  if (typeof server === "string" && typeof name === "string" && anObject.accepts(options)) return;
  expectArguments(call, { server: [server, aString], [parameter]: [name, aString], options: [options, anObject] });
}

/** The parts of a host that run the calls of models. `keep` stores content that is too large for a model. */
export interface ModelCallHost extends RequestHost {
  readonly keep: Keep;
}

/** Confirms and runs the calls of registered tools, which programs pass on from their models. */
export function modelCalls(host: ModelCallHost): ToolBinding {
  return {
    confirm: (tool, args) =>
      ask({ who: "model", serverName: tool.serverName, serverToolName: tool.serverToolName, args, shown: tool }, host),
    call: (tool, args, signal, watch = {}) => callForModel(tool, args, signal, watch, host),
  };
}

/** Runs a model's call of a tool. If the user edits its arguments, runs the call with those instead. */
export async function callForModel(
  tool: AskedTool,
  given: JsonObject,
  signal: AbortSignal | undefined,
  { results, confirm, onEdited, ...watch }: CallWatch,
  host: ModelCallHost,
): Promise<ToolExecution> {
  const { serverName, serverToolName } = tool;
  let args = given;
  for (;;)
    try {
      return await runRequest(
        {
          who: "model",
          serverName,
          serverToolName,
          args,
          shown: tool,
          target: { kind: "call" },
          signal,
          confirm,
          watch,
          present: (result: CallResult) => present(tool, result, host.keep, results),
        },
        host,
      );
    } catch (error) {
      if (!(error instanceof EditedCall)) throw error;
      // The user has changed the arguments. The call with the new ones is a new request.
      args = error.args;
      onEdited?.(args);
    }
}

/** Asks the user to confirm their own request. Without an answer, the request is refused. */
export function confirmTyped(confirm: NonNullable<RequestOptions["confirm"]>): ConfirmPort {
  return async (question, until) => {
    const details = await question();
    const outcome = details && (await confirm(details, until));
    if (details && outcome) await details.onConfirm(outcome);
  };
}

/** Creates the parts for the model and the text for the user from a result. */
async function present(
  { serverName, serverToolName }: AskedTool,
  { content, structuredContent, isError, warnings }: CallResult,
  keep: Keep,
  large?: LargeResults,
): Promise<ToolExecution> {
  const [{ toModelParts }, { displayOf, plainDisplay }] = await Promise.all([
    import("../normalise/content/parts.ts"),
    import("../normalise/content/display.ts"),
  ]);
  const files: string[] = [];
  const llmContent = await toModelParts(content, {
    toolName: serverToolName,
    structuredContent,
    isError,
    limits: large && { tokens: large.tokens },
    keep: async (file) => {
      const kept = await (large?.keep(file) ?? keep(file));
      files.push(kept.path);
      return kept;
    },
  });
  const returnDisplay = displayOf(content, structuredContent);
  const plain = plainDisplay(content, structuredContent);
  const reported = `${serverName}.${serverToolName} reported an error`;
  return {
    llmContent,
    returnDisplay,
    plainDisplay: plain === returnDisplay ? undefined : plain,
    error: isError ? new HostError("tool_error", reported, { serverName }) : undefined,
    files: files.length > 0 ? files : undefined,
    warnings,
  };
}
