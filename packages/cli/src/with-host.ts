/** A host for the length of one command. */

import { type Host, openHost } from "@fairlead/core/host";
import type { Configuration } from "@fairlead/core/trust/configuration";
import { configurationOf } from "./configuration.ts";
import type { Context } from "./verb.ts";

export async function withHost(
  context: Context,
  use: (host: Host, configuration: Configuration) => Promise<void>,
): Promise<void> {
  const configuration = await configurationOf(context);
  const host = openHost(configuration);
  // Not `await using`: the tool that checks our imports cannot read it yet.
  try {
    await host.start();
    await use(host, configuration);
  } finally {
    await host[Symbol.asyncDispose]();
  }
}
