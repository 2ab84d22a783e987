/** Connects to the server that a file of checks tests: a configured server, or one that the file's command starts. */

import { dirname } from "node:path";
import type { CheckTarget } from "@fairlead/core/checks/check-file";
import type { CheckedServer } from "@fairlead/core/checks/run-checks";
import type { Redact } from "@fairlead/core/connect/redact";
import { HostError } from "@fairlead/core/errors";
import { isInside, realPathOf } from "@fairlead/core/files/real-path";
import { demoName, type Host } from "@fairlead/core/host";
import { notConnectedError } from "@fairlead/core/server/server-state";
import { addAdHocServer, isServerNameTaken } from "@fairlead/core/trust/ad-hoc";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { findServer } from "../commands/mcp/find-server.ts";
import type { Context } from "../shell/verb.ts";
import { adHocName } from "../targets/ad-hoc-server.ts";
import { hasDemo, useHost } from "../targets/with-host.ts";

/** A file of checks, and the configuration for its run. */
export interface CheckPlace {
  readonly path: string;
  readonly configuration: Configuration;
  readonly context: Context;
}

/**
 * Connects to the server that the file tests, and passes the connected server to `use`.
 *
 * @throws HostError `server_unknown`, `untrusted_folder`, or the reason why the connection failed
 */
export async function withCheckedServer<T>(
  target: CheckTarget,
  { path, configuration: configured, context }: CheckPlace,
  use: (server: CheckedServer, name: string) => Promise<T>,
): Promise<T> {
  const { configuration, name } = await serverOf(target, configured, path);
  let redact: Redact = (text) => text;
  return useHost(
    configuration,
    context,
    async (host) => {
      await host.start({ servers: [name], signal: context.io.signal });
      const state = host.states().find((each) => each.name === name);
      if (state?.status !== "connected")
        throw state === undefined ? new HostError("server_unknown", `no server "${name}"`) : notConnectedError(state);
      const { extras } = configuration.servers.find((each) => each.server.name === name)?.server.definition ?? {};
      const server = toCheckedServer(host, name, context.io.signal);
      return use({ ...server, redact: (text) => redact(text), hidesResults: extras?.hideResults === true }, name);
    },
    {
      observe(_server, step) {
        if (step.step === "definition") redact = step.redact;
      },
    },
  );
}

function toCheckedServer(
  host: Host,
  name: string,
  signal: AbortSignal,
): Pick<CheckedServer, "tools" | "call" | "listing"> {
  return {
    tools: host.catalog(name)?.tools ?? [],
    async call(tool, args) {
      try {
        return await host.call(name, tool, args, { signal });
      } catch (error) {
        if (!(error instanceof HostError) || error.code === "cancelled") throw error;
        return { isError: true, content: [{ type: "text", text: error.message }] };
      }
    },
    async listing() {
      await host.refresh(name, { signal });
      const { tools = [], resources = [], prompts = [] } = host.catalog(name) ?? {};
      return [
        ...tools.map((tool) => `tool ${tool.name}`),
        ...prompts.map((prompt) => `prompt ${prompt.name}`),
        ...resources.map(({ uri }) => `resource ${uri}`),
      ];
    },
  };
}

async function serverOf(
  target: CheckTarget,
  configuration: Configuration,
  path: string,
): Promise<{ readonly configuration: Configuration; readonly name: string }> {
  if ("server" in target) {
    const isDemo = target.server === demoName && hasDemo(configuration);
    return { configuration, name: isDemo ? demoName : findServer(configuration, target.server).server.name };
  }
  const file = await realPathOf(path);
  requireTrusted(file, path, configuration);
  const [command, ...args] = target.command;
  // Fairlead would expand `$NAME` in the entry. The file's command must run as written, so "$" is escaped.
  const plain = (word: string): string => word.replaceAll("$", "$$$$");
  const entry = {
    command: plain(command),
    args: args.map(plain),
    cwd: plain(dirname(file)),
    ...(target.env && { env: target.env }),
  };
  const wanted = adHocName({ command, args });
  let name = wanted;
  for (let number = 2; isServerNameTaken(name, configuration); number += 1) name = `${wanted}-${number}`;
  return { configuration: (await addAdHocServer(configuration, { name, entry })).configuration, name };
}

/**
 * Refuses the file's command if the file is not inside the trusted workspace, because the user may never have seen it.
 *
 * @param file The real path, because a symbolic link may lead outside the workspace.
 */
function requireTrusted(file: string, path: string, { trust, locations }: Configuration): void {
  if (!isInside(file, locations.root))
    throw new HostError(
      "untrusted_folder",
      `the command in ${path} was not started: ${file} is not in the workspace ${locations.root}`,
      { next: `fairlead test ${file} -C ${dirname(file)}` },
    );
  if (!trust.trusted)
    throw new HostError(
      "untrusted_folder",
      `the command in ${path} was not started: ${locations.root} is not trusted`,
      { next: "fairlead trust add, or for this run: --trust-workspace" },
    );
}
